"""What a read asks of an encoder or a model, made beside the reads and given up after a deadline: a slow one costs
recall quality, never the answer. One that has just failed is left alone for a while.
"""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as DeadlinePassed
from typing import Generic, TypeVar

from engram.domain.clock import Stopwatch
from engram.domain.errors import EngramError, ModelFailure, Unavailable
from engram.ports import Embedder, Purpose

Made = TypeVar("Made")

WORKERS = 4
"""Threads of one process for one model. A hung call holds one of them until its client gives up."""

MAX_EMBEDDED_CHARACTERS = 2_000

REST_SECONDS = 5.0
"""How long a failed model is not asked again."""

MAX_KEPT = 512
"""Answers to the last questions: the resolver and the search often ask for the same words."""


class Guard(Generic[Made]):
    """Calls one model on a few threads of its own. With every thread hung, further calls are given up at once.

    Args:
        empty: stands for an answer that is missing.
        rests_after_nonsense: whether an answer that cannot be used (ModelFailure) counts as a failure of the model,
            or only of that one question.
        seconds: a clock that only goes forward; tests hold it still.
    """

    def __init__(
        self,
        name: str,
        *,
        empty: Made,
        deadline_ms: float,
        rests_after_nonsense: bool = True,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name = name
        self._empty = empty
        self._deadline_ms = deadline_ms
        self._rests_after_nonsense = rests_after_nonsense
        self._seconds = seconds
        self._pool: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()
        self._running = 0
        self._rests_until = 0.0
        self._kept: OrderedDict[str, Made] = OrderedDict()

    def start(self, key: str, make: Callable[[], Made]) -> Pending[Made]:
        """Begins to make the answer to `key`, or takes the one that was made before."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return Pending(_done(self._kept[key]), self._deadline_ms, empty=self._empty)
            if self._running >= WORKERS or self._seconds() < self._rests_until:
                return self.nothing(missing=True)
            self._running += 1
            if self._pool is None:
                self._pool = ThreadPoolExecutor(WORKERS, thread_name_prefix=self._name)
        future = self._pool.submit(make)
        future.add_done_callback(lambda done: self._ended(key, done))
        return Pending(future, self._deadline_ms, empty=self._empty, on_late=self._rest)

    def nothing(self, *, missing: bool) -> Pending[Made]:
        """No answer: because nothing was asked, or because there is nobody to ask."""
        return Pending(None, self._deadline_ms, empty=self._empty, missing=missing)

    def _ended(self, key: str, done: Future[Made]) -> None:
        with self._lock:
            self._running -= 1
            error = None if done.cancelled() else done.exception()
            if done.cancelled() or error is not None:
                if self._rests_after_nonsense or not isinstance(error, ModelFailure):
                    self._rests_until = self._seconds() + REST_SECONDS
                return
            self._kept[key] = done.result()
            while len(self._kept) > MAX_KEPT:
                self._kept.popitem(last=False)

    def _rest(self) -> None:
        with self._lock:
            self._rests_until = self._seconds() + REST_SECONDS


class Pending(Generic[Made]):
    """An answer that may come. `missing` once it is known that it will not."""

    def __init__(
        self,
        future: Future[Made] | None,
        deadline_ms: float,
        *,
        empty: Made,
        missing: bool = False,
        on_late: Callable[[], None] = lambda: None,
    ) -> None:
        self._future = future
        self._deadline_ms = deadline_ms
        self._empty = empty
        self._watch = Stopwatch()
        self._on_late = on_late
        self.missing = missing

    def result(self, *, patience_ms: float | None = None) -> Made | None:
        """The answer, the empty one for none; None if it is not there within `patience_ms` (default: the deadline)."""
        if self._future is None or self.missing:
            return self._empty
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
        return self._empty


PendingEmbedding = Pending[bytes]


class QueryEmbeddings:
    """Embeds queries under a deadline.

    Args:
        seconds: a clock that only goes forward; tests hold it still.
    """

    def __init__(
        self, *, embedder: Embedder | None, deadline_ms: float, seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._embedder = embedder
        self._guard = Guard("embed", empty=b"", deadline_ms=deadline_ms, seconds=seconds)

    @property
    def encoder(self) -> str:
        """`model@dimension`; "" without an encoder."""
        return self._embedder.id if self._embedder is not None else ""

    def start(self, text: str) -> PendingEmbedding:
        """Begins to embed `text`; nothing to embed is an empty vector."""
        text = text[:MAX_EMBEDDED_CHARACTERS].strip()
        embedder = self._embedder
        if embedder is None or not text:
            return self._guard.nothing(missing=bool(text))
        return self._guard.start(text, lambda: embedder.embed([text], "query")[0])


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


def _done(made: Made) -> Future[Made]:
    future: Future[Made] = Future()
    future.set_result(made)
    return future
