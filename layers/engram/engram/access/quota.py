"""Requests of one business per minute. A token bucket in this process: with several function instances the quota holds
for each of them, so it bounds what one business can do to the others and is no exact bill.
"""

from __future__ import annotations

import math
import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from engram.domain.errors import RateLimited

_KEPT = 10_000


class Quota:
    """Lets `per_minute` requests of each business through, any of them at once after a quiet minute; 0 lets all."""

    def __init__(self, per_minute: int, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._per_minute = per_minute
        self._monotonic = monotonic
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def take(self, business_id: str) -> None:
        """Raises RateLimited with the seconds after which one more request is let through."""
        if not self._per_minute:
            return
        rate = self._per_minute / 60
        now = self._monotonic()
        with self._lock:
            left, at = self._buckets.get(business_id, (float(self._per_minute), now))
            left = min(float(self._per_minute), left + (now - at) * rate)
            allowed = left >= 1
            self._buckets[business_id] = (left - 1 if allowed else left, now)
            self._buckets.move_to_end(business_id)
            while len(self._buckets) > _KEPT:
                self._buckets.popitem(last=False)
        if not allowed:
            raise RateLimited(
                f"more than {self._per_minute} requests a minute", retry_after=math.ceil((1 - left) / rate)
            )
