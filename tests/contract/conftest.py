"""Every adapter of a port, as the parameter of that port's contract suite."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from engram.adapters.aws import LazyClient
from engram.adapters.dynamodb import INDEX_NAME, DynamoTable
from engram.adapters.sqlite import SqliteTable
from engram.ports import Table
from infra.local.opensearch.assembly import PartsMissing
from infra.local.opensearch.node import LocalNode
from tests.builders import MovableClock
from tests.model_server import ModelServer, model_server
from tests.servers import EMULATOR_CREDENTIALS, aws_emulator, free_port

REGION = EMULATOR_CREDENTIALS["AWS_DEFAULT_REGION"]


@pytest.fixture(scope="session")
def aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of an AWS emulator, and credentials that only it takes."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in EMULATOR_CREDENTIALS.items():
            patch.setenv(name, value)
        with aws_emulator(tmp_path_factory.mktemp("aws")) as url:
            yield url


def client(service: str, url: str) -> LazyClient:
    return LazyClient(service, region=REGION, endpoint_url=url, read_timeout=10.0)


@pytest.fixture(scope="session")
def dynamo_name(aws: str) -> str:
    """A table with the keys and the index that the template declares."""
    name = f"engram-{uuid.uuid4().hex}"
    keys = {attribute: {"AttributeName": attribute, "AttributeType": "S"} for attribute in ("pk", "sk", "ipk", "isk")}
    client("dynamodb", aws)().create_table(
        TableName=name,
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=list(keys.values()),
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        GlobalSecondaryIndexes=[
            {
                "IndexName": INDEX_NAME,
                "KeySchema": [
                    {"AttributeName": "ipk", "KeyType": "HASH"},
                    {"AttributeName": "isk", "KeyType": "RANGE"},
                ],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    )
    return name


@pytest.fixture(scope="session")
def running_models() -> Iterator[ModelServer]:
    with pytest.MonkeyPatch.context() as patch, model_server() as state:
        for name, value in EMULATOR_CREDENTIALS.items():
            patch.setenv(name, value)
        yield state


@pytest.fixture
def models(running_models: ModelServer) -> ModelServer:
    """A server that behaves as the test scripts it."""
    running_models.refuses = set()
    running_models.requests = []
    return running_models


@cache
def bedrock_client(url: str) -> LazyClient:
    """Waits briefly and tries twice, as the adapters ask of their client."""
    return LazyClient(
        "bedrock-runtime", region=REGION, endpoint_url=url, connect_timeout=0.5, read_timeout=0.6, attempts=2
    )


@pytest.fixture(scope="session")
def opensearch_node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalNode]:
    """A real node of this machine; its jars are kept under build/ for the next run."""
    node = LocalNode(tmp_path_factory.mktemp("opensearch"), port=free_port())
    try:
        node.start()
    except PartsMissing as reason:
        pytest.skip(f"OpenSearch itself is not tried on this machine: {reason}")
    yield node
    node.stop()


@pytest.fixture
def opensearch_url(opensearch_node: LocalNode) -> str:
    """URL of the real node, running."""
    return opensearch_node.start()


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


@pytest.fixture(params=["sqlite", "dynamodb"])
def table(request: pytest.FixtureRequest, tmp_path: Path, clock: MovableClock) -> Iterator[Table]:
    if request.param == "dynamodb":
        url, name = request.getfixturevalue("aws"), request.getfixturevalue("dynamo_name")
        yield DynamoTable(name, client=client("dynamodb", url), clock=clock)
        return
    # Small pages, so that a caller who forgets the cursor is found out on one machine too.
    table = SqliteTable(tmp_path / "engram.db", clock=clock, page_bytes=20_000)
    yield table
    table.close()


@pytest.fixture
def fifo_queue(aws: str) -> str:
    """URL of an empty FIFO queue."""
    name = f"engram-{uuid.uuid4().hex}.fifo"
    attributes = {"FifoQueue": "true", "VisibilityTimeout": "1"}
    return str(client("sqs", aws)().create_queue(QueueName=name, Attributes=attributes)["QueueUrl"])


@pytest.fixture
def redriving_queue(aws: str) -> tuple[str, str]:
    """URLs of a FIFO queue and of its dead-letter queue, which takes messages after two deliveries."""
    sqs, name = client("sqs", aws)(), uuid.uuid4().hex
    dead = sqs.create_queue(QueueName=f"{name}-dead.fifo", Attributes={"FifoQueue": "true"})["QueueUrl"]
    arn = sqs.get_queue_attributes(QueueUrl=dead, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    policy = json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": "2"})
    attributes = {"FifoQueue": "true", "VisibilityTimeout": "1", "RedrivePolicy": policy}
    return sqs.create_queue(QueueName=f"{name}.fifo", Attributes=attributes)["QueueUrl"], dead
