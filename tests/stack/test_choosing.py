"""A recall that may ask a model, over HTTP, by both protocols, against a model server that behaves or does not."""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from engram.recall.deadline import REST_SECONDS
from infra.local.client import Client
from tests.model_server import Fails, HangsUp, ModelServer, Raw, Says, model_server
from tests.servers import EMULATOR_CREDENTIALS
from tests.services import running

COUNTRY, PERSON = "E065", "E134"
QUERY = "what did we say about Jordan last time?"
DEADLINE_MS = 700
GUIDE = "约旦旅行攻略：第一天安曼，第二天佩特拉古城，第三天瓦迪拉姆沙漠。"


@dataclass
class Asked:
    """One installation with two conversations of a user, one about each Jordan."""

    client: Client
    models: ModelServer
    user: str

    def recall(self, *behaviours: Any, query: str = QUERY) -> dict[str, Any]:
        """The bundle, with the model behaving so. The words are new each time: nothing is remembered."""
        self.models.requests.clear()
        self.models.script = list(behaviours)
        before = {"role": "assistant", "content": f"Welcome back, visit {uuid.uuid4().hex}."}
        body = {"query": query, "user_id": self.user, "session_id": "asking", "recent_messages": [before]}
        answer = self.client.call("POST", "/v1/memory/recall", body)
        assert answer.status == 200, answer.body
        bundle: dict[str, Any] = answer.body
        return bundle


@pytest.fixture(scope="module", params=["openai_compatible", "bedrock"])
def asked(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    with model_server() as models:
        environment = {
            **EMULATOR_CREDENTIALS,
            "ENGRAM_EMBEDDER": "none",
            "ENGRAM_CHOOSER": request.param,
            "ENGRAM_CHOOSER_MODEL": "small",
            "ENGRAM_MODEL_BASE_URL": models.url,
            "ENGRAM_ENDPOINT_URL": models.url,
            "ENGRAM_DEADLINE_MS": str(DEADLINE_MS),
        }
        with running(tmp_path_factory.mktemp(request.param), environment=environment) as service:
            client, user = service.client(), f"user-{uuid.uuid4().hex[:8]}"
            for session, texts in {
                "trip": ("给我一份约旦旅行攻略", GUIDE),
                "work": ("Jordan Lee joins our team on Monday.", "Noted."),
            }.items():
                roles = ("user", "assistant")
                messages = [{"role": role, "content": text} for role, text in zip(roles, texts, strict=True)]
                said = {"request_id": session, "user_id": user, "session_id": session, "messages": messages}
                client.wait(client.ingest(said))
            assert models.requests == [], "what is written asks no model to choose"
            yield Asked(client, models, user)


def is_ambiguous(bundle: dict[str, Any]) -> bool:
    (mention,) = bundle["resolution"]["entities"]
    return (
        mention["status"] == "AMBIGUOUS"
        and mention["id"] is None
        and {one["id"] for one in mention["candidates"]} == {COUNTRY, PERSON}
        and bundle["support_status"] == "AMBIGUOUS"
    )


@pytest.mark.parametrize(("said", "session"), [(COUNTRY, "trip"), (PERSON, "work")])
def test_a_chosen_candidate_is_linked_and_decides_the_answer(asked: Asked, said: str, session: str) -> None:
    bundle = asked.recall(Says({"id": said}))
    (mention,) = bundle["resolution"]["entities"]
    assert (mention["status"], mention["id"], mention["found_by"]) == ("LINKED", said, "model")
    assert [one["session_id"] for one in bundle["conversation_refs"]] == [session]
    assert (bundle["support_status"], bundle["missing"]) == ("SUPPORTED", [])
    assert QUERY in asked.models.requests[0].turns[0]


def test_the_same_question_is_not_asked_twice(asked: Asked) -> None:
    asked.models.requests.clear()
    asked.models.script = [Says({"id": PERSON})]
    body = {"query": f"{QUERY} {uuid.uuid4().hex}", "user_id": asked.user}
    ids = [
        asked.client.call("POST", "/v1/memory/resolve", body).body["entities"][0]["id"],
        asked.client.call("POST", "/v1/memory/recall", body).body["resolution"]["entities"][0]["id"],
    ]
    assert ids == [PERSON, PERSON]
    assert len(asked.models.requests) == 1


@pytest.mark.parametrize("said", ["", "E999", "E001", "TRAVEL_GUIDE", f"{COUNTRY} {PERSON}"])
def test_an_id_that_is_no_candidate_leaves_it_ambiguous(asked: Asked, said: str) -> None:
    bundle = asked.recall(Says({"id": said}))
    assert is_ambiguous(bundle)
    assert bundle["missing"] == []
    assert "decided 0" in bundle["resolution"]["trace"][-1]


@pytest.mark.parametrize(
    "behaviour",
    [Says("Probably the country?"), Says({"ids": [COUNTRY]}), Says({"id": COUNTRY}, declined=True), Says("[" * 3_000)],
    ids=["prose", "another form", "declined", "deep"],
)
def test_nonsense_leaves_it_ambiguous_and_is_named(asked: Asked, behaviour: Any) -> None:
    bundle = asked.recall(behaviour)
    assert is_ambiguous(bundle)
    assert (bundle["execution_status"], bundle["missing"]) == ("DEGRADED", ["chooser"])


def test_a_query_without_ambiguity_asks_nobody(asked: Asked) -> None:
    bundle = asked.recall(Fails(500), query="上次我们聊的约旦旅行攻略再给我一下")
    assert asked.models.requests == []
    assert bundle["support_status"] == "SUPPORTED"


@pytest.mark.parametrize(
    "behaviour",
    [Says({"id": COUNTRY}, after=4.0), Says({"id": COUNTRY}, dripping=0.1), Fails(500), HangsUp(), Raw(b"<html>")],
    ids=["slow", "dripping", "down", "hangs up", "no JSON"],
)
def test_a_model_that_does_not_answer_in_time_leaves_it_ambiguous(asked: Asked, behaviour: Any) -> None:
    started = time.perf_counter()
    bundle = asked.recall(behaviour)
    assert time.perf_counter() - started < DEADLINE_MS / 1000 + 1.0
    assert is_ambiguous(bundle)
    assert (bundle["execution_status"], bundle["missing"]) == ("DEGRADED", ["chooser"])
    end = time.monotonic() + 3 * REST_SECONDS  # it is left alone for a while after its last attempt
    while is_ambiguous(asked.recall(Says({"id": COUNTRY}))):
        assert time.monotonic() < end, "it is asked no more"
        time.sleep(0.5)
