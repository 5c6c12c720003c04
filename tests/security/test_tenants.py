"""Every route of the template, asked by a stranger: nothing of another business is told, changed or hinted at."""

from __future__ import annotations

import logging
import uuid
from pathlib import Path
from typing import Any

import pytest

from engram.store import keys
from infra.local.template import read_service
from tests.embedded import ROOT, Answer, Embedded, function_module

USER = str(uuid.UUID("5b1f6f7e-52a7-4c0e-9d43-0c4b1b2f7a11"))
SERVICE = read_service(ROOT / "template.yaml", parameters={}, physical={})
BODY: dict[str, Any] = {
    "request_id": "theirs",
    "user_id": USER,
    "session_id": "s1",
    "query": "what is my dog called?",
    "messages": [{"role": "user", "content": "I moved in."}],
    "content": "changed",
    "blob_type": "chat",
    "blob_data": {"messages": [{"role": "user", "content": "I moved in."}]},
}


def declared() -> list[tuple[str, str]]:
    """Function folder and `METHOD /path/<id>` of every route that asks for a key."""
    found = []
    opened = {route.path for route in SERVICE.routes if not route.authorized}
    for function in SERVICE.functions.values():
        folder = function.folder.removeprefix("functions/")
        app = getattr(function_module(folder), "app", None)
        for route in (*app._static_routes, *app._dynamic_routes) if app else ():
            if route.path not in opened:
                found.append((folder, f"{route.method} {route.path}"))
    return sorted(found)


ROUTES = declared()


class Acme(Embedded):
    """A business that keeps something about one user, and the operation that kept it."""

    operation_id = ""


@pytest.fixture
def acme(tmp_path: Path) -> Acme:
    embedded = Acme(tmp_path)
    accepted = embedded.say(
        "My dog is called Biscuit. I live in Oslo and I am allergic to snozzberries.", user=USER, ids=["m-1"]
    )
    embedded.operation_id = accepted.operation_id
    return embedded


def rows(embedded: Acme) -> list[Any]:
    """Everything kept of the user and the business, but for what is counted."""
    found = []
    for pk in (
        keys.user_partition(embedded.scope(USER)),
        keys.business_partition("acme"),
        keys.catalogue_partition("acme"),
    ):
        found += [item for item in embedded.services.table.query(pk).items if "METER" not in item.key.sk]
    return [(item.key, dict(item.body), item.version) for item in found]


def ids_of(embedded: Acme) -> dict[str, str]:
    """One real id for each kind of parameter."""
    found = {"user_id": USER, "message_id": "m-1", "identifier": "E001", "alias": "MS", "blob_type": "chat"}
    found["operation_id"] = embedded.operation_id
    prefixes = {
        "conversation_id": keys.CONVERSATIONS,
        "slot_id": keys.SLOTS,
        "event_id": keys.EVENTS,
        "memory_id": keys.MEMORIES,
    }
    for key, _, _ in rows(embedded):
        for name, prefix in prefixes.items():
            if key.sk.startswith(prefix):
                found[name] = keys.unescape(key.sk.removeprefix(prefix))
    return found | {"profile_id": found["slot_id"], "blob_id": found["operation_id"], "buffer_type": "chat"}


def ask(embedded: Acme, folder: str, route: str, **options: Any) -> Answer:
    ids = ids_of(embedded)
    parameters = {name: value for name, value in ids.items() if f"<{name}>" in route}
    body = None if route.startswith(("GET", "DELETE")) else BODY
    return embedded.call(folder, route, body=body, **options, **parameters)


@pytest.mark.parametrize(("folder", "route"), ROUTES, ids=lambda value: value)
def test_a_stranger_learns_and_changes_nothing(acme, folder, route):
    before = rows(acme)
    answer = ask(acme, folder, route, business="rival")
    acme.drain()
    assert answer.status < 500, answer.text
    for secret in ("Oslo", "snozzberries", "Biscuit", "acme"):
        assert secret not in answer.text
    assert rows(acme) == before


@pytest.mark.parametrize(("folder", "route"), ROUTES, ids=lambda value: value)
def test_a_key_without_scopes_enters_no_route(acme, folder, route):
    before = rows(acme)
    answer = ask(acme, folder, route, scopes="")
    assert answer.status == 403
    assert rows(acme) == before


@pytest.mark.parametrize(("folder", "route"), [one for one in ROUTES if "<user_id>" in one[1]], ids=lambda value: value)
def test_a_foreign_user_answers_as_one_that_does_not_exist(acme, folder, route):
    """The same status for a user of another business and for a user of nobody."""
    foreign = ask(acme, folder, route, business="rival").status
    ids = ids_of(acme) | {"user_id": str(uuid.uuid4())}
    parameters = {name: value for name, value in ids.items() if f"<{name}>" in route}
    body = None if route.startswith(("GET", "DELETE")) else BODY
    nobody = acme.call(folder, route, body=body, business="rival", **parameters).status
    assert foreign == nobody


@pytest.mark.parametrize(("folder", "route"), ROUTES, ids=lambda value: value)
def test_no_log_holds_what_a_caller_sent(acme, folder, route, caplog, capsys):
    canary = "Canaryquux"
    caplog.set_level(logging.INFO)
    ids = {name: f"{canary}-{name}" for name in ids_of(acme)}
    parameters = {name: value for name, value in ids.items() if f"<{name}>" in route}
    body = None if route.startswith(("GET", "DELETE")) else dict.fromkeys((*BODY, canary), canary)
    acme.call(folder, route, body=body, query={"search": canary, canary: canary}, **parameters)
    acme.drain()
    logged = "".join(f"{record.getMessage()} {record.__dict__}" for record in caplog.records)
    printed = capsys.readouterr()
    assert canary not in logged + printed.out + printed.err
