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

MAX_WAITING = 64
"""Calls of one model at work or in the queue for a thread. One that answers in milliseconds serves as many callers."""

MAX_EMBEDDED_CHARACTERS = 2_000

REST_SECONDS = 5.0
"""How long a failed model is not asked again."""

MAX_KEPT = 512
"""Answers to the last questions: the resolver and the search often ask for the same words."""


_LISTS_KEPT = 2
"""Lists of names: one per catalogue, and each is a megabyte. Whoever compares with them keeps its own."""


class Guard(Generic[Made]):
    """Calls one model on a few threads of its own. With every thread hung, further calls are given up at once: a thread
    counts as hung when its call has taken half of the deadline.

    Args:
        empty: stands for an answer that is missing.
        rests_after_nonsense: whether an answer that cannot be used (ModelFailure) counts as a failure of the model,
            or only of that one question.
        kept: how many answers are remembered.
        seconds: a clock that only goes forward; tests hold it still.
    """

    def __init__(
        self,
        name: str,
        *,
        empty: Made,
        deadline_ms: float,
        rests_after_nonsense: bool = True,
        kept: int = MAX_KEPT,
        seconds: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name = name
        self._empty = empty
        self._deadline_ms = deadline_ms
        self._rests_after_nonsense = rests_after_nonsense
        self._most_kept = kept
        self._seconds = seconds
        self._pool: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()
        self._begun: dict[str, float] = {}
        self._rests_until = 0.0
        self._kept: OrderedDict[str, Made] = OrderedDict()
        self._asked: dict[str, Future[Made]] = {}

    def start(self, key: str, make: Callable[[], Made]) -> Pending[Made]:
        """Begins to make the answer to `key`, or takes the one that was made before or is being made."""
        return self.start_all([key], lambda _: [make()])[0]

    def start_all(self, keys: Sequence[str], make: Callable[[Sequence[str]], Sequence[Made]]) -> list[Pending[Made]]:
        """As `start`, for several: those that are not known yet are made in one call of the model."""
        with self._lock:
            new = [key for key in dict.fromkeys(keys) if key not in self._kept and key not in self._asked]
            job = self._submitted(new, make) if new and self._takes_more() else None
            pending = [self._answer_to(key) for key in keys]
        if job is not None:
            job.add_done_callback(lambda done: self._ended(new, done))
        return pending

    def nothing(self, *, missing: bool) -> Pending[Made]:
        """No answer: because nothing was asked, or because there is nobody to ask."""
        return Pending(None, self._deadline_ms, empty=self._empty, missing=missing)

    def _submitted(
        self, keys: Sequence[str], make: Callable[[Sequence[str]], Sequence[Made]]
    ) -> Future[Sequence[Made]]:
        """One call for `keys`. Under the lock."""
        if self._pool is None:
            self._pool = ThreadPoolExecutor(WORKERS, thread_name_prefix=self._name)
        self._asked.update((key, Future()) for key in keys)
        return self._pool.submit(self._made, keys, make)

    def _answer_to(self, key: str) -> Pending[Made]:
        """Under the lock."""
        if key in self._kept:
            self._kept.move_to_end(key)
            return Pending(_done(self._kept[key]), self._deadline_ms, empty=self._empty)
        if key not in self._asked:
            return self.nothing(missing=True)
        return Pending(self._asked[key], self._deadline_ms, empty=self._empty, on_late=self._rest)

    def _takes_more(self) -> bool:
        """Whether a call that is begun now can be expected to be answered. Under the lock."""
        now = self._seconds()
        hung = sum(now - begun > self._deadline_ms / 2_000 for begun in self._begun.values())
        return now >= self._rests_until and hung < WORKERS and len(self._asked) < MAX_WAITING

    def _made(self, keys: Sequence[str], make: Callable[[Sequence[str]], Sequence[Made]]) -> Sequence[Made]:
        with self._lock:
            self._begun[keys[0]] = self._seconds()
        return make(keys)

    def _ended(self, keys: Sequence[str], done: Future[Sequence[Made]]) -> None:
        error = done.exception()
        with self._lock:
            asked = [self._asked.pop(key) for key in keys]
            self._begun.pop(keys[0], None)
            if error is None:
                # One that was only late, loading perhaps, is not left alone any longer.
                self._rests_until = 0.0
                self._kept.update(zip(keys, done.result(), strict=True))
                while len(self._kept) > self._most_kept:
                    self._kept.popitem(last=False)
            elif self._rests_after_nonsense or not isinstance(error, ModelFailure):
                self._rests_until = self._seconds() + REST_SECONDS
        for at, one in enumerate(asked):
            if error is None:
                one.set_result(done.result()[at])
            else:
                one.set_exception(error)

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
    """Embeds queries, and the names that they are compared with, under a deadline.

    Args:
        seconds: a clock that only goes forward; tests hold it still.
    """

    def __init__(
        self, *, embedder: Embedder | None, deadline_ms: float, seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._embedder = embedder
        self._guard = Guard("embed", empty=b"", deadline_ms=deadline_ms, seconds=seconds)
        self._names: Guard[list[bytes]] = Guard(
            "names", empty=[], deadline_ms=deadline_ms, kept=_LISTS_KEPT, seconds=seconds
        )

    @property
    def encoder(self) -> str:
        """`model@dimension`; "" without an encoder."""
        return self._embedder.id if self._embedder is not None else ""

    def start(self, text: str) -> PendingEmbedding:
        """Begins to embed `text`; nothing to embed is an empty vector."""
        return self.start_all([text])[0]

    def start_all(self, texts: Sequence[str]) -> list[PendingEmbedding]:
        """Begins to embed `texts` in one go: two cost little more than one."""
        texts = [text[:MAX_EMBEDDED_CHARACTERS].strip() for text in texts]
        embedder = self._embedder
        if embedder is None:
            return [self._guard.nothing(missing=bool(text)) for text in texts]
        begun = iter(self._guard.start_all([text for text in texts if text], lambda new: embedder.embed(new, "query")))
        return [next(begun) if text else self._guard.nothing(missing=False) for text in texts]

    def start_names(self, texts: Sequence[str]) -> Pending[list[bytes]]:
        """Begins to embed a list of names. What comes too late is there for the next query."""
        embedder = self._embedder
        if embedder is None or not texts:
            return self._names.nothing(missing=bool(texts))
        return self._names.start("\n".join(texts), lambda: embedder.embed(texts, "document"))


class GuardedEmbedder:
    """An Embedder for the read path: whatever is asked, it obeys the deadline.

    Attributes:
        id, dimension: of the encoder behind it.
    """

    def __init__(self, embedder: Embedder, *, queries: QueryEmbeddings) -> None:
        self.id = embedder.id
        self.dimension = embedder.dimension
        self._queries = queries

    def embed(self, texts: Sequence[str], purpose: Purpose) -> list[bytes]:
        """See `Embedder`. Raises Unavailable after the deadline."""
        if purpose == "query":
            begun = self._queries.start_all(texts)
            vectors = [one.result() or b"" for one in begun]
            missing = any(one.missing for one in begun)
        else:
            names = self._queries.start_names(texts)
            vectors, missing = names.result() or [], names.missing
        if missing:
            raise Unavailable("the encoder does not answer in time")
        return vectors


def _done(made: Made) -> Future[Made]:
    future: Future[Made] = Future()
    future.set_result(made)
    return future
