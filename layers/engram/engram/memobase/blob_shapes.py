"""Memobase's six kinds of blob as messages, and back.

A chat's turns are messages as they are. A summary counts as the user's own words, because that is what it is for.
Documents, code, images and other speakers' lines are kept and found again, but are nobody's statement about the
user: they are tool messages, of which no fact is made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from enum import StrEnum
from typing import Any

from engram.domain.clock import from_text
from engram.domain.errors import InvalidInput
from engram.domain.models import Role
from engram.ingestion.checks import EARLIEST, LATEST
from engram.ingestion.models import IncomingMessage

OWN_SPEAKERS = frozenset({"", "user", "me", "我", "用户"})
IMAGE_TEXT = "[image]"


class BlobType(StrEnum):
    CHAT = "chat"
    DOC = "doc"
    SUMMARY = "summary"
    CODE = "code"
    IMAGE = "image"
    TRANSCRIPT = "transcript"


@dataclass(frozen=True, slots=True)
class Taken:
    """A blob taken apart.

    Attributes:
        messages: its texts, in order.
        frame: the rest of its data; an entry of a list for each message of a chat or transcript.
    """

    messages: tuple[IncomingMessage, ...]
    frame: dict[str, Any]


def take_apart(kind: BlobType, data: Mapping[str, Any], *, said_at: datetime | None, zone: tzinfo) -> Taken:
    """Raises InvalidInput for a blob with nothing in it."""
    match kind:
        case BlobType.CHAT:
            return _chat(data, said_at, zone)
        case BlobType.TRANSCRIPT:
            return _transcript(data, said_at)
        case BlobType.IMAGE:
            return _image(data, said_at)
        case BlobType.SUMMARY:
            return Taken((_message(Role.USER, data["summary"], said_at),), {})
        case BlobType.CODE:
            return Taken((_message(Role.TOOL, data["content"], said_at),), {"language": data.get("language")})
    return Taken((_message(Role.TOOL, data["content"], said_at),), {})


def put_together(kind: BlobType, frame: Mapping[str, Any], texts: Sequence[str | None]) -> dict[str, Any]:
    """The blob's data from its frame and texts; None for a text that has been deleted since."""
    match kind:
        case BlobType.CHAT:
            return {"messages": _entries(frame["messages"], texts)}
        case BlobType.TRANSCRIPT:
            return {"transcripts": _entries(frame["transcripts"], texts)}
        case BlobType.IMAGE:
            return dict(frame)
        case BlobType.SUMMARY:
            return {"summary": texts[0]}
    return {**frame, "content": texts[0]}


def moment_of(text: str | None, zone: tzinfo) -> datetime | None:
    """A client's time, as far as it is ISO 8601; without an offset it is of `zone`. None for anything else."""
    if not text:
        return None
    try:
        moment = from_text(text.strip().replace("/", "-"))
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=zone)
    return moment if EARLIEST <= moment < LATEST else None


def _chat(data: Mapping[str, Any], said_at: datetime | None, zone: tzinfo) -> Taken:
    turns = data["messages"]
    if not turns:
        raise InvalidInput("messages must not be empty", field="blob_data.messages")
    messages = tuple(
        _message(
            Role(turn["role"]),
            turn["content"],
            moment_of(turn.get("created_at"), zone) or said_at,
            name=turn.get("alias") or "",
        )
        for turn in turns
    )
    return Taken(messages, {"messages": [_without(turn, "content") for turn in turns]})


def _transcript(data: Mapping[str, Any], said_at: datetime | None) -> Taken:
    lines = data["transcripts"]
    if not lines:
        raise InvalidInput("transcripts must not be empty", field="blob_data.transcripts")
    messages = []
    for line in lines:
        speaker = (line.get("speaker") or "").strip()
        role = Role.USER if speaker.lower() in OWN_SPEAKERS else Role.TOOL
        start = timedelta(seconds=float(line["start_timestamp_in_seconds"]))
        messages.append(_message(role, line["content"], said_at + start if said_at else None, name=speaker))
    return Taken(tuple(messages), {"transcripts": [_without(line, "content") for line in lines]})


def _image(data: Mapping[str, Any], said_at: datetime | None) -> Taken:
    frame = {"url": data.get("url"), "base64": data.get("base64")}
    if not any(frame.values()):
        raise InvalidInput("an image needs a url or base64", field="blob_data")
    attachment = {"type": "image", "url": frame["url"]} if frame["url"] else {"type": "image"}
    message = IncomingMessage(role=Role.TOOL, content=IMAGE_TEXT, created_at=said_at, attachments=(attachment,))
    return Taken((message,), frame)


def _message(role: Role, text: str, at: datetime | None, *, name: str = "") -> IncomingMessage:
    return IncomingMessage(role=role, content=text, created_at=at, name=name)


def _without(entry: Mapping[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in entry.items() if key != name}


def _entries(frames: Sequence[Mapping[str, Any]], texts: Sequence[str | None]) -> list[dict[str, Any]]:
    pairs = zip(frames, texts, strict=True)
    return [{**frame, "content": text} for frame, text in pairs if text is not None]
