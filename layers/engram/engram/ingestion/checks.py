"""What can be kept, checked before anything is written. Every limit has its own words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from engram.domain.errors import InvalidInput, TooLarge, Unprocessable
from engram.domain.scope import check_id
from engram.ingestion.models import IncomingMessage, IngestionRequest
from engram.store import limits

MAX_MESSAGES = 80
"""Messages of one request: with its other rows they fill one transaction (100 writes)."""

MAX_MESSAGE_BYTES = 1024 * 1024
MAX_REQUEST_BYTES = 5_000_000
MAX_METADATA_BYTES = 16_384
MAX_NAME_CHARACTERS = 256

EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def check_request(request: IngestionRequest) -> None:
    """Raises InvalidInput, Unprocessable or TooLarge for a request that cannot be kept whole."""
    check_id(request.request_id, "request_id")
    check_id(request.session_id, "session_id")
    if request.conversation_id:
        check_id(request.conversation_id, "conversation_id")
    if not request.messages:
        raise InvalidInput("messages must not be empty", field="messages")
    if len(request.messages) > MAX_MESSAGES:
        raise TooLarge(f"a request takes at most {MAX_MESSAGES} messages", field="messages")
    check_json_size(request.metadata, "metadata")
    total = sum(_check_message(message, position) for position, message in enumerate(request.messages))
    if total > MAX_REQUEST_BYTES:
        raise TooLarge(f"the messages of a request take at most {MAX_REQUEST_BYTES} bytes", field="messages")
    given = [message.message_id for message in request.messages if message.message_id]
    if len(set(given)) != len(given):
        raise Unprocessable("message_id must be unique within a request", field="messages")


def check_text(text: str, field: str) -> None:
    """Raises Unprocessable for text that no store can keep to the letter."""
    if _LONE_SURROGATE.search(text):
        raise Unprocessable(f"{field} holds a lone surrogate, which is not a character", field=field)


def check_json_size(value: Mapping[str, Any], field: str, maximum: int = MAX_METADATA_BYTES) -> None:
    """Raises TooLarge, or InvalidInput for numbers that JSON cannot spell."""
    text = limits.encode_body(value)
    check_text(text, field)
    if len(text.encode("utf-8", "surrogatepass")) > maximum:
        raise TooLarge(f"{field} takes at most {maximum} bytes as JSON", field=field)


def _check_message(message: IncomingMessage, position: int) -> int:
    field = f"messages.{position}"
    check_text(message.content, f"{field}.content")
    check_text(message.name, f"{field}.name")
    if not message.content and not message.attachments:
        raise InvalidInput("content must not be empty", field=f"{field}.content")
    if len(message.name) > MAX_NAME_CHARACTERS:
        raise TooLarge(f"name takes at most {MAX_NAME_CHARACTERS} characters", field=f"{field}.name")
    if message.message_id:
        check_id(message.message_id, f"{field}.message_id")
    if message.created_at is not None:
        if message.created_at.tzinfo is None:
            raise InvalidInput("created_at must carry an offset", field=f"{field}.created_at")
        if not EARLIEST <= message.created_at < LATEST:
            raise InvalidInput("created_at must lie between 1900 and 2200", field=f"{field}.created_at")
    check_json_size({"attachments": list(message.attachments)}, f"{field}.attachments")
    size = len(message.content.encode())
    if size > MAX_MESSAGE_BYTES:
        raise TooLarge(f"a message takes at most {MAX_MESSAGE_BYTES} bytes", field=f"{field}.content")
    return size
