"""Purging a deleted user: everything under its keys, its operations, blobs, documents and cache entry.

Nothing new is written under the user's id until this has ended, so what is found by enumeration is all there is.
Killed at any point it starts again: counts are written down before the first row goes, and deleting is repeatable.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from engram.domain.clock import Clock, to_text
from engram.domain.errors import ConditionFailed, Throttled, Unavailable
from engram.domain.models import Operation, OperationStatus
from engram.domain.scope import Scope
from engram.domain.table import Put, VersionIs
from engram.extraction.projection import Projector
from engram.lifecycle.census import Census, CensusTaker
from engram.ports import BlobStore, Table
from engram.store import keys
from engram.store.commits import tombstones_write
from engram.store.operations import Operations
from engram.store.reader import Reader

_ATTEMPTS = 8
COUNTING = "counting"
BEFORE = "before"


class Erasure:
    """Purges whole users."""

    def __init__(
        self,
        *,
        table: Table,
        blobs: BlobStore,
        reader: Reader,
        operations: Operations,
        projector: Projector,
        census: CensusTaker,
        clock: Clock,
    ) -> None:
        self._table = table
        self._blobs = blobs
        self._reader = reader
        self._operations = operations
        self._projector = projector
        self._census = census
        self._clock = clock

    def run(self, scope: Scope, operation: Operation, *, enough: Callable[[], bool]) -> Operation:
        """Purges until done or until `enough`; the operation is SUCCEEDED only when all is gone.

        Raises:
            Unavailable, Throttled: may pass; the operation is delivered again and goes on.
        """
        if not self._reader.tombstones(scope).erasing:
            return operation
        if not self._projector.forget_profile(scope, epoch=self._reader.tombstones(scope).epoch):
            raise Unavailable("the cache does not answer, and may still hold the user's profile")
        operation, counted = self._count_before(scope, operation, enough)
        if not counted or not self._erase_rows(scope, operation.operation_id, enough):
            return operation
        after = Census()
        self._census.count(scope, after, own=operation.operation_id)
        if any(after.counts.values()):
            raise Throttled("rows of the user are still there")
        return self._finish(scope, operation, after.counts)

    def _count_before(self, scope: Scope, operation: Operation, enough: Callable[[], bool]) -> tuple[Operation, bool]:
        if BEFORE in operation.arguments:
            return operation, True
        census = Census.from_arguments(operation.arguments.get(COUNTING))
        whole = self._census.count(scope, census, own=operation.operation_id, enough=enough)
        found: dict[str, Any] = {BEFORE: census.counts} if whole else {COUNTING: census.to_arguments()}
        began = {"began_at": to_text(operation.created_at)}
        changed = self._operations.change(
            scope,
            operation.operation_id,
            lambda one: replace(one, status=OperationStatus.RUNNING, arguments={**one.arguments, **found, **began}),
        )
        return changed, whole

    def _erase_rows(self, scope: Scope, own: str, enough: Callable[[], bool]) -> bool:
        """Operations go before the rows that name them; the search rows go first, with their head."""
        self._projector.withdraw_all(scope)
        self._blobs.delete(scope, self._blobs.names(scope))
        while True:
            page = self._table.query(keys.user_partition(scope))
            if not page.items:
                return True
            self._table.write(deletes=self._census.operations_in(scope, page.items, own=own))
            self._table.write(deletes=[item.key for item in page.items])
            if enough():
                return False

    def _finish(self, scope: Scope, operation: Operation, after: dict[str, int]) -> Operation:
        """The user id is free again in the same transaction that completes the receipt."""
        for _ in range(_ATTEMPTS):
            present = self._operations.get(scope, operation.operation_id)
            tombstones = self._reader.tombstones(scope)
            if present is None or not tombstones.erasing:
                return operation
            now = self._clock()
            receipt = {
                **(present.result or {}),
                "before": present.arguments[BEFORE],
                "after": after,
                "requested_at": to_text(present.created_at),
                "finished_at": to_text(now),
            }
            done = replace(
                present,
                status=OperationStatus.SUCCEEDED,
                stages=present.staged("purge", "SUCCEEDED", now),
                arguments={},
                result=receipt,
                error="",
                error_detail="",
                updated_at=now,
                version=present.version + 1,
            )
            put = Put(self._operations.item(scope, done), VersionIs(present.version))
            try:
                self._table.transact([tombstones_write(scope, tombstones.purged(everything=True)), put])
            except ConditionFailed:
                continue
            return done
        raise Throttled("the deletion is being worked on elsewhere")
