"""The context over HTTP: budgets in both languages, templates full of braces, a cache that dies between two calls."""

from __future__ import annotations

import threading
import uuid
from pathlib import Path
from urllib.parse import urlencode

import pytest

from engram.text.tokens import count_tokens
from infra.local.client import Client
from tests.servers import valkey
from tests.services import running

BRACES = "{} {{}} {0} {x.__class__} {profile_section!r} {event_section:>9} {{{profile_section}}} %(a)s ${b} \\{ {"
HUGE = {"en": "word " * 3000, "zh": "非常长的内容" * 600}
SMALL = {"en": "small fact", "zh": "小事"}


def new_user(client: Client) -> str:
    user_id: str = client.call("POST", "/api/v1/users", {}).body["data"]["id"]
    return user_id


def add(client: Client, user: str, content: str, topic: str = "work", sub_topic: str = "title") -> str:
    body = {"content": content, "attributes": {"topic": topic, "sub_topic": sub_topic}}
    answer = client.call("POST", f"/api/v1/users/profile/{user}", body)
    assert answer.body["errno"] == 0, answer.body
    row: str = answer.body["data"]["id"]
    return row


def context(client: Client, user: str, **query):
    answer = client.call("GET", f"/api/v1/users/context/{user}?{urlencode(query, doseq=True)}")
    assert (answer.status, answer.body["errno"]) == (200, 0), answer.body
    return answer.body["data"]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_largest_entry_never_breaks_the_budget_nor_pushes_out_the_small_ones(client, language):
    user = new_user(client)
    for number in range(20):
        add(client, user, f"{SMALL[language]} {number}", sub_topic=f"s{number}")
    huge = add(client, user, HUGE[language])
    for budget in (0, 1, 39, 60, 100, 300, 500, 2000):
        found = context(client, user, max_token_size=budget)
        assert count_tokens(found["context"]) <= budget
        assert count_tokens(found["context"]) == found["tokens"]["total"]
    found = context(client, user, max_token_size=500)
    assert f"{SMALL[language]} 0" in found["context"]
    assert {"kind": "profile", "id": huge, "reason": "budget"} in found["dropped"]
    assert HUGE[language][:20] not in found["context"]


def test_a_template_full_of_braces_prints_them_and_never_fails(client):
    user = new_user(client)
    add(client, user, "{event_section} {} {x.__class__}")
    found = context(client, user, customize_context_prompt=BRACES)
    line = "- work::title: {event_section} {} {x.__class__}"
    assert found["context"] == BRACES.replace("{profile_section}", line)
    assert context(client, user, customize_context_prompt="")["context"] == ""


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_token_size", "-1"),
        ("profile_event_ratio", "nan"),
        ("topic_limits_json", "{"),
        ("chats_str", "[{]"),
        ("customize_context_prompt", "x" * 30_000),
        ("colour", "red"),
    ],
)
def test_a_bad_parameter_is_named_and_never_a_500(client, name, value):
    answer = client.call("GET", f"/api/v1/users/context/u1?{urlencode({name: value})}")
    assert answer.status == 200
    assert answer.body["errno"] == 400
    assert name in answer.body["errmsg"]
    assert answer.body["data"] is None


@pytest.mark.parametrize("user", ["nobody", "%E7%94%A8%E6%88%B77", "user-07%2F", "a%23b", "%7B%7D"])
def test_a_user_nobody_knows_gets_an_empty_block(client, user):
    found = client.call("GET", f"/api/v1/users/context/{user}").body
    assert found["errno"] == 0
    assert found["data"]["tokens"]["profile"] == 0
    assert "- " not in found["data"]["context"]


def test_chats_in_a_body_choose_events_by_likeness(client):
    user = new_user(client)
    tips = ["adopted a puppy called Biscuit", "signed the lease of a flat", "ran a marathon in Berlin"]
    events = [{"id": str(uuid.uuid4()), "event_data": {"event_tip": tip}} for tip in tips]
    client.call("POST", f"/api/v1/users/import/{user}", {"events": events})
    body = {"chats": [{"role": "user", "content": "what should I feed my puppy?"}]}
    found = client.call("POST", f"/api/v1/users/context/{user}", body).body["data"]
    assert "Biscuit" in found["context"]
    assert "lease" not in found["context"]
    assert found["degraded"] == []


def test_without_a_model_the_whole_profile_is_served_and_marked(client):
    user = new_user(client)
    add(client, user, "engineer")
    body = {"chats": [{"role": "user", "content": "hi"}], "full_profile_and_only_search_event": False}
    found = client.call("POST", f"/api/v1/users/context/{user}", body).body["data"]
    assert "engineer" in found["context"]
    assert found["degraded"] == ["profile_filter"]


def test_the_same_block_is_served_with_the_cache_alive_dead_and_alive_again(tmp_path: Path):
    server = valkey(tmp_path)
    server.start()
    environment = {"ENGRAM_CACHE": "valkey", "ENGRAM_CACHE_URL": f"redis://127.0.0.1:{server.port}"}
    try:
        with running(tmp_path / "engram", environment=environment) as service:
            client = service.client()
            user = new_user(client)
            row = add(client, user, "engineer")
            alive = context(client, user)
            server.kill()
            assert context(client, user) == alive
            body = {"content": "baker", "attributes": {"topic": "work", "sub_topic": "title"}}
            assert client.call("PUT", f"/api/v1/users/profile/{user}/{row}", body).body["errno"] == 0
            assert "baker" in context(client, user)["context"]
            server.start()
            assert "baker" in context(client, user)["context"]
    finally:
        server.stop()


def test_readers_during_writes_never_see_an_older_block_than_was_answered_before(service):
    client = service.client()
    user = new_user(client)
    row = add(client, user, "number 0")
    done, written, wrong = threading.Event(), [0], []

    def read() -> None:
        mine, seen = service.client(), 0
        while not done.is_set():
            floor = written[0]
            number = int(context(mine, user)["context"].split("number ")[1].split("\n")[0])
            if number < max(floor, seen):
                wrong.append((number, floor, seen))
            seen = number

    readers = [threading.Thread(target=read) for _ in range(20)]
    for one in readers:
        one.start()
    for number in range(1, 40):
        body = {"content": f"number {number}", "attributes": {"topic": "work", "sub_topic": "title"}}
        assert client.call("PUT", f"/api/v1/users/profile/{user}/{row}", body).body["errno"] == 0
        written[0] = number
    done.set()
    for one in readers:
        one.join()
    assert wrong == []
