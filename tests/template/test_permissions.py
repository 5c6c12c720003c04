"""Each function makes its calls on a stand-in for AWS, and every one of them is allowed by the function's own role.

Stand-ins let everything through, so a statement that a role lacks shows on AWS only. Here the calls are written down.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import boto3
import pytest
from botocore.client import BaseClient
from moto import mock_aws

from engram import bootstrap
from engram.access.scopes import KeyScope
from engram.bootstrap import Services
from engram.settings import Settings
from infra.local.events import ACCOUNT, HttpRequest, authorizer_event, http_event
from infra.local.functions import LoadedFunction
from infra.local.resources import create, physical_names
from infra.local.routing import RouteTable
from infra.local.template import read_service

ROOT = Path(__file__).resolve().parents[2]
REGION = "us-east-1"
BUSINESS = "acme"
USER = "3f0c7a52-7d5f-4b1c-9a51-0c8f4d1f2e11"
PARAMETERS = {"Embedder": "none", "BufferTokens": "1"}

SERVICES = {"DynamoDB": "dynamodb", "S3": "s3", "SQS": "sqs", "SecretsManager": "secretsmanager"}
"""Which calls are written down, and how IAM spells their services."""

NAMED_OTHERWISE = {"s3:ListObjectsV2": "s3:ListBucket", "s3:DeleteObjects": "s3:DeleteObject"}

WRITES = {"Put": "dynamodb:PutItem", "Delete": "dynamodb:DeleteItem", "ConditionCheck": "dynamodb:ConditionCheckItem"}

Call = tuple[str, str]
"""An IAM action and the resource that it is done to, as the call names it."""


def calls_of(service: str, operation: str, arguments: dict[str, Any]) -> set[Call]:
    """What IAM is asked about one call. A transaction is asked about write by write."""
    if operation == "TransactWriteItems":
        return {(WRITES[kind], write["TableName"]) for one in arguments["TransactItems"] for kind, write in one.items()}
    action = f"{SERVICES[service]}:{operation}"
    named = (
        arguments.get("TableName") or arguments.get("Bucket") or arguments.get("QueueUrl") or arguments.get("SecretId")
    )
    names = [str(named)] if named else list(arguments["RequestItems"])
    return {
        (NAMED_OTHERWISE.get(action, action), name + ("/index" if arguments.get("IndexName") else "")) for name in names
    }


class Functions:
    """The seven functions on a stand-in for AWS, each with what it has called so far."""

    def __init__(self, document: dict[str, Any]) -> None:
        names = physical_names(document, endpoint=f"https://sqs.{REGION}.amazonaws.com", region=REGION)
        service = read_service(ROOT / "template.yaml", parameters=PARAMETERS, physical=names)
        create(service.resources, names, client=lambda name: boto3.client(name, region_name=REGION))
        self.logical = {names[name]: name for name in ("Table", "Blobs", "WorkQueue", "KeyPepper")}
        self.made: dict[str, set[Call]] = {}
        self._queue = names["WorkQueue"]
        self._settings = Settings.parse({**service.environment, "ENGRAM_REGION": REGION})
        self._routes = RouteTable(service.routes)
        self._loaded = {name: LoadedFunction(one, root=ROOT, region=REGION) for name, one in service.functions.items()}
        self._present = ""
        self.key = Services(self._settings).api_keys.create(BUSINESS, scopes=tuple(KeyScope)).text

    def note(self, service: str, operation: str, arguments: dict[str, Any]) -> None:
        if self._present and service in SERVICES:
            found = calls_of(service, operation, arguments)
            self.made.setdefault(self._present, set()).update(
                (action, self.logical[name.removesuffix("/index")] + ("/index" if name.endswith("/index") else ""))
                for action, name in found
            )

    def invoke(self, name: str, event: dict[str, Any]) -> Any:
        """One call of a function in a process of its own: nothing is shared but what AWS keeps."""
        services = Services(self._settings)
        bootstrap.use(services)
        self._present = name
        try:
            return self._loaded[name](event)
        finally:
            services.meter.flush()
            self._present = ""
            bootstrap.use(None)

    def authorize(self) -> Any:
        request = HttpRequest("GET", "/", "", {"authorization": f"Bearer {self.key}"}, b"", "127.0.0.1")
        event = authorizer_event(request, route_key="", identity=[f"Bearer {self.key}"], arn="arn")
        return self.invoke("AuthorizerFunction", event)

    def http(self, method: str, path: str, body: Any = None) -> Any:
        """The decoded answer of the function that the template's route names."""
        plain, _, query = path.partition("?")
        found = self._routes.match(method, plain)
        assert found is not None, path
        route, parameters = found
        content = json.dumps(body).encode() if body is not None else b""
        request = HttpRequest(method, plain, query, {"host": "api"}, content, "127.0.0.1")
        claims = {"business_id": BUSINESS, "scopes": " ".join(KeyScope), "key_id": "k"}
        answer = self.invoke(
            route.function, http_event(request, route_key=route.key, parameters=parameters, authorizer=claims)
        )
        assert answer["statusCode"] < 300, (path, answer["statusCode"], answer["body"][:300])
        decoded = json.loads(answer["body"])
        assert decoded.get("errno", 0) == 0, (path, decoded["errmsg"])  # Memobase's errors come with a 200
        return decoded

    def work(self) -> None:
        """Gives the extractor what waits in the queue, until nothing does."""
        sqs = boto3.client("sqs", region_name=REGION)
        while rows := sqs.receive_message(QueueUrl=self._queue, MaxNumberOfMessages=10, AttributeNames=["All"]).get(
            "Messages"
        ):
            records = [
                {
                    "messageId": row["MessageId"],
                    "body": row["Body"],
                    "attributes": {"ApproximateReceiveCount": "1", **row["Attributes"]},
                    "eventSource": "aws:sqs",
                }
                for row in rows
            ]
            assert self.invoke("ExtractorFunction", {"Records": records}) == {"batchItemFailures": []}
            for row in rows:
                sqs.delete_message(QueueUrl=self._queue, ReceiptHandle=row["ReceiptHandle"])


