"""LoCoMo: turns that hold the evidence, by category, through the HTTP API. `python -m bench.locomo`.

Both speakers are people: role user, name = speaker, message_id from dia_id, captions in the text; asked a day after
the last turn. Weights of the shipped recipe were chosen by leaving one of these conversations out at a time. The data
(CC BY-NC 4.0) is read where it lies.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from bench.retrieval import Memory, PlainBm25, Question, Scores, Turn, main, spaced
from infra.local.client import Client

CUTS = (5, 10, 20)
CATEGORIES = {1: "1 multi-hop", 2: "2 temporal", 3: "3 open-domain", 4: "4 single-hop", 5: "5 adversarial"}
ANSWERABLE = [CATEGORIES[number] for number in (1, 2, 3, 4)]
_TURN_ID = re.compile(r"D\d+:\d+")


def run(client: Client, data: Path, tag: str) -> None:
    scores = Scores(CUTS)
    for sample in json.loads((data / "locomo" / "dev.json").read_text(encoding="utf-8")):
        sessions = sessions_of(sample["conversation"])
        memory = Memory(client, f"locomo-{sample['sample_id']}-{tag}")
        for number, turns in sessions.items():
            memory.tell(f"session-{number}", turns)
        memory.settle()
        turns = [turn for session in sessions.values() for turn in session]
        plain = PlainBm25(turns)
        for question in questions_of(sample["qa"], turns):
            scores.add(question, memory.ask(question, limit=max(CUTS)), plain.rank(question.text))
    scores.show("LoCoMo, evidence turns", together=ANSWERABLE)


def sessions_of(conversation: dict[str, Any]) -> dict[int, list[Turn]]:
    """Session number to its turns."""
    sessions = {}
    number = 1
    while f"session_{number}_date_time" in conversation:
        start = datetime.strptime(conversation[f"session_{number}_date_time"], "%I:%M %p on %d %B, %Y")
        rows = conversation.get(f"session_{number}", [])
        sessions[number] = [
            Turn(row["dia_id"], "user", _text(row), spaced(start.replace(tzinfo=UTC), place), row["speaker"])
            for place, row in enumerate(rows)
        ]
        number += 1
    return sessions


def questions_of(rows: list[dict[str, Any]], turns: list[Turn]) -> list[Question]:
    """Questions whose evidence exists, asked a day after the last turn."""
    known = {turn.mark for turn in turns}
    now = max(turn.at for turn in turns) + timedelta(days=1)
    questions = []
    for row in rows:
        gold = frozenset(mark for part in row["evidence"] for mark in _TURN_ID.findall(part)) & known
        if gold:
            questions.append(Question(row["question"], gold, CATEGORIES[row["category"]], now))
    return questions


def _text(row: dict[str, Any]) -> str:
    caption = row.get("blip_caption")
    return f"{row['text']} [shares {caption}]" if caption else str(row["text"])


if __name__ == "__main__":
    main(__doc__ or "", run)
