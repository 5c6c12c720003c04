"""What recall is asked and answers over HTTP. Refusals name the field and the rule; nothing a user wrote is in them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Literal
from zoneinfo import ZoneInfo

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, field_validator
from pydantic_core import PydanticCustomError

from engram.domain.clock import to_text
from engram.domain.documents import DocumentKind
from engram.domain.errors import InvalidInput
from engram.domain.scope import check_id
from engram.recall.bundle import ConversationRef, EvidenceItem, ItemSource, Named, RecallBundle, RecalledItem
from engram.recall.request import DEFAULT_LIMIT, MAX_LIMIT, RecallRequest, RecentMessage
from engram.resolve.models import Mention, Resolution

MAX_QUERY_CHARACTERS = 20_000
MAX_RECENT_MESSAGES = 50
MAX_RECENT_CHARACTERS = 50_000
_YEARS = range(1970, 2200)
_ZONE_CHARACTERS = 64

Kind = Literal["message", "memory", "gist", "event"]


class RecentMessageBody(BaseModel):
    """A message of the present conversation."""

    model_config = ConfigDict(extra="forbid")

    role: Literal["user", "assistant", "system", "tool"]
    content: Any

    @field_validator("content")
    @classmethod
    def _text(cls, value: Any) -> str:
        return whole_text(value, MAX_RECENT_CHARACTERS)


class RecallBody(BaseModel):
    """`POST /v1/memory/recall` and `POST /v1/memory/resolve`."""

    model_config = ConfigDict(extra="forbid")

    query: Any
    user_id: Any
    business_id: str | None = None
    session_id: str | None = None
    recent_messages: list[RecentMessageBody] = Field(default_factory=list, max_length=MAX_RECENT_MESSAGES)
    now: str | None = None
    timezone: str | None = Field(default=None, max_length=_ZONE_CHARACTERS)
    limit: StrictInt = Field(default=DEFAULT_LIMIT, ge=1, le=MAX_LIMIT)
    kinds: list[Kind] = Field(default_factory=list, max_length=4)
    explain: StrictBool = False

    @field_validator("query")
    @classmethod
    def _query(cls, value: Any) -> str:
        text = whole_text(value, MAX_QUERY_CHARACTERS)
        if not text.strip():
            raise refused("must hold at least one character that is not white space")
        return text

    def to_request(self) -> RecallRequest:
        """Raises InvalidInput naming `now`, `timezone` or `session_id`."""
        return RecallRequest(
            query=self.query,
            session_id=check_id(self.session_id, "session_id") if self.session_id is not None else "",
            recent_messages=tuple(RecentMessage(one.role, one.content) for one in self.recent_messages),
            now=moment_of(self.now) if self.now is not None else None,
            timezone=zone_of(self.timezone) if self.timezone is not None else "",
            limit=self.limit,
            kinds=tuple(dict.fromkeys(DocumentKind("gist" if one == "event" else one) for one in self.kinds)),
            explain=self.explain,
        )


def whole_text(value: Any, maximum: int) -> str:
    """`value` as a text that can be written in UTF-8: halves of surrogate pairs are joined, lone ones replaced.

    Raises:
        PydanticCustomError: no string, or longer than `maximum` characters.
    """
    if not isinstance(value, str):
        raise refused("must be a string")
    if len(value) > maximum:
        raise refused(f"must be at most {maximum} characters")
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def refused(rule: str) -> PydanticCustomError:
    """A complaint of ours that pydantic reports with the field it is about."""
    return PydanticCustomError("rule", "{rule}", {"rule": rule})


def moment_of(text: str) -> datetime:
    """An ISO 8601 moment with its offset.

    Raises:
        InvalidInput: not one, without an offset, or outside the years we reckon in.
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise InvalidInput("now must be an ISO 8601 date and time", field="now") from None
    if moment.tzinfo is None:
        raise InvalidInput("now must carry its offset from UTC, such as Z or +08:00", field="now")
    if moment.year not in _YEARS:
        raise InvalidInput(f"now must be between the years {_YEARS.start} and {_YEARS.stop - 1}", field="now")
    return moment


def zone_of(name: str) -> str:
    """An IANA time zone's name.

    Raises:
        InvalidInput: there is no such zone.
    """
    try:
        ZoneInfo(name)
    except (LookupError, ValueError, OSError):
        raise InvalidInput("timezone must be an IANA name, such as Asia/Shanghai", field="timezone") from None
    return name


# Answers ----------------------------------------------------------------------------------------------


