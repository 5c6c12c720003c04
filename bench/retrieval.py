"""What the retrieval benches share: ingest through the HTTP API, ask, and print recall beside plain BM25.

Evidence in the order of the answer is the ranking. Nothing here knows how the service ranks; numbers are its own.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from infra.local.client import Client, Unexpected

BATCH = 40
"""Messages of one ingestion."""
_IN_FLIGHT = 8
_WAIT_SECONDS = 120.0
_WORD = re.compile(r"[\u3400-\u9fff]|[^\W_]+")
console = Console(width=132)


@dataclass(frozen=True, slots=True)
class Turn:
    """One message to ingest. `mark` is what the labels call it; several messages may share one."""

    mark: str
    role: str
    text: str
    at: datetime
    name: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """Something to ask, the marks that hold the evidence, and the group its numbers are reported under."""

    text: str
    gold: frozenset[str]
    group: str
    now: datetime
    session_id: str = "asking"
    recent: tuple[Turn, ...] = ()


@dataclass(frozen=True, slots=True)
class Ranking:
    """Marks in the order of the answer, and the milliseconds it took at the client."""

    marks: tuple[str, ...]
    ms: float
    support: str


@dataclass(slots=True)
class Memory:
    """One user of the running service, and which mark each of its messages has."""

    client: Client
    user_id: str
    marks: dict[str, str] = field(default_factory=dict)
    waiting: list[str] = field(default_factory=list)

    def tell(self, session_id: str, turns: Sequence[Turn]) -> None:
        """Ingests one session in batches; turns without a text are left out."""
        turns = [turn for turn in turns if turn.text.strip()]
        for start in range(0, len(turns), BATCH):
            messages = []
            for turn in turns[start : start + BATCH]:
                message_id = f"{turn.mark}/{len(self.marks)}"
                self.marks[message_id] = turn.mark
                messages.append(_message(turn, message_id))
            request_id = f"{self.user_id}/{session_id}/{start}"
            body = {"request_id": request_id, "user_id": self.user_id, "session_id": session_id, "messages": messages}
            self.waiting.append(self.client.ingest(body))
            if len(self.waiting) >= _IN_FLIGHT:
                self.settle()

    def settle(self) -> None:
        """Waits until everything told so far is indexed.

        Raises:
            Unexpected: an operation failed, or is not indexed within two minutes.
        """
        deadline = time.monotonic() + _WAIT_SECONDS
        for operation_id in self.waiting:
            while not _indexed(self.client.call("GET", f"/v1/memory/operations/{operation_id}").body):
                if time.monotonic() > deadline:
                    raise Unexpected("messages are not indexed within two minutes")
                time.sleep(0.02)
        self.waiting.clear()

    def ask(self, question: Question, *, limit: int) -> Ranking:
        """One recall."""
        body: dict[str, Any] = {
            "query": question.text,
            "user_id": self.user_id,
            "session_id": question.session_id,
            "now": question.now.isoformat(),
            "limit": limit,
            "kinds": ["message"],
        }
        if question.recent:
            body["recent_messages"] = [{"role": turn.role, "content": turn.text} for turn in question.recent]
        answer = self.client.call("POST", "/v1/memory/recall", body)
        if answer.status != 200:
            raise Unexpected(f"recall answered {answer.status}")
        marks = dict.fromkeys(self.marks[row["message_id"]] for row in answer.body["evidence"])
        return Ranking(tuple(marks), answer.ms, answer.body["support_status"])


def _message(turn: Turn, message_id: str) -> dict[str, Any]:
    message = {
        "role": turn.role,
        "content": turn.text,
        "message_id": message_id,
        "created_at": turn.at.isoformat(),
    }
    return {**message, "name": turn.name} if turn.name else message


def _indexed(operation: dict[str, Any]) -> bool:
    if operation["status"] == "FAILED":
        raise Unexpected("an ingestion failed")
    stages = {stage["name"]: stage["status"] for stage in operation["stages"]}
    return operation["status"] == "SUCCEEDED" or stages.get("index") == "SUCCEEDED"


class PlainBm25:
    """The yardstick: BM25 (k1 0.9, b 0.4) over "Name: text", words and single ideographs, nothing tuned."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = turns
        self._counts = [Counter(_words(f"{turn.name}: {turn.text}")) for turn in turns]
        self._lengths = [sum(count.values()) for count in self._counts]
        self._mean = statistics.fmean(self._lengths) or 1.0
        self._holding = Counter(word for count in self._counts for word in count)

    def rank(self, question: str) -> tuple[str, ...]:
        scores = []
        for place, count in enumerate(self._counts):
            norm = 0.9 * (0.6 + 0.4 * self._lengths[place] / self._mean)
            score = sum(self._idf(word) * count[word] * 1.9 / (count[word] + norm) for word in set(_words(question)))
            scores.append((-score, place))
        return tuple(dict.fromkeys(self._turns[place].mark for _, place in sorted(scores)))

    def _idf(self, word: str) -> float:
        holding = self._holding[word]
        return math.log1p((len(self._turns) - holding + 0.5) / (holding + 0.5))


