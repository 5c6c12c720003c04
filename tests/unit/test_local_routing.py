"""The gateway of one machine: routes, refusals, what handlers see and what callers get back."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace
from urllib.parse import unquote

import pytest

from infra.local.functions import FunctionError
from infra.local.gateway import MAX_BODY_BYTES, Gateway
from infra.local.routing import RouteTable
from infra.local.template import Authorizer, Route

ROUTES = (
    Route("GET", "/v1/users/{user_id}", "Read", True),
    Route("GET", "/v1/users/special", "Special", True),
    Route("ANY", "/v1/users/{user_id}/things/{thing_id}", "Any", True),
    Route("PUT", "/v1/users/{user_id}/things/{thing_id}", "Put", True),
    Route("GET", "/open", "Read", False),
)


@pytest.mark.parametrize(
    ("method", "path", "expected"),
    [
        ("GET", "/v1/users/ann", ("Read", {"user_id": "ann"})),
        ("GET", "/v1/users/special", ("Special", {})),
        ("GET", "/v1/users/a%2Fb", ("Read", {"user_id": "a/b"})),
        ("GET", "/v1/users/%E7%94%A8%E6%88%B77", ("Read", {"user_id": "用户7"})),
        ("GET", "/v1/users/100%25", ("Read", {"user_id": "100%"})),
        ("DELETE", "/v1/users/a/things/b", ("Any", {"user_id": "a", "thing_id": "b"})),
        ("PUT", "/v1/users/a/things/b", ("Put", {"user_id": "a", "thing_id": "b"})),
        ("POST", "/v1/users/ann", None),
        ("GET", "/v1/users/", None),
        ("GET", "/v1/users", None),
        ("GET", "/v1/users/a/things", None),
        ("GET", "/v1/users/ann/", None),
        ("GET", "//v1/users/ann", None),
        ("GET", "/", None),
    ],
)
def test_a_request_takes_the_route_that_api_gateway_would_choose(method, path, expected):
    found = RouteTable(ROUTES).match(method, path)
    assert (found and (found[0].function, found[1])) == expected


def test_a_route_that_is_declared_twice_is_refused():
    with pytest.raises(ValueError, match="twice"):
        RouteTable([ROUTES[0], ROUTES[0]])


class Calls:
    """Functions that remember their events. The authorizer accepts the header `good`."""

    def __init__(self, **answers) -> None:
        self.events: dict[str, list] = {"Authorizer": []}
        self.answers = answers
        self.allowed = {"good"}

    def gateway(self, *, ttl: float = 60.0, timeout: float = 5.0) -> Gateway:
        functions = {name: self._function(name, timeout) for name in ("Authorizer", "Read", "Special", "Any", "Put")}
        authorizer = Authorizer("Authorizer", ("authorization",), ttl)
        return Gateway(
            routes=RouteTable(ROUTES), functions=functions, authorizer=authorizer, executor=ThreadPoolExecutor(4)
        )

    def _function(self, name: str, timeout: float):
        def call(event):
            self.events.setdefault(name, []).append(event)
            if name == "Authorizer":
                allowed = event["identitySource"][0] in self.allowed
                return {"isAuthorized": allowed, "context": {"business_id": "acme"} if allowed else None}
            answer = self.answers.get(name, {"statusCode": 200, "body": "{}"})
            return answer(event) if callable(answer) else answer

        call.spec = SimpleNamespace(timeout=timeout)  # type: ignore[attr-defined]
        return call


def ask(
    gateway: Gateway,
    method: str = "GET",
    path: str = "/v1/users/ann",
    *,
    key: str = "good",
    body: bytes = b"",
    query: bytes = b"",
):
    headers = [(b"host", b"localhost"), (b"x-many", b"1"), (b"X-Many", b"2")]
    if key:
        headers.append((b"Authorization", key.encode()))
    scope = {
        "type": "http",
        "method": method,
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query,
        "headers": headers,
        "client": ("127.0.0.1", 1),
    }
    sent = []
    parts = [body[at : at + 1_000_000] for at in range(0, len(body), 1_000_000)] or [b""]
    messages = [{"body": part, "more_body": number + 1 < len(parts)} for number, part in enumerate(parts)]

    async def receive():
        return messages.pop(0)

    async def send(message):
        sent.append(message)

    asyncio.run(gateway(scope, receive, send))
    return sent[0]["status"], dict(sent[0]["headers"]), sent[1]["body"]


def test_a_handler_sees_an_event_of_payload_format_2():
    calls = Calls()
    ask(calls.gateway(), path="/v1/users/a%2Fb", query=b"x=1&x=2&y=%C3%A9&empty=")
    event = calls.events["Read"][0]
    assert event["version"] == "2.0"
    assert event["routeKey"] == "GET /v1/users/{user_id}"
    assert event["pathParameters"] == {"user_id": "a/b"}
    assert event["rawQueryString"] == "x=1&x=2&y=%C3%A9&empty="
    assert event["queryStringParameters"] == {"x": "1,2", "y": "é", "empty": ""}
    assert event["headers"]["x-many"] == "1,2"
    assert event["requestContext"]["authorizer"] == {"lambda": {"business_id": "acme"}}
    assert "body" not in event


def test_a_body_that_is_not_text_arrives_as_base64():
    calls = Calls()
    ask(calls.gateway(), "PUT", "/v1/users/a/things/b", body='{"a":"é"}'.encode())
    ask(calls.gateway(), "PUT", "/v1/users/a/things/b", body=b"\xff\x00")
    text, binary = calls.events["Put"]
    assert (text["body"], text["isBase64Encoded"]) == ('{"a":"é"}', False)
    assert (base64.b64decode(binary["body"]), binary["isBase64Encoded"]) == (b"\xff\x00", True)


def test_no_key_is_401_without_asking_and_a_bad_key_403():
    calls = Calls()
    gateway = calls.gateway()
    assert ask(gateway, key="")[0] == 401
    assert calls.events["Authorizer"] == []
    assert ask(gateway, key="bad")[0] == 403
    assert "Read" not in calls.events


def test_an_open_route_asks_for_no_key():
    calls = Calls()
    assert ask(calls.gateway(), path="/open", key="")[0] == 200
    assert calls.events["Authorizer"] == []
    assert "authorizer" not in calls.events["Read"][0]["requestContext"]


def test_an_answer_of_the_authorizer_holds_for_its_time_and_for_its_key_only():
    calls = Calls()
    gateway = calls.gateway(ttl=0.2)
    for _ in range(3):
        assert ask(gateway)[0] == 200
    assert ask(gateway, key="bad")[0] == 403
    assert len(calls.events["Authorizer"]) == 2
    calls.allowed.clear()
    assert ask(gateway)[0] == 200
    time.sleep(0.25)
    assert ask(gateway)[0] == 403


def test_a_payload_above_what_the_gateway_takes_never_reaches_a_function():
    calls = Calls()
    assert ask(calls.gateway(), "PUT", "/v1/users/a/things/b", body=b"x" * (MAX_BODY_BYTES + 1))[0] == 413
    assert "Put" not in calls.events


def test_a_function_that_raises_is_a_500_and_one_that_takes_too_long_a_503():
    def fail(event):
        raise FunctionError("Read failed")

    assert ask(Calls(Read=fail).gateway())[0] == 500
    assert ask(Calls(Read=lambda event: time.sleep(0.4)).gateway(timeout=0.05))[0] == 503


def test_a_function_answers_with_headers_cookies_and_bytes():
    answer = {
        "statusCode": 201,
        "headers": {"Content-Type": "image/png", "X-Number": 7},
        "cookies": ["a=b"],
        "body": base64.b64encode(b"\x89PNG").decode(),
        "isBase64Encoded": True,
    }
    status, headers, body = ask(Calls(Read=answer).gateway())
    assert (status, body) == (201, b"\x89PNG")
    assert headers[b"content-type"] == b"image/png"
    assert headers[b"x-number"] == b"7"
    assert headers[b"set-cookie"] == b"a=b"
    assert headers[b"content-length"] == b"4"


def test_an_answer_without_a_status_is_a_json_body():
    status, headers, body = ask(Calls(Read={"hello": "wörld"}).gateway())
    assert (status, json.loads(body)) == (200, {"hello": "wörld"})
    assert headers[b"content-type"] == b"application/json"


def test_one_slow_answer_does_not_hold_up_another():
    def slow(event):
        time.sleep(0.5)
        return {"statusCode": 200, "body": ""}

    gateway = Calls(Read=slow).gateway()

    async def both():
        loop = asyncio.get_running_loop()
        start = loop.time()

        async def one(path):
            done = []
            scope = {
                "type": "http", "method": "GET", "path": path, "raw_path": path.encode(), "query_string": b"",
                "headers": [(b"authorization", b"good")], "client": ("127.0.0.1", 1),
            }  # fmt: skip

            async def receive():
                return {"body": b"", "more_body": False}

            async def send(message):
                done.append(loop.time() - start)

            await gateway(scope, receive, send)
            return done[-1]

        return await asyncio.gather(one("/v1/users/ann"), one("/v1/users/special"))

    slow_took, quick_took = asyncio.run(both())
    assert slow_took >= 0.5
    assert quick_took < 0.4
