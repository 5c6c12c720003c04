"""Deletion, export and import over HTTP, on both stacks: how an application keeps its data in order."""

from __future__ import annotations

import json
import time
import urllib.request
import uuid
from typing import Any

import pytest

from infra.local.client import Client
from tests.services import RunningService

HAZELNUTS = "I can't eat hazelnuts."


def raw(service: RunningService, method: str, path: str, body: str | None = None) -> tuple[int, str]:
    """A request whose body or answer is not one JSON value."""
    headers = {"Authorization": f"Bearer {service.api_key}", "Content-Type": "application/x-ndjson"}
    data = body.encode() if body is not None else None
    request = urllib.request.Request(service.url + path, data=data, method=method, headers=headers)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.status, answer.read().decode()


def said(client: Client, user: str, *texts: str, ids: list[str], session: str = "s1") -> dict[str, Any]:
    messages = [{"role": "user", "content": text, "message_id": one} for text, one in zip(texts, ids, strict=True)]
    body = {"request_id": uuid.uuid4().hex, "user_id": user, "session_id": session, "messages": messages, "flush": True}
    return client.wait(client.ingest(body))


def deleted(client: Client, path: str) -> str:
    answer = client.call("DELETE", path)
    assert answer.status == 202, answer.body
    return str(answer.body["operation_id"])


def what_is_known(client: Client, user: str) -> str:
    recall = {"query": "what can I not eat?", "user_id": user, "session_id": "now"}
    return json.dumps([client.context(user).body, client.call("POST", "/v1/memory/recall", recall).body])


def test_a_deleted_message_is_in_no_answer_within_a_second(client, user):
    said(client, user, HAZELNUTS, "I live in Tokyo.", ids=["m1", "m2"])
    assert "hazelnuts" in what_is_known(client, user)
    began = time.monotonic()
    operation_id = deleted(client, f"/v1/users/{user}/messages/m1")
    assert "hazelnuts" not in what_is_known(client, user)
    assert time.monotonic() - began < 1.0
    receipt = client.wait(operation_id)["result"]
    assert receipt["before"]["messages"] == 1
    assert set(receipt["after"].values()) == {0}
    assert "Tokyo" in what_is_known(client, user)
    assert "hazelnuts" not in what_is_known(client, user)


def test_a_deleted_user_leaves_a_receipt_and_nothing_else(client, user):
    neighbour = f"{user}0"
    said(client, neighbour, "I live in Oslo.", ids=["n1"])
    for number in range(37):
        body = {"role": "user", "content": f"I own grinder no. {number}"}
        operation_id = client.ingest(
            {"request_id": f"r{number}", "user_id": user, "session_id": f"s{number}", "messages": [body]}
        )
    client.wait(operation_id)
    operation = client.wait(deleted(client, f"/v1/users/{user}"))
    assert operation["status"] == "SUCCEEDED"
    assert (operation["result"]["before"]["messages"], operation["result"]["before"]["operations"]) == (37, 37)
    assert set(operation["result"]["after"].values()) == {0}
    assert client.call("GET", f"/v1/users/{user}").status == 404
    assert client.call("DELETE", f"/v1/users/{user}").status == 404
    assert client.call("GET", f"/v1/memory/operations/{operation_id}").status == 404
    assert "Oslo" in what_is_known(client, neighbour)


@pytest.mark.parametrize("path", ["/v1/users", "/v1/users/*", "/v1/users/%2A", "/v1/users/null", "/v1/users/%20"])
def test_no_wildcard_deletes_anybody(client, user, path):
    said(client, user, "I live in Oslo.", ids=["m1"])
    assert client.call("DELETE", path).status == 400
    assert client.call("GET", f"/v1/users/{user}").status == 200


def test_an_export_can_be_imported_where_its_user_was_deleted(service, client, user):
    said(client, user, HAZELNUTS, "I live in Tokyo.", ids=["m1", "m2"])
    known = client.context(user).body["data"]["context"]
    status, lines = raw(service, "GET", f"/v1/users/{user}/export")
    assert status == 200
    client.wait(deleted(client, f"/v1/users/{user}"))
    assert "hazelnuts" not in what_is_known(client, user)
    status, begun = raw(service, "POST", "/v1/memory/imports", lines)
    assert status == 202
    done = client.wait(json.loads(begun)["operation_id"])
    assert (done["status"], done["result"]["failed"]) == ("SUCCEEDED", 0)
    assert client.context(user).body["data"]["context"] == known
    assert raw(service, "GET", f"/v1/users/{user}/export")[1].splitlines()[1:] == lines.splitlines()[1:]


def test_an_index_is_rebuilt_while_questions_are_asked(client, user):
    said(client, user, HAZELNUTS, ids=["m1"])
    begun = client.call("POST", "/v1/maintenance/reindex", {"user_id": user})
    assert begun.status == 202
    assert "hazelnuts" in what_is_known(client, user)
    done = client.wait(begun.body["operation_id"])
    assert (done["status"], done["result"]["pruned"]) == ("SUCCEEDED", 0)
