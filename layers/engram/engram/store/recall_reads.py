"""The two batch gets of a recall: what decides how to read a user, and what proves that hits are still true."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from engram.domain.clock import to_text
from engram.domain.models import Conversation, Gist, MemoryItem, Message, MessageRef, SessionPointer, User
from engram.domain.scope import Scope
from engram.domain.table import Item, Key
from engram.domain.visibility import Tombstones
from engram.ports import Table
from engram.recall.indexing import ref_of_document
from engram.store import keys
from engram.store.conversation_copies import ConversationCopies, Version
from engram.store.documents import LOG_KEPT
from engram.store.items import decode
from engram.store.reader import Reader, tombstones_of, user_of

MAX_LOGGED = 40
"""Newest changes of the search rows that are looked at: a burst of ingestions, not an import."""


@dataclass(frozen=True, slots=True)
class Opening:
    """What a recall begins with.

    Attributes:
        current_id: the conversation that the session points at; "" for a new session.
        others: further rows that the caller asked for in the same round trip.
    """

    user: User | None
    tombstones: Tombstones
    current_id: str
    conversations: tuple[Conversation, ...]
    pending: tuple[Message, ...]
    others: Mapping[Key, Item]


@dataclass(frozen=True, slots=True)
class Truth:
    """What the table says of hits, at this moment: only what may be shown.

    Attributes:
        hidden: what was deleted at this moment.
    """

    messages: dict[MessageRef, Message] = field(default_factory=dict)
    memories: dict[str, MemoryItem] = field(default_factory=dict)
    gists: dict[str, Gist] = field(default_factory=dict)
    hidden: Tombstones = field(default_factory=Tombstones)


class RecallReads:
    """Reads of a recall, on the Table port."""

    def __init__(self, *, table: Table, reader: Reader, copies: ConversationCopies | None = None) -> None:
        self._table = table
        self._reader = reader
        self._copies = copies or ConversationCopies()

    def opening(self, scope: Scope, session_id: str, now: datetime, others: Sequence[Key] = ()) -> Opening:
        """The user's state, conversations and pending messages.

        One batch get and one query; a second query when the conversations have changed since the last recall.
        """
        wanted = [keys.user(scope), keys.tombstones(scope), keys.documents_head(scope), *others]
        if session_id:
            wanted.append(keys.session(scope, session_id))
        found = self._table.batch_get(wanted)
        tombstones = tombstones_of(found.get(keys.tombstones(scope)))
        pending = self._reader.pending(scope)
        return Opening(
            user=user_of(found.get(keys.user(scope)), tombstones),
            tombstones=tombstones,
            current_id=_current(found.get(keys.session(scope, session_id)), tombstones) if session_id else "",
            conversations=self._conversations(scope, found, tombstones, now, settled=not pending),
            pending=pending,
            others=found,
        )

    def _conversations(
        self, scope: Scope, found: Mapping[Key, Item], tombstones: Tombstones, now: datetime, *, settled: bool
    ) -> tuple[Conversation, ...]:
        """All conversations: a copy if it is current. `settled`: nothing was pending after `found` was read."""
        head = found.get(keys.documents_head(scope))
        if head is None or not settled:
            return self._reader.conversations(scope, tombstones=tombstones)
        version = Version(head.body["generation"], head.version, tombstones.version)
        copy = self._copies.get(scope, version, now)
        if copy is None:
            copy = self._reader.conversations(scope, tombstones=tombstones)
            self._copies.put(scope, version, now, copy)
        return copy

    def just_indexed(self, scope: Scope, now: datetime, lag: timedelta) -> tuple[Message, ...]:
        """Messages whose search rows were written within `lag`: an index outside the table may not show them yet.

        Read from the log of the search rows. One query, and one batch get if there are any.
        """
        pk, since = keys.user_partition(scope), int((now - lag + LOG_KEPT).timestamp())
        end = keys.end_of(keys.DOCUMENT_CHANGES)
        page = self._table.query(pk, start=keys.DOCUMENT_CHANGES, end=end, forward=False, limit=MAX_LOGGED)
        recent = [item for item in page.items if item.expires_at is not None and item.expires_at >= since]
        refs = [ref for item in reversed(recent) for one in item.body["doc_ids"] if (ref := ref_of_document(one))]
        found = self._reader.messages(scope, refs)
        return tuple(found[ref] for ref in dict.fromkeys(refs) if ref in found)

    def rows(self, wanted: Sequence[Key]) -> Mapping[Key, Item]:
        """Rows of the business, as they are. One batch get."""
        return self._table.batch_get(wanted)

    def has_items(self, scope: Scope) -> bool:
        """Whether anything is known of a user without conversations. Two queries."""
        return bool(self._reader.gists(scope, limit=1) or self._reader.memory_items(scope))

    def memories(self, scope: Scope, *, limit: int) -> tuple[MemoryItem, ...]:
        """The newest current memory items. A query and a get."""
        return self._reader.memory_items(scope)[:limit]

    def gists_between(
        self, scope: Scope, start: datetime | None, end: datetime | None, *, limit: int
    ) -> tuple[Gist, ...]:
        """Gists of what happened in a half-open range, oldest first. A get and a query, which reads only the range."""
        first = keys.GISTS + (to_text(start) if start is not None else "")
        last = keys.GISTS + to_text(end) if end is not None else keys.end_of(keys.GISTS)
        hidden = self._reader.tombstones(scope)
        page = self._table.query(keys.user_partition(scope), start=first, end=last, limit=limit)
        return tuple(gist for item in page.items if (gist := _gist(item, hidden)) is not None)

    def truth(
        self, scope: Scope, refs: Iterable[MessageRef], memories: Iterable[str] = (), gists: Iterable[Key] = ()
    ) -> Truth:
        """Those of the messages, memory items and gists that exist and may be shown. One batch get."""
        of_messages = {keys.message(scope, ref): ref for ref in refs}
        of_memories = [keys.memory(scope, one) for one in memories]
        of_gists = list(gists)
        wanted = [*of_messages, *of_memories, *of_gists]
        if not wanted:
            return Truth()
        found = self._table.batch_get([*wanted, keys.tombstones(scope)])
        hidden = tombstones_of(found.get(keys.tombstones(scope)))
        truth = Truth(hidden=hidden)
        for key, ref in of_messages.items():
            if key in found and (message := self._reader.visible_message(scope, found[key], hidden)) is not None:
                truth.messages[ref] = message
        for key in of_memories:
            if key in found and (item := _memory(found[key], hidden)) is not None:
                truth.memories[item.id] = item
        for key in of_gists:
            if key in found and (gist := _gist(found[key], hidden)) is not None:
                truth.gists[gist.id] = gist
        return truth


def _current(item: Item | None, tombstones: Tombstones) -> str:
    if item is None or not tombstones.shows_row(item.epoch):
        return ""
    return decode(item, SessionPointer).conversation_id


def _memory(item: Item, hidden: Tombstones) -> MemoryItem | None:
    memory = decode(item, MemoryItem)
    shown = hidden.shows_row(item.epoch) and hidden.shows_derived("memory", memory.id, memory.evidence)
    return memory if shown and memory.valid_until is None else None


def _gist(item: Item, hidden: Tombstones) -> Gist | None:
    gist = decode(item, Gist)
    shown = hidden.shows_row(item.epoch) and hidden.shows_derived("event", gist.event_id, gist.evidence)
    return gist if shown else None
