"""Requests and answers of the write path, as HTTP sees them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from engram.domain.clock import to_text
from engram.domain.models import Operation, Role
from engram.ingestion.models import Accepted, IncomingMessage, IngestionRequest

Id = Annotated[str, Field(min_length=1, max_length=128)]


class MessageBody(BaseModel):
    """One message; `created_at` carries an offset."""

    model_config = ConfigDict(extra="forbid")

    role: Role
    content: str
    message_id: Id | None = None
    created_at: AwareDatetime | None = None
    name: str = ""
    attachments: list[dict[str, Any]] = Field(default_factory=list, max_length=32)

    def to_message(self) -> IncomingMessage:
        return IncomingMessage(
            role=self.role,
            content=self.content,
            message_id=self.message_id or "",
            created_at=self.created_at,
            name=self.name,
            attachments=tuple(self.attachments),
        )


class IngestionBody(BaseModel):
    """`POST /v1/memory/ingestions`."""

    model_config = ConfigDict(extra="forbid")

    request_id: Id
    user_id: Any
    session_id: Id
    messages: list[MessageBody]
    business_id: str | None = None
    conversation_id: Id | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)
    flush: bool = False

    def to_request(self) -> IngestionRequest:
        return IngestionRequest(
            request_id=self.request_id,
            session_id=self.session_id,
            messages=tuple(message.to_message() for message in self.messages),
            conversation_id=self.conversation_id or "",
            metadata=self.metadata,
            flush=self.flush,
        )


class FlushBody(BaseModel):
    """`POST /v1/memory/flushes`."""

    model_config = ConfigDict(extra="forbid")

    user_id: Any
    request_id: Id | None = None
    business_id: str | None = None


class ImportQuery(BaseModel):
    """`POST /v1/memory/imports`, whose body is lines of JSON."""

    model_config = ConfigDict(extra="forbid")

    request_id: Id | None = None


def accepted_body(accepted: Accepted) -> dict[str, Any]:
    return {
        "operation_id": accepted.operation_id,
        "request_id": accepted.request_id,
        "conversation_id": accepted.conversation_id or None,
        "status": accepted.status.value,
        "duplicate": accepted.duplicate,
    }


def operation_body(operation: Operation) -> dict[str, Any]:
    """How an operation stands. What it keeps for itself (which buffers it took) stays inside."""
    error = None
    if operation.error:
        error = {"code": operation.error, "detail": operation.error_detail, "retryable": operation.retryable}
    return {
        "operation_id": operation.operation_id,
        "kind": operation.kind.value,
        "status": operation.status.value,
        "user_id": operation.user_id,
        "request_id": operation.request_id,
        "created_at": _time(operation.created_at),
        "updated_at": _time(operation.updated_at),
        "stages": [{"name": one.name, "status": one.status, "at": _time(one.at)} for one in operation.stages],
        "result": dict(operation.result) if operation.result is not None else None,
        "metadata": operation.arguments.get("metadata") or {},
        "error": error,
        "attempts": operation.attempts,
    }


def _time(moment: datetime) -> str:
    return to_text(moment)
