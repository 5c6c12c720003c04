"""One search of a recall: lexical beside the encoder, then the vector leg, then the other index if the first is down.

Names what did not answer; decides nothing about relevance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from engram.domain.clock import Stopwatch
from engram.domain.documents import Document, DocumentFilter, SearchQuery, SearchResult
from engram.domain.errors import EngramError
from engram.domain.models import MessageRef
from engram.domain.scope import Scope
from engram.ports import SearchIndex
from engram.recall.deadline import PendingEmbedding, QueryEmbeddings
from engram.recall.features import QueryFeatures
from engram.recall.fusion import Ranked, rank
from engram.recall.recipes import Recipe
from engram.recall.refuted import Refuted
from engram.recall.verification import ref_of

PATIENCE_MS = 12.0
"""A local encoder answers within this, and one search with both legs is cheaper than two. A remote one does not:
then the lexical leg runs meanwhile."""

HITS = 200
"""Hits a leg; fusion needs the tail to scale scores."""


@dataclass(slots=True)
class Trace:
    """What one recall has noticed on its way: parts that did not answer, time per stage, texts already embedded.

    Attributes:
        answers: what the index has said to a search; it is asked nothing twice.
        claims: documents that it gave, by id.
        refuted: what of them the table does not confirm.
    """

    missing: dict[str, None] = field(default_factory=dict)
    timings: dict[str, float] = field(default_factory=dict)
    vectors: dict[str, PendingEmbedding] = field(default_factory=dict)
    answers: dict[SearchQuery, SearchResult] = field(default_factory=dict)
    claims: dict[str, Document] = field(default_factory=dict)
    refuted: Refuted = field(default_factory=Refuted)

    def took(self, stage: str, watch: Stopwatch) -> None:
        self.timings[stage] = self.timings.get(stage, 0.0) + watch.ms()

    def lacks(self, *parts: str) -> None:
        self.missing.update(dict.fromkeys(parts))


@dataclass(frozen=True, slots=True)
class Found:
    """A ranking, best first, and the cosine of each document that the vector leg has found."""

    ranked: tuple[Ranked, ...]
    cosines: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class NearTurn:
    """A message near in meaning: its cosine, and its vector as in `Document`; b"" where the index gives none back."""

    ref: MessageRef
    cosine: float
    vector: bytes = b""


class Searcher:
    """Searches one index, and a second one that needs no service when the first does not answer."""

    def __init__(
        self,
        *,
        index: SearchIndex,
        fallback: SearchIndex | None,
        embeddings: QueryEmbeddings,
        recipe: Recipe,
        deadline_ms: float,
    ) -> None:
        self._index = index
        self._fallback = fallback
        self._embeddings = embeddings
        self._recipe = recipe
        self._deadline_ms = deadline_ms

    @property
    def floor(self) -> float:
        """Relevance below which a question counts as unsupported."""
        return self._recipe.floor

    def embed(self, text: str, trace: Trace) -> PendingEmbedding:
        """The vector of `text`, begun at most once in a recall."""
        if text not in trace.vectors:
            trace.vectors[text] = self._embeddings.start(text)
        return trace.vectors[text]

    def joint(self, weighted: Sequence[tuple[str, float]], trace: Trace) -> bytes:
        """One unit vector for several texts, each with its weight, as float32; b"" where none could be embedded."""
        pending = [(self.embed(text, trace), weight) for text, weight in weighted if text]
        parts = [(vector, weight) for one, weight in pending if (vector := one.result())]
        if any(one.missing for one, _ in pending):
            trace.lacks("encoder")
        if not parts:
            return b""
        import numpy as np

        rows = np.stack([np.frombuffer(vector, dtype="<f4") for vector, _ in parts])
        total = np.array([weight for _, weight in parts], dtype="<f4") @ rows
        return bytes((total / max(float(np.linalg.norm(total)), 1e-6)).astype("<f4").tobytes())

    def ranked(
        self,
        scope: Scope,
        query: QueryFeatures,
        where: DocumentFilter,
        *,
        vector: PendingEmbedding | None,
        trace: Trace,
        limit: int = HITS,
    ) -> Found:
        """Documents that any leg found."""
        watch = Stopwatch()
        result = self._search(scope, query.text, where, vector=vector, trace=trace, limit=limit)
        trace.took("search", watch)
        watch = Stopwatch()
        found = rank(result, query, self._recipe)
        trace.took("fuse", watch)
        return Found(found, {hit.document.doc_id: hit.score for hit in result.legs.get("vector", ())})

    def nearest(
        self, scope: Scope, where: DocumentFilter, *, vector: bytes, trace: Trace, limit: int
    ) -> tuple[NearTurn, ...]:
        """The messages nearest to `vector`, which is of this encoder, nearest first; words are not looked at."""
        watch = Stopwatch()
        result = self._ask(scope, replace(self._query("", where, limit), vector=vector, vectors=True), trace)
        trace.took("search", watch)
        return tuple(
            NearTurn(ref_of(hit.document), hit.score, result.vectors.get(hit.document.doc_id, b""))
            for hit in result.legs.get("vector", ())
        )

    def _search(
        self,
        scope: Scope,
        text: str,
        where: DocumentFilter,
        *,
        vector: PendingEmbedding | None,
        trace: Trace,
        limit: int,
    ) -> SearchResult:
        asked = self._query(text, where, limit)
        ready = b"" if vector is None else vector.result(patience_ms=PATIENCE_MS)
        if vector is not None and ready is None:
            lexical = self._ask(scope, asked, trace)
            late = vector.result() or b""
            found = _joined(lexical, self._ask(scope, replace(asked, text="", vector=late), trace)) if late else lexical
        else:
            found = self._ask(scope, replace(asked, vector=ready or b""), trace)
        if vector is not None and vector.missing:
            trace.lacks("encoder")
        return found

    def _query(self, text: str, where: DocumentFilter, limit: int) -> SearchQuery:
        return SearchQuery(
            text=text, encoder=self._embeddings.encoder, where=where, limit=limit, deadline_ms=self._deadline_ms
        )

    def _ask(self, scope: Scope, query: SearchQuery, trace: Trace) -> SearchResult:
        if not query.text and not query.vector:
            return SearchResult({})
        if query not in trace.answers:
            answer = self._answered(scope, query, trace)
            trace.answers[query] = answer
            trace.claims |= {hit.document.doc_id: hit.document for hits in answer.legs.values() for hit in hits}
        return trace.refuted.out_of(trace.answers[query], query.text)

    def _answered(self, scope: Scope, query: SearchQuery, trace: Trace) -> SearchResult:
        result = _answer_of(self._index, scope, query)
        if result is not None and any(leg not in result.missing for leg in query.legs):
            trace.lacks(*result.missing)
            return result
        trace.lacks("index")
        second = _answer_of(self._fallback, scope, query) if self._fallback is not None else None
        if second is None:
            return SearchResult({})
        trace.lacks(*second.missing)
        return second


def _answer_of(index: SearchIndex, scope: Scope, query: SearchQuery) -> SearchResult | None:
    try:
        return index.search(scope, query)
    except EngramError:
        return None


def _joined(first: SearchResult, second: SearchResult) -> SearchResult:
    return SearchResult({**first.legs, **second.legs}, tuple(dict.fromkeys((*first.missing, *second.missing))))
