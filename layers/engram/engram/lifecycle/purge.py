"""The extractor's part of a deletion: as much of the purge as fits into one delivery, then on with the next."""

from __future__ import annotations

from collections.abc import Callable

from engram.domain.clock import Stopwatch
from engram.domain.models import Operation
from engram.domain.scope import Scope
from engram.lifecycle.erasure import Erasure
from engram.lifecycle.targets import TargetKind
from engram.lifecycle.withdrawal import Withdrawal

DELIVERY_MS = 30_000.0
"""Work of one delivery: well below the extractor's timeout."""


class Purge:
    """Job of DELETION operations.

    Args:
        send: queues the operation again when a delivery was not enough.
    """

    def __init__(
        self,
        *,
        erasure: Erasure,
        withdrawal: Withdrawal,
        send: Callable[[Scope, str], None],
        delivery_ms: float = DELIVERY_MS,
    ) -> None:
        self._erasure = erasure
        self._withdrawal = withdrawal
        self._send = send
        self._delivery_ms = delivery_ms

    def run(self, scope: Scope, operation: Operation) -> Operation:
        """Raises Unavailable or Throttled: the operation is delivered again."""
        watch = Stopwatch()

        def enough() -> bool:
            return watch.ms() > self._delivery_ms

        whole = operation.arguments.get("target") == TargetKind.USER.value
        work = self._erasure.run if whole else self._withdrawal.run
        after = work(scope, operation, enough=enough)
        if not after.status.final and enough():
            self._send(scope, operation.operation_id)
        return after
