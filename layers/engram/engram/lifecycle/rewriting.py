"""What becomes of a row when messages that it cites are deleted. Pure.

A row without evidence goes. One that keeps some stays with less, and its text is brought down to what the messages
left still say; a text that cannot be is not kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar

from engram.context.lines import slot_line
from engram.domain.models import Event, Evidence, Gist, MemoryItem, MessageRef, ProfileDelta, ProfileSlot
from engram.extraction.elements import elements_of, joined, same
from engram.extraction.item_book import About
from engram.lifecycle.affected import Affected
from engram.lifecycle.residue import Words
from engram.lifecycle.targets import Target, TargetKind

CountTokens = Callable[[str], int]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Rewritten:
    """The rows that stay, as they are to be, and the ids of those that go."""

    slots: tuple[ProfileSlot, ...] = ()
    gone_slots: tuple[ProfileSlot, ...] = ()
    events: tuple[Event, ...] = ()
    gone_events: tuple[Event, ...] = ()
    gists: tuple[Gist, ...] = ()
    gone_gists: tuple[Gist, ...] = ()
    memories: tuple[MemoryItem, ...] = ()
    gone_memories: tuple[MemoryItem, ...] = ()
    versions: tuple[MemoryItem, ...] = ()
    gone_versions: tuple[MemoryItem, ...] = ()

    def kept(self) -> dict[str, int]:
        """Rows that stay with less, for a receipt."""
        names = ("slots", "events", "gists", "memories")
        return {name: len(getattr(self, name)) for name in names}


@dataclass(frozen=True, slots=True)
class Rewriter:
    """Rewrites the rows that one target touches.

    Attributes:
        texts: content of every message that they cite and that still exists.
        items, versions: all memory items of the user, current and closed: a slot's parts have their own evidence there.
        gists_of: event id to all its gists.
    """

    target: Target
    texts: Mapping[MessageRef, str]
    now: datetime
    count_tokens: CountTokens
    items: Sequence[MemoryItem] = ()
    versions: Sequence[MemoryItem] = ()
    gists_of: Mapping[str, Sequence[Gist]] = field(default_factory=dict)

    def rewrite(self, affected: Affected) -> Rewritten:
        """Every touched row is among those that stay or those that go."""
        slots, gone_slots = _parted(affected.slots, self.slot)
        gists, gone_gists = _parted(affected.gists, self.gist)
        memories, gone_memories = _parted(affected.memories, self.memory)
        versions, gone_versions = _parted(affected.versions, self.closed_memory)
        left = {one.id: one for one in gists}
        gone = {one.id for one in gone_gists}
        events, gone_events = _parted(affected.events, lambda one: self.event(one, left, gone))
        unheld = {one.id for one in gone_events}
        orphans = tuple(one for one in gists if one.event_id in unheld)
        return Rewritten(
            slots=slots,
            gone_slots=gone_slots,
            events=events,
            gone_events=gone_events,
            gists=tuple(one for one in gists if one.event_id not in unheld),
            gone_gists=(*gone_gists, *orphans),
            memories=memories,
            gone_memories=gone_memories,
            versions=versions,
            gone_versions=gone_versions,
        )

    def slot(self, slot: ProfileSlot) -> ProfileSlot | None:
        """A slot of several parts keeps those that still stand; what a person wrote stays unless it betrays."""
        left = self._left(slot.evidence)
        if self.target.is_row(TargetKind.SLOT, slot.id) or not (left or slot.edited or not slot.evidence):
            return None
        if self.target.is_held_by(TargetKind.SLOT, slot.id):
            left = self._without_doomed(slot, left)
        content = self._standing(slot)
        if not content:
            return None
        tokens = self.count_tokens(slot_line(slot.topic, slot.sub_topic, content))
        return replace(slot, content=content, tokens=tokens, evidence=left, version=slot.version + 1)

    def _without_doomed(self, slot: ProfileSlot, evidence: tuple[Evidence, ...]) -> tuple[Evidence, ...]:
        """Evidence that no memory item which stays needs, and one that goes has, goes with it."""
        items = self._items_about(slot)
        doomed = {one for item in items if self.memory(item) is None for one in item.evidence}
        needed = {one for item in items if self.memory(item) is not None for one in item.evidence}
        return tuple(one for one in evidence if one not in doomed or one in needed)

    def _items_about(self, slot: ProfileSlot) -> list[MemoryItem]:
        about = About.of("user", slot.topic, slot.sub_topic)
        return [one for one in self.items if About.of(one.subject, one.topic, one.sub_topic) == about]

    def _standing(self, slot: ProfileSlot) -> str:
        """The parts of a slot that the messages left support; "" if none."""
        words = self._words(slot.evidence)
        items = self._items_about(slot)
        parts = elements_of(slot.content)
        kept = tuple(part for part in parts if self._stands(part, items, words, alone=len(parts) == 1))
        return slot.content if kept == parts else joined(kept)

    def _stands(self, part: str, items: Sequence[MemoryItem], words: Words, *, alone: bool) -> bool:
        """By the memory item that says the same, where there is one; else by the words of the messages left."""
        item = next((one for one in items if same(one.content, part)), None)
        if item is not None:
            return self.memory(item) is not None
        # The same statement made again adds evidence to a text that may be worded otherwise.
        return not words.betrays(part) if alone else words.supports(part)

    def gist(self, gist: Gist) -> Gist | None:
        left = self._left(gist.evidence)
        if self.target.is_row(TargetKind.EVENT, gist.event_id) or not left:
            return None
        if self._words(gist.evidence).betrays(gist.content):
            return None
        return replace(gist, evidence=left, version=gist.version + 1)

    def memory(self, item: MemoryItem) -> MemoryItem | None:
        left = self._left(item.evidence)
        if self.target.is_row(TargetKind.MEMORY, item.id):
            return None
        if left == item.evidence:
            return item
        if not (left or item.edited):
            return None
        if self._words(item.evidence).betrays(item.content):
            return None
        return replace(item, evidence=left, version=item.version + 1)

    def closed_memory(self, item: MemoryItem) -> MemoryItem | None:
        """An earlier version keeps its number: that is where it stands in the history."""
        left = self.memory(item)
        return None if left is None else replace(left, version=item.version)

    def event(self, event: Event, rewritten: Mapping[str, Gist], gone: set[str]) -> Event | None:
        """The event told by the gists that are left: its own words were made from all of its messages."""
        present = [one for one in self.gists_of.get(event.id, ()) if one.id not in gone]
        told = [rewritten.get(one.id, one) for one in present]
        left = self._left(event.evidence) or tuple(dict.fromkeys(span for one in told for span in one.evidence))
        if self.target.is_row(TargetKind.EVENT, event.id) or not left:
            return None
        words = self._words(event.evidence)
        delta = tuple(self._delta(one, event) for one in event.delta)
        whole = len(told) == len(self.gists_of.get(event.id, ()))
        untouched = whole and (left == event.evidence or words.supports(event.summary))
        summary = event.summary if untouched else "; ".join(one.content for one in told)
        return replace(
            event,
            summary=summary,
            gist_ids=tuple(one for one in event.gist_ids if one not in gone),
            tags=tuple(one for one in event.tags if not words.betrays(one.value)),
            delta=tuple(one for one in delta if one.content),
            evidence=left,
            updated_at=self.now,
            version=event.version + 1,
        )

    def _delta(self, change: ProfileDelta, event: Event) -> ProfileDelta:
        """The change without what is deleted: it repeats the whole slot, parts of earlier messages included."""
        deleted = [text for ref, text in self.texts.items() if self.target.covers(ref)]
        own = [self.texts.get(one.ref, "") for one in self._left(event.evidence)]
        words = Words.of(deleted, own)
        about = About.of("user", change.topic, change.sub_topic)
        items = [
            one for one in (*self.items, *self.versions) if About.of(one.subject, one.topic, one.sub_topic) == about
        ]
        parts = elements_of(change.content)
        kept = tuple(part for part in parts if self._is_told(part, items, words))
        return change if kept == parts else replace(change, content=joined(kept))

    def _is_told(self, part: str, items: Sequence[MemoryItem], words: Words) -> bool:
        saying = [one for one in items if same(one.content, part)]
        if saying:
            return any(self.memory(one) is not None for one in saying)
        return not words.betrays(part)

    def _left(self, evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
        return tuple(one for one in evidence if not self.target.covers(one.ref))

    def _words(self, evidence: Iterable[Evidence]) -> Words:
        refs = {one.ref for one in evidence}
        deleted = [self.texts.get(ref, "") for ref in refs if self.target.covers(ref)]
        return Words.of(deleted, [self.texts.get(ref, "") for ref in refs if not self.target.covers(ref)])


def _parted(rows: Iterable[T], rewrite: Callable[[T], T | None]) -> tuple[tuple[T, ...], tuple[T, ...]]:
    stay, go = [], []
    for row in rows:
        changed = rewrite(row)
        if changed is None:
            go.append(row)
        else:
            stay.append(changed)
    return tuple(stay), tuple(go)