def bundle_body(bundle: RecallBundle) -> dict[str, Any]:
    """A bundle as JSON."""
    body: dict[str, Any] = {
        "query_id": bundle.query_id,
        "bundle_id": bundle.bundle_id,
        "execution_status": bundle.execution_status.value,
        "support_status": bundle.support_status.value,
        "missing": list(bundle.missing),
        "resolution": resolution_body(bundle.resolution),
        "conversation_refs": [_reference(one) for one in bundle.conversation_refs],
        "items": [_item(one) for one in bundle.items],
        "evidence": [_evidence(one) for one in bundle.evidence],
        "freshness": {
            "as_of": to_text(bundle.freshness.as_of),
            "pending_messages": bundle.freshness.pending_messages,
            "index_lag_ms": bundle.freshness.index_lag_ms,
        },
        "timings": dict(bundle.timings),
    }
    if bundle.explain is not None:
        body["explain"] = {name: _plain(value) for name, value in bundle.explain.items()}
    return body


def resolution_body(resolution: Resolution) -> dict[str, Any]:
    """What a person needs to trust it: what was understood, from which words, by which step."""
    temporal = resolution.temporal
    return {
        "query": resolution.query,
        "normalised_query": resolution.normalised,
        "language": resolution.language,
        "entities": [_mention(one) for one in resolution.entities],
        "topics": [_mention(one) for one in resolution.topics],
        "temporal": {
            "intent": temporal.intent.value,
            "cue": temporal.cue,
            "nth": temporal.nth,
            "start": temporal.start.isoformat() if temporal.start else None,
            "end": temporal.end.isoformat() if temporal.end else None,
            "axis": temporal.axis,
        },
        "source_type": resolution.source_type.value,
        "search_text": resolution.search_text,
        "trace": list(resolution.trace),
    }


def _mention(mention: Mention) -> dict[str, Any]:
    return {
        "text": mention.text,
        # A mention taken over from an earlier message has no place in this one.
        "span": [mention.start, mention.end] if mention.start >= 0 else None,
        "status": mention.status.value,
        "id": mention.id or None,
        "name": mention.name or None,
        "type": mention.type or None,
        "found_by": mention.found_by,
        "candidates": [
            {"id": one.id, "name": one.name, "type": one.type or None, "score": float(one.score)}
            for one in mention.candidates
        ],
    }


def _reference(one: ConversationRef) -> dict[str, Any]:
    return {
        "conversation_id": one.conversation_id,
        "session_id": one.session_id,
        "start": to_text(one.started_at),
        "end": to_text(one.ended_at),
        "title": one.title,
        "entities": _named(one.entities),
        "topics": _named(one.topics),
        "score": one.score,
        "matched": list(one.matched),
        "evidence_ids": list(one.evidence_ids),
    }


def _named(things: Sequence[Named]) -> list[dict[str, str]]:
    return [{"id": one.id, "name": one.name} | ({"type": one.type} if one.type else {}) for one in things]


def _evidence(one: EvidenceItem) -> dict[str, Any]:
    body: dict[str, Any] = {
        "evidence_id": one.evidence_id,
        "message_id": one.message_id,
        "conversation_id": one.conversation_id,
        "session_id": one.session_id,
        "seq": one.seq,
        "role": one.role,
        "text": one.text,
        "time": to_text(one.time),
        "version": one.version,
        "hash": one.content_hash,
        "score": one.score,
    }
    if one.name:
        body["name"] = one.name
    if one.attachments:
        body["attachments"] = [dict(attachment) for attachment in one.attachments]
    if one.parts is not None:
        body["parts"] = {name: round(value, 6) for name, value in one.parts.items()}
    return body


def _item(one: RecalledItem) -> dict[str, Any]:
    body: dict[str, Any] = {
        "id": one.id,
        "kind": one.kind,
        "text": one.text,
        "time": to_text(one.time),
        "version": one.version,
        "score": one.score,
        "evidence": [_source(source) for source in one.evidence],
    }
    if one.kind == DocumentKind.MEMORY.value:
        body |= {
            "category": one.category,
            "subject": one.subject,
            "topic": one.topic,
            "sub_topic": one.sub_topic,
            "valid_until": to_text(one.valid_until) if one.valid_until else None,
        }
    return body


def _source(one: ItemSource) -> dict[str, Any]:
    return {
        "message_id": one.message_id,
        "conversation_id": one.conversation_id,
        "seq": one.seq,
        "version": one.version,
        "hash": one.content_hash,
        "span": [one.start, one.end],
        "text": one.text,
    }


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
