"""From the hits of several legs to one ranking, by a recipe. Pure: the same hits always give the same order.

Scores are scaled per query and added, not merged by rank: a weak leg merged by rank pulls a strong one down
(measured: plain reciprocal rank fusion with a small encoder is worse than BM25 alone).

A recall sends `SearchQuery(text=resolution.search_text, vector=…, where=DocumentFilter(kinds=(MESSAGE,), …),
limit=200)` for evidence, and the same with kinds GIST and MEMORY, limit 50, for items; `rank` takes either result.
Evidence orders by `score`; `relevance` of the first tells whether anything was found (`recipe.floor`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from engram.domain.documents import Document, SearchResult
from engram.recall.features import QueryFeatures, asks, date_fit, is_chinese, names_speaker
from engram.recall.recipes import Recipe
from engram.text.analysis import terms_of

Scores = dict[str, float]
"""By doc_id."""

_LEXICAL = ("lexical", "lexical_context", "lexical_window")
_VECTOR = ("vector", "vector_window")


@dataclass(frozen=True, slots=True)
class Ranked:
    """A document in its place.

    Attributes:
        score: what it is ordered by; comparable within one ranking only.
        relevance: probability, 0..1, that it bears on the question; comparable between questions.
        parts: what each leg and feature contributed, for `explain`.
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
    weights = _weights(result, query, recipe)
    parts = _leg_parts(result, documents, weights)
    _add_next_turn(parts, documents, recipe.next_turn)
    _add_features(parts, documents, query, recipe)
    scores = {doc_id: sum(own.values()) for doc_id, own in parts.items()}
    if any(document.role == "assistant" for document in documents.values()):
        _favour_user(scores, parts, documents, recipe.user_prior)
    order = sorted(documents, key=lambda doc_id: (-scores[doc_id], -_age_key(documents[doc_id]), doc_id))
    relevance = _relevance(order, documents, result, query, recipe)
    return tuple(Ranked(documents[doc_id], scores[doc_id], relevance[doc_id], parts[doc_id]) for doc_id in order)


def _weights(result: SearchResult, query: QueryFeatures, recipe: Recipe) -> Mapping[str, float]:
    """Weights for the legs that answered."""
    if not result.legs.get("vector"):
        return recipe.without_vector
    if not result.legs.get("lexical"):
        return recipe.without_lexical
    hits = result.legs["vector"]
    alike = is_chinese(query.words)
    share = sum(is_chinese(hit.document.text) == alike for hit in hits) / len(hits)
    return recipe.across_languages if share < recipe.same_language_share else recipe.fused


def _leg_parts(
    result: SearchResult, documents: Mapping[str, Document], weights: Mapping[str, float]
) -> dict[str, dict[str, float]]:
    parts: dict[str, dict[str, float]] = {doc_id: {} for doc_id in documents}
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
            first = -(document.seq % 2)
            windows = (first, first - 2)
            derived[doc_id] = max(sum(at(document, start + step) for step in range(4)) for start in windows)
    return derived


def _places(documents: Mapping[str, Document]) -> dict[tuple[str, int], str]:
    return {(one.conversation_id, one.seq): doc_id for doc_id, one in documents.items() if one.seq >= 0}


def _add_next_turn(parts: dict[str, dict[str, float]], documents: Mapping[str, Document], share: float) -> None:
    places = _places(documents)
    own = {doc_id: sum(values.values()) for doc_id, values in parts.items()}
    for doc_id, document in documents.items():
        follower = places.get((document.conversation_id, document.seq + 1)) if document.seq >= 0 else None
        if follower is not None:
            parts[doc_id]["next_turn"] = share * own[follower]


def _add_features(
    parts: dict[str, dict[str, float]], documents: Mapping[str, Document], query: QueryFeatures, recipe: Recipe
) -> None:
    terms = frozenset(terms_of(query.words))
    named = {one.speaker for one in documents.values() if names_speaker(terms, one.speaker)}
    for doc_id, document in documents.items():
        if document.speaker in named:
            parts[doc_id]["speaker"] = recipe.speaker
        if fit := date_fit(document, query):
            parts[doc_id]["date"] = recipe.date * fit
        if asks(document):
            parts[doc_id]["question"] = -recipe.question


def _favour_user(
    scores: Scores, parts: dict[str, dict[str, float]], documents: Mapping[str, Document], prior: float
) -> None:
    for doc_id, document in documents.items():
        if document.role == "user" and scores[doc_id] > 0:
            parts[doc_id]["user_prior"] = scores[doc_id] * (prior - 1)
            scores[doc_id] *= prior


def _relevance(
    order: list[str],
    documents: Mapping[str, Document],
    result: SearchResult,
    query: QueryFeatures,
    recipe: Recipe,
) -> Scores:
    """Probability per document: from its own words for the best, below the last of these for the rest."""
    cosines = {hit.document.doc_id: hit.score for hit in result.legs.get("vector", ())}
    wanted = frozenset(terms_of(query.text))
    curve = recipe.relevance
    relevance: Scores = {}
    last = 1.0
    for place, doc_id in enumerate(order):
        if place < recipe.judged:
            document = documents[doc_id]
            covered = _coverage(wanted, document)
            last = 1 / (
                1 + math.exp(-(curve.coverage * covered + curve.cosine * cosines.get(doc_id, 0.0) + curve.bias))
            )
        relevance[doc_id] = last if place < recipe.judged else min(last, relevance[order[recipe.judged - 1]])
    return relevance


def _coverage(wanted: frozenset[str], document: Document) -> float:
    """Share of the question's terms that the turn and the one before it hold."""
    if not wanted:
        return 0.0
    held = set(terms_of(document.text)) | set(terms_of(document.previous))
    return len(wanted & held) / len(wanted)


def _age_key(document: Document) -> float:
    return document.occurred_at.timestamp()
