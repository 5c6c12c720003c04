"""Users whose hot profile the cache did not take: a list on disk, so that whoever comes by can try again.

Without it a cache that was away during a write and came back would serve the old profile until its entry expires.
"""

from __future__ import annotations

from datetime import timedelta

from engram.domain.clock import Clock
from engram.domain.scope import Scope
from engram.domain.table import Item
from engram.ports import Table
from engram.store import keys

KEPT = timedelta(days=1)
"""Longer than any cache entry is served."""


class UnprojectedProfiles:
    """The list, on the Table port."""

    def __init__(self, *, table: Table, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    def note(self, scope: Scope) -> None:
        """Puts a user on the list. Raises Unavailable if the table does not answer either."""
        expires = int((self._clock() + KEPT).timestamp())
        key, listing = keys.unprojected(scope), keys.unprojected_listing(scope)
        self._table.write([Item(key, expires_at=expires, index=listing)])

    def clear(self, scope: Scope) -> None:
        self._table.write(deletes=[keys.unprojected(scope)])

    def some(self, limit: int) -> list[Scope]:
        """Users on the list."""
        page = self._table.query_index(keys.UNPROJECTED, limit=limit)
        return [keys.scope_of_unprojected(item.index.sk) for item in page.items if item.index is not None]
