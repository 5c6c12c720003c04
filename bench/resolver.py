"""Everything-right accuracy of the resolver on labelled queries, by tag and by field.

Run: `python -m bench.resolver [--data FOLDER] [--cases FILE] [--failures] [--encoder local|none] [--fold K]`. A case
counts when entities, unresolved names, topic, intent and range are all right. `--fold` names one of five parts, so that
what was looked at while writing rules and what was not can be reported apart.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import statistics
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from engram.domain.models import MentionStatus
from engram.ports import Embedder
from engram.resolve.models import Resolution, ResolveContext
from engram.resolve.resolver import Resolver
from engram.resolve.shipped import default_catalogue

FIELDS = ("entities", "unresolved", "topic", "intent", "range")
FOLDS = 5


@dataclass(frozen=True, slots=True)
class Outcome:
    """One case: which fields were right, what was found, and how long it took."""

    case: Mapping[str, Any]
    found: Mapping[str, Any]
    right: Mapping[str, bool]
    milliseconds: float

    @property
    def all_right(self) -> bool:
        return all(self.right.values())


def found_in(resolution: Resolution) -> dict[str, Any]:
    """A resolution in the words of the cases."""
    linked = [mention for mention in resolution.topics if mention.status is MentionStatus.LINKED]
    status = "RESOLVED" if linked else "AMBIGUOUS" if resolution.topics else "NONE"
    named = [mention for mention in resolution.entities if mention.status is MentionStatus.LINKED]
    open_names = [mention for mention in resolution.entities if mention.status is not MentionStatus.LINKED]
    return {
        "entities": sorted({mention.name for mention in named}),
        "unresolved": sorted({mention.text for mention in open_names}),
        "topic": (linked[0].id if len(linked) == 1 else [mention.id for mention in linked] or None, status),
        "intent": str(resolution.temporal.intent),
        "range": (resolution.temporal.start, resolution.temporal.end),
    }


def judge(case: Mapping[str, Any], found: Mapping[str, Any]) -> dict[str, bool]:
    """Field by field. A range that contains the reference time may be cut there."""
    return {
        "entities": found["entities"] == sorted(case["expected_entities"]),
        "unresolved": found["unresolved"] == sorted(case["expected_unresolved"]),
        "topic": found["topic"] == (case["expected_topic"], case["topic_status"]),
        "intent": found["intent"] == case["expected_temporal_intent"],
        "range": _same_range(case, *found["range"]),
    }


def _same_range(case: Mapping[str, Any], start: datetime | None, end: datetime | None) -> bool:
    expected = case["expected_range"]
    if not expected:
        return start is None and end is None
    now = datetime.fromisoformat(case["reference_time"])
    first, last = (datetime.fromisoformat(expected[key]) if expected[key] else None for key in ("start", "end"))
    if start != first:
        return False
    cut = last == now and end is not None and end > now
    return end == last or cut or (last is None and end == now) or (end == now and last is not None and last > now)


def run(resolver: Resolver, cases: Iterator[Mapping[str, Any]]) -> list[Outcome]:
    outcomes: list[Outcome] = []
    for case in cases:
        context = ResolveContext(datetime.fromisoformat(case["reference_time"]), case["timezone"])
        begun = time.perf_counter()
        resolution = resolver.resolve(case["query"], context)
        spent = (time.perf_counter() - begun) * 1000
        found = found_in(resolution)
        outcomes.append(Outcome(case, found, judge(case, found), spent))
    return outcomes


def read_cases(path: Path, fold: int | None) -> Iterator[Mapping[str, Any]]:
    for line in path.read_text("utf-8").splitlines():
        case = json.loads(line)
        if fold is None or fold_of(case["id"]) == fold:
            yield case


def fold_of(case_id: str) -> int:
    return int(hashlib.sha256(case_id.encode()).hexdigest(), 16) % FOLDS


def report(outcomes: list[Outcome], *, failures: bool) -> None:
    if not outcomes:
        print("no cases")
        return
    total = len(outcomes)
    print(f"everything right  {sum(one.all_right for one in outcomes)}/{total} = {_share(outcomes):.3f}")
    for field in FIELDS:
        print(f"  {field:<12} {sum(one.right[field] for one in outcomes) / total:.3f}")
    tags = Counter(tag for one in outcomes for tag in one.case["tags"])
    for tag, count in tags.most_common():
        print(f"  {tag:<18} {_share([one for one in outcomes if tag in one.case['tags']]):.3f}  of {count}")
    times = sorted(one.milliseconds for one in outcomes)
    print(f"per query  p50 {statistics.median(times):.2f} ms  p95 {times[int(0.95 * (total - 1))]:.2f} ms")
    for one in outcomes:
        if failures and not one.all_right:
            wrong = {field: one.found[field] for field in FIELDS if not one.right[field]}
            print(f"{one.case['id']}  {one.case['query']}\n      found {wrong}")


def _share(outcomes: list[Outcome]) -> float:
    return sum(one.all_right for one in outcomes) / len(outcomes)


def encoder(name: str) -> Embedder | None:
    if name == "none":
        return None
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    from engram.adapters.local_encoder import LocalEncoder

    return LocalEncoder()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("ENGRAM_DATA", "../shared/data")))
    parser.add_argument("--cases", type=Path, help="default: resolver/cases.dev.jsonl in the data folder")
    parser.add_argument("--fold", type=int, choices=range(FOLDS))
    parser.add_argument("--encoder", choices=("local", "none"), default="local")
    parser.add_argument("--failures", action="store_true")
    arguments = parser.parse_args()
    path = arguments.cases or arguments.data / "resolver" / "cases.dev.jsonl"
    resolver = Resolver(default_catalogue(), encoder(arguments.encoder))
    report(run(resolver, read_cases(path, arguments.fold)), failures=arguments.failures)


if __name__ == "__main__":
    main()
