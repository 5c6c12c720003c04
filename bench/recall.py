"""How long a warm recall takes by the service's own clock, for a user with 5,000 messages. `python -m bench.recall`.

The messages are those of RealMem and MemoryBank, as one user's. Questions are asked once each, so that no embedding is
remembered; those that names and topics decide need none. Numbers of one machine: compare them with the yardstick below.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import cycle
from pathlib import Path

from rich.table import Table

from bench.memorybank import questions_of, users_of
from bench.realmem import turns_of
from bench.retrieval import Memory, Turn, console, main, percentile, spaced
from infra.local.client import Client, Unexpected

MESSAGES = 5_000
WARM_UP = 10
_NOW = datetime(2026, 11, 1, 9, tzinfo=UTC)
_PLACES = ("杭州", "北京", "成都", "Kyoto", "Paris", "Osaka", "London", "西安", "Berlin", "Seoul")
_ASKED = (
    "上次我们聊的{}旅游攻略再给我一下",
    "last time we talked about the {} travel guide, show it again",
    "第一次聊{}旅游攻略",
    "the {} travel guide from last time",
)


def run(client: Client, data: Path, tag: str) -> None:
    memory = Memory(client, f"recall-{tag}")
    said = sessions_of(data)
    for number, turns in enumerate(said):
        memory.tell(f"session-{number}", turns)
    memory.settle()
    table = Table(title=f"Recall, {sum(map(len, said)):,} messages, own time in ms", title_justify="left")
    for heading in ("questions", "asked", "p50", "p95", "p50 at the client"):
        table.add_column(heading, justify="left" if heading == "questions" else "right")
    decided = [asked.format(place) for asked in _ASKED for place in _PLACES]
    for name, questions in (("by words and meaning", questions_in(data)), ("names and topics decide", decided)):
        own, client_ms = timed(client, memory.user_id, questions)
        shown = (percentile(own, 0.5), percentile(own, 0.95), percentile(client_ms, 0.5))
        table.add_row(name, str(len(own)), *(f"{ms:.1f}" for ms in shown))
    console.print(table)
    console.print(f"yardstick: json.loads of 1 MB takes {yardstick_ms():.1f} ms on this machine")


def sessions_of(data: Path) -> list[list[Turn]]:
    """Enough sessions for `MESSAGES`, a day apart, the guides among them."""
    chats = [json.loads(path.read_text("utf-8")) for path in sorted((data / "realmem").glob("*.json"))]
    sessions = [turns_of(session) for chat in chats for session in chat["dialogues"]]
    for language in ("zh", "en"):
        for user in users_of(data, language):
            turns = [
                Turn(str(n), role, turn[role], _NOW)
                for n, turn in enumerate(user["turns"])
                for role in ("user", "assistant")
            ]
            sessions += [turns[start : start + 10] for start in range(0, len(turns), 10)]
    for place in _PLACES:
        asked, given = f"帮我出一个{place}旅游攻略。", f"{place}旅游攻略：第一天看老城，第二天看博物馆。"
        sessions.insert(0, [Turn("", "user", asked, _NOW), Turn("", "assistant", given, _NOW)])
    kept: list[list[Turn]] = []
    left = MESSAGES
    for number, turns in enumerate(cycle(sessions)):  # the data hold somewhat less
        spoken = [turn for turn in turns if turn.text.strip()][:left]
        start = _NOW - timedelta(days=2 * len(sessions) - number)
        kept.append([replace(turn, at=spaced(start, place)) for place, turn in enumerate(spoken)])
        left -= len(spoken)
        if not left:
            return kept
    return kept


def questions_in(data: Path) -> list[str]:
    rows = ((user, language) for language in ("zh", "en") for user in users_of(data, language))
    dated = [Turn("", "user", "", _NOW)]
    return [one.text for user, language in rows for one in questions_of(user["questions"], dated, language)]


def timed(client: Client, user_id: str, questions: Sequence[str]) -> tuple[list[float], list[float]]:
    """The service's own milliseconds and the client's, without the first `WARM_UP`."""
    own, at_client = [], []
    for question in questions:
        body = {"query": question, "user_id": user_id, "session_id": "asking", "now": _NOW.isoformat()}
        answer = client.call("POST", "/v1/memory/recall", body)
        if answer.status != 200:
            raise Unexpected(f"recall answered {answer.status}")
        own.append(answer.body["timings"]["total"])
        at_client.append(answer.ms)
    return own[WARM_UP:], at_client[WARM_UP:]


def yardstick_ms() -> float:
    """What a fixed piece of work takes, so that numbers of two machines, or of two hours, can be compared."""
    text = json.dumps([{"n": n, "text": "x" * 40} for n in range(16_000)])
    samples = []
    for _ in range(9):
        start = time.perf_counter()
        json.loads(text)
        samples.append((time.perf_counter() - start) * 1_000)
    return statistics.median(samples)


if __name__ == "__main__":
    main(__doc__ or "", run)
