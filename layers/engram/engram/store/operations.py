"""Operations: the state of asynchronous requests, listed in the sparse index until they are final."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from engram.domain.clock import Clock, to_text
from engram.domain.errors import ConditionFailed, NotFound, Throttled
from engram.domain.models import Operation, OperationStatus
from engram.domain.scope import Scope
from engram.domain.table import Absent, Item, Key, Put, VersionIs, Write
from engram.ports import Table
from engram.store import keys
from engram.store.items import decode, encode

KEPT_AFTER_END = timedelta(days=30)
"""How long a finished operation answers, and how long a request id is remembered at least."""

Change = Callable[[Operation], Operation]
_ATTEMPTS = 8
_OWN_WRITES = 2


class Operations:
    """Operations on the Table port."""

    def __init__(self, *, table: Table, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    def get(self, scope: Scope, operation_id: str) -> Operation | None:
        """The operation, if it is this scope's business's. One get."""
        return self.find(scope.business_id, operation_id)

    def find(self, business_id: str, operation_id: str) -> Operation | None:
        item = self._table.get(keys.operation(business_id, operation_id))
        return decode(item, Operation) if item else None

    def create(self, scope: Scope, operation: Operation, *others: Write) -> Operation:
        """Writes a new operation, with `others` or not at all; one that exists already is returned as it is.

        Raises:
            ConditionFailed: one of `others` lost; its index counts from 0.
        """
        try:
            self._table.transact([Put(self.item(scope, operation), Absent()), self.named(scope, operation), *others])
        except ConditionFailed as lost:
            if lost.index >= _OWN_WRITES:
                raise ConditionFailed(lost.index - _OWN_WRITES) from None
            return self._existing(scope, operation.operation_id)
        return operation

    def named(self, scope: Scope, operation: Operation) -> Put:
        """The user's own record of an operation that no request record names."""
        key = keys.operation_of_user(scope, operation.operation_id)
        expires = int((operation.created_at + KEPT_AFTER_END * 3).timestamp())
        return Put(Item(key, {"operation_id": operation.operation_id}, expires_at=expires))

    def change(self, scope: Scope, operation_id: str, change: Change) -> Operation:
        """Applies `change` to the operation as it is now; again if somebody else changed it meanwhile.

        Raises:
            NotFound: it is gone (its user was deleted).
            Throttled: still contended after several tries.
        """
        for _ in range(_ATTEMPTS):
            present = self._existing(scope, operation_id)
            changed = self.next_version(change(present), present)
            try:
                self._table.transact([Put(self.item(scope, changed), VersionIs(present.version))])
            except ConditionFailed:
                continue
            return changed
        raise Throttled("operation is contended")

    def progressed(
        self, scope: Scope, operation_id: str, *, held: Mapping[str, Any], result: Mapping[str, Any]
    ) -> Operation:
        """Notes how far work has come: `held` for whoever goes on with it, `result` for its caller."""
        return self.change(
            scope,
            operation_id,
            lambda one: replace(
                one, status=OperationStatus.RUNNING, arguments={**one.arguments, **held}, result=result
            ),
        )

    def succeeded(self, scope: Scope, operation_id: str, *, stage: str, result: Mapping[str, Any]) -> Operation:
        """Ends an operation well, `stage` being its last."""
        now = self._clock()
        return self.change(
            scope,
            operation_id,
            lambda one: replace(
                one,
                status=OperationStatus.SUCCEEDED,
                stages=one.staged(stage, "SUCCEEDED", now),
                result=result,
                error="",
                error_detail="",
            ),
        )

    def next_version(self, changed: Operation, present: Operation) -> Operation:
        return replace(changed, version=present.version + 1, updated_at=self._clock())

    def item(self, scope: Scope, operation: Operation) -> Item:
        """The operation's row. Listed by status while it is not final; expires after."""
        final = operation.status.final
        listing = keys.operation_listing(scope, operation.status, to_text(operation.updated_at), operation.operation_id)
        return Item(
            key=keys.operation(scope.business_id, operation.operation_id),
            body=encode(operation),
            version=operation.version,
            index=None if final else listing,
            expires_at=int((operation.updated_at + KEPT_AFTER_END).timestamp()) if final else None,
        )

    def unfinished(self, *, before: datetime) -> Iterator[tuple[Scope, Operation]]:
        """Operations not final and unchanged since `before`, oldest first: lost by the queue, or waiting in it."""
        for status in (OperationStatus.RUNNING, OperationStatus.ACCEPTED):
            cursor: Key | None = None
            while True:
                page = self._table.query_index(keys.operations_in(status), end=to_text(before), cursor=cursor)
                for item in page.items:
                    if item.index is not None:
                        yield keys.scope_of_listing(item.index.sk), decode(item, Operation)
                cursor = page.cursor
                if cursor is None:
                    break

    def _existing(self, scope: Scope, operation_id: str) -> Operation:
        found = self.get(scope, operation_id)
        if found is None:
            raise NotFound("no such operation")
        return found
