"""What an application hands over, and what it is told at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from engram.domain.models import OperationStatus, Role


@dataclass(frozen=True, slots=True)
class IncomingMessage:
    """One message to keep. Without `created_at` it counts as said when it was received."""

    role: Role
    content: str
    message_id: str = ""
    created_at: datetime | None = None
    name: str = ""
    attachments: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class IngestionRequest:
    """Messages of one session, in order.

    Attributes:
        request_id: the caller's; the same id with the same content is the same request, however often it comes.
        conversation_id: joins or opens this conversation; "" lets the gap between messages decide.
        metadata: kept with the operation, returned as given.
        flush: distil at once instead of when the buffer is full or idle.
        distil: whether the messages are to be distilled at all; not those whose slots, events and memory items
            come along in an import.
    """

    request_id: str
    session_id: str
    messages: tuple[IncomingMessage, ...]
    conversation_id: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    flush: bool = False
    distil: bool = True


@dataclass(frozen=True, slots=True)
class Accepted:
    """The 202. `duplicate` is true when this request had been accepted before."""

    operation_id: str
    request_id: str
    conversation_id: str
    status: OperationStatus
    duplicate: bool = False
