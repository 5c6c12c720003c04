"""RealMem: which earlier sessions a turn of a long-running chat needs. `python -m bench.realmem`.

Sessions are told in their order; each query is asked where it stands, with the turns before it in its own session as
recent messages. Sessions are ranked by their best evidence.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.retrieval import Memory, PlainBm25, Question, Scores, Turn, main, spaced
from infra.local.client import Client

CUTS = (1, 5, 10)
LIMIT = 100
RECENT = 4
_HOUR = 9


def run(client: Client, data: Path, tag: str) -> None:
    scores = Scores(CUTS)
    for path in sorted((data / "realmem").glob("*.json")):
        chat = json.loads(path.read_text(encoding="utf-8"))
        person = chat["_metadata"]["person_name"]
        memory = Memory(client, f"realmem-{person}-{tag}")
        earlier: list[Turn] = []
        for session in chat["dialogues"]:
            turns = turns_of(session)
            questions = list(questions_of(session, turns, {turn.mark for turn in earlier}, person))
            if questions:
                memory.settle()
                plain = PlainBm25(earlier)
                for question in questions:
                    scores.add(question, memory.ask(question, limit=LIMIT), plain.rank(question.text))
            memory.tell(session["session_uuid"], turns)
            earlier += turns
    scores.show("RealMem, sessions used")


def turns_of(session: dict[str, Any]) -> list[Turn]:
    start = datetime.fromisoformat(session["current_time"][:10]).replace(hour=_HOUR, tzinfo=UTC)
    return [
        Turn(
            session["session_uuid"],
            "user" if row["speaker"] == "User" else "assistant",
            row["content"],
            spaced(start, place),
        )
        for place, row in enumerate(session["dialogue_turns"])
    ]


def questions_of(session: dict[str, Any], turns: list[Turn], known: set[str], group: str) -> Iterator[Question]:
    """Queries of this session that an earlier one answers; the answer's labels say which."""
    rows = session["dialogue_turns"]
    for place, row in enumerate(rows[:-1]):
        gold = frozenset(rows[place + 1].get("memory_session_uuids") or ()) & known
        if row.get("is_query") and gold:
            yield Question(
                row["content"],
                gold,
                group,
                turns[place].at + timedelta(seconds=1),
                session["session_uuid"],
                tuple(turns[max(0, place - RECENT) : place]),
            )


if __name__ == "__main__":
    main(__doc__ or "", run)
