"""Routing of HTTP events: many at once, odd ids, verbs after ids, and scopes."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from engram.access.scopes import KeyScope, needs
from engram.api.http import entrypoint, resolver
from engram.api.resolver import route_key
from infra.local.events import HttpRequest, http_event

ALL = {"business_id": "acme", "scopes": "read write admin"}


def event(method: str, key: str, parameters: dict | None = None, claims: dict | None = ALL, path: str = "/x") -> dict:
    request = HttpRequest(method, path, "", {"host": "localhost"}, b"", "127.0.0.1")
    return http_event(request, route_key=key, parameters=parameters or {}, authorizer=claims)


def answer(app, *arguments, **options) -> tuple[int, dict]:
    response = entrypoint(app)(event(*arguments, **options), None)
    return response["statusCode"], json.loads(response["body"])


def test_requests_that_run_at_the_same_time_do_not_see_each_other():
    app = resolver()
    together = threading.Barrier(8, timeout=10)

    @app.get("/v1/users/<user_id>")
    def whoami(user_id: str) -> dict:
        together.wait()
        seen = app.current_event.raw_event["pathParameters"]["user_id"]
        together.wait()
        return {"asked": user_id, "seen": seen}

    def ask(number: int) -> tuple[int, dict]:
        return answer(app, "GET", "GET /v1/users/{user_id}", {"user_id": f"u{number}"})

    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(ask, range(8)))
    assert answers == [(200, {"asked": f"u{number}", "seen": f"u{number}"}) for number in range(8)]


@pytest.mark.parametrize("user_id", ["用户7", "a/b", "a#b", 'q"uote', "a b", "100%", "%41", "..", "a?b", "é\u0301"])
def test_an_id_arrives_as_the_gateway_decoded_it(user_id):
    app = resolver()

    @app.get("/v1/users/<user_id>")
    def whoami(user_id: str) -> dict:
        return {"user_id": user_id}

    assert answer(app, "GET", "GET /v1/users/{user_id}", {"user_id": user_id}) == (200, {"user_id": user_id})


def test_a_verb_after_an_id_is_a_route_of_its_own():
    app = resolver()

    @app.post("/v1/operations/<operation_id>:retry")
    def retry(operation_id: str) -> dict:
        return {"retried": operation_id}

    @app.post("/v1/operations/<operation_id>")
    def plain(operation_id: str) -> dict:
        return {"plain": operation_id}

    key = "POST /v1/operations/{operation_id}"
    assert answer(app, "POST", key, {"operation_id": "o1:retry"}) == (200, {"retried": "o1"})
    assert answer(app, "POST", key, {"operation_id": "o1"}) == (200, {"plain": "o1"})


def test_an_any_route_leads_to_the_method_that_was_used():
    app = resolver()

    @app.get("/v1/users/<user_id>")
    def read(user_id: str) -> dict:
        return {"read": user_id}

    @app.delete("/v1/users/<user_id>")
    def delete(user_id: str) -> dict:
        return {"deleted": user_id}

    assert answer(app, "DELETE", "ANY /v1/users/{user_id}", {"user_id": "u"}) == (200, {"deleted": "u"})
    assert answer(app, "PATCH", "ANY /v1/users/{user_id}", {"user_id": "u"})[0] == 404


def test_an_event_without_a_route_key_is_routed_by_its_path():
    app = resolver()

    @app.get("/v1/users/<user_id>")
    def read(user_id: str) -> dict:
        return {"read": user_id}

    assert answer(app, "GET", "$default", path="/v1/users/u7") == (200, {"read": "u7"})


@pytest.mark.parametrize(
    ("method", "scopes", "status"),
    [
        ("GET", "read", 200),
        ("GET", "write admin", 403),
        ("GET", "", 403),
        ("POST", "write", 200),
        ("POST", "read", 403),
        ("PUT", "admin", 200),
        ("PUT", "read write", 403),
    ],
)
def test_a_key_does_what_its_scopes_say(method, scopes, status):
    app = resolver()

    @app.get("/v1/things")
    @app.post("/v1/things")
    def read_or_write() -> dict:
        return {}

    @app.put("/v1/things")
    @needs(KeyScope.ADMIN)
    def administer() -> dict:
        return {}

    claims = {"business_id": "acme", "scopes": scopes}
    for key in (f"{method} /v1/things", "$default"):
        found, body = answer(app, method, key, claims=claims, path="/v1/things")
        assert found == status
        assert status == 200 or body["code"] == "SCOPE_MISSING"


def test_scopes_cannot_be_slipped_in_as_a_part_of_a_word():
    app = resolver()

    @app.get("/v1/things")
    def read() -> dict:
        return {}

    claims = {"business_id": "acme", "scopes": "readonly xread read-write"}
    assert answer(app, "GET", "GET /v1/things", claims=claims)[0] == 403


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("/v1/things", "GET /v1/things"),
        ("/v1/things/<thing_id>", "GET /v1/things/{thing_id}"),
        ("/v1/things/<thing_id>:retry", "GET /v1/things/{thing_id}"),
        ("/v1/<a>/of/<b>", "GET /v1/{a}/of/{b}"),
    ],
)
def test_the_gateway_spells_a_declared_route_its_own_way(path, key):
    assert route_key("GET", path) == key
