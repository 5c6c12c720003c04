"""HTTP on one side, functions on the other: the part that API Gateway plays on AWS.

A request becomes an authorizer event (answers are held as long as the template says), then an event of payload
format 2.0; handlers run in threads, so one slow answer does not hold up another.
"""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from concurrent.futures import Executor
from typing import Any

from infra.local.events import HttpRequest, authorizer_event, gather_headers, http_event
from infra.local.functions import FunctionError, LoadedFunction
from infra.local.routing import RouteTable
from infra.local.template import Authorizer, Route

MAX_BODY_BYTES = 10 * 1024 * 1024
"""An HTTP API refuses larger payloads."""

INTEGRATION_TIMEOUT_SECONDS = 30.0
"""An HTTP API's hard limit on one integration."""

_JSON = (b"content-type", b"application/json")
_MAX_HELD_DECISIONS = 10_000

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Decision = dict[str, Any] | None


class Gateway:
    """An ASGI application over loaded functions."""

    def __init__(
        self,
        *,
        routes: RouteTable,
        functions: Mapping[str, LoadedFunction],
        authorizer: Authorizer,
        executor: Executor,
    ) -> None:
        self._routes = routes
        self._functions = functions
        self._authorizer = authorizer
        self._executor = executor
        self._held: dict[tuple[str, ...], tuple[float, Decision]] = {}

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        status, headers, body = await self._answer(scope, receive)
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    async def _answer(self, scope: MutableMapping[str, Any], receive: Receive) -> Answer:
        found = self._routes.match(scope["method"], scope["raw_path"].decode("latin-1"))
        if found is None:
            return _refusal(404, "Not Found")
        body = await _read_body(receive)
        if body is None:
            return _refusal(413, "Request Entity Too Large")
        route, parameters = found
        client = scope["client"][0] if scope.get("client") else "127.0.0.1"
        request = HttpRequest(
            scope["method"],
            scope["path"],
            scope["query_string"].decode("latin-1"),
            gather_headers(scope["headers"]),
            body,
            client,
        )
        authorized: Decision = None
        if route.authorized:
            identity = tuple(request.headers.get(header, "") for header in self._authorizer.headers)
            if not all(identity):
                return _refusal(401, "Unauthorized")
            try:
                authorized = await self._decide(request, route, identity)
            except (FunctionError, TimeoutError):
                return _refusal(500, "Internal Server Error")
            if authorized is None:
                return _refusal(403, "Forbidden")
        return await self._invoke(request, route, parameters, authorized)

    async def _decide(self, request: HttpRequest, route: Route, identity: tuple[str, ...]) -> Decision:
        """The authorizer's context for this identity, or None if it says no. Held for every route alike."""
        held = self._held.get(identity)
        now = time.monotonic()
        if held is not None and held[0] > now:
            return held[1]
        function = self._functions[self._authorizer.function]
        event = authorizer_event(request, route_key=route.key, identity=identity, arn=f"local/{route.key}")
        answer = await self._call(function, event)
        decision = dict(answer.get("context") or {}) if answer.get("isAuthorized") is True else None
        if len(self._held) >= _MAX_HELD_DECISIONS:
            self._held.clear()
        self._held[identity] = (now + self._authorizer.ttl_seconds, decision)
        return decision

    async def _invoke(
        self, request: HttpRequest, route: Route, parameters: dict[str, str], authorized: Decision
    ) -> Answer:
        event = http_event(request, route_key=route.key, parameters=parameters, authorizer=authorized)
        try:
            return _response(await self._call(self._functions[route.function], event))
        except FunctionError:
            return _refusal(500, "Internal Server Error")
        except TimeoutError:
            return _refusal(503, "Service Unavailable")

    async def _call(self, function: LoadedFunction, event: dict[str, Any]) -> Any:
        timeout = min(function.spec.timeout, INTEGRATION_TIMEOUT_SECONDS)
        async with asyncio.timeout(timeout):
            return await asyncio.get_running_loop().run_in_executor(self._executor, function, event)


Answer = tuple[int, list[tuple[bytes, bytes]], bytes]


async def _read_body(receive: Receive) -> bytes | None:
    """The whole body, or None as soon as it is larger than the gateway takes."""
    message = await receive()
    body: bytes = message.get("body", b"")
    if not message.get("more_body"):
        return body if len(body) <= MAX_BODY_BYTES else None
    parts, size = [body], len(body)
    while message.get("more_body"):
        message = await receive()
        part = message.get("body", b"")
        size += len(part)
        if size > MAX_BODY_BYTES:
            return None
        parts.append(part)
    return b"".join(parts)


def _refusal(status: int, message: str) -> Answer:
    """What API Gateway itself answers."""
    content = json.dumps({"message": message}).encode()
    return status, [_JSON, (b"content-length", str(len(content)).encode())], content


def _response(answer: Any) -> Answer:
    """A handler's answer as HTTP: format 2.0, or anything else as a JSON body."""
    if not isinstance(answer, dict) or "statusCode" not in answer:
        return 200, [_JSON], json.dumps(answer).encode()
    body = answer.get("body") or ""
    content = base64.b64decode(body) if answer.get("isBase64Encoded") else body.encode()
    headers = [
        (name.lower().encode("latin-1"), str(value).encode("latin-1"))
        for name, value in (answer.get("headers") or {}).items()
    ]
    headers += [(b"set-cookie", cookie.encode("latin-1")) for cookie in answer.get("cookies") or ()]
    if not any(name == b"content-type" for name, _ in headers):
        headers.append(_JSON)
    headers.append((b"content-length", str(len(content)).encode()))
    return int(answer["statusCode"]), headers, content