@pytest.fixture(scope="module")
def functions_on_aws(written) -> Iterator[Functions]:
    made: list[Functions] = []
    plain = BaseClient._make_api_call

    def noted(client: Any, operation: str, arguments: dict[str, Any]) -> Any:
        for one in made:
            one.note(client.meta.service_model.service_id.replace(" ", ""), operation, arguments)
        return plain(client, operation, arguments)

    with pytest.MonkeyPatch.context() as patch, mock_aws():
        patch.setenv("MOTO_ACCOUNT_ID", ACCOUNT)
        for name in [name for name in os.environ if name.startswith("ENGRAM_")]:
            patch.delenv(name)
        patch.setenv("AWS_ACCESS_KEY_ID", "testing")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "testing")
        patch.setattr(BaseClient, "_make_api_call", noted)
        functions = Functions(written)
        made.append(functions)
        live(functions)
        yield functions


def live(functions: Functions) -> None:
    """A user's life, long text included: told, recalled, listed page by page, exported, corrected, deleted."""
    functions.authorize()
    for number, text in enumerate(
        ("I live in Oslo and I am allergic to peanuts.", "A long guide to Oslo. " * 20_000, "好的")
    ):
        message = {"role": "user", "content": text}
        body = {"request_id": f"r{number}", "user_id": USER, "session_id": "s1", "messages": [message]}
        functions.http("POST", "/v1/memory/ingestions", body)
        functions.work()
    functions.http("POST", "/v1/memory/flushes", {"user_id": USER})
    functions.work()
    functions.http("POST", "/v1/memory/recall", {"query": "the guide to Oslo", "user_id": USER, "session_id": "s2"})
    functions.http("POST", "/v1/memory/resolve", {"query": "what about Oslo", "user_id": USER, "session_id": "s2"})
    functions.http("GET", f"/api/v1/users/context/{USER}")
    first = functions.http("GET", f"/v1/users/{USER}/messages?limit=1")
    functions.http("GET", f"/v1/users/{USER}/messages?limit=1&cursor={first['next_cursor']}")
    for kind in ("conversations", "events", "memories", "slots"):
        functions.http("GET", f"/v1/users/{USER}/{kind}?limit=1")
    functions.http("GET", "/v1/catalog/topics")
    functions.http("GET", "/v1/catalog/unresolved")
    functions.http("GET", "/v1/usage")
    blob = {"blob_type": "chat", "blob_data": {"messages": [{"role": "user", "content": "I play chess."}]}}
    made = functions.http("POST", f"/api/v1/blobs/insert/{USER}", blob)
    functions.work()
    functions.http("DELETE", f"/api/v1/blobs/{USER}/{made['data']['id']}")
    functions.work()
    functions.invoke("MaintenanceFunction", {})
    functions.http("DELETE", f"/v1/users/{USER}")
    functions.work()


