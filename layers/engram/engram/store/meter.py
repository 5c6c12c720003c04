"""What is billed, per user and day: model tokens, embeddings, requests. Adding is a conditional rewrite of one row."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from engram.domain.errors import ConditionFailed, Throttled
from engram.domain.scope import Scope
from engram.domain.table import Absent, Item, Put, VersionIs
from engram.observability import log
from engram.ports import Table
from engram.store import keys

_ATTEMPTS = 6


class TableMeter:
    """Meter on the Table port."""

    def __init__(self, *, table: Table) -> None:
        self._table = table

    def add(self, scope: Scope, at: datetime, amounts: Mapping[str, int]) -> None:
        """Adds to the day's row. A count lost to contention is logged: no work fails for the sake of its meter."""
        key = keys.meter(scope, f"{at:%Y-%m-%d}")
        for _ in range(_ATTEMPTS):
            present = self._table.get(key)
            before: Mapping[str, int] = present.body if present else {}
            body = {**before, **{name: int(before.get(name, 0)) + amount for name, amount in amounts.items()}}
            version = present.version if present else 0
            epoch = present.epoch if present else 0
            try:
                condition = VersionIs(version) if present else Absent()
                self._table.transact([Put(Item(key, body, version=version + 1, epoch=epoch), condition)])
            except (ConditionFailed, Throttled):
                continue
            return
        log("not metered", count=sum(amounts.values()))

    def days(self, scope: Scope, *, start: str = "", end: str = "") -> dict[str, dict[str, int]]:
        """Counts by day (`YYYY-MM-DD`), `start <= day < end`."""
        first = keys.METERS + start
        stop = keys.METERS + end if end else keys.end_of(keys.METERS)
        page = self._table.query(keys.user_partition(scope), start=first, end=stop)
        found = list(page.items)
        while page.cursor is not None:
            page = self._table.query(keys.user_partition(scope), start=first, end=stop, cursor=page.cursor)
            found += page.items
        return {item.key.sk.removeprefix(keys.METERS): dict(item.body) for item in found}
