"""How probable it is that a hit bears on the question, on a scale that is the same for every question.

Fusion's scores only order one question's hits: the best of nothing is still the best. This scale is what a floor can
stand on: the share of the question's words a hit holds and its cosine, through a curve fitted on answerable questions
against questions that belong to other people's memories.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from engram.domain.documents import Document, SearchResult
from engram.recall.doubt import doubt, is_absent
from engram.recall.features import QueryFeatures, is_cjk, names_speaker
from engram.recall.recipes import Curve, Recipe
from engram.text.analysis import share_held, terms_of

COVERAGE = "coverage"
"""A leg that holds, for its hits, the share of the question's terms found in the turn or the one before it."""


def relevance_of(
    result: SearchResult, documents: Mapping[str, Document], query: QueryFeatures, recipe: Recipe, *, across: bool
) -> dict[str, float]:
    """Relevance of each document, 0..1."""
    cosines = {hit.document.doc_id: hit.score for hit in result.legs.get("vector", ())}
    lowest = min(cosines.values(), default=0.0)
    covered = _coverage(result, documents, query)
    if query.clock or (query.bearer and is_absent(("", query.bearer), documents.values())):
        # "Name" and "time" are in what anybody says; of the landlord or the clock that says nothing.
        covered = dict.fromkeys(documents, 0.0)
    if across or (cosines and not result.legs.get("lexical")):
        curve = recipe.relevance.meaning_alone
    else:
        curve = recipe.relevance.fused if cosines else recipe.relevance.words_alone
    doubted = _doubted(documents, query, recipe, across=across)
    return {doc_id: _on(curve, covered[doc_id], cosines.get(doc_id, lowest), doubted) for doc_id in documents}


def coverage(terms: frozenset[str], document: Document) -> float:
    """Share of `terms` that the turn or the one before it holds (`analysis.share_held`)."""
    held = set(terms_of(document.text)).union(terms_of(document.previous))
    return share_held(len(terms & held), len(terms))


def _coverage(result: SearchResult, documents: Mapping[str, Document], query: QueryFeatures) -> dict[str, float]:
    """As the index counted it, else from the texts themselves."""
    if COVERAGE in result.legs:
        counted = {hit.document.doc_id: hit.score for hit in result.legs[COVERAGE]}
        return {doc_id: counted.get(doc_id, 0.0) for doc_id in documents}
    if not result.legs.get("lexical"):
        return dict.fromkeys(documents, 0.0)
    terms = frozenset(terms_of(query.text))
    return {doc_id: coverage(terms, document) for doc_id, document in documents.items()}


def _doubted(documents: Mapping[str, Document], query: QueryFeatures, recipe: Recipe, *, across: bool) -> float:
    terms = frozenset(terms_of(query.words))
    speakers = {one.speaker for one in documents.values()}
    speaks = any(names_speaker(terms, name) for name in speakers)
    return doubt(
        personal=query.personal or speaks,
        # What a speaker did may be told by another name: the trip to Canada was one to Toronto.
        absent=not (across or speaks) and any(is_absent(one, documents.values()) for one in query.named),
        ideographs=not across and is_cjk(query.words),
        weights=recipe.doubts,
    )


def _on(curve: Curve, covered: float, cosine: float, doubted: float) -> float:
    logit = curve.coverage * covered + curve.cosine * cosine + curve.bias - doubted
    return 1 / (1 + math.exp(-logit))
