"""The embedded stack inside a test: real services on a temporary folder, the real handlers, no sockets."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import quote, urlencode

from engram import bootstrap
from engram.adapters.local_queue import LocalQueue
from engram.api.queue import queue_entrypoint
from engram.api.resolver import route_key
from engram.bootstrap import Services
from engram.domain.models import Role
from engram.domain.scope import Scope
from engram.ingestion.models import Accepted, IncomingMessage, IngestionRequest
from engram.settings import Settings
from infra.local.events import queue_event
from tests.builders import MovableClock

ROOT = Path(__file__).resolve().parents[1]
QUIET = Settings(embedder="none", search="partition", cache="memory", pepper="a pepper for tests only")
"""No encoder: what a test is about is rarely a vector, and loading one takes a second."""


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.text.splitlines()]


class Embedded:
    """Services on `folder`, and what a test does with them: say, drain, call, count.

    Args:
        settings: further settings; the folder is put in.
    """

    def __init__(self, folder: Path, *, clock: MovableClock | None = None, **settings: Any) -> None:
        self.clock = clock or MovableClock()
        fields = {name: getattr(QUIET, name) for name in Settings.__slots__} | settings
        self.services = Services(Settings(**{**fields, "data_dir": str(folder)}), clock=self.clock)
        # Failed deliveries come again at once: a test waits for nothing.
        self.services.__dict__["local_queue"] = LocalQueue(backoff_seconds=0.0)
        self.business = "acme"
        self._counter = 0

    def scope(self, user: str = "u1", business: str = "acme") -> Scope:
        return Scope(business, user)

    def say(
        self, *texts: str, user: str = "u1", session: str = "s1", flush: bool = True, drain: bool = True, **fields: Any
    ) -> Accepted:
        """Ingests user messages of one request and works the queue off."""
        self._counter += 1
        role = fields.pop("role", Role.USER)
        ids: Iterable[str] = fields.pop("ids", [""] * len(texts))
        business = fields.pop("business", self.business)
        request = IngestionRequest(
            request_id=fields.pop("request_id", f"request-{self._counter}"),
            session_id=session,
            messages=tuple(IncomingMessage(role, text, message_id=one) for text, one in zip(texts, ids, strict=True)),
            flush=flush,
            **fields,
        )
        accepted = self.services.ingestion.accept(Scope(business, user), request)
        if drain:
            self.drain()
        return accepted

    def drain(self, *, deliveries: int = 10_000) -> int:
        """Works the queue off through the extractor's handler; the number of messages worked on."""
        handler = queue_entrypoint(lambda: self.services.extractor)
        queue = self.services.local_queue
        worked = 0
        for _ in range(deliveries):
            batch = queue.receive(10)
            if not batch:
                break
            worked += len(batch)
            answer = handler(queue_event(batch, queue="engram", region="local"), None)
            failed = {one["itemIdentifier"] for one in answer["batchItemFailures"]}
            for message in batch:
                (queue.failed if message.message_id in failed else queue.done)(message.receipt)
        return worked

    def call(
        self,
        function: str,
        route: str,
        *,
        body: Any = None,
        query: dict[str, Any] | None = None,
        business: str = "acme",
        scopes: str = "read write admin",
        **parameters: str,
    ) -> Answer:
        """The answer of a function's handler to `"METHOD /path/<id>"`, as the gateway would pass it on."""
        method, _, path = route.partition(" ")
        event = {
            "version": "2.0",
            "routeKey": route_key(method, path),
            "rawPath": _filled(path, parameters),
            "rawQueryString": urlencode(query or {}, doseq=True),
            "headers": {"content-type": "application/json"},
            "requestContext": {
                "http": {"method": method, "path": _filled(path, parameters)},
                "requestId": "test",
                "authorizer": {"lambda": {"business_id": business, "scopes": scopes, "key_id": "k"}},
            },
            "queryStringParameters": {name: str(value) for name, value in (query or {}).items()},
            "pathParameters": {name: _with_verb(path, name, value) for name, value in parameters.items()},
            "body": body if isinstance(body, str) else (json.dumps(body) if body is not None else None),
            "isBase64Encoded": False,
        }
        bootstrap.use(self.services)
        try:
            answer = function_module(function).handler(event, None)
        finally:
            bootstrap.use(None)
        return Answer(answer["statusCode"], dict(answer.get("headers") or {}), answer.get("body") or "")


@cache
def function_module(name: str) -> ModuleType:
    """A function's `app.py`, under a name of its own."""
    spec = importlib.util.spec_from_file_location(f"function_{name}", ROOT / "functions" / name / "app.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def _filled(path: str, parameters: dict[str, str]) -> str:
    for name, value in parameters.items():
        path = path.replace(f"<{name}>", quote(value, safe=""))
    return path


def _with_verb(path: str, name: str, value: str) -> str:
    _, found, after = path.partition(f"<{name}>:")
    return f"{value}:{after.split('/')[0]}" if found else value
