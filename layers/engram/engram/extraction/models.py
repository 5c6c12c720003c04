"""What a distiller is asked and what it may answer. Plain values; the wire shapes of models are in `prompts`.

A distiller proposes; `extraction.accept` decides: a row whose citation does not hold is dropped and counted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from engram.domain.models import EventTag, MemoryKind, Message, ProfileSlot
from engram.profile.taxonomy import Taxonomy


class SlotAction(StrEnum):
    ADD = "add"
    UPDATE = "update"
    APPEND = "append"
    DROP = "drop"


@dataclass(frozen=True, slots=True)
class Citation:
    """The words in a message that a row stands on.

    Attributes:
        message_id: of a message of the request.
        quote: a span of that message, to the letter.
    """

    message_id: str
    quote: str


@dataclass(frozen=True, slots=True)
class SlotChange:
    """What to do with the slot (topic, sub_topic). `content` is the slot's new text (for APPEND, the addition).

    Attributes:
        kind: what sort of memory item the statement is.
        subject: `user`, or the third person it is about. Only statements about the user become slots.
        contradicts: part of the slot's present content that is no longer true ("" when the whole slot is replaced
            or nothing is contradicted).
        valid_from: when it began to be true, where the text says so.
    """

    action: SlotAction
    topic: str
    sub_topic: str
    content: str
    citations: tuple[Citation, ...]
    kind: MemoryKind = MemoryKind.FACT
    subject: str = "user"
    contradicts: str = ""
    valid_from: datetime | None = None


@dataclass(frozen=True, slots=True)
class GistDraft:
    """One line of what happened, dated by when it happened."""

    content: str
    happened_at: datetime
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class ItemDraft:
    """A memory item that is not a profile slot: a plan, an instruction, a fact about somebody else.

    Attributes:
        action: UPDATE replaces the item of the same subject, topic and sub-topic; DROP ends it; else it stands beside.
    """

    kind: MemoryKind
    content: str
    citations: tuple[Citation, ...]
    subject: str = "user"
    topic: str = ""
    sub_topic: str = ""
    valid_from: datetime | None = None
    action: SlotAction = SlotAction.ADD
    contradicts: str = ""


@dataclass(frozen=True, slots=True)
class DistillationRequest:
    """One bounded batch.

    Attributes:
        messages: in order of time; only user messages can support facts about the user.
        slots: the user's present slots that matter for these messages.
        taxonomy: what may be written, as `profile.taxonomy` reads it out.
        topic_ids: the closed topics of the business.
        timezone: IANA name that relative dates are read in.
        language: `en` or `zh`, of the business's prompts; a slot keeps the language of its source.
    """

    messages: tuple[Message, ...]
    slots: tuple[ProfileSlot, ...]
    taxonomy: Taxonomy
    topic_ids: tuple[str, ...]
    timezone: str
    language: str


@dataclass(frozen=True, slots=True)
class Distillation:
    """What a distiller read out of one batch.

    Attributes:
        summary: one or two sentences of what happened, for the event.
        flagged: message ids whose text tries to instruct the memory (pasted mails, injected orders).
        tokens_in, tokens_out: billed by the model; 0 without one.
    """

    slots: tuple[SlotChange, ...] = ()
    gists: tuple[GistDraft, ...] = ()
    items: tuple[ItemDraft, ...] = ()
    summary: str = ""
    tags: tuple[EventTag, ...] = ()
    mentions: tuple[str, ...] = ()
    flagged: tuple[str, ...] = ()
    tokens_in: int = 0
    tokens_out: int = 0
    dropped: tuple[str, ...] = field(default_factory=tuple)
