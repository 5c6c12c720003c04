"""The extractor: takes an operation as far as it can go, and decides what a failure means for it.

A failure that may pass leaves the operation to be delivered again. One that will not is written down, and the
operation ends FAILED while its messages stay readable.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from engram.domain.clock import Clock
from engram.domain.errors import EngramError, NotFound
from engram.domain.models import Operation, OperationKind, OperationStatus
from engram.domain.scope import Scope
from engram.extraction.distilling import TAKEN, DistilStage
from engram.extraction.indexing import IndexStage
from engram.observability import log
from engram.store.operations import Operations

Job = Callable[[Scope, Operation], Operation]
"""Does the work of one kind of operation and answers how it ended. Raises EngramError."""


class Extractor:
    """Works on operations, one at a time per user."""

    def __init__(
        self,
        *,
        operations: Operations,
        index: IndexStage,
        distil: DistilStage,
        jobs: Mapping[OperationKind, Job],
        send: Callable[[Scope, str], None],
        clock: Clock,
    ) -> None:
        self._operations = operations
        self._index = index
        self._distil = distil
        self._jobs = {OperationKind.INGESTION: self._ingest, OperationKind.FLUSH: self._flush, **jobs}
        self._send = send
        self._clock = clock

    def work(self, scope: Scope, operation_id: str, *, last_attempt: bool) -> None:
        """Works on one operation. Nothing to do is success: it is done, gone with its user, or failed for good.

        Args:
            last_attempt: whether a failure that may pass is the last before the dead-letter queue.

        Raises:
            EngramError: retryable; the queue should deliver it again.
        """
        operation = self._operations.get(scope, operation_id)
        if operation is None or operation.status is OperationStatus.SUCCEEDED:
            return
        if operation.status is OperationStatus.FAILED and not operation.retryable:
            return
        try:
            self._jobs[operation.kind](scope, operation)
        except NotFound as gone:
            log("work gone with its user", operation_id=operation_id, code=gone.code)
        except EngramError as error:
            self._failed(scope, operation_id, error, ends=last_attempt or not error.retryable)
            if error.retryable:
                raise
        finally:
            self._tell_parent(scope, operation)

    def _tell_parent(self, scope: Scope, operation: Operation) -> None:
        """The operation that this was part of goes on when one of its parts has ended."""
        parent = str(operation.arguments.get("parent", ""))
        if parent:
            present = self._operations.get(scope, operation.operation_id)
            if present is None or present.status.final:
                self._send(Scope.of_business(scope.business_id), parent)

    def give_up(self, scope: Scope, operation_id: str, *, ends: bool) -> None:
        """Records a failure that nobody foresaw. It may pass: a redrive tries again."""
        unknown = EngramError("something went wrong on our side")
        unknown.retryable = True
        self._failed(scope, operation_id, unknown, ends=ends)

    def _ingest(self, scope: Scope, operation: Operation) -> Operation:
        wants_flush = bool(operation.arguments.get("flush"))
        if operation.stage("index") != "SUCCEEDED":
            operation = self._index.run(scope, operation, final=not wants_flush)
        failed_before = operation.stage("distil") == "FAILED"
        if wants_flush or failed_before or TAKEN in operation.arguments or self._distil.is_due(scope):
            return self._distil.run(scope, operation)
        if operation.status is OperationStatus.SUCCEEDED:
            return operation
        return self._operations.change(
            scope, operation.operation_id, lambda one: replace(one, status=OperationStatus.SUCCEEDED)
        )

    def _flush(self, scope: Scope, operation: Operation) -> Operation:
        return self._distil.run(scope, operation)

    def _failed(self, scope: Scope, operation_id: str, error: EngramError, *, ends: bool) -> None:
        log("work failed", operation_id=operation_id, code=error.code, status="FAILED" if ends else "RUNNING")

        def mark(operation: Operation) -> Operation:
            # A deletion never ends in failure for passing reasons: the sweep sends it until it is done.
            endless = operation.kind is OperationKind.DELETION and error.retryable
            stages = operation.stages
            if ends and not error.retryable and operation.stage("index") in ("SUCCEEDED", ""):
                stages = operation.staged("distil", "FAILED", self._clock())
            return replace(
                operation,
                status=OperationStatus.FAILED if ends and not endless else OperationStatus.RUNNING,
                attempts=operation.attempts + 1,
                error=error.code,
                error_detail=str(error),
                retryable=error.retryable,
                stages=stages,
            )

        try:
            operation = self._operations.change(scope, operation_id, mark)
            if ends:
                self._fail_others(scope, operation, mark)
        except EngramError as second:
            log("failure not recorded", operation_id=operation_id, code=second.code)

    def _fail_others(self, scope: Scope, operation: Operation, mark: Callable[[Operation], Operation]) -> None:
        """Operations whose buffered messages could not be distilled share the failure: their callers wait for it."""
        for identifier in operation.arguments.get(TAKEN, ()):
            other = self._operations.get(scope, identifier)
            if other is not None and identifier != operation.operation_id and other.stage("distil") != "SUCCEEDED":
                self._operations.change(scope, identifier, mark)
