"""From the hits of several legs to one ranking, by a recipe. Pure: the same hits always give the same order.

Scores are scaled per query and added, not merged by rank: a weak leg merged by rank pulls a strong one down
(measured: plain reciprocal rank fusion with a small encoder is worse than BM25 alone).

A recall sends `SearchQuery(text=resolution.search_text, vector=…, where=DocumentFilter(kinds=(MESSAGE,), …),
limit=200)` for evidence, and the same with kinds GIST and MEMORY, limit 50, for items; `rank` takes either result.
Order by `score`; whether anything was found at all is `max(relevance) >= recipe.floor`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

from engram.domain.documents import Document, SearchResult
from engram.recall.features import (
    QueryFeatures,
    asks,
    asks_when,
    date_fit,
    is_cjk,
    length,
    names_speaker,
    recency,
    tells_when,
    wants_assistant,
)
from engram.recall.recipes import Recipe, Weights
from engram.recall.relevance import relevance_of
from engram.text.analysis import terms_of

Scores = dict[str, float]
"""By doc_id."""
Parts = dict[str, Scores]
"""By doc_id, then by leg or feature."""

WINDOW_TURNS = 4
_SCRIPT_SHOWS = 200
"""Characters that show the script of a text."""
_LEXICAL = ("lexical", "lexical_context", "lexical_window")
_VECTOR = ("vector", "vector_window")


@dataclass(frozen=True, slots=True)
class Ranked:
    """A document in its place.

    Attributes:
        score: what it is ordered by; comparable within one ranking only.
        relevance: probability, 0..1, that it bears on the question; comparable between questions.
        parts: what each leg and feature contributed, for `explain`. They add up to the score.
    """

    document: Document
    score: float
    relevance: float
    parts: Mapping[str, float]


def rank(result: SearchResult, query: QueryFeatures, recipe: Recipe) -> tuple[Ranked, ...]:
    """All documents that any leg found, best first. Ties go to the newer document, then to the id."""
    documents = {hit.document.doc_id: hit.document for hits in result.legs.values() for hit in hits}
    if not documents:
        return ()
    across = crosses_languages(result, query, recipe)
    with_assistant = any(document.role == "assistant" for document in documents.values())
    weights = recipe.assistant if with_assistant else recipe.people
    parts = _leg_parts(result, documents, _leg_weights(result, weights, across=across))
    _add_next_turn(parts, documents, weights.next_turn)
    _add_features(parts, documents, query, weights)
    if with_assistant:
        _favour_user(parts, documents, 1.0 if wants_assistant(query.words) else weights.user_prior)
    if weights.recency:
        newest = max(document.occurred_at for document in documents.values())
        for doc_id, document in documents.items():
            age = recency(document, newest, half_life_days=recipe.recency_half_life_days)
            parts[doc_id]["recency"] = weights.recency * age
    scores = {doc_id: sum(own.values()) for doc_id, own in parts.items()}
    relevance = relevance_of(result, documents, query, recipe, across=across)
    newest_first = sorted(sorted(documents), key=lambda one: documents[one].occurred_at, reverse=True)
    order = sorted(newest_first, key=scores.__getitem__, reverse=True)
    return tuple(Ranked(documents[one], scores[one], relevance[one], parts[one]) for one in order)


def crosses_languages(result: SearchResult, query: QueryFeatures, recipe: Recipe) -> bool:
    """Whether the documents nearest in meaning are mostly in another script: then the words cannot match."""
    hits = result.legs.get("vector", ())
    if not hits:
        return False
    cjk = is_cjk(query.words)
    alike = sum(is_cjk(hit.document.text[:_SCRIPT_SHOWS]) == cjk for hit in hits)
    return alike < recipe.same_language_share * len(hits)


def _leg_weights(result: SearchResult, weights: Weights, *, across: bool) -> Mapping[str, float]:
    if not result.legs.get("vector"):
        return weights.without_vector
    if across:
        return weights.across_languages
    return weights.fused if result.legs.get("lexical") else weights.without_lexical


def _leg_parts(result: SearchResult, documents: Mapping[str, Document], weights: Mapping[str, float]) -> Parts:
    parts: Parts = {doc_id: {} for doc_id in documents}
    for leg, weight in weights.items():
        family = _LEXICAL if leg in _LEXICAL else _VECTOR
        raw = {hit.document.doc_id: hit.score for hit in result.legs.get(leg, ())}
        if not raw and result.legs.get(family[0]):
            raw = _derived(leg, {hit.document.doc_id: hit.score for hit in result.legs[family[0]]}, documents)
        for doc_id, value in _scaled(raw, from_zero=family is _LEXICAL).items():
            parts[doc_id][leg] = weight * value
    return parts


def _scaled(raw: Scores, *, from_zero: bool) -> Scores:
    """To 0..1 by this query's own best and worst hit; a document that is no hit counts as the worst."""
    if not raw:
        return {}
    low, high = 0.0 if from_zero else min(raw.values()), max(raw.values())
    if high <= low:
        return dict.fromkeys(raw, 1.0)
    return {doc_id: (value - low) / (high - low) for doc_id, value in raw.items()}


def _derived(leg: str, own: Scores, documents: Mapping[str, Document]) -> Scores:
    """A leg over several turns, from the scores of single turns, for an index that has only these."""
    places = _places(documents)

    def at(document: Document, offset: int) -> float:
        return own.get(places.get((document.conversation_id, document.seq + offset), ""), 0.0)

    derived = {}
    for doc_id, document in documents.items():
        if document.seq < 0:
            derived[doc_id] = own.get(doc_id, 0.0)
        elif leg.endswith("_context"):
            derived[doc_id] = at(document, 0) + at(document, -1)
        else:
            starts = (-(document.seq % 2), -(document.seq % 2) - 2)
            derived[doc_id] = max(sum(at(document, start + turn) for turn in range(WINDOW_TURNS)) for start in starts)
    return derived


def _places(documents: Mapping[str, Document]) -> dict[tuple[str, int], str]:
    return {(one.conversation_id, one.seq): doc_id for doc_id, one in documents.items() if one.seq >= 0}


def _add_next_turn(parts: Parts, documents: Mapping[str, Document], share: float) -> None:
    places = _places(documents)
    own = {doc_id: sum(values.values()) for doc_id, values in parts.items()}
    for doc_id, document in documents.items():
        follower = places.get((document.conversation_id, document.seq + 1)) if document.seq >= 0 else None
        if follower is not None:
            parts[doc_id]["next_turn"] = share * own[follower]


def _add_features(parts: Parts, documents: Mapping[str, Document], query: QueryFeatures, weights: Weights) -> None:
    terms = frozenset(terms_of(query.words))
    named = {name for name in {one.speaker for one in documents.values()} if names_speaker(terms, name)}
    features: list[tuple[str, float, Callable[[Document], float]]] = [
        ("length", weights.length, length),
        ("question", -weights.question, asks),
    ]
    if named:
        features.append(("speaker", weights.speaker, lambda document: document.speaker in named))
    if query.start is not None or query.end is not None:
        features.append(("date", weights.date, partial(date_fit, query=query, afterwards=weights.afterwards)))
    if asks_when(query.words):
        features.append(("moment", weights.moment, tells_when))
    for doc_id, document in documents.items():
        for name, weight, feature in features:
            if value := feature(document):
                parts[doc_id][name] = weight * value


def _favour_user(parts: Parts, documents: Mapping[str, Document], prior: float) -> None:
    for doc_id, document in documents.items():
        score = sum(parts[doc_id].values())
        if document.role == "user" and score > 0:
            parts[doc_id]["user_prior"] = score * (prior - 1)