def _words(text: str) -> list[str]:
    return _WORD.findall(text.lower())


@dataclass(slots=True)
class Scores:
    """Recall at each cut, by group, ours beside BM25's, and the latencies."""

    cuts: tuple[int, ...]
    ours: dict[str, list[list[float]]] = field(default_factory=dict)
    plain: dict[str, list[list[float]]] = field(default_factory=dict)
    hits: dict[str, list[list[float]]] = field(default_factory=dict)
    ms: list[float] = field(default_factory=list)

    def add(self, question: Question, ranking: Ranking, plain: Sequence[str]) -> None:
        self.ms.append(ranking.ms)
        self.ours.setdefault(question.group, []).append(self._recalls(question.gold, ranking.marks))
        self.plain.setdefault(question.group, []).append(self._recalls(question.gold, plain))
        any_of = [float(bool(question.gold & set(ranking.marks[:cut]))) for cut in self.cuts]
        self.hits.setdefault(question.group, []).append(any_of)

    def _recalls(self, gold: frozenset[str], marks: Sequence[str]) -> list[float]:
        return [len(gold & set(marks[:cut])) / len(gold) for cut in self.cuts]

    def show(self, title: str, *, together: Sequence[str] = ()) -> None:
        """A table; `together` are the groups summed up in the last row (all by default)."""
        table = Table(title=title, title_justify="left")
        for heading in ("group", "questions", *(f"R@{cut}" for cut in self.cuts)):
            table.add_column(heading, justify="left" if heading == "group" else "right")
        for heading in (*(f"any@{cut}" for cut in self.cuts), *(f"BM25 R@{cut}" for cut in self.cuts)):
            table.add_column(heading, justify="right", style="dim")
        for group in sorted(self.ours):
            table.add_row(*self._row(group, [group]))
        table.add_section()
        chosen = list(together) or sorted(self.ours)
        table.add_row(*self._row(" + ".join(chosen) if together else "all", chosen))
        console.print(table)
        p50, p95 = (percentile(self.ms, share) for share in (0.5, 0.95))
        console.print(f"latency at the client: p50 {p50:.1f} ms, p95 {p95:.1f} ms")

    def _row(self, name: str, groups: Iterable[str]) -> list[str]:
        kept = [group for group in groups if group in self.ours]
        count = sum(len(self.ours[group]) for group in kept)
        cells = []
        for table in (self.ours, self.hits, self.plain):
            rows = [row for group in kept for row in table[group]]
            cells += [f"{statistics.fmean(column):.3f}" for column in zip(*rows, strict=True)]
        return [name, str(count), *cells]


def percentile(samples: Sequence[float], share: float) -> float:
    ordered = sorted(samples)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def spaced(start: datetime, place: int) -> datetime:
    """When the turn at `place` of a session was said: half a minute after the one before."""
    return start + timedelta(seconds=30 * place)


def main(name: str, run: Callable[[Client, Path, str], None]) -> None:
    """Command line of a retrieval bench."""
    parser = argparse.ArgumentParser(description=name)
    parser.add_argument("--url", help="of the running service; from run.json by default")
    parser.add_argument("--key", help="API key; from run.json by default")
    parser.add_argument("--dir", default=os.environ.get("ENGRAM_DIR", ".engram"), help="folder of run.json")
    parser.add_argument("--data", default=os.environ.get("ENGRAM_DATA", "../shared/data"), help="data folder")
    parser.add_argument(
        "--tag", default=f"{int(time.time())}", help="users of an earlier run with the same tag are used"
    )
    arguments = parser.parse_args()
    url, key = arguments.url, arguments.key
    if not (url and key):
        started = json.loads((Path(arguments.dir) / "run.json").read_text(encoding="utf-8"))
        url, key = url or started["url"], key or started["api_key"]
    run(Client(url, key), Path(arguments.data), arguments.tag)
