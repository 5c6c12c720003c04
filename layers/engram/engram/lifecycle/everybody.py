"""Work on every user of a business: one operation that begins one for each, and ends when all of them have ended.

Each user's part is done in that user's own place in the queue, so that nothing of it is deleted or written meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from engram.domain.clock import Clock
from engram.domain.errors import NotFound
from engram.domain.models import Operation, OperationKind
from engram.domain.scope import Scope
from engram.ingestion.service import IngestionService
from engram.ports import Table
from engram.store import keys
from engram.store.children import PER_ROW, Children
from engram.store.operations import Operations
from engram.store.reader import Reader

_WHAT = "what"


class Everybody:
    """Begins such work, for everybody or for one user, and follows it."""

    def __init__(
        self,
        *,
        table: Table,
        reader: Reader,
        operations: Operations,
        children: Children,
        ingestion: IngestionService,
        clock: Clock,
    ) -> None:
        self._table = table
        self._reader = reader
        self._operations = operations
        self._children = children
        self._ingestion = ingestion
        self._clock = clock

    def begin(
        self, scope: Scope, kind: OperationKind, *, request_id: str, arguments: Mapping[str, Any] | None = None
    ) -> Operation:
        """Queues an operation of a user, or of `Scope.of_business`. The same request id is the same operation.

        Raises:
            NotFound: nothing is known of the user.
        """
        if not scope.is_business and self._reader.user(scope) is None:
            raise NotFound("nothing is known of this user", field="user_id")
        operation = self._ingestion.new_operation(scope, kind, request_id)
        operation = replace(operation, arguments=dict(arguments or {}))
        present = self._operations.create(scope, operation)
        if not present.status.final:
            self._ingestion.send(scope, present.operation_id)
        return present

    def run(self, scope: Scope, operation: Operation, enough: Callable[[], bool]) -> Operation:
        """Begins operations for the users that are left, then looks how far they are."""
        while not operation.arguments.get("all_begun"):
            operation = self._begin_some(scope, operation)
            if enough():
                return operation
        held = operation.arguments
        found = self._children.progress(
            scope.business_id,
            operation.operation_id,
            row=int(held.get("row", 0)),
            ended=int(held.get("ended", 0)),
            failed=int(held.get("failed", 0)),
        )
        result = {
            "users": int(held.get("users", 0)),
            "ended": found.ended + found.partly,
            "failed": found.failed,
        }
        if found.done:
            self._children.forget(scope.business_id, operation.operation_id)
            return self._operations.succeeded(scope, operation.operation_id, stage="users", result=result)
        if found.row == int(held.get("row", 0)):
            return operation
        counts = {"row": found.row, "ended": found.ended, "failed": found.failed}
        return self._operations.progressed(scope, operation.operation_id, held=counts, result=result)

    def _begin_some(self, scope: Scope, operation: Operation) -> Operation:
        """One row of children: the next users of the business by id."""
        held = operation.arguments
        after, number = str(held.get("after", "")), int(held.get("rows", 0))
        users = self._users(scope.business_id, after)
        begun = [self._begin_user(Scope(scope.business_id, one), operation) for one in users]
        if begun:
            self._children.write(scope.business_id, operation.operation_id, number, begun)
        known = int(held.get("users", 0)) + len(begun)
        found = {
            "after": users[-1] if users else after,
            "rows": number + 1,
            "users": known,
            "all_begun": len(users) < PER_ROW,
        }
        return self._operations.progressed(
            scope, operation.operation_id, held=found, result={"users": known, "ended": 0, "failed": 0}
        )

    def _users(self, business_id: str, after: str) -> list[str]:
        start = keys.escape(after) + "\0" if after else ""
        page = self._table.query_index(keys.users_of(business_id), start=start, limit=PER_ROW)
        found = [keys.unescape(item.index.sk) for item in page.items if item.index is not None]
        while page.cursor is not None and len(found) < PER_ROW:
            page = self._table.query_index(
                keys.users_of(business_id), start=start, limit=PER_ROW - len(found), cursor=page.cursor
            )
            found += [keys.unescape(item.index.sk) for item in page.items if item.index is not None]
        return found

    def _begin_user(self, scope: Scope, parent: Operation) -> str:
        operation = self._ingestion.new_operation(scope, parent.kind, parent.operation_id)
        what = {_WHAT: parent.arguments[_WHAT]} if _WHAT in parent.arguments else {}
        operation = replace(operation, arguments={"parent": parent.operation_id, **what})
        present = self._operations.create(scope, operation)
        if not present.status.final:
            self._ingestion.send(scope, present.operation_id)
        return present.operation_id
