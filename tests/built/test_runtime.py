"""The main job through built functions under the runtime interface emulator, on emulated AWS and a real Valkey."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import unquote

import pytest

from engram.access.scopes import ALL_SCOPES
from infra.build_layer import ROOT
from infra.local.client import Answer, Client
from infra.local.conversation import GUIDE, play
from infra.local.emulated import EmulatedStack
from infra.local.folder import Folder
from infra.local.gateway import Gateway
from infra.local.routing import RouteTable
from infra.local.template import read_service
from infra.local.worker import QueueWorker
from tests.built.runtime import LAYER, BuiltFunction, runtime_client
from tests.services import emulator_missing

PSEUDO = {"AWS::Region": "us-east-1", "AWS::Partition": "aws", "AWS::URLSuffix": "amazonaws.com"}
INIT_LIMIT_MS = 10_000.0
"""Lambda ends an INIT after ten seconds. What it takes on a quiet machine is for bench/context_init.py to say."""


class GatewayClient(Client):
    """The API's client, over a gateway in this process instead of a socket."""

    def __init__(self, gateway: Gateway, api_key: str) -> None:
        self._gateway = gateway
        self._headers = {"Authorization": f"Bearer {api_key}"}

    def call(self, method: str, path: str, body: Any = None) -> Answer:
        start = time.perf_counter()
        status, content = asyncio.run(self._ask(method, path, b"" if body is None else json.dumps(body).encode()))
        return Answer(status, json.loads(content), (time.perf_counter() - start) * 1000)

    async def _ask(self, method: str, path: str, body: bytes) -> tuple[int, bytes]:
        raw, _, query = path.partition("?")
        sent: list[Any] = []
        scope = {
            "type": "http",
            "method": method,
            "path": unquote(raw),
            "raw_path": raw.encode(),
            "query_string": query.encode(),
            "headers": [(name.encode(), value.encode()) for name, value in self._headers.items()],
            "client": ("127.0.0.1", 1),
        }

        async def receive() -> dict[str, Any]:
            return {"body": body, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        await self._gateway(scope, receive, send)
        return sent[0]["status"], sent[1]["body"]


@pytest.fixture(scope="module")
def deployed(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """All seven built functions, each in one environment, on one emulated stack."""
    if why := emulator_missing():
        pytest.skip(why)
    folder = Folder(tmp_path_factory.mktemp("deployed"))
    folder.prepare()
    stack = EmulatedStack(folder)
    service = read_service(ROOT / "template.yaml", parameters={"Stage": "test"}, physical=PSEUDO | dict(stack.physical))
    stack.prepare(service.resources)
    vocabulary = built / LAYER / "vocabulary"
    environment = {**service.environment, **stack.environment, "TIKTOKEN_CACHE_DIR": str(vocabulary)}
    client = runtime_client(ROOT / "build" / "awslambdaric")
    functions = {}
    for name, function in service.functions.items():
        artifact = built / name
        path = ":".join(map(str, (artifact, built / LAYER / "python", built / "EngramLayer" / "python", client)))
        log = folder.path / f"{name}.log"
        functions[name] = BuiltFunction(function, artifact=artifact, path=path, environment=environment, log=log)
    gateway = Gateway(
        routes=RouteTable(service.routes),
        functions=functions,  # type: ignore[arg-type]
        authorizer=service.authorizer,
        executor=ThreadPoolExecutor(8),
    )
    consumers = [function for function in functions.values() if function.spec.queue]
    workers = [QueueWorker(stack.source(one.spec.queue), one, region="us-east-1", threads=1) for one in consumers]
    for worker in workers:
        worker.start()
    yield SimpleNamespace(gateway=gateway, functions=functions, environment=environment, workers=workers)
    for worker in workers:
        worker.stop()
    for function in functions.values():
        function.stop()
    stack.stop()


@pytest.fixture(scope="module")
def client(deployed: SimpleNamespace) -> GatewayClient:
    from engram.bootstrap import Services
    from engram.settings import Settings

    with pytest.MonkeyPatch.context() as patch:
        for name, value in deployed.environment.items():
            patch.setenv(name, value)
        key = Services(Settings.parse(deployed.environment)).api_keys.create("acme", scopes=ALL_SCOPES)
    return GatewayClient(deployed.gateway, key.text)


@pytest.fixture(scope="module")
def played(client: GatewayClient) -> list[Any]:
    return list(play(client))


def test_the_conversation_is_the_same_as_on_one_machine(played):
    assert played[0].answer["support_status"] == "EMPTY"
    assert [step.answer["status"] for step in played if step.kind == "ingestion"] == ["SUCCEEDED"] * 3
    bundle = played[4].answer
    assert (bundle["support_status"], bundle["execution_status"]) == ("SUPPORTED", "COMPLETE")
    assert GUIDE in [evidence["text"] for evidence in bundle["evidence"]]
    assert bundle["resolution"]["temporal"]["intent"] == "PREVIOUS_RELATED"
    for fact in ("花生", "东京", "后端工程师"):
        assert fact in played[5].answer["data"]["context"]


def test_a_forged_key_is_refused_by_the_built_authorizer(deployed, client):
    forged = GatewayClient(deployed.gateway, "sk-acme-" + "A" * 43)
    assert forged.context("ann").status == 403


def test_the_built_sweep_runs(deployed):
    assert isinstance(deployed.functions["MaintenanceFunction"]({"source": "aws.events"}), dict)


def test_no_log_holds_what_was_said(deployed, played):
    for function in deployed.functions.values():
        assert "后端工程师" not in function.log
        assert "断桥残雪" not in function.log


def test_every_function_starts_before_lambda_gives_up(deployed, client, played, capsys):
    assert client.call("GET", "/v1/usage").status == 200
    times = {name: function.init_ms for name, function in deployed.functions.items()}
    with capsys.disabled():
        shown = ", ".join(f"{name.removesuffix('Function')} {ms:.0f} ms" for name, ms in times.items())
        sys.stdout.write(f"\nINIT {shown}")
    assert max(times.values()) < INIT_LIMIT_MS
