"""MemoryBank: chats of a user with an assistant and probing questions, zh and en. `python -m bench.memorybank`.

A turn is what the user said and the answer; either counts as the turn. One user of the service per user of the data.
"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.retrieval import Memory, PlainBm25, Question, Scores, Turn, main, spaced
from infra.local.client import Client

CUTS = (1, 5, 10)
LIMIT = 50
_HOUR = 12


def run(client: Client, data: Path, tag: str) -> None:
    scores = Scores(CUTS)
    for language in ("zh", "en"):
        for user in users_of(data, language):
            memory, turns = told(client, user, f"memorybank-{language}-{tag}")
            plain = PlainBm25(turns)
            for question in questions_of(user["questions"], turns, language):
                scores.add(question, memory.ask(question, limit=LIMIT), plain.rank(question.text))
    scores.show("MemoryBank, evidence turns of one user")


def users_of(data: Path, language: str) -> list[dict[str, Any]]:
    users: list[dict[str, Any]] = json.loads((data / "memorybank" / f"dev.{language}.json").read_text("utf-8"))["users"]
    return users


def told(client: Client, user: dict[str, Any], prefix: str) -> tuple[Memory, list[Turn]]:
    """The user's memory, a session a day, and all turns."""
    memory = Memory(client, f"{prefix}-{user['name'].encode().hex()[:24]}")
    days: dict[str, list[Turn]] = {}
    for number, turn in enumerate(user["turns"]):
        start = datetime.fromisoformat(turn["date"]).replace(hour=_HOUR, tzinfo=UTC)
        said = days.setdefault(turn["date"], [])
        for role in ("user", "assistant"):
            said.append(Turn(str(number), role, turn[role], spaced(start, len(said))))
    for day, said in days.items():
        memory.tell(day, said)
    memory.settle()
    return memory, [turn for said in days.values() for turn in said]


def questions_of(rows: list[dict[str, Any]], turns: list[Turn], group: str) -> list[Question]:
    now = max(turn.at for turn in turns) + timedelta(days=1)
    return [Question(row["question"], frozenset(map(str, row["evidence_turns"])), group, now) for row in rows]


if __name__ == "__main__":
    main(__doc__ or "", run)
