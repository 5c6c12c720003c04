"""What is billed, per user and day and per business and day: model tokens, embeddings, requests.

`add` is on disk when it returns. `count` is for what happens too often for a write each: it is gathered in this
process and written within `FLUSH_SECONDS`; a process that is killed loses that much and no more.
"""

from __future__ import annotations

import atexit
import math
import random
import threading
import time
from collections.abc import Callable, Mapping
from datetime import datetime

from engram.domain.clock import Clock, system_clock
from engram.domain.errors import ConditionFailed, EngramError, Throttled
from engram.domain.scope import Scope
from engram.domain.table import Absent, Item, Key, Put, VersionIs, Write
from engram.observability import log
from engram.ports import Table
from engram.store import keys
from engram.store.commits import epoch_check
from engram.store.reader import tombstones_of, user_of

FLUSH_SECONDS = 10.0
SHARDS = 16
"""Rows of a business's day: processes that write at once seldom meet on one."""

_ATTEMPTS = 8

Days = dict[str, dict[str, int]]


class TableMeter:
    """Meter on the Table port, for any number of threads.

    Args:
        table: asked for when something is written: a read that only counts loads no table.
    """

    def __init__(
        self,
        *,
        table: Callable[[], Table],
        clock: Clock = system_clock,
        flush_seconds: float = FLUSH_SECONDS,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._table = table
        self._clock = clock
        self._flush_seconds = flush_seconds
        self._shard = f"{random.randrange(SHARDS):02d}"
        self._gathered: dict[tuple[Scope, str], dict[str, int]] = {}
        self._monotonic = monotonic
        self._flushed_at = -math.inf
        self._lock = threading.Lock()
        self._flusher: threading.Timer | None = None

    def add(self, scope: Scope, at: datetime, amounts: Mapping[str, int]) -> None:
        """Adds to the day's rows. A count lost to contention is logged: no work fails for the sake of its meter."""
        day = f"{at:%Y-%m-%d}"
        try:
            if not scope.is_business:
                self._add_to_user(scope, day, amounts)
            self._add_to(keys.business_meter(scope.business_id, day, self._shard), amounts)
        except EngramError as error:
            log("not metered", count=sum(amounts.values()), code=error.code)

    def count(self, scope: Scope, amounts: Mapping[str, int]) -> None:
        """Gathers; no read, no write."""
        key = (scope, f"{self._clock():%Y-%m-%d}")
        with self._lock:
            gathered = self._gathered.setdefault(key, {})
            for name, amount in amounts.items():
                gathered[name] = gathered.get(name, 0) + amount
            if self._flusher is None:
                self._flusher = threading.Timer(self._flush_seconds, self.flush)
                self._flusher.daemon = True
                self._flusher.start()
                atexit.register(self.flush)

    def flush(self) -> None:
        """Writes what was gathered."""
        with self._lock:
            gathered, self._gathered = self._gathered, {}
            self._flushed_at = self._monotonic()
            flusher, self._flusher = self._flusher, None
        if flusher is not None:
            flusher.cancel()
            atexit.unregister(self.flush)
        for (scope, day), amounts in gathered.items():
            self.add(scope, datetime.fromisoformat(day), amounts)

    def flush_if_due(self) -> None:
        """Writes what was gathered, unless that was done a moment ago: for a process that sleeps between its work."""
        now = self._monotonic()
        with self._lock:
            due = bool(self._gathered) and now - self._flushed_at >= self._flush_seconds
        if due:
            self.flush()

    def days(self, scope: Scope, *, start: str = "", end: str = "") -> Days:
        """Counts of a user by day (`YYYY-MM-DD`), `start <= day < end`. What this process has gathered is included."""
        self.flush()
        return self._days(keys.user_partition(scope), start, end)

    def business_days(self, business_id: str, *, start: str = "", end: str = "") -> Days:
        """Counts of a business by day, those of deleted users included."""
        self.flush()
        return self._days(keys.business_partition(business_id), start, end)

    def _days(self, partition: str, start: str, end: str) -> Days:
        first = keys.METERS + start
        stop = keys.METERS + end if end else keys.end_of(keys.METERS)
        days: Days = {}
        cursor: Key | None = None
        while True:
            page = self._table().query(partition, start=first, end=stop, cursor=cursor)
            for item in page.items:
                day = days.setdefault(item.key.sk.split(keys.SEPARATOR)[1], {})
                for name, amount in item.body.items():
                    day[name] = day.get(name, 0) + int(amount)
            cursor = page.cursor
            if cursor is None:
                return days

    def _add_to_user(self, scope: Scope, day: str, amounts: Mapping[str, int]) -> None:
        """A user that is not there, or no more, gets no row: a deletion would never end."""
        key = keys.meter(scope, day)
        for _ in range(_ATTEMPTS):
            found = self._table().batch_get([keys.user(scope), keys.tombstones(scope), key])
            tombstones = tombstones_of(found.get(keys.tombstones(scope)))
            if user_of(found.get(keys.user(scope)), tombstones) is None:
                return
            try:
                self._table().transact([_added(key, found.get(key), amounts), epoch_check(scope, tombstones)])
            except (ConditionFailed, Throttled):
                continue
            return
        raise Throttled("the meter is contended")

    def _add_to(self, key: Key, amounts: Mapping[str, int]) -> None:
        for _ in range(_ATTEMPTS):
            try:
                self._table().transact([_added(key, self._table().get(key), amounts)])
            except (ConditionFailed, Throttled):
                continue
            return
        raise Throttled("the meter is contended")


def _added(key: Key, present: Item | None, amounts: Mapping[str, int]) -> Write:
    before: Mapping[str, int] = present.body if present else {}
    body = {**before, **{name: int(before.get(name, 0)) + amount for name, amount in amounts.items()}}
    version = present.version if present else 0
    return Put(Item(key, body, version=version + 1), VersionIs(version) if present else Absent())
