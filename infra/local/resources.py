"""Makes the template's table, queues, bucket and secret in an emulator, from the properties that the template gives."""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from typing import Any

from infra.local.events import ACCOUNT

PREFIX = "engram-local"


def physical_names(document: Mapping[str, Any], *, endpoint: str, region: str) -> dict[str, str]:
    """What `Ref` and `GetAtt` answer for the resources that an emulator holds, by the rules of their types."""
    names: dict[str, str] = {}
    for logical, spec in document["Resources"].items():
        name = f"{PREFIX}-{logical.lower()}"
        match spec["Type"]:
            case "AWS::DynamoDB::Table":
                names |= {logical: name, f"{logical}.Arn": f"arn:aws:dynamodb:{region}:{ACCOUNT}:table/{name}"}
            case "AWS::SQS::Queue":
                queue = f"{name}.fifo" if spec["Properties"].get("FifoQueue") else name
                names |= {
                    logical: f"{endpoint}/{ACCOUNT}/{queue}",
                    f"{logical}.Arn": f"arn:aws:sqs:{region}:{ACCOUNT}:{queue}",
                    f"{logical}.QueueName": queue,
                }
            case "AWS::S3::Bucket":
                names |= {logical: name, f"{logical}.Arn": f"arn:aws:s3:::{name}"}
            case "AWS::SecretsManager::Secret":
                names[logical] = name
    return names


def create(resources: Mapping[str, Any], names: Mapping[str, str], *, client: Any) -> None:
    """Makes what is missing. `client` gives a boto3 client of a service by its name."""
    queues = [(logical, spec) for logical, spec in resources.items() if spec["Type"] == "AWS::SQS::Queue"]
    queues.sort(key=lambda pair: "RedrivePolicy" in pair[1]["Properties"])  # a dead-letter queue before its source
    for logical, spec in queues:
        _queue(client("sqs"), names[f"{logical}.QueueName"], spec["Properties"])
    for logical, spec in resources.items():
        match spec["Type"]:
            case "AWS::DynamoDB::Table":
                _table(client("dynamodb"), names[logical], spec["Properties"])
            case "AWS::S3::Bucket":
                _bucket(client("s3"), names[logical])
            case "AWS::SecretsManager::Secret":
                _secret(client("secretsmanager"), names[logical])


def _queue(sqs: Any, name: str, properties: Mapping[str, Any]) -> None:
    attributes = {key: _text(value) for key, value in properties.items() if key != "SqsManagedSseEnabled"}
    sqs.create_queue(QueueName=name, Attributes=attributes)


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value) if isinstance(value, dict) else str(value)


def _table(dynamodb: Any, name: str, properties: Mapping[str, Any]) -> None:
    if name in dynamodb.list_tables()["TableNames"]:
        return
    taken = ("BillingMode", "AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes")
    dynamodb.create_table(TableName=name, **{key: properties[key] for key in taken})
    dynamodb.update_time_to_live(TableName=name, TimeToLiveSpecification=properties["TimeToLiveSpecification"])


def _bucket(s3: Any, name: str) -> None:
    if name not in (bucket["Name"] for bucket in s3.list_buckets()["Buckets"]):
        s3.create_bucket(Bucket=name)


def _secret(manager: Any, name: str) -> None:
    if name not in (secret["Name"] for secret in manager.list_secrets()["SecretList"]):
        manager.create_secret(Name=name, SecretString=secrets.token_hex(32))
