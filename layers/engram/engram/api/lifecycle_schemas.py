"""What is kept of a user, as HTTP sees it: messages, conversations, memory items, slots, events, deletions, usage."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from engram.domain.clock import to_text
from engram.domain.models import Conversation, Event, Evidence, Gist, MemoryItem, MemoryKind, Message, ProfileSlot
from engram.lifecycle.deletion import Deletion
from engram.lifecycle.memories import MemoryEdit, MemoryFilter, MemoryHistory
from engram.store.items import encode

MAX_PAGE = 200

Limit = Annotated[int, Field(ge=1, le=MAX_PAGE)]
Day = Annotated[date | None, Field(default=None)]


class PageQuery(BaseModel):
    """Which part of a list."""

    model_config = ConfigDict(extra="forbid")

    limit: Limit = 50
    cursor: str = Field(default="", max_length=1_024)


class MessagesQuery(PageQuery):
    conversation_id: str = Field(default="", max_length=128)


class MemoriesQuery(PageQuery):
    kind: MemoryKind | None = None
    topic: str | None = Field(default=None, max_length=128)
    include_closed: bool = False

    def to_filter(self) -> MemoryFilter:
        return MemoryFilter(self.kind, self.topic, self.include_closed)


class MemoryBody(BaseModel):
    """`PATCH /v1/users/{id}/memories/{id}`: what is given is changed."""

    model_config = ConfigDict(extra="forbid")

    content: str | None = None
    kind: MemoryKind | None = None
    topic: str | None = None
    sub_topic: str | None = None
    ended_at: AwareDatetime | None = None

    def to_edit(self) -> MemoryEdit:
        return MemoryEdit(self.content, self.kind, self.topic, self.sub_topic, self.ended_at)


class ExportQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    cursor: str = Field(default="", max_length=1_024)


class RebuildBody(BaseModel):
    """`POST /v1/maintenance/reindex`: one user, or everybody of the business."""

    model_config = ConfigDict(extra="forbid")

    user_id: Any = None
    request_id: Annotated[str, Field(min_length=1, max_length=128)] | None = None


class ReprocessBody(RebuildBody):
    """`POST /v1/maintenance/reprocess`: what has changed. A catalogue is read again for the whole business."""

    what: Literal["catalogue", "taxonomy"] = "catalogue"


class UsageQuery(BaseModel):
    """Days (UTC), `start <= day < end`."""

    model_config = ConfigDict(extra="forbid")

    start: Day
    end: Day

    def bounds(self) -> tuple[str, str]:
        return (self.start.isoformat() if self.start else "", self.end.isoformat() if self.end else "")


def deletion_body(deletion: Deletion) -> dict[str, Any]:
    return {
        "operation_id": deletion.operation.operation_id,
        "status": deletion.operation.status.value,
        "duplicate": deletion.duplicate,
    }


def page_body(name: str, rows: Iterable[dict[str, Any]], next_cursor: str) -> dict[str, Any]:
    return {name: list(rows), "next_cursor": next_cursor or None}


def message_body(message: Message) -> dict[str, Any]:
    return {
        "message_id": message.message_id,
        "conversation_id": message.conversation_id,
        "session_id": message.session_id,
        "seq": message.seq,
        "role": message.role.value,
        "name": message.name,
        "content": message.content,
        "content_hash": message.content_hash,
        "created_at": to_text(message.created_at),
        "version": message.version,
        "operation_id": message.operation_id,
        "attachments": list(message.attachments),
    }


def conversation_body(one: Conversation) -> dict[str, Any]:
    return {
        "conversation_id": one.conversation_id,
        "session_id": one.session_id,
        "title": one.title,
        "started_at": to_text(one.started_at),
        "ended_at": to_text(one.ended_at),
        "entity_ids": list(one.entity_ids),
        "topic_ids": list(one.topic_ids),
        "version": one.version,
    }


def memory_body(item: MemoryItem) -> dict[str, Any]:
    return {
        "memory_id": item.id,
        "kind": item.kind.value,
        "subject": item.subject,
        "topic": item.topic,
        "sub_topic": item.sub_topic,
        "content": item.content,
        "valid_from": to_text(item.valid_from),
        "valid_until": to_text(item.valid_until) if item.valid_until else None,
        "created_at": to_text(item.created_at),
        "updated_at": to_text(item.updated_at),
        "version": item.version,
        "edited": item.edited,
        "evidence": evidence_body(item.evidence),
    }


def history_body(found: MemoryHistory) -> dict[str, Any]:
    """The newest version with those before it, oldest first."""
    newest = found.current or found.earlier[-1]
    earlier = found.earlier if found.current else found.earlier[:-1]
    return {**memory_body(newest), "history": [memory_body(one) for one in earlier]}


def slot_body(slot: ProfileSlot) -> dict[str, Any]:
    return {
        "slot_id": slot.id,
        "topic": slot.topic,
        "sub_topic": slot.sub_topic,
        "content": slot.content,
        "tokens": slot.tokens,
        "created_at": to_text(slot.created_at),
        "updated_at": to_text(slot.updated_at),
        "version": slot.version,
        "edited": slot.edited,
        "evidence": evidence_body(slot.evidence),
    }


def event_body(event: Event, gists: Iterable[Gist]) -> dict[str, Any]:
    return {
        "event_id": event.id,
        "summary": event.summary,
        "happened_at": to_text(event.happened_at),
        "created_at": to_text(event.created_at),
        "tags": [{"tag": one.tag, "value": one.value} for one in event.tags],
        "gists": [
            {
                "gist_id": one.id,
                "content": one.content,
                "happened_at": to_text(one.happened_at),
                "evidence": evidence_body(one.evidence),
            }
            for one in gists
        ],
        "evidence": evidence_body(event.evidence),
    }


def evidence_body(evidence: Iterable[Evidence]) -> list[dict[str, Any]]:
    return [encode(one) for one in evidence]
