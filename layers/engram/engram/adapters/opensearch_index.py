"""The index: its name, its mapping, and a document's form in it. `infra/mappings` holds a copy for people, compared
by a test.

One index per encoder: vectors of two encoders cannot be compared, so another encoder means another index beside
the old one, and the alias moves when the new one has been filled.
"""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from engram.domain.documents import Document, DocumentKind
from engram.domain.scope import Scope
from engram.text.analysis import VERSION as ANALYSIS_VERSION
from engram.text.analysis import terms_of

LAYOUT = 1
"""Of the mapping; raise it with every change, and a new index is made beside the old one."""

K1, B = 0.6, 0.2
"""BM25 for short turns: a word that comes twice says little more than one that comes once (measured on LoCoMo)."""

MAX_LUCENE_DIMENSION = 1_024
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_SURROGATE = re.compile("[\ud800-\udfff]")
_KEYWORDS = (
    "business_id",
    "user_id",
    "doc_id",
    "kind",
    "conversation_id",
    "session_id",
    "role",
    "entity_ids",
    "topic_ids",
    "encoder",
)
_IDS = ("doc_id", "conversation_id", "session_id", "role", "speaker", "encoder")


def physical_name(alias: str, encoder: str) -> str:
    """Name of the index that holds documents of one encoder ("" for none) in the present layout."""
    slug = re.sub(r"[^a-z0-9]+", "-", encoder.lower()).strip("-") or "lexical"
    return f"{alias}-{slug}-{_digest(encoder)[:6]}-v{LAYOUT}a{ANALYSIS_VERSION}"


def routing_of(scope: Scope) -> str:
    """Shard key of a user: hashed, since it stands in URLs and so in access logs."""
    return _digest(f"{scope.business_id}\x1f{scope.user_id}")[:32]


def id_of(scope: Scope, doc_id: str) -> str:
    """The document's own id, where an index takes ids from us."""
    return _digest(f"{scope.business_id}\x1f{scope.user_id}\x1f{doc_id}")[:40]


def index_body(
    alias: str, encoder: str, dimension: int, *, serverless: bool = False, shards: int = 1
) -> dict[str, Any]:
    """What an index of this encoder is created with. It remembers whose it is and which encoder's.

    Serverless has no shards to set, and of the engines only faiss. Elsewhere lucene: its filtered search turns exact
    by itself for a small user, and it needs no native library.
    """
    settings: dict[str, Any] = {"analysis": _ANALYSIS, "similarity": {"short_turns": _SIMILARITY}, "knn": True}
    if not serverless:
        settings |= {"number_of_shards": shards, "gc_deletes": "0s", "refresh_interval": "1s"}
    lucene = not serverless and dimension <= MAX_LUCENE_DIMENSION
    meta = {"alias": alias, "encoder": encoder, "dimension": dimension, "engine": "lucene" if lucene else "faiss"}
    return {"settings": {"index": settings}, "mappings": _mappings(meta)}


_SIMILARITY = {"type": "BM25", "k1": K1, "b": B}
_ANALYSIS = {
    "analyzer": {
        # Our own analysis (stems, words, CJK bigrams, folded scripts) is done before and arrives as terms.
        "terms": {"type": "custom", "tokenizer": "whitespace"},
        # For people who search by hand: what OpenSearch makes of the same text.
        "cjk_and_english": {
            "type": "custom",
            "tokenizer": "standard",
            "filter": ["cjk_width", "lowercase", "cjk_bigram", "english_possessive", "english_stop", "english_stem"],
        },
    },
    "filter": {
        "english_possessive": {"type": "stemmer", "language": "possessive_english"},
        "english_stop": {"type": "stop", "stopwords": "_english_"},
        "english_stem": {"type": "stemmer", "language": "english"},
    },
}


def _mappings(meta: Mapping[str, Any]) -> dict[str, Any]:
    terms = {"type": "text", "analyzer": "terms", "similarity": "short_turns", "index_options": "freqs"}
    properties: dict[str, Any] = {name: {"type": "keyword"} for name in _KEYWORDS} | {
        "version": {"type": "long"},
        "seq": {"type": "integer"},
        "occurred_at": {"type": "date"},
        # The same moment in microseconds: a date keeps milliseconds, and ranges are exact.
        "occurred_us": {"type": "long"},
        "speaker": {"type": "keyword", "ignore_above": 256},
        "text": {"type": "text", "analyzer": "cjk_and_english", "similarity": "short_turns"},
        "previous": {"type": "text", "index": False},
        "terms": terms,
        "context_terms": terms,
    }
    if meta["dimension"]:
        space = "cosinesimil" if meta["engine"] == "lucene" else "innerproduct"
        method = {"name": "hnsw", "space_type": space, "engine": meta["engine"]}
        properties["embedding"] = {"type": "knn_vector", "dimension": meta["dimension"], "method": method}
    return {
        "dynamic": "strict",
        "_meta": dict(meta),
        "_source": {"excludes": ["terms", "context_terms", "embedding"]},
        "properties": properties,
    }


def cosine_of(score: float, engine: str) -> float:
    """The cosine behind a k-NN score of unit vectors: lucene gives (1 + cos) / 2, faiss bends the inner product."""
    if engine == "lucene":
        return 2 * score - 1
    return score - 1 if score >= 1 else 1 - 1 / max(score, 1e-9)


def source_of(scope: Scope, document: Document, *, encoder: str, dimension: int) -> dict[str, Any]:
    """What is sent of a document. A vector of another encoder stays out: it could not be compared."""
    terms = terms_of(document.text)
    source: dict[str, Any] = {
        "business_id": scope.business_id,
        "user_id": scope.user_id,
        "kind": document.kind.value,
        "version": document.version,
        "seq": document.seq,
        "occurred_at": document.occurred_at.astimezone(UTC).isoformat(timespec="milliseconds"),
        "occurred_us": microseconds(document.occurred_at),
        "text": _spelled(document.text),
        "previous": _spelled(document.previous),
        "terms": " ".join(terms),
        "context_terms": " ".join((*terms, *terms_of(document.previous))),
        "entity_ids": list(document.entity_ids),
        "topic_ids": list(document.topic_ids),
    } | {name: _spelled(getattr(document, name)) for name in _IDS}
    if dimension and document.encoder == encoder and len(document.vector) == 2 * dimension and any(document.vector):
        source["embedding"] = [round(value, 6) for value in struct.unpack(f"<{dimension}e", document.vector)]
    return source


def document_of(source: Mapping[str, Any]) -> Document:
    """The document behind a hit, without its vector."""
    return Document(
        kind=DocumentKind(source["kind"]),
        version=source["version"],
        occurred_at=_EPOCH + timedelta(microseconds=source["occurred_us"]),
        text=source["text"],
        previous=source["previous"],
        seq=source["seq"],
        entity_ids=tuple(source["entity_ids"]),
        topic_ids=tuple(source["topic_ids"]),
        **{name: source[name] for name in _IDS},
    )


def microseconds(moment: datetime) -> int:
    """Since 1970, exactly; negative before."""
    return (moment - _EPOCH) // timedelta(microseconds=1)


def _spelled(text: str) -> str:
    """Lone surrogates have no spelling in UTF-8. Who needs the exact text reads it from the table."""
    return _SURROGATE.sub("\ufffd", text)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
