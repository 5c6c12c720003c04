"""Accepted rows meet what is known: the newest statement wins, what it contradicts is closed, the rest is left alone.

Pure: the same rows on the same profile give the same changes, with ids that follow from operation and position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from engram.domain.ids import derived_id
from engram.domain.models import Event, Evidence, Gist, MemoryItem, ProfileDelta, ProfileSlot
from engram.extraction.accept import Accepted, AcceptedChange, AcceptedItem, Dropped
from engram.extraction.cardinality import holds_one
from engram.extraction.elements import same, same_thing
from engram.extraction.gist_book import GistBook
from engram.extraction.item_book import About, ItemBook, stated_at, with_evidence
from engram.extraction.models import SlotAction
from engram.extraction.shortening import TokenCounter
from engram.extraction.slot_book import SlotBook
from engram.profile.taxonomy import Taxonomy

MAX_GISTS = 64
MAX_SUMMARY_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class Present:
    """What is known before the batch: all slots, all current memory items and the newest gists of the user."""

    slots: Sequence[ProfileSlot] = ()
    items: Sequence[MemoryItem] = ()
    gists: Sequence[Gist] = ()


@dataclass(frozen=True, slots=True)
class MergeResult:
    """What to write.

    Attributes:
        slot_puts, slot_deletes: slots as they become; ids of those that end.
        item_puts: current memory items as they become.
        item_deletes: ids of items that have no current version any more.
        closed_items: versions that stopped being true in this batch, with `valid_until`.
        event, gists: None and empty when the batch brought nothing. A gist that was there comes with more evidence.
        dropped: accepted rows that changed nothing, with the reason.
    """

    slot_puts: tuple[ProfileSlot, ...] = ()
    slot_deletes: tuple[str, ...] = ()
    item_puts: tuple[MemoryItem, ...] = ()
    item_deletes: tuple[str, ...] = ()
    closed_items: tuple[MemoryItem, ...] = ()
    event: Event | None = None
    gists: tuple[Gist, ...] = ()
    delta: tuple[ProfileDelta, ...] = ()
    dropped: tuple[Dropped, ...] = ()


def merge(
    accepted: Accepted,
    present: Present,
    *,
    operation_id: str,
    now: datetime,
    count_tokens: TokenCounter,
    taxonomy: Taxonomy,
) -> MergeResult:
    """The changes that `accepted` makes to `present`.

    Args:
        operation_id: of this part of the batch: ids of new rows follow from it.
        taxonomy: decides nothing that `accept` has not decided; a slot of a topic it no longer allows is left as it is.
    """
    items = ItemBook(present.items, operation_id=operation_id, now=now)
    slots = SlotBook(present.slots, items, operation_id=operation_id, now=now, count_tokens=count_tokens)
    merger = _Merger(slots, items, taxonomy)
    for change in sorted(accepted.slots, key=lambda row: row.at):
        merger.slot(change)
    for item in sorted(accepted.items, key=lambda row: row.at):
        merger.item(item)
    slot_puts, slot_deletes, delta = slots.result()
    gists = GistBook(present.gists, items, operation_id=operation_id, now=now, count_tokens=count_tokens)
    event = _event(accepted, delta, gists, operation_id=operation_id, now=now)
    if items.closed:
        gists.overtake()
    return MergeResult(
        slot_puts=slot_puts,
        slot_deletes=slot_deletes,
        item_puts=items.puts,
        item_deletes=items.deletes,
        closed_items=tuple(items.closed),
        event=event,
        gists=gists.puts,
        delta=delta,
        dropped=(*merger.dropped, *(Dropped("gist", "too_many") for _ in accepted.gists[MAX_GISTS:])),
    )


class _Merger:
    """Applies one row after the other, in the order in which they were said."""

    def __init__(self, slots: SlotBook, items: ItemBook, taxonomy: Taxonomy) -> None:
        self._slots = slots
        self._items = items
        self._taxonomy = taxonomy
        self._freed: list[tuple[frozenset[Evidence], MemoryItem]] = []
        self._stale: list[tuple[frozenset[Evidence], str, MemoryItem]] = []
        self.dropped: list[Dropped] = []

    def slot(self, row: AcceptedChange) -> None:
        change = row.change
        if not self._taxonomy.allows(change.topic, change.sub_topic):
            self.dropped.append(Dropped("slot", "taxonomy"))
            return
        about = About.of("user", change.topic, change.sub_topic)
        if change.action is SlotAction.DROP:
            self._drop(about, row)
        elif self._was_overtaken(row):
            self.dropped.append(Dropped("slot", "older"))
        elif change.action is SlotAction.UPDATE or (change.action is SlotAction.ADD and holds_one(change.sub_topic)):
            self._replace(about, row)
        else:
            self._append(about, row)

    def _drop(self, about: About, row: AcceptedChange) -> None:
        """Takes out one thing, or all. What was said later than this stays."""
        value = row.change.contradicts or row.change.content
        ended_at = row.change.valid_from or row.at
        named = self._items.naming(about, value)
        newer = [item for item in named if stated_at(item) > row.at]
        self._stale += [(frozenset(row.evidence), value, item) for item in newer]
        kept = [item.content for item in newer]
        removed = self._slots.remove(about, value, at=row.at, kept=kept)
        closed = [self._items.close(item, ended_at) for item in named if item not in newer]
        self._freed += [(frozenset(row.evidence), item) for item in closed]
        if not removed and not closed:
            self.dropped.append(Dropped("slot", "older" if newer else "nothing_to_drop"))

    def _was_overtaken(self, row: AcceptedChange) -> bool:
        """A reversal that arrives late: its other half found something newer, so this half is history too."""
        for evidence, value, newer in self._stale:
            if evidence & set(row.evidence) and same_thing(value, row.change.content):
                self._items.record_past(newer, row.change.kind, row.change.content, row.evidence, since=row.at)
                return True
        return False

    def _replace(self, about: About, row: AcceptedChange) -> None:
        change, since = row.change, row.change.valid_from or row.at
        known = self._items.saying(about, change.content)
        if self._slots.says(about, change.content):
            self._slots.support(about, row.evidence, row.at)
            if known is not None:
                self._items.support(known, row.evidence, row.at)
            return
        if self._slots.is_newer(about, row.at):
            self.dropped.append(Dropped("slot", "older"))
            for current in self._items.about(about)[-1:]:
                self._items.record_past(current, change.kind, change.content, row.evidence, since=since)
            return
        elements, gone = self._slots.replaced(about, change.content, change.contradicts)
        old = [item for item in self._items.about(about) if any(same_thing(part, item.content) for part in gone)]
        closed = [self._items.close(item, since) for item in old if not any(same(item.content, e) for e in elements)]
        self._slots.write(about, elements, row.evidence, row.at, forget=closed)
        for element in elements:
            if self._items.saying(about, element) is None:
                self._item_for(about, row, element, closed)

    def _append(self, about: About, row: AcceptedChange) -> None:
        for element in self._slots.parts(row.change.content):
            known = self._items.saying(about, element)
            if known is None and self._slots.covers(about, element):
                self._slots.support(about, row.evidence, row.at)
                continue
            self._slots.append(about, element, row.evidence, row.at)
            if known is not None:
                self._items.support(known, row.evidence, row.at)
            else:
                self._item_for(about, row, element, [])

    def _item_for(self, about: About, row: AcceptedChange, content: str, closed: list[MemoryItem]) -> None:
        predecessor = closed.pop(0) if closed else self._taken_over(row)
        since = row.change.valid_from or row.at
        self._items.add(about, row.change.kind, content, row.evidence, at=row.at, since=since, predecessor=predecessor)

    def _taken_over(self, row: AcceptedChange) -> MemoryItem | None:
        """What the same words, or the same batch in the same place, ended: its history goes on in the new statement."""
        spoken_of = About.of("user", row.change.topic, row.change.sub_topic)
        for position, (evidence, item) in enumerate(self._freed):
            same_place = About.of(item.subject, item.topic, item.sub_topic) == spoken_of and holds_one(item.sub_topic)
            if same_place or evidence & set(row.evidence):
                del self._freed[position]
                return item
        return None

    def item(self, row: AcceptedItem) -> None:
        draft = row.draft
        about = About.of(draft.subject, draft.topic, draft.sub_topic)
        if draft.topic and not self._taxonomy.allows(draft.topic, draft.sub_topic):
            self.dropped.append(Dropped("item", "taxonomy"))
            return
        if draft.action is SlotAction.DROP:
            value = draft.contradicts or draft.content
            for item in self._items.naming(about, value):
                if stated_at(item) <= row.at:
                    self._items.close(item, row.at)
            return
        known = self._items.saying(about, draft.content)
        if known is not None:
            self._items.support(known, row.evidence, row.at)
            return
        since = draft.valid_from or row.at
        current = self._items.about(about)[-1:] if draft.action is SlotAction.UPDATE else []
        if current and stated_at(current[0]) > row.at:
            self._items.record_past(current[0], draft.kind, draft.content, row.evidence, since=since)
            return
        closed = [self._items.close(item, since) for item in current]
        predecessor = closed[0] if closed else None
        self._items.add(about, draft.kind, draft.content, row.evidence, at=row.at, since=since, predecessor=predecessor)


def _event(
    accepted: Accepted, delta: tuple[ProfileDelta, ...], gists: GistBook, *, operation_id: str, now: datetime
) -> Event | None:
    """The batch's event, with its gists put into the book; none if nothing happened that was not known."""
    event_id = derived_id(operation_id, "event")
    for row in accepted.gists[:MAX_GISTS]:
        gists.add(row, event_id=event_id)
    only_repeated = bool(accepted.gists) and not gists.made
    if not delta and (only_repeated or not (accepted.gists or accepted.summary)):
        return None
    cited = [*(row.evidence for row in accepted.gists), *(row.evidence for row in accepted.slots)]
    evidence = tuple(one for each in cited for one in each)
    return Event(
        event_id,
        accepted.summary[:MAX_SUMMARY_CHARACTERS],
        accepted.happened_at,
        now,
        now,
        tags=accepted.tags,
        delta=delta,
        gist_ids=tuple(gist.id for gist in gists.made),
        evidence=with_evidence((), evidence),
    )
