"""Reads of the truth: what a user's rows say now, without what is deleted, hidden or expired.

Every method answers with values of `domain`. Round trips are in the docstrings: the read path counts them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from typing import TypeVar

from engram.domain.clock import to_text
from engram.domain.models import (
    Conversation,
    Event,
    Gist,
    MemoryItem,
    Message,
    MessageRef,
    ProfileSlot,
    SessionPointer,
    User,
)
from engram.domain.scope import Scope
from engram.domain.table import Item, Key
from engram.domain.visibility import Tombstones
from engram.ports import BlobStore, Table
from engram.store import keys
from engram.store.items import decode

Derived = TypeVar("Derived", ProfileSlot, Event, MemoryItem)

CONTENT_BLOB = "content_blob"
"""Field of a message's body that names the blob of a text too large for an item."""


@dataclass(frozen=True, slots=True)
class Profile:
    """A user's slots and newest gists, read together. `user` is None for a user nothing is known of."""

    user: User | None
    tombstones: Tombstones
    slots: tuple[ProfileSlot, ...]
    gists: tuple[Gist, ...]


@dataclass(frozen=True, slots=True)
class UserState:
    """What decides how a user's rows are read."""

    user: User | None
    tombstones: Tombstones


class Reader:
    """Reads on the Table port, scope first."""

    def __init__(self, *, table: Table, blobs: BlobStore) -> None:
        self._table = table
        self._blobs = blobs

    def state(self, scope: Scope) -> UserState:
        """The user and its tombstones. One batch get."""
        found = self._table.batch_get([keys.user(scope), keys.tombstones(scope)])
        tombstones = tombstones_of(found.get(keys.tombstones(scope)))
        return UserState(user_of(found.get(keys.user(scope)), tombstones), tombstones)

    def user(self, scope: Scope) -> User | None:
        """One batch get."""
        return self.state(scope).user

    def tombstones(self, scope: Scope) -> Tombstones:
        """One get."""
        return tombstones_of(self._table.get(keys.tombstones(scope)))

    def session(self, scope: Scope, session_id: str) -> SessionPointer | None:
        """One get."""
        item = self._table.get(keys.session(scope, session_id))
        return decode(item, SessionPointer) if item else None

    # Messages and conversations ---------------------------------------------------------------------

    def messages(self, scope: Scope, refs: Iterable[MessageRef]) -> dict[MessageRef, Message]:
        """Those that exist and may be shown, read now. One batch get, and one blob read per very large text."""
        wanted = {keys.message(scope, ref): ref for ref in refs}
        if not wanted:
            return {}
        found = self._table.batch_get([*wanted, keys.tombstones(scope)])
        tombstones = tombstones_of(found.pop(keys.tombstones(scope), None))
        shown = {}
        for key, item in found.items():
            message = self.visible_message(scope, item, tombstones)
            if message is not None:
                shown[wanted[key]] = message
        return shown

    def message_before(self, scope: Scope, message: Message) -> Message | None:
        """The message that stands before it in its conversation, if it may be shown. One batch get, or none."""
        if message.seq == 0:
            return None
        ref = MessageRef(message.conversation_id, message.seq - 1)
        return self.messages(scope, [ref]).get(ref)

    def conversation_messages(
        self, scope: Scope, conversation_id: str, *, tombstones: Tombstones | None = None
    ) -> tuple[Message, ...]:
        """All messages of a conversation in order that may be shown."""
        prefix = keys.conversation_messages(conversation_id)
        return tuple(self.all_messages(scope, prefix=prefix, tombstones=tombstones))

    def all_messages(
        self, scope: Scope, *, prefix: str = keys.MESSAGES, tombstones: Tombstones | None = None
    ) -> Iterator[Message]:
        """Messages whose key begins with `prefix`, page by page, by conversation and seq."""
        hidden = tombstones if tombstones is not None else self.tombstones(scope)
        for item in self.rows(scope, prefix):
            message = self.visible_message(scope, item, hidden)
            if message is not None:
                yield message

    def pending(self, scope: Scope) -> tuple[Message, ...]:
        """Messages accepted and not yet indexed, oldest first. One query; one batch get if there are any."""
        refs = [MessageRef(*ref) for item in self.rows(scope, keys.PENDING) for ref in item.body["messages"]]
        found = self.messages(scope, refs)
        return tuple(found[ref] for ref in refs if ref in found)

    def conversation(self, scope: Scope, conversation_id: str) -> Conversation | None:
        """One batch get."""
        key = keys.conversation(scope, conversation_id)
        found = self._table.batch_get([key, keys.tombstones(scope)])
        tombstones = tombstones_of(found.get(keys.tombstones(scope)))
        return _conversation(found[key], tombstones) if key in found else None

    def conversations(self, scope: Scope, *, tombstones: Tombstones | None = None) -> tuple[Conversation, ...]:
        """All conversations, by start. One query, and one get unless the caller has the tombstones."""
        hidden = tombstones if tombstones is not None else self.tombstones(scope)
        found = (_conversation(item, hidden) for item in self.rows(scope, keys.CONVERSATIONS))
        return tuple(sorted((one for one in found if one), key=lambda one: (one.started_at, one.conversation_id)))

    # Profile, events, memory items -------------------------------------------------------------------

    def profile(self, scope: Scope, *, gists: int = 200) -> Profile:
        """The user, all slots and the newest `gists` gists. One get and two queries."""
        tombstones = self.tombstones(scope)
        user_item: Item | None = None
        slots = []
        # SLOT# and USER are neighbours in the order of sort keys: one query reads both.
        for item in self._range(scope, keys.SLOTS, keys.user(scope).sk + "\0"):
            if item.key.sk == keys.user(scope).sk:
                user_item = item
            elif item.key.sk.startswith(keys.SLOTS):
                slots.append(item)
        return Profile(
            user=user_of(user_item, tombstones),
            tombstones=tombstones,
            slots=tuple(_shown(slots, ProfileSlot, "slot", tombstones)),
            gists=self.gists(scope, limit=gists, tombstones=tombstones),
        )

    def slots(self, scope: Scope) -> tuple[ProfileSlot, ...]:
        hidden = self.tombstones(scope)
        return tuple(_shown(self.rows(scope, keys.SLOTS), ProfileSlot, "slot", hidden))

    def slot(self, scope: Scope, slot_id: str) -> ProfileSlot | None:
        return self._one(scope, keys.slot(scope, slot_id), ProfileSlot, "slot")

    def events(self, scope: Scope) -> tuple[Event, ...]:
        """All events, newest first."""
        hidden = self.tombstones(scope)
        shown = _shown(self.rows(scope, keys.EVENTS), Event, "event", hidden)
        return tuple(sorted(shown, key=lambda one: (one.created_at, one.id), reverse=True))

    def event(self, scope: Scope, event_id: str) -> Event | None:
        return self._one(scope, keys.event(scope, event_id), Event, "event")

    def gists(
        self, scope: Scope, *, limit: int | None = None, tombstones: Tombstones | None = None
    ) -> tuple[Gist, ...]:
        """Gists by when they happened, newest first, hidden ones left out. One query (and one get)."""
        hidden = tombstones if tombstones is not None else self.tombstones(scope)
        shown = _shown_gists(self.rows(scope, keys.GISTS, forward=False, page=limit), hidden)
        return tuple(islice(shown, limit))

    def gists_at(self, scope: Scope, wanted: Iterable[tuple[datetime, str]]) -> tuple[Gist, ...]:
        """Gists named by when they happened and their id; those that are gone or hidden are left out. One batch get."""
        named = [keys.gist(scope, to_text(happened_at), gist_id) for happened_at, gist_id in wanted]
        found = self._table.batch_get([*named, keys.tombstones(scope)])
        hidden = tombstones_of(found.pop(keys.tombstones(scope), None))
        return tuple(_shown_gists(found.values(), hidden))

    def memory_items(self, scope: Scope, *, include_closed: bool = False) -> tuple[MemoryItem, ...]:
        """Current memory items, newest first; with `include_closed` earlier versions and ended items too."""
        hidden = self.tombstones(scope)
        rows = list(self.rows(scope, keys.MEMORIES))
        if include_closed:
            rows += self.rows(scope, keys.CLOSED_MEMORIES)
        shown = _shown(rows, MemoryItem, "memory", hidden)
        kept = (one for one in shown if include_closed or one.valid_until is None)
        return tuple(sorted(kept, key=lambda one: (one.updated_at, one.id, one.version), reverse=True))

    def memory_item(self, scope: Scope, memory_id: str) -> MemoryItem | None:
        return self._one(scope, keys.memory(scope, memory_id), MemoryItem, "memory")

    def memory_history(self, scope: Scope, memory_id: str) -> tuple[MemoryItem, ...]:
        """Earlier versions of one item, oldest first."""
        hidden = self.tombstones(scope)
        return tuple(_shown(self.rows(scope, keys.closed_memories(memory_id)), MemoryItem, "memory", hidden))

    # Rows ---------------------------------------------------------------------------------------------

    def rows(
        self, scope: Scope, prefix: str, *, forward: bool = True, page: int | None = None, after: str = ""
    ) -> Iterator[Item]:
        """All rows of the user whose sort key begins with `prefix`, or those of them behind the key `after`."""
        start = after + "\0" if after else prefix
        return self._range(scope, start, keys.end_of(prefix), forward=forward, page=page)

    def _range(
        self, scope: Scope, start: str, end: str, *, forward: bool = True, page: int | None = None
    ) -> Iterator[Item]:
        cursor: Key | None = None
        while True:
            answer = self._table.query(
                keys.user_partition(scope), start=start, end=end, forward=forward, limit=page, cursor=cursor
            )
            yield from answer.items
            cursor = answer.cursor
            if cursor is None:
                return

    def _one(self, scope: Scope, key: Key, kind: type[Derived], name: str) -> Derived | None:
        found = self._table.batch_get([key, keys.tombstones(scope)])
        hidden = tombstones_of(found.get(keys.tombstones(scope)))
        return next(_shown([found[key]] if key in found else [], kind, name, hidden), None)

    def visible_message(self, scope: Scope, item: Item, tombstones: Tombstones) -> Message | None:
        """The message in a row, unless it may not be shown. One blob read for a very large text."""
        message = decode(item, Message)
        if message.hidden or not tombstones.shows_row(item.epoch) or not tombstones.shows_message(message.ref):
            return None
        blob = item.body.get(CONTENT_BLOB)
        if not blob:
            return message
        data = self._blobs.get(scope, blob)
        return replace(message, content=data.decode()) if data is not None else None


def tombstones_of(item: Item | None) -> Tombstones:
    """The user's tombstones; none yet is an empty value of version 0."""
    return decode(item, Tombstones) if item is not None else Tombstones()


def user_of(item: Item | None, tombstones: Tombstones) -> User | None:
    if item is None or not tombstones.shows_row(item.epoch):
        return None
    return replace(decode(item, User), epoch=tombstones.epoch)


def _conversation(item: Item, tombstones: Tombstones) -> Conversation | None:
    return tombstones.told(decode(item, Conversation)) if tombstones.shows_row(item.epoch) else None


def _shown_gists(items: Iterable[Item], tombstones: Tombstones) -> Iterator[Gist]:
    for item in items:
        gist = decode(item, Gist)
        if tombstones.shows_row(item.epoch) and tombstones.shows_derived("event", gist.event_id, gist.evidence):
            yield gist


def _shown(items: Iterable[Item], kind: type[Derived], name: str, tombstones: Tombstones) -> Iterator[Derived]:
    for item in items:
        value = decode(item, kind)
        if tombstones.shows_row(item.epoch) and tombstones.shows_derived(name, value.id, value.evidence):
            yield value
