"""Queries in both languages and what they refer to: names, topics, intents and ranges, near misses among them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from engram.domain.models import MentionStatus
from engram.resolve.models import Resolution, ResolveContext
from engram.resolve.resolver import Resolver
from engram.resolve.shipped import default_catalogue

QUERIES = Path(__file__).parents[1] / "data" / "resolver" / "queries.txt"


@dataclass(frozen=True)
class Expected:
    query: str
    context: ResolveContext
    entities: tuple[str, ...]
    unresolved: tuple[str, ...]
    topic: str
    intent: str
    range: tuple[datetime | None, datetime | None]


def cases() -> Iterator[Expected]:
    context = ResolveContext(datetime(2025, 1, 1))
    for line in QUERIES.read_text("utf-8").splitlines():
        if line.startswith("#"):
            continue
        if line.startswith("@"):
            _language, now, zone = line.split()
            context = ResolveContext(datetime.fromisoformat(now), zone)
            continue
        query, entities, unresolved, topic, intent, _tags = (part.strip() for part in line.split("|"))
        name, _, span = intent.partition(" ")
        yield Expected(
            query, context, listed(entities), listed(unresolved), topic, name, moments(span, context.timezone)
        )


def listed(names: str) -> tuple[str, ...]:
    return tuple(sorted(name for name in names.split(",") if name))


def moments(span: str, zone: str) -> tuple[datetime | None, datetime | None]:
    start, _, end = span.partition("..")
    return moment(start, zone), moment(end, zone)


def moment(text: str, zone: str) -> datetime | None:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)) if text else None


def topic_of(resolution: Resolution) -> str:
    linked = [mention.id for mention in resolution.topics if mention.status is MentionStatus.LINKED]
    return "/".join(linked) or ("?" if resolution.topics else "-")


@pytest.fixture(scope="module")
def resolver() -> Resolver:
    return Resolver(default_catalogue())


@pytest.mark.parametrize("expected", list(cases()), ids=lambda expected: expected.query)
def test_a_query_refers_to_what_a_person_would_say_it_does(resolver: Resolver, expected: Expected) -> None:
    found = resolver.resolve(expected.query, expected.context)
    linked = {mention.name for mention in found.entities if mention.status is MentionStatus.LINKED}
    kept_open = {mention.text for mention in found.entities if mention.status is not MentionStatus.LINKED}
    assert tuple(sorted(linked)) == expected.entities
    assert tuple(sorted(kept_open)) == expected.unresolved
    assert topic_of(found) == expected.topic
    assert found.temporal.intent == expected.intent
    assert (found.temporal.start, found.temporal.end) == expected.range
