"""The rows that a partial deletion touches: found by enumerating the user's keys, never by a search."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from engram.domain.models import Event, Evidence, Gist, MemoryItem, MessageRef, ProfileSlot
from engram.domain.scope import Scope
from engram.domain.table import Item, Key
from engram.extraction.elements import elements_of, normal
from engram.extraction.item_book import About
from engram.lifecycle.targets import Target, TargetKind
from engram.ports import Table
from engram.recall.indexing import gist_document_id, memory_document_id, message_document_id
from engram.store import keys
from engram.store.items import decode
from engram.store.reader import CONTENT_BLOB, Reader

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Affected:
    """What a target touches at one moment.

    Attributes:
        messages: rows of the messages that go.
        slots, events, gists, memories, versions: rows that go themselves or cite a message that goes.
        buffers, pending: rows that name such a message.
        client_blobs: rows of Memobase blobs of which no message is left.
        drafts: every model answer not yet committed; it may have been made from such a message.
        documents: search documents of what goes.
        blobs: names of texts of messages that go.
    """

    messages: tuple[Item, ...]
    slots: tuple[ProfileSlot, ...]
    events: tuple[Event, ...]
    gists: tuple[Gist, ...]
    memories: tuple[MemoryItem, ...]
    versions: tuple[MemoryItem, ...]
    buffers: tuple[Item, ...]
    pending: tuple[Item, ...]
    client_blobs: tuple[Item, ...]
    drafts: tuple[Key, ...]
    documents: tuple[str, ...]
    blobs: tuple[str, ...]
    conversations: int

    def counts(self) -> dict[str, int]:
        """For a receipt. `conversations` are those of which no message is left."""
        names = "messages slots events gists memories buffers pending client_blobs drafts blobs".split()
        counts: dict[str, int] = {name: len(getattr(self, name)) for name in names}
        counts["memory_versions"] = len(self.versions)
        counts["search_rows"] = len(self.documents)
        return {"conversations": self.conversations, **counts}

    @property
    def cited(self) -> frozenset[MessageRef]:
        """Every message that an affected row cites."""
        rows: Iterable[Any] = (*self.slots, *self.events, *self.gists, *self.memories, *self.versions)
        return frozenset(one.ref for row in rows for one in row.evidence)

    @property
    def operation_ids(self) -> tuple[str, ...]:
        """Operations that brought the messages."""
        found = (str(item.body.get("operation_id", "")) for item in self.messages)
        return tuple(dict.fromkeys(one for one in found if one))


class Survey:
    """Finds what a target touches."""

    def __init__(self, *, table: Table, reader: Reader) -> None:
        self._table = table
        self._reader = reader

    def of(self, scope: Scope, target: Target) -> Affected:
        """Reads each kind of derived row once, the target's messages, and the names of blobs."""
        messages = tuple(self._messages(scope, target))
        slots = self._touched(scope, keys.SLOTS, ProfileSlot, target, TargetKind.SLOT)
        gists = tuple(one for one in self._all(scope, keys.GISTS, Gist) if _touches_gist(target, one))
        events = self._events(scope, target, {one.event_id for one in gists})
        memories = self._touched(scope, keys.MEMORIES, MemoryItem, target, TargetKind.MEMORY)
        versions = self._touched(scope, keys.CLOSED_MEMORIES, MemoryItem, target, TargetKind.MEMORY)
        return Affected(
            messages=messages,
            slots=slots,
            events=events,
            gists=gists,
            memories=memories,
            versions=versions,
            buffers=self._naming(scope, keys.BUFFER, target),
            pending=self._naming(scope, keys.PENDING, target),
            client_blobs=self._client_blobs(scope, target),
            drafts=tuple(row.key for row in self._reader.rows(scope, keys.DRAFTS)) if target.conversation_ids else (),
            documents=tuple(self._documents(scope, target, gists, memories)),
            blobs=tuple(str(item.body[CONTENT_BLOB]) for item in messages if item.body.get(CONTENT_BLOB)),
            conversations=self._emptied(scope, target),
        )

    def holders(self, scope: Scope, target: Target) -> tuple[str, ...]:
        """`event:<id>` of events that repeat a statement which is touched, in what they say was changed by them.

        They need not cite the message: a change repeats the slot's other parts.
        """
        slots = self._touched(scope, keys.SLOTS, ProfileSlot, target, TargetKind.SLOT)
        items = (
            *self._touched(scope, keys.MEMORIES, MemoryItem, target, TargetKind.MEMORY),
            *self._touched(scope, keys.CLOSED_MEMORIES, MemoryItem, target, TargetKind.MEMORY),
        )
        touched = {
            (About.of("user", slot.topic, slot.sub_topic), normal(part))
            for slot in slots
            if not target.is_held_by(TargetKind.SLOT, slot.id)
            for part in elements_of(slot.content)
        }
        touched |= {(About.of(one.subject, one.topic, one.sub_topic), normal(one.content)) for one in items}
        if not touched:
            return ()
        return tuple(
            f"event:{event.id}"
            for event in self._all(scope, keys.EVENTS, Event)
            if not cites(event.evidence, target) and not touched.isdisjoint(_changes_of(event))
        )

    def _all(self, scope: Scope, prefix: str, kind: type[T]) -> Iterator[T]:
        return (decode(row, kind) for row in self._reader.rows(scope, prefix))

    def _touched(self, scope: Scope, prefix: str, kind: type[Any], target: Target, row: TargetKind) -> tuple[Any, ...]:
        return tuple(
            one
            for one in self._all(scope, prefix, kind)
            if target.is_row(row, one.id) or target.is_held_by(row, one.id) or cites(one.evidence, target)
        )

    def _events(self, scope: Scope, target: Target, of_gists: set[str]) -> tuple[Event, ...]:
        """Those touched themselves, and those whose lines are: a line may be said again later, its event is not."""
        return tuple(
            one
            for one in self._all(scope, keys.EVENTS, Event)
            if target.is_row(TargetKind.EVENT, one.id)
            or target.is_held_by(TargetKind.EVENT, one.id)
            or one.id in of_gists
            or cites(one.evidence, target)
        )

    def _messages(self, scope: Scope, target: Target) -> Iterator[Item]:
        if target.kind is TargetKind.CONVERSATION:
            yield from self._reader.rows(scope, keys.conversation_messages(target.id))
        elif target.refs:
            yield from self._table.batch_get([keys.message(scope, ref) for ref in target.refs]).values()

    def _naming(self, scope: Scope, prefix: str, target: Target) -> tuple[Item, ...]:
        return tuple(
            row
            for row in self._reader.rows(scope, prefix)
            if any(target.covers(MessageRef(*pair)) for pair in row.body["messages"])
        )

    def _client_blobs(self, scope: Scope, target: Target) -> tuple[Item, ...]:
        if not target.conversation_ids:
            return ()
        return tuple(
            row
            for row in self._reader.rows(scope, keys.CLIENT_BLOBS)
            if row.body["messages"] and all(target.covers(MessageRef(*pair)) for pair in row.body["messages"])
        )

    def _documents(
        self, scope: Scope, target: Target, gists: Iterable[Gist], memories: Iterable[MemoryItem]
    ) -> Iterator[str]:
        wanted = [message_document_id(ref) for ref in target.refs]
        wanted += [gist_document_id(one.id) for one in gists]
        wanted += [memory_document_id(one.id) for one in memories]
        found = self._table.batch_get([keys.document(scope, one) for one in wanted])
        yield from (document_id_of(key) for key in found)
        if target.kind is TargetKind.CONVERSATION:
            yield from (document_id_of(row.key) for row in conversation_documents(self._reader, scope, target.id))

    def _emptied(self, scope: Scope, target: Target) -> int:
        """How many of the conversations that lose messages have none left but still stand there."""
        there = self._table.batch_get([keys.conversation(scope, one) for one in target.conversation_ids])
        return sum(
            not any(
                not target.covers(MessageRef(one, int(row.body["seq"])))
                for row in self._reader.rows(scope, keys.conversation_messages(one))
            )
            for one in target.conversation_ids
            if keys.conversation(scope, one) in there
        )


def _changes_of(event: Event) -> set[tuple[About, str]]:
    return {
        (About.of("user", one.topic, one.sub_topic), normal(part))
        for one in event.delta
        for part in elements_of(one.content)
    }


def cites(evidence: Iterable[Evidence], target: Target) -> bool:
    return any(target.covers(one.ref) for one in evidence)


def conversation_documents(reader: Reader, scope: Scope, conversation_id: str) -> Iterator[Item]:
    """Search rows of one conversation's messages. `m:a:1:0` begins like those of `a` and is one of `a:1`."""
    beginning = f"m:{conversation_id}:"
    for row in reader.rows(scope, keys.DOCUMENTS + keys.escape(beginning)):
        if document_id_of(row.key).removeprefix(beginning).isdigit():
            yield row


def document_id_of(key: Key) -> str:
    return keys.unescape(key.sk.removeprefix(keys.DOCUMENTS))


def _touches_gist(target: Target, gist: Gist) -> bool:
    return target.is_row(TargetKind.EVENT, gist.event_id) or cites(gist.evidence, target)
