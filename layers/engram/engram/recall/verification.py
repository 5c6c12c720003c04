"""Every hit against the table, just before it is answered: an index may lag, be wrong, or hold what was deleted.

What a hit says is never returned; what is returned was read from the table under the caller's own scope a moment ago.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from engram.domain.documents import MAX_TEXT_CHARACTERS, Document, DocumentKind
from engram.domain.ids import content_hash, derived_id
from engram.domain.models import Evidence, Gist, MemoryItem, Message, MessageRef
from engram.recall.bundle import EvidenceItem, ItemSource, RecalledItem
from engram.recall.fusion import Ranked


@dataclass(frozen=True, slots=True)
class Candidate:
    """A message with its place in the answer. `hit` is None for one taken from the table itself."""

    ref: MessageRef
    score: float
    hit: Ranked | None = None


def ref_of(document: Document) -> MessageRef:
    return MessageRef(document.conversation_id, document.seq)


def refusal(document: Document | None, message: Message | None) -> str:
    """Why a message must not be answered as `document` tells it; "" if the table confirms it."""
    if message is None:
        return "gone"
    if not intact(message):
        return "hash"
    if document is None:
        return ""
    if document.version != message.version:
        return "version"
    if document.text != message.content[:MAX_TEXT_CHARACTERS]:
        return "text"
    return ""


def intact(message: Message) -> bool:
    """Whether the text is still the one that was hashed when it came in."""
    return content_hash(message.content) == message.content_hash


def evidence_of(message: Message, score: float, parts: Mapping[str, float] | None = None) -> EvidenceItem:
    return EvidenceItem(
        evidence_id=derived_id("evidence", message.conversation_id, message.seq, message.version, message.content_hash),
        message_id=message.message_id,
        conversation_id=message.conversation_id,
        session_id=message.session_id,
        seq=message.seq,
        role=message.role.value,
        name=message.name,
        text=message.content,
        time=message.created_at,
        version=message.version,
        content_hash=message.content_hash,
        score=score,
        attachments=message.attachments,
        parts=parts,
    )


def sources_of(evidence: Iterable[Evidence], messages: Mapping[MessageRef, Message]) -> tuple[ItemSource, ...]:
    """The spans that still stand as they were cited."""
    return tuple(
        ItemSource(
            message_id=message.message_id,
            conversation_id=one.conversation_id,
            seq=one.seq,
            version=message.version,
            content_hash=message.content_hash,
            start=one.start,
            end=one.end,
            text=message.content[one.start : one.end],
        )
        for one in evidence
        if (message := messages.get(one.ref)) is not None
        and intact(message)
        and message.content_hash == one.content_hash
        and 0 <= one.start < one.end <= len(message.content)
    )


def item_of_memory(item: MemoryItem, score: float, sources: tuple[ItemSource, ...]) -> RecalledItem:
    return RecalledItem(
        id=item.id,
        kind=DocumentKind.MEMORY.value,
        category=item.kind.value,
        subject=item.subject,
        topic=item.topic,
        sub_topic=item.sub_topic,
        text=item.content,
        time=item.valid_from,
        valid_until=item.valid_until,
        version=item.version,
        score=score,
        evidence=sources,
    )


def item_of_gist(gist: Gist, score: float, sources: tuple[ItemSource, ...]) -> RecalledItem:
    return RecalledItem(
        id=gist.id,
        kind=DocumentKind.GIST.value,
        category="",
        subject="",
        topic="",
        sub_topic="",
        text=gist.content,
        time=gist.happened_at,
        valid_until=None,
        version=gist.version,
        score=score,
        evidence=sources,
    )
