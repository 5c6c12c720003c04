"""Embeddings of queries, made beside the reads and given up after a deadline: a slow encoder costs recall quality,
never the answer. One that has just failed is left alone for a while.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as DeadlinePassed

from engram.domain.clock import Stopwatch
from engram.domain.errors import EngramError, Unavailable
from engram.ports import Embedder, Purpose

WORKERS = 4
"""Threads of one process for embeddings. A hung call holds one of them until its client gives up."""

MAX_EMBEDDED_CHARACTERS = 2_000

REST_SECONDS = 5.0
"""How long a failed encoder is not asked again."""

MAX_KEPT = 512
"""Vectors of the last queries: the resolver and the search often ask for the same words."""


class QueryEmbeddings:
    """Embeds queries on a few threads of its own. With every thread hung, further calls are given up at once.

    Args:
        seconds: a clock that only goes forward; tests hold it still.
    """

    def __init__(
        self, *, embedder: Embedder | None, deadline_ms: float, seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._embedder = embedder
        self._deadline_ms = deadline_ms
        self._seconds = seconds
        self._pool: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()
        self._running = 0
        self._rests_until = 0.0
        self._kept: OrderedDict[str, bytes] = OrderedDict()

    @property
    def encoder(self) -> str:
        """`model@dimension`; "" without an encoder."""
        return self._embedder.id if self._embedder is not None else ""

    def start(self, text: str) -> PendingEmbedding:
        """Begins to embed `text`; nothing to embed is an empty vector."""
        text = text[:MAX_EMBEDDED_CHARACTERS].strip()
        if self._embedder is None or not text:
            return PendingEmbedding(None, self._deadline_ms, missing=bool(text))
        embedder = self._embedder
        with self._lock:
            if (kept := self._kept.get(text)) is not None:
                self._kept.move_to_end(text)
                return PendingEmbedding(_done(kept), self._deadline_ms)
            if self._running >= WORKERS or self._seconds() < self._rests_until:
                return PendingEmbedding(None, self._deadline_ms, missing=True)
            self._running += 1
            if self._pool is None:
                self._pool = ThreadPoolExecutor(WORKERS, thread_name_prefix="embed")
        future = self._pool.submit(lambda: embedder.embed([text], "query")[0])
        future.add_done_callback(lambda done: self._ended(text, done))
        return PendingEmbedding(future, self._deadline_ms, on_late=self._rest)

    def _ended(self, text: str, done: Future[bytes]) -> None:
        with self._lock:
            self._running -= 1
            if done.cancelled() or done.exception() is not None:
                self._rests_until = self._seconds() + REST_SECONDS
                return
            self._kept[text] = done.result()
            while len(self._kept) > MAX_KEPT:
                self._kept.popitem(last=False)

    def _rest(self) -> None:
        with self._lock:
            self._rests_until = self._seconds() + REST_SECONDS


class PendingEmbedding:
    """A vector that may come. `missing` once it is known that it will not."""

    def __init__(
        self,
        future: Future[bytes] | None,
        deadline_ms: float,
        *,
        missing: bool = False,
        on_late: Callable[[], None] = lambda: None,
    ) -> None:
        self._future = future
        self._deadline_ms = deadline_ms
        self._watch = Stopwatch()
        self._on_late = on_late
        self.missing = missing

    def result(self, *, patience_ms: float | None = None) -> bytes | None:
        """The vector, b"" for none, or None if it is not there within `patience_ms` (default: all of the deadline)."""
        if self._future is None or self.missing:
            return b""
        left = self._deadline_ms - self._watch.ms()
        wait = left if patience_ms is None else min(patience_ms, left)
        try:
            return self._future.result(timeout=max(wait, 0.0) / 1000)
        except DeadlinePassed:
            if patience_ms is not None and wait < left:
                return None
            self._on_late()
        except (EngramError, ValueError, OSError):
            pass
        self.missing = True
        return b""


class GuardedEmbedder:
    """An Embedder for the read path, whose queries obey the deadline. Other texts go straight through.

    Attributes:
        id, dimension: of the encoder behind it.
    """

    def __init__(self, embedder: Embedder, *, queries: QueryEmbeddings) -> None:
        self.id = embedder.id
        self.dimension = embedder.dimension
        self._embedder = embedder
        self._queries = queries

    def embed(self, texts: Sequence[str], purpose: Purpose) -> list[bytes]:
        """See `Embedder`. A single query is given up after the deadline (Unavailable)."""
        if purpose != "query" or len(texts) != 1:
            return self._embedder.embed(texts, purpose)
        pending = self._queries.start(texts[0])
        vector = pending.result() or b""
        if pending.missing:
            raise Unavailable("the encoder does not answer in time")
        return [vector]


def _done(vector: bytes) -> Future[bytes]:
    future: Future[bytes] = Future()
    future.set_result(vector)
    return future
