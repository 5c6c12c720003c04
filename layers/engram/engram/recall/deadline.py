"""The query's embedding, made beside the reads and given up after a deadline: a slow encoder costs recall quality,
never the answer.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as DeadlinePassed

from engram.domain.clock import Stopwatch
from engram.domain.errors import EngramError
from engram.ports import Embedder

WORKERS = 4
"""Threads of one process for embeddings. A hung call holds one of them until its client gives up."""

MAX_EMBEDDED_CHARACTERS = 2_000


class QueryEmbeddings:
    """Embeds queries on a few threads of its own. With every thread hung, further calls are given up at once."""

    def __init__(self, *, embedder: Embedder | None, deadline_ms: float) -> None:
        self._embedder = embedder
        self._deadline_ms = deadline_ms
        self._pool: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()
        self._running = 0

    @property
    def encoder(self) -> str:
        """`model@dimension`; "" without an encoder."""
        return self._embedder.id if self._embedder is not None else ""

    def start(self, text: str) -> PendingEmbedding:
        """Begins to embed `text`; nothing to embed is an empty vector."""
        text = text[:MAX_EMBEDDED_CHARACTERS].strip()
        if self._embedder is None or not text:
            return PendingEmbedding(None, self._deadline_ms, wanted=bool(text))
        embedder = self._embedder
        with self._lock:
            if self._running >= WORKERS:
                return PendingEmbedding(None, self._deadline_ms, wanted=True)
            self._running += 1
            if self._pool is None:
                self._pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="embed")
        future = self._pool.submit(lambda: embedder.embed([text], "query")[0])
        future.add_done_callback(self._done)
        return PendingEmbedding(future, self._deadline_ms, wanted=True)

    def _done(self, _: Future[bytes]) -> None:
        with self._lock:
            self._running -= 1


class PendingEmbedding:
    """A vector that may come. `missing` once it is known that it will not."""

    def __init__(self, future: Future[bytes] | None, deadline_ms: float, *, wanted: bool) -> None:
        self._future = future
        self._deadline_ms = deadline_ms
        self._watch = Stopwatch()
        self.missing = wanted and future is None

    def result(self, *, patience_ms: float | None = None) -> bytes | None:
        """The vector, b"" for none, or None if it is not there within `patience_ms` (default: all of the deadline)."""
        if self._future is None:
            return b""
        left = self._deadline_ms - self._watch.ms()
        wait = left if patience_ms is None else min(patience_ms, left)
        try:
            return self._future.result(timeout=max(wait, 0.0) / 1000)
        except DeadlinePassed:
            if patience_ms is not None and wait < left:
                return None
            self.missing = True
            return b""
        except (EngramError, ValueError, OSError):
            self.missing = True
            return b""


Embed = Callable[[str], PendingEmbedding]
