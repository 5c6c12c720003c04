"""Recall of users whose ids look alike: each finds what is its own, however near to the query the others' words are."""

from __future__ import annotations

import re

import pytest

from tests.embedded import Embedded

ALIKE = (
    "ann", "Ann", "ANN", "ann ", " ann", "ann#b", "ann%23b", "ann%23", "ann#", "ann/", "ann/b", "ann:b", "an", "anna",
    "a\u0301nn", "\u00e1nn", "\uff41nn", "ann\u200b", "\u0251nn", "U#acme#ann", "..", "ann\\", "用户7", "用户\uff17",
    "\u212a", "K", "k", "\ufb01", "fi", "%", "_", '"', "'", "{}", "😀", "ann\ufe0f", "i", "\u0131", "\u0130",
)  # fmt: skip
SECRET = re.compile(r"zq(\d+)x")


def recall(stack: Embedded, user: str, **fields: object) -> tuple[int, str]:
    body = {"query": "what is my secret badger number?", "user_id": user, "session_id": "asking", "explain": True}
    answer = stack.call("recall", "POST /v1/memory/recall", body={**body, **fields})
    return answer.status, answer.text


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Embedded, dict[str, int]]:
    """Everybody has said the same but for a number; and which ids were taken."""
    stack = Embedded(tmp_path_factory.mktemp("alike"))
    taken = {}
    for number, user in enumerate(ALIKE):
        body = {
            "request_id": f"r{number}",
            "user_id": user,
            "session_id": "s",
            "messages": [{"role": "user", "content": f"My secret badger number is zq{number}x."}],
        }
        answer = stack.call("ingestion", "POST /v1/memory/ingestions", body=body)
        assert answer.status in (202, 400), answer.text
        if answer.status == 202:
            taken[user] = number
    stack.drain()
    return stack, taken


def test_each_finds_its_own_and_nothing_else(told: tuple[Embedded, dict[str, int]]) -> None:
    stack, taken = told
    assert len(taken) > len(ALIKE) // 2
    found = {user: set(SECRET.findall(recall(stack, user, limit=100)[1])) for user in taken}
    assert found == {user: {str(number)} for user, number in taken.items()}


def test_an_id_that_cannot_be_written_to_cannot_be_asked(told: tuple[Embedded, dict[str, int]]) -> None:
    stack, taken = told
    refused = [user for user in ALIKE if user not in taken]
    assert {recall(stack, user)[0] for user in refused} == {400}


@pytest.mark.parametrize("business", ["ACME", "acme ", "acme#ann", "other", "*", ""])
def test_another_business_in_the_body_is_forbidden(told: tuple[Embedded, dict[str, int]], business: str) -> None:
    stack, _ = told
    status, text = recall(stack, "ann", business_id=business)
    assert status == 403
    assert not SECRET.search(text)
