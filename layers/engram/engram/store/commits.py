"""The few transactions. Each is all or none, checks the deletion epoch, and can be repeated without harm.

A commit that is larger than one transaction goes in parts: rows that only add come first, the user's profile
version and the operation's stage come last, so that a reader sees the change when it is whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta

from engram.domain.clock import Clock, to_text
from engram.domain.models import (
    Conversation,
    Event,
    Gist,
    MemoryItem,
    Message,
    MessageRef,
    Operation,
    ProfileSlot,
    SessionPointer,
    User,
)
from engram.domain.scope import Scope
from engram.domain.table import Absent, Check, Delete, EpochIs, Item, Key, Put, VersionIs, Write
from engram.domain.visibility import Tombstones
from engram.ports import Table
from engram.store import keys, limits
from engram.store.items import encode
from engram.store.operations import KEPT_AFTER_END, Operations
from engram.store.reader import CONTENT_BLOB

REQUESTS_KEPT = KEPT_AFTER_END + timedelta(days=60)


@dataclass(frozen=True, slots=True)
class AcceptCommit:
    """What one accepted request adds.

    Attributes:
        user: to be created; None if the user is there.
        content_blobs: blob names of texts kept outside their item.
        new_conversations, continued_conversations: the latter as they will be, one version up.
        sessions: the session's pointer, new or moved; version counts from 1.
    """

    operation: Operation
    request_hash: str
    messages: tuple[Message, ...]
    new_conversations: tuple[Conversation, ...]
    continued_conversations: tuple[Conversation, ...]
    session: SessionPointer
    user: User | None
    tombstones: Tombstones
    content_blobs: dict[MessageRef, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class IndexCommit:
    """The end of the index stage: what the conversations are about, and the messages' place in the buffer."""

    operation: Operation
    conversations: tuple[Conversation, ...]
    buffer_tokens: int
    due: str
    tombstones: Tombstones


@dataclass(frozen=True, slots=True)
class ProfileCommit:
    """A change of what is known about a user, by extraction or by a person.

    Attributes:
        expected: the user as read before; the commit fails if its profile changed since.
        operation: its next state, if the change belongs to one.
        done_buffers: operations whose buffered messages are distilled by this.
        done_drafts: keys of model answers that this commits.
        other: further writes that belong to the same change.
    """

    expected: User
    tombstones: Tombstones
    slots: tuple[ProfileSlot, ...] = ()
    events: tuple[Event, ...] = ()
    gists: tuple[Gist, ...] = ()
    memories: tuple[MemoryItem, ...] = ()
    closed_memories: tuple[MemoryItem, ...] = ()
    deleted: tuple[Key, ...] = ()
    operation: Operation | None = None
    done_buffers: tuple[str, ...] = ()
    other: tuple[Write, ...] = ()


