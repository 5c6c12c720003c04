"""`sam deploy` to an emulator that executes CloudFormation: made, changed, taken away."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from infra.local.child import Child, free_port
from infra.local.emulated import CREDENTIALS, ENVIRONMENT
from tests.services import emulator_missing

STACK = "engram-test"
BUCKET = "artifacts"


@pytest.fixture(scope="module")
def aws(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """URL of an emulator with every service."""
    if why := emulator_missing():
        pytest.skip(why)
    folder, port = tmp_path_factory.mktemp("aws"), free_port()
    environment = {
        **CREDENTIALS,
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        "IOT_MTLS_ENABLED": "0",
        "LOG_LEVEL": "WARNING",
        "PYTHONPATH": "",
    }
    child = Child(
        "the emulator", [str(ENVIRONMENT / "bin" / "ministack")], port=port, log=folder / "log", environment=environment
    )
    child.wait_until_it_listens()
    yield f"http://127.0.0.1:{port}"
    child.stop()


def service(aws: str, name: str) -> Any:
    import boto3

    return boto3.client(
        name,
        endpoint_url=aws,
        region_name="us-east-1",
        aws_access_key_id=CREDENTIALS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
    )


def deploy(aws: str, built: Path, *parameters: str) -> subprocess.CompletedProcess[str]:
    command = [
        str(Path(sys.executable).with_name("sam")),
        "deploy",
        "--template-file",
        str(built / "template.yaml"),
        "--stack-name",
        STACK,
        "--s3-bucket",
        BUCKET,
        "--capabilities",
        "CAPABILITY_IAM",
        "CAPABILITY_AUTO_EXPAND",
        "--no-confirm-changeset",
        "--parameter-overrides",
        "Stage=test",
        *parameters,
    ]
    environment = {**os.environ, **CREDENTIALS, "AWS_ENDPOINT_URL": aws, "SAM_CLI_TELEMETRY": "0"}
    return subprocess.run(command, cwd=built, env=environment, capture_output=True, text=True)


@pytest.fixture(scope="module")
def deployed(aws: str, built: Path) -> str:
    service(aws, "s3").create_bucket(Bucket=BUCKET)
    done = deploy(aws, built)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    return aws


def resources(aws: str) -> dict[str, str]:
    pages = service(aws, "cloudformation").get_paginator("list_stack_resources").paginate(StackName=STACK)
    return {one["LogicalResourceId"]: one["ResourceStatus"] for page in pages for one in page["StackResourceSummaries"]}


def physical(aws: str, logical: str) -> str:
    found = service(aws, "cloudformation").describe_stack_resource(StackName=STACK, LogicalResourceId=logical)
    return str(found["StackResourceDetail"]["PhysicalResourceId"])


def test_every_resource_is_made(deployed):
    made = resources(deployed)
    assert {name for name, status in made.items() if not status.endswith("_COMPLETE")} == set()
    assert {"Table", "WorkQueue", "WorkDeadLetterQueue", "Blobs", "KeyPepper", "Api", "MonitoringStack"} <= set(made)
    assert len([name for name in made if name.endswith("Function")]) == 7


def test_the_table_and_the_queue_are_as_declared(deployed):
    table = service(deployed, "dynamodb").describe_table(TableName=physical(deployed, "Table"))["Table"]
    assert [index["IndexName"] for index in table["GlobalSecondaryIndexes"]] == ["by_index"]
    attributes = service(deployed, "sqs").get_queue_attributes(
        QueueUrl=physical(deployed, "WorkQueue"), AttributeNames=["All"]
    )["Attributes"]
    assert attributes["FifoQueue"] == "true"
    assert "workdeadletterqueue" in attributes["RedrivePolicy"].lower()


def test_the_queue_feeds_the_extractor_and_takes_back_only_what_failed(deployed):
    (mapping,) = service(deployed, "lambda").list_event_source_mappings()["EventSourceMappings"]
    assert mapping["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert mapping["BatchSize"] == 10
    assert "extractor" in mapping["FunctionArn"]


def test_functions_get_what_their_settings_ask_for(deployed):
    from engram.settings import Settings

    found = service(deployed, "lambda").get_function_configuration(FunctionName="engram-test-recall")
    variables = found["Environment"]["Variables"]
    settings = Settings.parse(variables)
    assert settings.stack == "aws"
    assert settings.table == physical(deployed, "Table")
    assert settings.queue_url == physical(deployed, "WorkQueue")
    assert settings.pepper_secret
    assert len(found["Layers"]) == 2


def test_an_update_changes_what_was_asked_and_keeps_the_table(deployed, built):
    before = physical(deployed, "Table")
    done = deploy(deployed, built, "RequestsPerMinute=120")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    found = service(deployed, "lambda").get_function_configuration(FunctionName="engram-test-context")
    assert found["Environment"]["Variables"]["ENGRAM_REQUESTS_PER_MINUTE"] == "120"
    assert physical(deployed, "Table") == before


def test_deleting_the_stack_leaves_the_data(deployed):
    table = physical(deployed, "Table")
    cloudformation = service(deployed, "cloudformation")
    cloudformation.delete_stack(StackName=STACK)
    cloudformation.get_waiter("stack_delete_complete").wait(
        StackName=STACK, WaiterConfig={"Delay": 1, "MaxAttempts": 90}
    )
    assert table in service(deployed, "dynamodb").list_tables()["TableNames"]
    assert service(deployed, "lambda").list_functions()["Functions"] == []