def allowed(written: dict[str, Any], function: str) -> set[Call]:
    """What the function's role lets it do to the installation's own resources."""
    role = written["Resources"][function]["Properties"]["Role"]["Fn::GetAtt"][0]
    (policy,) = written["Resources"][role]["Properties"]["Policies"]
    found: set[Call] = set()
    for statement in policy["PolicyDocument"]["Statement"]:
        if "Fn::If" in statement:  # the search, the cache and the models are no calls of botocore's four services here
            continue
        actions, resources = statement["Action"], statement["Resource"]
        for action in [actions] if isinstance(actions, str) else actions:
            found |= {
                (action, resource_name(one)) for one in (resources if isinstance(resources, list) else [resources])
            }
    return found


def resource_name(written_as: Any) -> str:
    """`Table`, or `Table/index`, of however a statement names it."""
    if isinstance(written_as, str):
        return written_as
    text = written_as.get("Ref") or written_as.get("Fn::Sub") or written_as["Fn::GetAtt"][0]
    name = text.removeprefix("${").partition(".")[0].partition("}")[0]
    return f"{name}/index" if "/index/" in text else name


FUNCTIONS: Sequence[str] = [
    f"{name}Function" for name in "Authorizer Recall Context Ingestion Extractor Management Maintenance".split()
]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_role_allows_every_call_that_its_function_makes(functions_on_aws, written, function):
    assert functions_on_aws.made[function], "it called nothing"
    assert functions_on_aws.made[function] - allowed(written, function) == set()


@pytest.mark.parametrize("function", ["AuthorizerFunction", "RecallFunction", "ContextFunction"])
def test_a_function_that_reads_is_allowed_nothing_that_it_does_not_do(functions_on_aws, written, function):
    ours = {(action, name) for action, name in allowed(written, function) if action.split(":")[0] in SERVICES.values()}
    said_when_missing = {("s3:ListBucket", "Blobs")}
    assert ours - functions_on_aws.made[function] - said_when_missing == set()


@pytest.mark.parametrize("function", ["RecallFunction", "IngestionFunction", "ExtractorFunction", "ManagementFunction"])
def test_a_text_that_is_gone_is_told_from_one_that_is_refused(written, function):
    """S3 answers a missing object with 404 only to who may list the bucket."""
    may = allowed(written, function)
    assert ("s3:GetObject", "Blobs") in may
    assert ("s3:ListBucket", "Blobs") in may


def test_every_function_that_deletes_reaches_the_cache(written):
    """A hot profile that outlived its deletion would go on being served."""
    for name, spec in written["Resources"].items():
        if spec["Type"] != "AWS::Serverless::Function":
            continue
        deletes = "DELETE" in (ROOT / "template.yaml").read_text().split(f"\n  {name}:\n")[1].split("\n\n")[0]
        role = written["Resources"][spec["Properties"]["Role"]["Fn::GetAtt"][0]]
        if deletes:
            assert "elasticache:Connect" in json.dumps(role), name


class TestSearch:
    def test_functions_that_read_cannot_write_to_the_collection(self, written):
        readers, writers = collection_rules(written)
        assert readers["Principal"] == ["${RecallRole.Arn}", "${ContextRole.Arn}"]
        (rule,) = readers["Rules"]
        assert rule["Permission"] == ["aoss:DescribeIndex", "aoss:ReadDocument"]
        assert set(readers["Principal"]) & set(writers["Principal"]) == set()

    def test_functions_that_index_may_name_an_index(self, written):
        """Aliases belong to the collection: an index that could not be given one would answer nobody."""
        _, writers = collection_rules(written)
        granted = {rule["ResourceType"]: set(rule["Permission"]) for rule in writers["Rules"]}
        assert {"aoss:CreateCollectionItems", "aoss:UpdateCollectionItems"} <= granted["collection"]
        assert {"aoss:CreateIndex", "aoss:WriteDocument"} <= granted["index"]

    @pytest.mark.parametrize("role", ["RecallRole", "ContextRole"])
    def test_functions_that_read_cannot_put_or_delete_in_a_domain(self, written, role):
        text = json.dumps(written["Resources"][role])
        assert "es:ESHttpPost" in text
        assert "es:ESHttpPut" not in text
        assert "es:ESHttpDelete" not in text


def collection_rules(written: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    policy = written["Resources"]["SearchAccess"]["Properties"]["Policy"]["Fn::Sub"]
    readers, writers = json.loads(policy)
    return readers, writers
