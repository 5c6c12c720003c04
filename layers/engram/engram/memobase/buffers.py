"""Flush and import: making the buffer into memories now, and saying so to whoever waits."""

from __future__ import annotations

from typing import Any

from engram.domain.clock import NewId
from engram.domain.errors import InvalidInput
from engram.domain.models import Role
from engram.domain.scope import Scope
from engram.ingestion.models import IncomingMessage, IngestionRequest
from engram.ingestion.service import IngestionService
from engram.memobase.blobs import check_ended
from engram.memobase.ids import new_uuid
from engram.memobase.views import outcome_view
from engram.memobase.waiting import Waiting
from engram.store import keys
from engram.store.reader import Reader

IMPORT_SESSION = "memobase-import"


class MemobaseBuffers:
    """Flushes buffers."""

    def __init__(self, *, reader: Reader, ingestion: IngestionService, waiting: Waiting, new_id: NewId) -> None:
        self._reader = reader
        self._ingestion = ingestion
        self._waiting = waiting
        self._new_id = new_id

    def flush(self, scope: Scope, *, wait: bool) -> list[dict[str, Any]] | None:
        """Distils what is buffered. With `wait`, what came of it, after at most 25 seconds; [] if there was nothing.

        Without, None; the next read of this user waits for it.

        Raises:
            EngramError: the work failed or takes longer.
        """
        if not self._anything_buffered(scope):
            return []
        accepted = self._ingestion.flush(scope, request_id=new_uuid(self._new_id))
        if not wait:
            self._waiting.remember_flush(scope, accepted.operation_id)
            return None
        operation = self._waiting.for_end(scope, accepted.operation_id)
        check_ended(operation)
        return [outcome_view(operation)] if operation is not None else []

    def import_text(self, scope: Scope, text: str) -> None:
        """Takes what the user says about themselves, elsewhere written down, as one message and distils it."""
        if not text.strip():
            raise InvalidInput("context must not be empty", field="context")
        identifier = new_uuid(self._new_id)
        accepted = self._ingestion.accept(
            scope,
            IngestionRequest(
                request_id=identifier,
                session_id=f"{IMPORT_SESSION}-{identifier}",
                messages=(IncomingMessage(role=Role.USER, content=text),),
                flush=True,
            ),
        )
        self._waiting.remember_flush(scope, accepted.operation_id)

    def _anything_buffered(self, scope: Scope) -> bool:
        """Whether messages wait to be indexed or distilled."""
        return any(
            next(iter(self._reader.rows(scope, prefix, page=1)), None) is not None
            for prefix in (keys.BUFFER, keys.PENDING)
        )