class Commits:
    """Transactions on the Table port."""

    def __init__(self, *, table: Table, operations: Operations, clock: Clock) -> None:
        self._table = table
        self._operations = operations
        self._clock = clock

    def accept(self, scope: Scope, commit: AcceptCommit) -> None:
        """Messages, request record and operation in one transaction.

        Raises:
            ConditionFailed: lost a race with another request of this user or session: read again and retry.
            TooLarge: more than one transaction takes.
        """
        epoch = commit.tombstones.epoch
        expires = int((commit.operation.created_at + REQUESTS_KEPT).timestamp())
        operation = commit.operation
        request = {"operation_id": operation.operation_id, "hash": commit.request_hash}
        last = commit.messages[-1].conversation_id if commit.messages else ""
        pending = {"operation_id": operation.operation_id, "messages": [_pair(one.ref) for one in commit.messages]}
        writes: list[Write] = [
            Put(
                Item(
                    keys.request(scope, operation.request_id),
                    {**request, "conversation_id": last},
                    epoch=epoch,
                    expires_at=expires,
                ),
                Absent(),
            ),
            Put(self._operations.item(scope, operation), Absent()),
            Put(Item(keys.pending(scope, operation.operation_id), pending, epoch=epoch)),
            epoch_check(scope, commit.tombstones),
        ]
        if commit.user is not None:
            writes.append(Put(user_item(scope, commit.user, epoch), Absent()))
        for message in commit.messages:
            writes.append(Put(message_item(scope, message, epoch, commit.content_blobs.get(message.ref)), Absent()))
        for new in commit.new_conversations:
            writes.append(Put(conversation_item(scope, new, epoch), Absent()))
        for continued in commit.continued_conversations:
            writes.append(Put(conversation_item(scope, continued, epoch), VersionIs(continued.version - 1)))
        pointer = Item(
            keys.session(scope, commit.session.session_id),
            encode(commit.session),
            version=commit.session.version,
            epoch=epoch,
        )
        writes.append(Put(pointer, VersionIs(pointer.version - 1) if pointer.version > 1 else Absent()))
        self._table.transact(writes)

    def index(self, scope: Scope, commit: IndexCommit) -> None:
        """Ends the index stage: the messages are no longer pending, and are buffered for distillation."""
        epoch = commit.tombstones.epoch
        operation = commit.operation
        writes: list[Write] = [
            Put(self._operations.item(scope, operation), VersionIs(operation.version - 1)),
            Delete(keys.pending(scope, operation.operation_id)),
            epoch_check(scope, commit.tombstones),
        ]
        if commit.due:
            body = {
                "messages": [_pair(ref) for ref in operation.messages],
                "tokens": commit.buffer_tokens,
                "due": commit.due,
            }
            buffered = Item(
                keys.buffered(scope, operation.operation_id),
                body,
                epoch=epoch,
                index=keys.buffer_due(scope, commit.due, operation.operation_id),
            )
            writes.append(Put(buffered))
        for one in commit.conversations:
            writes.append(Put(conversation_item(scope, one, epoch), VersionIs(one.version - 1)))
        self._table.transact(writes)

    def profile(self, scope: Scope, commit: ProfileCommit) -> User:
        """The user after the commit, its profile version one higher.

        Raises:
            ConditionFailed: the profile changed or something was deleted since `expected` was read.
        """
        now = self._clock()
        present = commit.expected
        changed = replace(
            present, profile_version=present.profile_version + 1, version=present.version + 1, updated_at=now
        )
        epoch = commit.tombstones.epoch
        first: list[Write] = [
            *(Put(event_item(scope, one, epoch)) for one in commit.events),
            *(Put(closed_memory_item(scope, one, epoch)) for one in commit.closed_memories),
        ]
        last: list[Write] = [
            *(Put(slot_item(scope, one, epoch)) for one in commit.slots),
            *(Put(gist_item(scope, one, epoch)) for one in commit.gists),
            *(Put(memory_item(scope, one, epoch)) for one in commit.memories),
            *(Delete(key) for key in commit.deleted),
            *(Delete(keys.buffered(scope, one)) for one in commit.done_buffers),
            *commit.other,
        ]
        marker: list[Write] = [epoch_check(scope, commit.tombstones)]
        if present.version > 0:
            marker.append(Put(user_item(scope, changed, epoch), VersionIs(present.version)))
        else:
            marker.append(Put(user_item(scope, changed, epoch), Absent()))
        if commit.operation is not None:
            item = self._operations.item(scope, commit.operation)
            marker.append(Put(item, VersionIs(commit.operation.version - 1)))
        self._transact_in_parts(scope, [*first, *last], marker, commit.tombstones)
        return replace(changed, epoch=epoch)

    def _transact_in_parts(
        self, scope: Scope, writes: Sequence[Write], marker: Sequence[Write], tombstones: Tombstones
    ) -> None:
        room = limits.MAX_TRANSACTION_WRITES - len(marker)
        head, tail = list(writes), []
        if len(head) > room:
            head, tail = head[:-room], head[-room:]
            size = limits.MAX_TRANSACTION_WRITES - 1
            for start in range(0, len(head), size):
                self._table.transact([*head[start : start + size], epoch_check(scope, tombstones)])
        else:
            head, tail = [], head
        self._table.transact([*tail, *marker])


def epoch_check(scope: Scope, tombstones: Tombstones) -> Check:
    """Fails the transaction if anything of the user was deleted since `tombstones` was read."""
    return Check(keys.tombstones(scope), EpochIs(tombstones.epoch))


def tombstones_write(scope: Scope, tombstones: Tombstones) -> Put:
    """Replaces the tombstones read before by their next version."""
    item = Item(keys.tombstones(scope), encode(tombstones), version=tombstones.version, epoch=tombstones.epoch)
    return Put(item, VersionIs(tombstones.version - 1) if tombstones.version > 1 else Absent())


def user_item(scope: Scope, user: User, epoch: int) -> Item:
    return Item(keys.user(scope), encode(user), version=user.version, epoch=epoch, index=keys.user_listing(scope))


def message_item(scope: Scope, message: Message, epoch: int, blob: str | None) -> Item:
    body = encode(message)
    if blob is not None:
        body = {**body, "content": "", CONTENT_BLOB: blob}
    return Item(keys.message(scope, message.ref), body, version=message.version, epoch=epoch)


def conversation_item(scope: Scope, one: Conversation, epoch: int) -> Item:
    listing = keys.unresolved_listing(scope, one.conversation_id) if one.unresolved else None
    key = keys.conversation(scope, one.conversation_id)
    return Item(key, encode(one), version=one.version, epoch=epoch, index=listing)


def slot_item(scope: Scope, slot: ProfileSlot, epoch: int) -> Item:
    return Item(keys.slot(scope, slot.id), encode(slot), version=slot.version, epoch=epoch)


def event_item(scope: Scope, event: Event, epoch: int) -> Item:
    return Item(keys.event(scope, event.id), encode(event), version=event.version, epoch=epoch)


def gist_item(scope: Scope, gist: Gist, epoch: int) -> Item:
    key = keys.gist(scope, to_text(gist.happened_at), gist.id)
    return Item(key, encode(gist), version=gist.version, epoch=epoch)


def memory_item(scope: Scope, item: MemoryItem, epoch: int) -> Item:
    return Item(keys.memory(scope, item.id), encode(item), version=item.version, epoch=epoch)


def closed_memory_item(scope: Scope, item: MemoryItem, epoch: int) -> Item:
    return Item(keys.closed_memory(scope, item.id, item.version), encode(item), version=item.version, epoch=epoch)


def gist_keys(scope: Scope, gists: Iterable[Gist]) -> tuple[Key, ...]:
    return tuple(keys.gist(scope, to_text(one.happened_at), one.id) for one in gists)


def _pair(ref: MessageRef) -> list[str | int]:
    return [ref.conversation_id, ref.seq]
