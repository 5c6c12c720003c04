"""What is asked of OpenSearch. One builder of filters, so that no query goes out without the user's own terms.

Nothing of a request becomes syntax: text arrives as analysed terms of a `match`, everything else as values.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

from engram.adapters.opensearch_index import K1, cosine_of, document_of, microseconds, routing_of
from engram.domain.documents import DocumentFilter, Hit, SearchQuery
from engram.domain.scope import Scope
from engram.text.analysis import terms_of

MAX_QUERY_TERMS = 256
"""Distinct terms of a query that are matched. OpenSearch takes 1,024 clauses; a pasted page needs fewer."""

_MAX_K = 10_000
_DUPLICATES = 2
"""Where documents have no ids of their own, one may be there twice until the older copy is found and removed."""

_LEXICAL = {"lexical": "terms", "lexical_context": "context_terms"}


def owned_by(scope: Scope) -> list[dict[str, Any]]:
    """The conditions that every query of this adapter carries."""
    return [{"term": {"business_id": scope.business_id}}, {"term": {"user_id": scope.user_id}}]


def filter_of(scope: Scope, where: DocumentFilter) -> dict[str, Any]:
    """The scope and every condition of `where`; several values of one field mean any of them."""
    conditions = owned_by(scope)
    several: dict[str, Sequence[str]] = {
        "kind": [kind.value for kind in where.kinds],
        "conversation_id": where.conversation_ids,
        "entity_ids": where.entity_ids,
        "topic_ids": where.topic_ids,
        "role": where.roles,
    }
    conditions += [{"terms": {field: list(values)}} for field, values in several.items() if values]
    limits = {"gte": where.start, "lt": where.end}
    bounds = {name: microseconds(moment) for name, moment in limits.items() if moment is not None}
    if bounds:
        conditions.append({"range": {"occurred_us": bounds}})
    query: dict[str, Any] = {"filter": conditions}
    if where.exclude_session_id:
        query["must_not"] = [{"term": {"session_id": where.exclude_session_id}}]
    return {"bool": query}


def searches_of(
    scope: Scope, query: SearchQuery, *, encoder: str, dimension: int, unique: bool
) -> dict[str, dict[str, Any]]:
    """Leg to search body, for the legs that an index of `encoder` can answer.

    Args:
        unique: whether the index holds each document once.
    """
    where = filter_of(scope, query.where)
    size = min(query.limit if unique else query.limit * _DUPLICATES, _MAX_K)
    words = " ".join(list(dict.fromkeys(terms_of(query.text)))[:MAX_QUERY_TERMS])
    bodies: dict[str, dict[str, Any]] = {}
    if words:
        for leg, field in _LEXICAL.items():
            match = {"match": {field: {"query": words}}}
            bodies[leg] = {"query": {"bool": {"must": [match], **where["bool"]}}}
    if dimension and query.encoder == encoder and len(query.vector) == 4 * dimension and any(query.vector):
        vector = struct.unpack(f"<{dimension}f", query.vector)
        # The filter stands inside the clause: around it, other users' nearer vectors would use up the k.
        bodies["vector"] = {"query": {"knn": {"embedding": {"vector": vector, "k": size, "filter": where}}}}
    for body in bodies.values():
        body |= {"size": size, "timeout": f"{max(int(query.deadline_ms), 1)}ms", "track_total_hits": False}
    return bodies


def msearch_lines(scope: Scope, index: str, bodies: Mapping[str, Mapping[str, Any]], *, routed: bool) -> list[Any]:
    """Header and body of each search, in the order of `bodies`."""
    header = {"index": index} | ({"routing": routing_of(scope)} if routed else {})
    return [line for body in bodies.values() for line in (header, body)]


def hits_of(leg: str, answer: Mapping[str, Any], *, limit: int, engine: str) -> tuple[Hit, ...] | None:
    """Best first, each document once, on the contract's scale; None if the answer is an error or not complete."""
    if "error" in answer or answer.get("timed_out") or answer.get("_shards", {}).get("failed"):
        return None
    best: dict[str, Hit] = {}
    for row in answer["hits"]["hits"]:
        document = document_of(row["_source"])
        held = best.get(document.doc_id)
        if held is None or held.document.version < document.version:
            best[document.doc_id] = Hit(document, _score(leg, float(row["_score"]), engine))
    return tuple(sorted(best.values(), key=lambda hit: -hit.score)[:limit])


def _score(leg: str, score: float, engine: str) -> float:
    """Lucene leaves the constant factor k1 + 1 out of BM25."""
    return cosine_of(score, engine) if leg == "vector" else score * (K1 + 1)
