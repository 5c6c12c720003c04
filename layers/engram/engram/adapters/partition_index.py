"""SearchIndex without a search service: a user's rows are read from the table and scored exactly in memory.

Copies are kept for the users asked about last, within a bound of bytes, and are current at every search: one read
of the head says so, and the change log says what to read again if not.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from engram.domain.documents import Document, DocumentKind, Hit, SearchQuery, SearchResult
from engram.domain.errors import Unavailable
from engram.domain.scope import Scope
from engram.store.documents import Head, SearchRow, SearchRows
from engram.text.analysis import terms_of

if TYPE_CHECKING:
    from engram.adapters.partition_scores import Array, Compiled

MAX_CACHED_BYTES = 192 * 1024 * 1024
"""About 60,000 messages with vectors of 512 numbers."""

MAX_QUERY_TERMS = 96
"""Distinct terms of a query that are matched. A pasted page has more: those the user's messages know come first."""


@dataclass(slots=True)
class _Copy:
    """One user's rows as this process has them. `lock` is held while they are refreshed.

    Attributes:
        compiled: arrays of the rows of some kinds, made when they are first asked for: messages and the few items
            are searched apart, and each search scores its own rows only.
    """

    lock: threading.Lock = field(default_factory=threading.Lock)
    head: Head | None = None
    rows: dict[str, SearchRow] = field(default_factory=dict)
    compiled: dict[frozenset[DocumentKind], Compiled] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Bytes, roughly."""
        return sum(one.size for one in self.compiled.values())


class PartitionIndex:
    """SearchIndex over the Table port: legs `lexical` (the turn), `lexical_context` (with the turn before),
    `lexical_window` (best of the four-turn windows it stands in), `vector`, `vector_window`, and `coverage` (share
    of the query's terms that the turn or the one before it holds).

    Every leg always answers, so `SearchQuery.deadline_ms` is left to the caller: a first load that comes too late
    still serves the next search. Several values of one filter field mean any of them; fields are joined by and.
    Safe to share between threads.
    """

    name = "partition"

    def __init__(self, *, rows: SearchRows, max_bytes: int = MAX_CACHED_BYTES) -> None:
        self._rows = rows
        self._max_bytes = max_bytes
        self._copies: OrderedDict[Scope, _Copy] = OrderedDict()
        self._lock = threading.Lock()

    def upsert(self, scope: Scope, documents: Sequence[Document]) -> None:
        self._rows.write(scope, documents)

    def delete(self, scope: Scope, documents: Mapping[str, int]) -> None:
        self._rows.delete(scope, documents)

    def delete_all(self, scope: Scope) -> None:
        self._rows.delete_all(scope)
        with self._lock:
            self._copies.pop(scope, None)

    def promote(self) -> None:
        """Nothing to do: a user's rows are compared with queries of their own encoder, row by row."""

    def count(self, scope: Scope) -> int:
        return self._rows.count(scope)

    def search(self, scope: Scope, query: SearchQuery) -> SearchResult:
        try:
            compiled = self._current(scope, frozenset(query.where.kinds or DocumentKind))
        except (Unavailable, ImportError):  # without numpy nothing can be scored; names and times still answer
            return SearchResult({}, missing=query.legs)
        if compiled is None:
            return SearchResult(dict.fromkeys(query.legs, ()))
        from engram.adapters import partition_scores

        allowed = partition_scores.matching(compiled, query.where)
        legs: dict[str, tuple[Hit, ...]] = {}
        if query.text:
            terms = _bounded(list(dict.fromkeys(terms_of(query.text))), compiled)
            legs["lexical"] = ()
            for name, values in partition_scores.lexical_scores(compiled, terms).items():
                legs[name] = _hits(compiled, values, _top(values, allowed & (values > 0), query.limit))
        if not query.vector:
            return SearchResult(legs)
        by_meaning = _by_meaning(compiled, query, allowed)
        return replace(by_meaning, legs={**legs, **by_meaning.legs})

    def _current(self, scope: Scope, kinds: frozenset[DocumentKind]) -> Compiled | None:
        """The user's rows of these kinds as they are now; None if there are none."""
        with self._lock:
            copy = self._copies.setdefault(scope, _Copy())
            self._copies.move_to_end(scope)
        with copy.lock:
            now = self._rows.head(scope)
            if copy.head != now:
                self._refresh(scope, copy, now)
            if kinds not in copy.compiled:
                _compile(copy, kinds)
                self._evict(scope)
            return copy.compiled.get(kinds)

    def _refresh(self, scope: Scope, copy: _Copy, now: Head) -> None:
        changes = self._rows.changes(scope, copy.head, now) if copy.head is not None else None
        if changes is None:
            snapshot = self._rows.snapshot(scope)
            copy.head, copy.rows = snapshot.head, {row.document.doc_id: row for row in snapshot.rows}
            copy.compiled.clear()
            return
        copy.head = changes.head
        changed = {row.document.kind for row in changes.rows}
        changed.update(row.document.kind for one in changes.removed if (row := copy.rows.pop(one, None)) is not None)
        copy.rows.update({row.document.doc_id: row for row in changes.rows})
        for kinds in [one for one in copy.compiled if not one.isdisjoint(changed)]:
            del copy.compiled[kinds]

    def _evict(self, kept: Scope) -> None:
        with self._lock:
            total = sum(copy.size for copy in self._copies.values())
            for scope in list(self._copies):
                if total <= self._max_bytes:
                    return
                if scope != kept:
                    total -= self._copies.pop(scope).size


def _compile(copy: _Copy, kinds: frozenset[DocumentKind]) -> None:
    from engram.adapters.partition_scores import compile_rows

    rows = [row for row in copy.rows.values() if row.document.kind in kinds]
    if rows:
        copy.compiled[kinds] = compile_rows(rows)


def _bounded(terms: list[str], compiled: Compiled) -> list[str]:
    if len(terms) <= MAX_QUERY_TERMS:
        return terms
    return sorted(terms, key=lambda term: term not in compiled.vocabulary)[:MAX_QUERY_TERMS]


def _by_meaning(compiled: Compiled, query: SearchQuery, allowed: Array) -> SearchResult:
    """Hits by cosine. The leg is missing where a vector among the allowed rows is of another encoder, or where none of
    the rows has one.
    """
    import numpy as np

    from engram.adapters.partition_scores import vector_scores

    code = compiled.encoder_codes.get(query.encoder)
    vector = np.frombuffer(query.vector, dtype="<f4")
    if code is None or len(vector) > compiled.vectors.shape[1]:
        # What has no words has no vector either, and none is missing.
        return SearchResult({}, missing=("vector",) if bool(compiled.lengths.any()) else ())
    same = compiled.encoders == code
    other = ~same & (compiled.encoders != compiled.encoder_codes.get("", -1))
    scores = vector_scores(compiled, vector, same)
    windowed = allowed & (compiled.window_of[:, 0] < len(compiled.members))
    turns = _top(scores["vector"], allowed & same, query.limit)
    windows = _top(scores["vector_window"], windowed & same, query.limit)
    vectors: dict[str, bytes] = {}
    if query.vectors:
        rows = compiled.vectors[turns, : len(vector)].astype("<f2")
        vectors = {compiled.documents[turn].doc_id: row.tobytes() for turn, row in zip(turns, rows, strict=True)}
    return SearchResult(
        {
            "vector": _hits(compiled, scores["vector"], turns),
            "vector_window": _hits(compiled, scores["vector_window"], windows),
        },
        missing=("vector",) if bool((allowed & other).any()) else (),
        vectors=vectors,
    )


def _top(scores: Array, allowed: Array, limit: int) -> list[int]:
    """Places of the best `limit` allowed rows; ties keep the order of the conversation."""
    import numpy as np

    places = np.flatnonzero(allowed)
    if len(places) > limit:
        values = scores[places]
        cut = np.partition(values, len(values) - limit)[len(values) - limit]
        places = places[values >= cut]
    best: list[int] = places[np.argsort(-scores[places], kind="stable")][:limit].tolist()
    return best


def _hits(compiled: Compiled, scores: Array, places: Sequence[int]) -> tuple[Hit, ...]:
    documents = compiled.documents
    return tuple(map(Hit, [documents[place] for place in places], scores[places].tolist()))
