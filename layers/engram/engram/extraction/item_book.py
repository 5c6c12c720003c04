"""A user's memory items while a batch is merged: current ones by what they are about, and what became of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from engram.domain.ids import derived_id
from engram.domain.models import Evidence, MemoryItem, MemoryKind
from engram.extraction.elements import same, same_thing
from engram.profile.taxonomy import attribute_unify

MAX_EVIDENCE = 256
"""Pieces of evidence kept with one row, the first and the newest: a row must stay far below the 400 KB of an item."""


class About(NamedTuple):
    """What an item or slot is about; one subject, topic and sub-topic."""

    subject: str
    topic: str
    sub_topic: str

    @classmethod
    def of(cls, subject: str, topic: str, sub_topic: str) -> About:
        return cls(subject.strip().casefold() or "user", attribute_unify(topic), attribute_unify(sub_topic))


def with_evidence(present: tuple[Evidence, ...], more: Iterable[Evidence]) -> tuple[Evidence, ...]:
    """Both, each span once; bounded by leaving out the middle."""
    united = tuple(dict.fromkeys((*present, *more)))
    return united if len(united) <= MAX_EVIDENCE else united[:1] + united[-(MAX_EVIDENCE - 1) :]


def stated_at(item: MemoryItem) -> datetime:
    """Since when the item stands as it does: what was said before that cannot overrule it."""
    return item.updated_at if item.edited else item.valid_from


class ItemBook:
    """Items by id, with every change of this merge. Ids of new ones follow from the operation and their position."""

    def __init__(self, items: Iterable[MemoryItem], *, operation_id: str, now: datetime) -> None:
        self._current = {item.id: item for item in items if item.valid_until is None}
        self._operation_id = operation_id
        self._now = now
        self._made = 0
        self._touched: set[str] = set()
        self._deleted: set[str] = set()
        self._repeated: set[Evidence] = set()
        self._new: set[Evidence] = set()
        self.closed: list[MemoryItem] = []

    def about(self, about: About) -> list[MemoryItem]:
        """Current items about it, oldest first."""
        found = [item for item in self._current.values() if About.of(item.subject, item.topic, item.sub_topic) == about]
        return sorted(found, key=lambda item: (item.valid_from, item.id))

    def saying(self, about: About, content: str) -> MemoryItem | None:
        """The current item that says this already."""
        return next((item for item in self.about(about) if same(item.content, content)), None)

    def naming(self, about: About, value: str) -> list[MemoryItem]:
        """Current items that speak of `value`; all of them for an empty value."""
        return [item for item in self.about(about) if same_thing(value, item.content)]

    def only_repeats(self, evidence: Iterable[Evidence]) -> bool:
        """Whether these words said things again, and nothing new."""
        spans = tuple(evidence)
        return _any_overlap(spans, self._repeated) and not _any_overlap(spans, self._new)

    def were_closed(self, evidence: Iterable[Evidence]) -> bool:
        """Whether these words said something that this merge ended, and nothing that still holds."""
        spans = tuple(evidence)
        ended = (one for item in self.closed for one in item.evidence)
        held = (one for item in self._current.values() for one in item.evidence)
        return _any_overlap(spans, ended) and not _any_overlap(spans, held)

    def support(self, item: MemoryItem, evidence: tuple[Evidence, ...], at: datetime) -> None:
        """The same said again: more evidence, no new version."""
        self._repeated.update(evidence)
        united = with_evidence(item.evidence, evidence)
        if united != item.evidence or at < item.valid_from:
            self._keep(
                replace(item, evidence=united, valid_from=min(item.valid_from, at), updated_at=max(item.updated_at, at))
            )

    def add(
        self,
        about: About,
        kind: MemoryKind,
        content: str,
        evidence: tuple[Evidence, ...],
        *,
        at: datetime,
        since: datetime,
        predecessor: MemoryItem | None = None,
    ) -> MemoryItem:
        """A new item, or the next version of the one that it replaces."""
        self._new.update(evidence)
        item = MemoryItem(
            id=predecessor.id if predecessor else self._new_id(),
            kind=kind,
            subject=about.subject,
            topic=about.topic,
            sub_topic=about.sub_topic,
            content=content,
            created_at=predecessor.created_at if predecessor else self._now,
            updated_at=at,
            valid_from=since,
            evidence=evidence,
            version=predecessor.version + 1 if predecessor else 1,
        )
        self._deleted.discard(item.id)
        self._keep(item)
        return item

    def close(self, item: MemoryItem, at: datetime) -> MemoryItem:
        """Ends a current item. It stays in its history, closed at the time it stopped being true."""
        ended = replace(item, valid_until=max(at, item.valid_from), updated_at=max(item.updated_at, at))
        self._current.pop(item.id, None)
        self._touched.discard(item.id)
        self._deleted.add(item.id)
        self.closed.append(ended)
        return ended

    def record_past(
        self,
        current: MemoryItem,
        kind: MemoryKind,
        content: str,
        evidence: tuple[Evidence, ...],
        *,
        since: datetime,
    ) -> None:
        """A statement that was already overtaken when it arrived becomes an earlier version of what overtook it."""
        if any(item.id == current.id and same(item.content, content) for item in self.closed):
            return
        self.closed.append(
            MemoryItem(
                current.id,
                kind,
                current.subject,
                current.topic,
                current.sub_topic,
                content,
                self._now,
                since,
                since,
                valid_until=max(since, current.valid_from),
                evidence=evidence,
                version=current.version,
            )
        )
        self._keep(replace(current, version=current.version + 1))

    @property
    def puts(self) -> tuple[MemoryItem, ...]:
        return tuple(self._current[identifier] for identifier in self._current if identifier in self._touched)

    @property
    def deletes(self) -> tuple[str, ...]:
        """Ids that have no current version any more."""
        return tuple(sorted(self._deleted))

    def _keep(self, item: MemoryItem) -> None:
        self._current[item.id] = item
        self._touched.add(item.id)

    def _new_id(self) -> str:
        identifier = derived_id(self._operation_id, "item", self._made)
        self._made += 1
        return identifier


def _any_overlap(spans: Iterable[Evidence], others: Iterable[Evidence]) -> bool:
    known = tuple(others)
    return any(
        one.ref == other.ref and one.start < other.end and other.start < one.end for one in spans for other in known
    )
