"""ProfileCache in this process: least recently used entries go when `max_bytes` is reached.

The same rules as the shared cache, for one machine and for tests: compare-and-set on (epoch, version), and
tombstones that outlive an entry, so that a late writer cannot bring back what was deleted.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

from engram.domain.scope import Scope
from engram.ports import CacheEntry

_ENTRY_OVERHEAD_BYTES = 200


class MemoryCache:
    """Profiles of one process, for any number of threads.

    Args:
        max_bytes: payloads kept, plus a fixed amount for each entry.
        ttl_seconds: how long an entry is served without being written again.
        tombstone_seconds: how long a deletion is remembered; longer than any writer can be late.
        monotonic: seconds, for both.
    """

    def __init__(
        self,
        *,
        max_bytes: int = 64 * 1024 * 1024,
        ttl_seconds: float = 3_600.0,
        tombstone_seconds: float = 86_400.0,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._max_bytes = max_bytes
        self._ttl = ttl_seconds
        self._tombstone_ttl = tombstone_seconds
        self._monotonic = monotonic
        self._entries: OrderedDict[Scope, tuple[float, CacheEntry]] = OrderedDict()
        self._tombstones: OrderedDict[Scope, tuple[float, int]] = OrderedDict()
        self._bytes = 0
        self._lock = threading.Lock()

    def get(self, scope: Scope) -> CacheEntry | None:
        with self._lock:
            entry = self._current(scope)
            if entry is not None:
                self._entries.move_to_end(scope)
            return entry

    def put(self, scope: Scope, entry: CacheEntry) -> bool:
        """Always True: this cache cannot fail to answer."""
        with self._lock:
            present = self._current(scope)
            outdated = present is not None and (present.epoch, present.version) > (entry.epoch, entry.version)
            if not outdated and entry.epoch >= self._tombstone(scope):
                self._drop(scope)
                self._entries[scope] = (self._monotonic() + self._ttl, entry)
                self._bytes += _size(entry)
                while self._bytes > self._max_bytes:
                    self._drop(next(iter(self._entries)))
        return True

    def forget(self, scope: Scope, *, epoch: int) -> bool:
        """Always True: this cache cannot fail to answer."""
        with self._lock:
            present = self._current(scope)
            if present is not None and present.epoch < epoch:
                self._drop(scope)
            self._forget_old_tombstones()
            epoch = max(epoch, self._tombstone(scope))
            self._tombstones.pop(scope, None)
            self._tombstones[scope] = (self._monotonic() + self._tombstone_ttl, epoch)
        return True

    def _current(self, scope: Scope) -> CacheEntry | None:
        expires, entry = self._entries.get(scope, (0.0, None))
        if entry is not None and expires <= self._monotonic():
            self._drop(scope)
            return None
        return entry

    def _tombstone(self, scope: Scope) -> int:
        expires, epoch = self._tombstones.get(scope, (0.0, 0))
        return epoch if expires > self._monotonic() else 0

    def _forget_old_tombstones(self) -> None:
        now = self._monotonic()
        while self._tombstones and next(iter(self._tombstones.values()))[0] <= now:
            self._tombstones.popitem(last=False)

    def _drop(self, scope: Scope) -> None:
        _, entry = self._entries.pop(scope, (0.0, None))
        if entry is not None:
            self._bytes -= _size(entry)


def _size(entry: CacheEntry) -> int:
    return len(entry.payload) + _ENTRY_OVERHEAD_BYTES
