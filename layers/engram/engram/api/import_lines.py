"""One line of an import as a value: an ingestion body, or a typed line of an export. Faults are named by field."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import datetime
from typing import Any, Literal

import msgspec
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from engram.api.http import invalid_input, printable
from engram.api.ingestion_schemas import IngestionBody
from engram.domain.errors import Forbidden, InvalidInput, TooLarge
from engram.domain.models import Event, Evidence, Gist, MemoryItem, ProfileSlot
from engram.domain.scope import Scope, check_id, check_user_id
from engram.ingestion.checks import EARLIEST, LATEST, check_json_size, check_text
from engram.ingestion.models import IngestionRequest
from engram.lifecycle.portable import ImportLine, MessagesLine, NextLine, Row, RowLine, UserLine

MAX_CONTENT_CHARACTERS = 8_000
MAX_NAME_CHARACTERS = 256
MAX_EVIDENCE = 256
MAX_VERSION = 2**31 - 1
MAX_PARTS = 256

_ROWS: Mapping[str, type[Row]] = {
    "slot": ProfileSlot,
    "event": Event,
    "gist": Gist,
    "memory": MemoryItem,
    "memory_version": MemoryItem,
}


class MessagesBody(IngestionBody):
    """A line of messages. `distilled` ones are indexed and not distilled again."""

    type: Literal["ingestion"] = "ingestion"
    exported: bool = False
    distilled: bool = False

    def to_request(self) -> IngestionRequest:
        return replace(IngestionBody.to_request(self), distil=not self.distilled)


class UserBody(BaseModel):
    model_config = ConfigDict(extra="forbid")

    type: Literal["user"]
    user_id: Any
    business_id: str | None = None
    data: dict[str, Any] = Field(default_factory=dict)
    created_at: AwareDatetime | None = None


def parse_line(business_id: str, text: bytes) -> ImportLine:
    """What the line says, for a caller of this business.

    Raises:
        InvalidInput, TooLarge, Unprocessable, Forbidden: it says nothing that can be kept; names the field.
    """
    line = _json(text)
    kind = line.get("type", "ingestion")
    if kind == "next":
        return NextLine()
    try:
        if kind == "ingestion":
            return _messages(business_id, MessagesBody.model_validate(line))
        if kind == "user":
            return _user(business_id, UserBody.model_validate(line))
    except ValidationError as error:
        raise invalid_input(error) from None
    if not isinstance(kind, str) or kind not in _ROWS:
        raise InvalidInput("type must be ingestion, user, slot, event, gist, memory or memory_version", field="type")
    return _row(business_id, kind, line)


def _json(text: bytes) -> dict[str, Any]:
    try:
        line = json.loads(text.decode())
    except (ValueError, RecursionError):
        raise InvalidInput("the line is not JSON in UTF-8") from None
    if not isinstance(line, dict):
        raise InvalidInput("the line must be a JSON object")
    return line


def _scope(business_id: str, user_id: object, named: object) -> Scope:
    if named is not None and named != business_id:
        raise Forbidden("business_id is not this key's own", field="business_id")
    return Scope(business_id, check_user_id(user_id))


def _messages(business_id: str, body: MessagesBody) -> MessagesLine:
    scope = _scope(business_id, body.user_id, body.business_id)
    return MessagesLine(scope, body.to_request(), exported=body.exported and bool(body.conversation_id))


def _user(business_id: str, body: UserBody) -> UserLine:
    check_json_size(body.data, "data")
    return UserLine(_scope(business_id, body.user_id, body.business_id), body.created_at, body.data)


def _row(business_id: str, kind: str, line: dict[str, Any]) -> RowLine:
    scope = _scope(business_id, line.get("user_id"), line.get("business_id"))
    given = {name: value for name, value in line.items() if name not in ("type", "user_id", "business_id")}
    unknown = given.keys() - {one.name for one in fields(_ROWS[kind])}
    if unknown:
        name = printable(min(unknown))
        raise InvalidInput(f"unknown parameter {name}", field=name)
    try:
        row = msgspec.convert(given, _ROWS[kind])
    except msgspec.ValidationError:
        raise InvalidInput(f"the line is not a {kind}") from None
    _check(row)
    return RowLine(scope, row, closed=kind == "memory_version")


def _check(row: Row) -> None:
    check_id(row.id, "id")
    if not 1 <= row.version < MAX_VERSION:
        raise InvalidInput("version must be at least 1", field="version")
    for name in ("content", "summary", "topic", "sub_topic", "subject"):
        _check_words(name, getattr(row, name, ""))
    for name in ("created_at", "updated_at", "happened_at", "valid_from", "valid_until"):
        _check_time(name, getattr(row, name, None))
    if isinstance(row, ProfileSlot) and not (row.topic.strip() and row.sub_topic.strip() and row.content.strip()):
        raise InvalidInput("a slot needs topic, sub_topic and content")
    if isinstance(row, Gist):
        check_id(row.event_id, "event_id")
    if isinstance(row, Event):
        _check_event(row)
    if isinstance(row, ProfileSlot | Event):
        check_json_size(row.attributes, "attributes")
    if len(row.evidence) > MAX_EVIDENCE:
        raise TooLarge(f"a row takes at most {MAX_EVIDENCE} pieces of evidence", field="evidence")
    for one in row.evidence:
        _check_evidence(one)


def _check_event(event: Event) -> None:
    if max(len(event.tags), len(event.delta), len(event.gist_ids)) > MAX_PARTS:
        raise TooLarge(f"an event takes at most {MAX_PARTS} tags, changes and gists")
    for tag in event.tags:
        _check_words("tags", tag.tag)
        _check_words("tags", tag.value)
    for change in event.delta:
        _check_words("delta", f"{change.topic} {change.sub_topic} {change.content}")
    for identifier in event.gist_ids:
        check_id(identifier, "gist_ids")


def _check_evidence(one: Evidence) -> None:
    check_id(one.message_id, "evidence.message_id")
    check_id(one.conversation_id, "evidence.conversation_id")
    if len(one.content_hash) > MAX_NAME_CHARACTERS:
        raise InvalidInput("content_hash is not one of ours", field="evidence.content_hash")


def _check_words(name: str, text: str) -> None:
    check_text(text, name)
    maximum = MAX_CONTENT_CHARACTERS if name in ("content", "summary", "delta") else MAX_NAME_CHARACTERS
    if len(text) > maximum:
        raise TooLarge(f"{name} takes at most {maximum} characters", field=name)


def _check_time(name: str, moment: datetime | None) -> None:
    if moment is None:
        return
    if moment.tzinfo is None:
        raise InvalidInput(f"{name} must carry an offset", field=name)
    if not EARLIEST <= moment < LATEST:
        raise InvalidInput(f"{name} must lie between 1900 and 2200", field=name)
