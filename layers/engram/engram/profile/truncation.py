"""Which slots are offered to the budget, and in which order. The order of the rules is part of the contract.

`updated_at` descending, then preferred topics first, then the whitelist, then limits per topic; the budget comes after.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from engram.profile.taxonomy import attribute_unify


class TopicRow(Protocol):
    """What the rules look at.

    Attributes:
        topic: after `attribute_unify`.
        updated: when the row last changed, unix seconds.
    """

    @property
    def id(self) -> str: ...

    @property
    def topic(self) -> str: ...

    @property
    def updated(self) -> float: ...


Row = TypeVar("Row", bound=TopicRow)

NOT_IN_ONLY_TOPICS = "not_in_only_topics"
TOPIC_LIMIT = "topic_limit"


@dataclass(frozen=True, slots=True)
class TopicRules:
    """What a caller asks of the profile. Names compare after `attribute_unify` on both sides.

    Attributes:
        prefer: topics that come first, in this order.
        only: if any, all other topics are left out.
        max_sub_topics: rows kept of one topic; None for all.
        limits: the same for single topics; wins over `max_sub_topics`.
    """

    prefer: tuple[str, ...] = ()
    only: tuple[str, ...] = ()
    max_sub_topics: int | None = None
    limits: Mapping[str, int] = field(default_factory=dict)


def choose(rows: Iterable[Row], rules: TopicRules) -> tuple[list[Row], list[tuple[Row, str]]]:
    """Rows in the order in which they may use the budget, and those left out, each with the rule that did it."""
    ordered = sorted(rows, key=lambda row: (-row.updated, row.id))
    if rules.prefer:
        rank = _ranks(rules.prefer)
        ordered.sort(key=lambda row: rank.get(row.topic, len(rank)))
    only = {attribute_unify(name) for name in rules.only}
    limits = {attribute_unify(name): limit for name, limit in rules.limits.items()}
    seen: Counter[str] = Counter()
    kept: list[Row] = []
    dropped: list[tuple[Row, str]] = []
    for row in ordered:
        if only and row.topic not in only:
            dropped.append((row, NOT_IN_ONLY_TOPICS))
            continue
        seen[row.topic] += 1
        limit = limits.get(row.topic, rules.max_sub_topics)
        if limit is not None and seen[row.topic] > limit:
            dropped.append((row, TOPIC_LIMIT))
        else:
            kept.append(row)
    return kept, dropped


def _ranks(names: tuple[str, ...]) -> dict[str, int]:
    ranks: dict[str, int] = {}
    for name in names:
        ranks.setdefault(attribute_unify(name), len(ranks))
    return ranks
