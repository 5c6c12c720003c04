"""The things Engram keeps, as plain values. One class per word of the design; no behaviour that needs I/O.

Times are aware UTC. Ids are strings. Tuples, so that a value can be shared between threads and caches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class Role(StrEnum):
    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class Message:
    """One message as received: verbatim and immutable.

    Attributes:
        message_id: the caller's own id where it gave one, else ours. Unique per user.
        seq: position in its conversation, from 0.
        name: who spoke, where the caller says (a display name, not an id).
        content: the text to the letter. Kept in the blob store above `store.limits.INLINE_TEXT_BYTES`.
        content_hash: `ids.content_hash(content)`.
        version: raised when the message is hidden or edited by a person.
        hidden: true once deleted or withdrawn, until its row is purged: no read may show it.
        attachments: opaque descriptions given by the caller, returned as given.
    """

    message_id: str
    conversation_id: str
    session_id: str
    seq: int
    role: Role
    content: str
    content_hash: str
    created_at: datetime
    name: str = ""
    version: int = 1
    hidden: bool = False
    operation_id: str = ""
    attachments: tuple[Mapping[str, Any], ...] = ()

    @property
    def ref(self) -> MessageRef:
        return MessageRef(self.conversation_id, self.seq)


@dataclass(frozen=True, slots=True, order=True)
class MessageRef:
    """Where a message stands: enough to read it by key."""

    conversation_id: str
    seq: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """A pointer to a span of a message, with what proves that the message is still the one meant.

    Attributes:
        start, end: half-open span in characters of the message's content.
    """

    message_id: str
    conversation_id: str
    seq: int
    version: int
    content_hash: str
    start: int
    end: int

    @property
    def ref(self) -> MessageRef:
        return MessageRef(self.conversation_id, self.seq)


class MentionStatus(StrEnum):
    LINKED = "LINKED"
    AMBIGUOUS = "AMBIGUOUS"
    UNRESOLVED = "UNRESOLVED"


@dataclass(frozen=True, slots=True)
class Conversation:
    """A run of messages of one session that belong together.

    Attributes:
        entity_ids, topic_ids: what it is about, by the same resolver that reads queries.
        candidate_ids: entities of ambiguous mentions, kept apart because nothing decided between them.
        unresolved: names that the catalogue does not know, normalised.
        next_seq: the seq its next message gets.
    """

    conversation_id: str
    session_id: str
    started_at: datetime
    ended_at: datetime
    next_seq: int
    version: int = 1
    entity_ids: tuple[str, ...] = ()
    topic_ids: tuple[str, ...] = ()
    candidate_ids: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()
    title: str = ""


@dataclass(frozen=True, slots=True)
class ProfileSlot:
    """One row `topic::sub_topic: content` of a user's profile.

    Attributes:
        tokens: o200k_base tokens of `context.lines.slot_line`, counted at write time.
        edited: set by a person; extraction keeps it unless the user contradicts it.
        attributes: further columns of Memobase's wire format, returned as given.
    """

    id: str
    topic: str
    sub_topic: str
    content: str
    tokens: int
    created_at: datetime
    updated_at: datetime
    evidence: tuple[Evidence, ...] = ()
    version: int = 1
    edited: bool = False
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class EventTag:
    tag: str
    value: str


@dataclass(frozen=True, slots=True)
class ProfileDelta:
    """What a batch changed in the profile, kept with its event."""

    topic: str
    sub_topic: str
    content: str


@dataclass(frozen=True, slots=True)
class Event:
    """What happened in one processed batch. `happened_at` is the time of its newest message."""

    id: str
    summary: str
    happened_at: datetime
    created_at: datetime
    updated_at: datetime
    tags: tuple[EventTag, ...] = ()
    delta: tuple[ProfileDelta, ...] = ()
    gist_ids: tuple[str, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    version: int = 1
    attributes: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Gist:
    """One line of an event, dated by when it happened, with its tokens as rendered.

    Attributes:
        tokens: o200k_base tokens of `context.lines.gist_line`, counted at write time.
        summarised: false for a line that only repeats a profile change of an event without a summary.
        overtaken: all that it states has been taken back since. It stays in the history and in no context block.
    """

    id: str
    event_id: str
    content: str
    tokens: int
    happened_at: datetime
    created_at: datetime
    evidence: tuple[Evidence, ...] = ()
    version: int = 1
    summarised: bool = True
    overtaken: bool = False


class MemoryKind(StrEnum):
    FACT = "fact"
    PREFERENCE = "preference"
    INSTRUCTION = "instruction"
    PLAN = "plan"
    RELATIONSHIP = "relationship"


@dataclass(frozen=True, slots=True)
class MemoryItem:
    """A durable statement about or by the user, with evidence, version and validity in time.

    Attributes:
        subject: `user`, or the third person it is about ("roommate").
        valid_from: when it began to be true, as far as the messages say.
        valid_until: when it stopped being true; None while it holds.
        edited: set by a person; extraction keeps it unless the user contradicts it.
    """

    id: str
    kind: MemoryKind
    subject: str
    topic: str
    sub_topic: str
    content: str
    created_at: datetime
    updated_at: datetime
    valid_from: datetime
    valid_until: datetime | None = None
    evidence: tuple[Evidence, ...] = ()
    version: int = 1
    edited: bool = False


class OperationKind(StrEnum):
    INGESTION = "INGESTION"
    FLUSH = "FLUSH"
    IMPORT = "IMPORT"
    DELETION = "DELETION"
    REINDEX = "REINDEX"
    REPROCESS = "REPROCESS"


class OperationStatus(StrEnum):
    ACCEPTED = "ACCEPTED"
    RUNNING = "RUNNING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"

    @property
    def final(self) -> bool:
        return self in (OperationStatus.SUCCEEDED, OperationStatus.FAILED)


@dataclass(frozen=True, slots=True)
class Stage:
    """One step of an operation: `index`, `distil`, `project`, …

    Attributes:
        status: PENDING, BUFFERED (waits for the buffer to fill, a flush or the idle interval), SUCCEEDED, FAILED.
    """

    name: str
    status: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Operation:
    """The state of one asynchronous request.

    Attributes:
        user_id: whose work it is; `Scope.of_business(...)`'s for work of a whole business.
        messages: the messages it brought, in order.
        arguments: what its kind needs to run again from scratch (ids only, no user text).
        result: counts and ids for the caller; None until there is something to say.
        error: code of the failure, if it failed.
        error_detail: a sentence about it that holds no user text.
        retryable: whether the failure was of a passing kind: delivered again, the work is tried again.
    """

    operation_id: str
    user_id: str
    kind: OperationKind
    status: OperationStatus
    created_at: datetime
    updated_at: datetime
    request_id: str = ""
    messages: tuple[MessageRef, ...] = ()
    arguments: Mapping[str, Any] = field(default_factory=dict)
    stages: tuple[Stage, ...] = ()
    result: Mapping[str, Any] | None = None
    error: str = ""
    error_detail: str = ""
    retryable: bool = False
    attempts: int = 0
    version: int = 1

    def stage(self, name: str) -> str:
        """Status of a stage; "" before it is reached."""
        return next((stage.status for stage in self.stages if stage.name == name), "")

    def staged(self, name: str, status: str, at: datetime) -> tuple[Stage, ...]:
        """Its stages with `name` in `status` since `at`."""
        others = tuple(stage for stage in self.stages if stage.name != name)
        return (*others, Stage(name, status, at))


@dataclass(frozen=True, slots=True)
class SessionPointer:
    """Where a session stands: the conversation that its next message joins, if it comes in time."""

    session_id: str
    conversation_id: str
    version: int = 1


@dataclass(frozen=True, slots=True)
class User:
    """One user of a business.

    Attributes:
        data: what the app keeps with the user (Memobase's `data`), returned as given.
        profile_version: raised by every commit that changes slots, gists or events; orders cache entries.
        epoch: raised by every deletion; work begun under an older epoch cannot commit. Kept in `Tombstones`,
            which outlives the user's rows; repeated here for whoever holds the user.
    """

    user_id: str
    created_at: datetime
    updated_at: datetime
    data: Mapping[str, Any] = field(default_factory=dict)
    profile_version: int = 0
    epoch: int = 0
    version: int = 1
