"""Waiting for an operation, for clients that want the result in the answer, and for a read that follows a flush."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta

from engram.domain.clock import Clock, Stopwatch
from engram.domain.models import Operation
from engram.domain.scope import Scope
from engram.domain.table import Item
from engram.ports import Table
from engram.store import keys
from engram.store.operations import Operations

LONGEST_WAIT_SECONDS = 25.0
"""An HTTP API of API Gateway answers within 30 seconds or not at all."""

READ_WAIT_SECONDS = 15.0
_MARK_KEPT = timedelta(minutes=5)
STILL_FLUSHING = "a flush of this user is still being processed: this answer may lack its result"


class Waiting:
    """Waits for operations, and remembers the flush that a user's next read should wait for."""

    def __init__(
        self, *, table: Table, operations: Operations, clock: Clock, pause: Callable[[float], None] = time.sleep
    ) -> None:
        self._table = table
        self._operations = operations
        self._clock = clock
        self._pause = pause

    def for_end(self, scope: Scope, operation_id: str, seconds: float = LONGEST_WAIT_SECONDS) -> Operation | None:
        """The operation once it is final, or as it is when the time is over; None if it is gone."""
        watch = Stopwatch()
        pause = 0.01
        while True:
            operation = self._operations.get(scope, operation_id)
            left = seconds - watch.ms() / 1000
            if operation is None or operation.status.final or left <= 0:
                return operation
            self._pause(min(pause, left))
            pause = min(pause * 1.5, 0.3)

    def remember_flush(self, scope: Scope, operation_id: str) -> None:
        """Marks a flush that nobody waited for."""
        expires = int((self._clock() + _MARK_KEPT).timestamp())
        self._table.write([Item(keys.flush_under_way(scope), {"operation_id": operation_id}, expires_at=expires)])

    def flush_under_way(self, scope: Scope) -> Operation | None:
        """The flush that was asked for last, if it has not ended. One get, two if there is one."""
        mark = self._table.get(keys.flush_under_way(scope))
        if mark is None:
            return None
        operation = self._operations.get(scope, str(mark.body["operation_id"]))
        return operation if operation is not None and not operation.status.final else None

    def for_flush(self, scope: Scope) -> str:
        """Waits for a young flush under way; "" if its result is there, else a sentence for the reader.

        Reads within `READ_WAIT_SECONDS` of the flush wait. Later ones do not wait again and again for a slow model.
        """
        operation = self.flush_under_way(scope)
        if operation is None:
            return ""
        age = (self._clock() - operation.created_at).total_seconds()
        ended = self.for_end(scope, operation.operation_id, READ_WAIT_SECONDS - age)
        return STILL_FLUSHING if ended is not None and not ended.status.final else ""
