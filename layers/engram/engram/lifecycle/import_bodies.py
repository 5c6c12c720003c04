"""Bodies of imports, and their end: of one that succeeded at once, of one that failed once it cannot be redriven.

Each is noted in the table before it is kept, so that none is left that nobody knows of, whatever fails in between.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from engram.domain.clock import Clock, to_text
from engram.domain.models import Operation
from engram.domain.scope import Scope
from engram.domain.table import Item
from engram.ports import BlobStore, Table
from engram.store import keys
from engram.store.children import Children
from engram.store.operations import Operations

KEPT_AFTER_END = timedelta(days=15)
"""A dead letter waits for 14 days to be redriven; the lines must be there when it is."""

_LOOKED_AT_AGAIN = timedelta(days=1)


class ImportBodies:
    """Blobs of imports, with a row each that says when to look at it."""

    def __init__(
        self, *, table: Table, blobs: BlobStore, operations: Operations, children: Children, clock: Clock
    ) -> None:
        self._table = table
        self._blobs = blobs
        self._operations = operations
        self._children = children
        self._clock = clock

    def keep(self, business_id: str, operation_id: str, data: bytes) -> None:
        """Raises Unavailable."""
        self._note(business_id, operation_id, self._clock() + KEPT_AFTER_END)
        self._blobs.put(Scope.of_business(business_id), _name(operation_id), data)

    def get(self, business_id: str, operation_id: str) -> bytes | None:
        return self._blobs.get(Scope.of_business(business_id), _name(operation_id))

    def drop(self, business_id: str, operation_id: str) -> None:
        """Removes the body and what was noted of the import's parts; last the note, so that this can be tried again."""
        self._blobs.delete(Scope.of_business(business_id), [_name(operation_id)])
        self._children.forget(business_id, operation_id)
        self._table.write(deletes=[keys.import_body(business_id, operation_id)])

    def repair(self, limit: int = 100) -> int:
        """Drops the bodies that nobody will ask for again; how many. Raises Unavailable."""
        now = self._clock()
        page = self._table.query_index(keys.IMPORT_BODIES, end=to_text(now), limit=limit)
        dropped = 0
        for item in page.items:
            if item.index is None:
                continue
            business_id = keys.scope_of_listing(item.index.sk).business_id
            operation_id = str(item.body["operation_id"])
            if self._wanted(self._operations.find(business_id, operation_id), now):
                self._note(business_id, operation_id, now + _LOOKED_AT_AGAIN)
            else:
                self.drop(business_id, operation_id)
                dropped += 1
        return dropped

    def _wanted(self, operation: Operation | None, now: datetime) -> bool:
        """Whether the import may go on. One that was never begun, or ended well, does not."""
        if operation is None:
            return False
        if not operation.status.final:
            return True
        return operation.status.value == "FAILED" and now < operation.updated_at + KEPT_AFTER_END

    def _note(self, business_id: str, operation_id: str, due: datetime) -> None:
        key = keys.import_body(business_id, operation_id)
        listing = keys.import_body_due(business_id, to_text(due), operation_id)
        self._table.write([Item(key, {"operation_id": operation_id}, index=listing)])


def _name(operation_id: str) -> str:
    return f"import/{operation_id}"
