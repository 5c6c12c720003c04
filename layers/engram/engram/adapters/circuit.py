"""A circuit breaker: after a few failures in a row, a part that does not answer is not asked for a while.

Without it every read would wait out the same timeout as the one before.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class CircuitBreaker:
    """Counts failures in a row, from any thread.

    Args:
        failures: in a row, after which the circuit opens.
        open_seconds: how long nobody asks; then one call is let through as a probe, and the next one after as long.
        monotonic: seconds.
    """

    def __init__(
        self, *, failures: int = 3, open_seconds: float = 5.0, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._limit = failures
        self._open_seconds = open_seconds
        self._monotonic = monotonic
        self._failures = 0
        self._next_probe = 0.0
        self._lock = threading.Lock()

    def allows(self) -> bool:
        """Whether to ask now. While open, True once per `open_seconds`."""
        if self._failures < self._limit:
            return True
        with self._lock:
            now = self._monotonic()
            if now < self._next_probe:
                return False
            self._next_probe = now + self._open_seconds
            return True

    def succeeded(self) -> None:
        self._failures = 0

    def failed(self) -> None:
        with self._lock:
            self._failures += 1
            self._next_probe = self._monotonic() + self._open_seconds
