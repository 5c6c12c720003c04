"""A user's profile slots while a batch is merged: one per topic and sub-topic, its parts, and what changed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime

from engram.context.lines import slot_line
from engram.domain.ids import derived_id
from engram.domain.models import Evidence, MemoryItem, ProfileDelta, ProfileSlot
from engram.extraction.elements import elements_of, joined, normal, same, same_thing
from engram.extraction.item_book import About, ItemBook, with_evidence
from engram.extraction.shortening import TokenCounter, bounded, fitting, surplus


class SlotBook:
    """Slots by topic and sub-topic, with every change of this merge."""

    def __init__(
        self,
        slots: Iterable[ProfileSlot],
        items: ItemBook,
        *,
        operation_id: str,
        now: datetime,
        count_tokens: TokenCounter,
    ) -> None:
        self._slots: dict[About, ProfileSlot] = {}
        self._doubles: list[ProfileSlot] = []
        for slot in sorted(slots, key=lambda slot: (slot.updated_at, slot.id)):
            about = About.of("user", slot.topic, slot.sub_topic)
            if about in self._slots:
                self._doubles.append(self._slots[about])
            self._slots[about] = slot
        self._before = dict(self._slots)
        self._items = items
        self._operation_id = operation_id
        self._now = now
        self._count_tokens = count_tokens
        self._made = 0

    def parts(self, content: str) -> tuple[str, ...]:
        """The things a content speaks of, each short enough for a slot."""
        return tuple(bounded(part, self._count_tokens) for part in elements_of(content))

    def says(self, about: About, content: str) -> bool:
        """Whether the slot says this already; a person's fuller wording of it counts."""
        slot = self._slots.get(about)
        if slot is None:
            return False
        fuller = slot.edited and normal(content) in normal(slot.content)
        return fuller or same(slot.content, joined(self.parts(content)))

    def covers(self, about: About, element: str) -> bool:
        """Whether a part that a person wrote says this element already, in fuller words."""
        slot = self._slots.get(about)
        return (
            slot is not None
            and slot.edited
            and any(normal(element) in normal(part) for part in elements_of(slot.content))
        )

    def is_newer(self, about: About, at: datetime) -> bool:
        """Whether the slot was stated or edited later than `at`."""
        slot = self._slots.get(about)
        return slot is not None and slot.updated_at > at

    def replaced(self, about: About, content: str, contradicts: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """(elements the slot will have, elements that go): of a named contradicted part only that goes."""
        new = self.parts(content)
        slot = self._slots.get(about)
        old = elements_of(slot.content) if slot else ()
        if not contradicts:
            return new, tuple(part for part in old if not any(same(part, one) for one in new))
        kept = [part for part in old if not same_thing(contradicts, part) and not any(same(part, one) for one in new)]
        return (*kept, *new), tuple(part for part in old if same_thing(contradicts, part))

    def write(
        self,
        about: About,
        elements: Sequence[str],
        evidence: tuple[Evidence, ...],
        at: datetime,
        *,
        forget: Sequence[MemoryItem] = (),
    ) -> None:
        """Gives the slot these elements. Evidence that only `forget` stood on goes with it."""
        slot = self._slots.get(about)
        fitted = fitting(elements, lambda element: self._support(about, element), self._count_tokens)
        content = joined(fitted)
        if slot is None:
            slot = ProfileSlot(self._new_id(), about.topic, about.sub_topic, content, 0, self._now, at)
        lost = {one for item in forget for one in item.evidence}
        kept = tuple(one for one in slot.evidence if one not in lost) if len(elements) > 1 else ()
        self._slots[about] = replace(
            slot,
            content=content,
            evidence=with_evidence(kept, evidence),
            updated_at=max(at, slot.updated_at),
            edited=False,
        )

    def append(self, about: About, element: str, evidence: tuple[Evidence, ...], at: datetime) -> None:
        """Adds an element; one that is there gets more evidence."""
        slot = self._slots.get(about)
        present = elements_of(slot.content) if slot else ()
        if slot is not None and any(same(element, part) for part in present):
            self.support(about, evidence, at)
            return
        edited = slot is not None and slot.edited
        self.write(about, (*present, element), evidence, at)
        if edited:
            self._slots[about] = replace(self._slots[about], edited=True)
        if slot is not None:
            united = with_evidence(slot.evidence, evidence)
            self._slots[about] = replace(self._slots[about], evidence=united)

    def support(self, about: About, evidence: tuple[Evidence, ...], at: datetime) -> None:
        """The same said again."""
        slot = self._slots[about]
        self._slots[about] = replace(
            slot, evidence=with_evidence(slot.evidence, evidence), updated_at=max(at, slot.updated_at)
        )

    def remove(self, about: About, value: str, *, at: datetime, kept: Sequence[str]) -> bool:
        """Takes `value` out, or everything for an empty value; what `kept` says and what is newer than `at` stays."""
        slot = self._slots.get(about)
        if slot is None:
            return False
        timed = {normal(item.content) for item in self._items.about(about)}
        gone = [
            part
            for part in elements_of(slot.content)
            if same_thing(value, part)
            and not any(same(part, one) for one in kept)
            and (normal(part) in timed or slot.updated_at <= at)
        ]
        if not gone:
            return False
        rest = tuple(part for part in elements_of(slot.content) if part not in gone)
        if not rest:
            del self._slots[about]
            return True
        lost = {one for item in self._items.naming(about, value) for one in item.evidence}
        held = {
            one for item in self._items.about(about) if not same_thing(value, item.content) for one in item.evidence
        }
        evidence = tuple(one for one in slot.evidence if one not in lost or one in held)
        self._slots[about] = replace(slot, content=joined(rest), evidence=evidence, updated_at=max(at, slot.updated_at))
        return True

    def result(self) -> tuple[tuple[ProfileSlot, ...], tuple[str, ...], tuple[ProfileDelta, ...]]:
        """(puts, ids to delete, what changed in words)."""
        self._reorganise()
        puts = []
        delta = []
        for about, slot in self._slots.items():
            before = self._before.get(about)
            if slot == before:
                continue
            version = before.version + 1 if before is not None and before.id == slot.id else 1
            tokens = self._count_tokens(slot_line(slot.topic, slot.sub_topic, slot.content))
            puts.append(replace(slot, tokens=tokens, version=version))
            if before is None or before.content != slot.content:
                delta.append(ProfileDelta(slot.topic, slot.sub_topic, slot.content))
        kept = {slot.id for slot in self._slots.values()}
        gone = [slot.id for slot in (*self._before.values(), *self._doubles) if slot.id not in kept]
        touched = {About.of("user", slot.topic, slot.sub_topic) for slot in puts}
        stays = {one.id for one in self._doubles if About.of("user", one.topic, one.sub_topic) not in touched}
        return tuple(puts), tuple(sorted(set(gone) - stays)), tuple(delta)

    def _reorganise(self) -> None:
        """Topics that grew over their bound in this merge lose the least supported sub-topics."""
        grown = {about.topic for about, slot in self._slots.items() if about not in self._before}
        for topic in grown:
            of_topic = [slot for about, slot in self._slots.items() if about.topic == topic]
            for slot in surplus(of_topic):
                del self._slots[About.of("user", slot.topic, slot.sub_topic)]

    def _support(self, about: About, element: str) -> int:
        item = self._items.saying(about, element)
        return len(item.evidence) if item else 0

    def _new_id(self) -> str:
        identifier = derived_id(self._operation_id, "slot", self._made)
        self._made += 1
        return identifier
