"""Users whose search documents are not complete: a vector is missing since the encoder did not answer, or the remote
index did not take them. A list on disk, so that the sweep can have them rebuilt.

What was said is recallable meanwhile, from the rows: a search asks `holds` before it believes a remote index. So the
work itself is not held up.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from engram.domain.clock import Clock, to_text
from engram.domain.errors import ConditionFailed
from engram.domain.scope import Scope
from engram.domain.table import Absent, Item, Put
from engram.ports import Table
from engram.store import keys

_FIRST_WAIT = timedelta(minutes=1)
_LONGEST_WAIT = timedelta(hours=6)


class LaggingSearch:
    """The list, on the Table port."""

    def __init__(self, *, table: Table, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    def note(self, scope: Scope) -> None:
        """Puts a user on the list; one who is there already keeps the place. Raises Unavailable."""
        try:
            self._table.transact([Put(self._item(scope, attempts=0), Absent())])
        except ConditionFailed:
            return

    def holds(self, scope: Scope) -> bool:
        """Whether a user's documents wait to be rebuilt. Raises Unavailable."""
        return self._table.get(keys.lagging(scope)) is not None

    def due(self, limit: int) -> list[tuple[Scope, str]]:
        """Users to be rebuilt now, each with a name of this attempt."""
        now = to_text(self._clock())
        page = self._table.query_index(keys.LAGGING, end=now, limit=limit)
        return [(keys.scope_of_listing(item.index.sk), item.index.sk) for item in page.items if item.index is not None]

    def postpone(self, scope: Scope) -> None:
        """An attempt has begun: the next one comes after a wait that doubles, unless `clear` is called before."""
        item = self._table.get(keys.lagging(scope))
        if item is not None:
            self._table.write([self._item(scope, attempts=int(item.body["attempts"]) + 1)])

    def clear(self, scope: Scope) -> None:
        """Everything is where it should be."""
        self._table.write(deletes=[keys.lagging(scope)])

    def _item(self, scope: Scope, *, attempts: int) -> Item:
        wait = min(_FIRST_WAIT * 2 ** min(attempts, 10), _LONGEST_WAIT)
        moment: datetime = self._clock() + wait
        listing = keys.lagging_listing(scope, to_text(moment))
        return Item(keys.lagging(scope), {"attempts": attempts}, index=listing)
