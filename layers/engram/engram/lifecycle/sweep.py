"""The scheduled sweep: what the queue lost is sent again, and idle buffers are distilled without anybody asking.

The table is the truth about work: an operation that is not final is work to do, wherever its queue message went.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from itertools import islice

from engram.domain.clock import Clock, to_text
from engram.domain.errors import ConditionFailed, EngramError, NotFound
from engram.domain.ids import derived_id
from engram.domain.models import OperationStatus
from engram.domain.scope import Scope
from engram.domain.table import Put, VersionIs
from engram.ingestion.service import IngestionService
from engram.observability import log
from engram.ports import Table
from engram.store import keys
from engram.store.operations import Operations
from engram.store.reader import Reader

_PAGE = 500
_MAX_RESENT = 20_000
"""Operations of one pass: what a function has the time for. The next pass goes on with the oldest left."""


@dataclass(frozen=True, slots=True)
class Swept:
    """What one sweep did."""

    resent: int
    flushed: int
    repaired: int


class Sweep:
    """Finds work that nobody is doing.

    Args:
        repair: brings projections up to date that did not take what was written, and ends what nobody asks for any
            more; answers how many of either.
    """

    def __init__(
        self,
        *,
        table: Table,
        reader: Reader,
        operations: Operations,
        ingestion: IngestionService,
        repair: Callable[[], int],
        clock: Clock,
        stale_after: timedelta,
        idle: timedelta,
    ) -> None:
        self._table = table
        self._reader = reader
        self._operations = operations
        self._ingestion = ingestion
        self._repair = repair
        self._clock = clock
        self._stale_after = stale_after
        self._idle = idle

    def run(self) -> Swept:
        """One pass. Safe to run at any time, twice at once too."""
        now = self._clock()
        swept = Swept(resent=self._resend(now), flushed=self._flush_idle(now), repaired=self._repair())
        log("swept", count=swept.resent + swept.flushed + swept.repaired)
        return swept

    def resume(self) -> int:
        """Sends everything unfinished again, however young: for a process that starts with an empty queue.

        Returns how many.
        """
        soon = timedelta(seconds=1)  # what was changed this very moment is unfinished too
        return self._resend(self._clock() + self._stale_after + soon)

    def _resend(self, now: datetime) -> int:
        resent = 0
        stale = self._operations.unfinished(before=now - self._stale_after)
        for scope, operation in islice(stale, _MAX_RESENT):
            try:
                # Touching it first keeps a long queue from being filled with copies at every pass.
                touched = self._operations.change(scope, operation.operation_id, lambda one: one)
            except NotFound:
                continue
            if not touched.status.final:
                self._ingestion.send(scope, operation.operation_id)
                resent += 1
        return resent

    def _flush_idle(self, now: datetime) -> int:
        due: dict[Scope, str] = {}
        page = self._table.query_index(keys.BUFFERS_DUE, end=to_text(now), limit=_PAGE)
        for item in page.items:
            if item.index is not None:
                due.setdefault(keys.scope_of_listing(item.index.sk), item.key.sk)
        flushed = 0
        for scope in due:
            flushed += self._flush(scope, now)
        return flushed

    def _flush(self, scope: Scope, now: datetime) -> int:
        """Flushes a user's buffer unless something came in since: then it is not idle, only partly old."""
        rows = list(self._reader.rows(scope, keys.BUFFER))
        if not rows or max(str(row.body["due"]) for row in rows) > to_text(now):
            return 0
        request = derived_id("idle", *sorted(row.key.sk for row in rows))
        try:
            accepted = self._ingestion.flush(scope, request_id=request)
        except EngramError as error:
            log("idle buffer not flushed", code=error.code)
            return 0
        if accepted.status is OperationStatus.FAILED:
            self._rest(scope, now)
        return 1

    def _rest(self, scope: Scope, now: datetime) -> None:
        """A buffer whose distillation failed for good waits an interval more before it is looked at again."""
        later = to_text(now + self._idle)
        rows = list(self._reader.rows(scope, keys.BUFFER))
        for row in rows:
            rested = replace(
                row,
                body={**row.body, "due": later},
                index=keys.buffer_due(scope, later, keys.unescape(row.key.sk.removeprefix(keys.BUFFER))),
                version=row.version + 1,
            )
            # Distilled meanwhile: it must not come back.
            with suppress(ConditionFailed):
                self._table.transact([Put(rested, VersionIs(row.version))])
