"""Operations that one operation gave rise to: written down as they begin, so that their parent knows when all ended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engram.domain.models import Operation
from engram.domain.table import Item
from engram.ports import Table
from engram.store import keys
from engram.store.items import decode

PER_ROW = 100


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the children are.

    Attributes:
        row: the first row whose children have not all ended.
        ended: children in the rows before it.
        partly: children of that row that have ended.
        failed: of those, the ones that ended in failure, as far as the rows before `row` are concerned.
        done: whether all of them have ended.
    """

    row: int
    ended: int
    partly: int
    failed: int
    done: bool


class Children:
    """Rows of children, on the Table port."""

    def __init__(self, table: Table) -> None:
        self._table = table

    def write(self, business_id: str, parent: str, number: int, operation_ids: Sequence[str]) -> None:
        """One row of up to `PER_ROW`; the same number again replaces it."""
        key = keys.children(business_id, parent, number)
        self._table.write([Item(key, {"operations": list(operation_ids)})])

    def progress(self, business_id: str, parent: str, *, row: int, ended: int, failed: int) -> Progress:
        """Goes on from an earlier answer; reads each row that has ended once. A child that is gone has ended."""
        while True:
            item = self._table.get(keys.children(business_id, parent, row))
            if item is None:
                return Progress(row, ended, 0, failed, done=True)
            wanted = [keys.operation(business_id, one) for one in item.body["operations"]]
            found = [decode(one, Operation) for one in self._table.batch_get(wanted).values()]
            running = [one for one in found if not one.status.final]
            if running:
                return Progress(row, ended, len(wanted) - len(running), failed, done=False)
            ended += len(wanted)
            failed += sum(one.status.value == "FAILED" for one in found)
            row += 1

    def forget(self, business_id: str, parent: str) -> None:
        """Removes the rows, once nobody asks any more."""
        partition = keys.operation(business_id, parent).pk
        page = self._table.query(partition, start=keys.CHILDREN, end=keys.end_of(keys.CHILDREN))
        while page.items:
            self._table.write(deletes=[item.key for item in page.items])
            page = self._table.query(partition, start=keys.CHILDREN, end=keys.end_of(keys.CHILDREN))
