"""What a search index holds: one document per message, gist and memory item, and what a search asks and answers.

A document is rebuilt from the table at any time; nothing exists only in an index.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple


class DocumentKind(StrEnum):
    MESSAGE = "message"
    GIST = "gist"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class Document:
    """One searchable thing of one user.

    Attributes:
        doc_id: `m:<conversation>:<seq>`, `g:<id>` or `i:<id>`; unique per user.
        version: external version; an index keeps the highest it has seen.
        conversation_id, session_id, seq, role, speaker: of the message; empty or -1 for other kinds.
        occurred_at: when it was said, or when the gist happened.
        text: what is matched, verbatim, cut at `MAX_TEXT_CHARACTERS`.
        previous: the message before it in its conversation, cut likewise: a short answer
            ("yes, at eight") is found by its question.
        entity_ids, topic_ids: of its conversation or item.
        vector: float16 bytes of the embedding of `previous` and `text`, little endian, unit length; empty if none.
        encoder: `model@dimension` that made the vector; vectors of different encoders are never compared.
    """

    doc_id: str
    kind: DocumentKind
    version: int
    occurred_at: datetime
    text: str
    previous: str = ""
    conversation_id: str = ""
    session_id: str = ""
    seq: int = -1
    role: str = ""
    speaker: str = ""
    entity_ids: tuple[str, ...] = ()
    topic_ids: tuple[str, ...] = ()
    vector: bytes = b""
    encoder: str = ""


MAX_TEXT_CHARACTERS = 8_000
"""Longest text an index is given of one message; the rest stays retrievable with the message."""


@dataclass(frozen=True, slots=True)
class DocumentFilter:
    """Conditions that every hit meets, applied before the top k are taken. Empty tuples and None mean no condition.

    Attributes:
        start, end: half-open range of `occurred_at`.
    """

    kinds: tuple[DocumentKind, ...] = ()
    conversation_ids: tuple[str, ...] = ()
    exclude_session_id: str = ""
    entity_ids: tuple[str, ...] = ()
    topic_ids: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    start: datetime | None = None
    end: datetime | None = None


@dataclass(frozen=True, slots=True)
class SearchQuery:
    """One search within one user.

    Attributes:
        text: the words to match, cues of time and filler already taken out; "" switches the lexical legs off.
        vector: float32 bytes of the query's embedding, or b"" to switch the vector leg off.
        encoder: `model@dimension` of `vector`.
        where: conditions on every hit.
        limit: hits per leg.
        vectors: whether the vectors of the vector leg's hits are wanted too.
        deadline_ms: a leg that has not answered by then is named in `missing`.
    """

    text: str = ""
    vector: bytes = b""
    encoder: str = ""
    where: DocumentFilter = field(default_factory=DocumentFilter)
    limit: int = 200
    vectors: bool = False
    deadline_ms: float = 2_000.0

    @property
    def legs(self) -> tuple[str, ...]:
        """Those that the caller counts on. An index may answer with more."""
        return (("lexical",) if self.text else ()) + (("vector",) if self.vector else ())


class Hit(NamedTuple):
    """A document and the score one leg gave it. A tuple, since a search makes a thousand."""

    document: Document
    score: float


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits of each leg, best first, and the legs that did not answer.

    Attributes:
        legs: leg name (`lexical`, `vector`, …) to hits. Lexical scores are BM25, vector scores are cosines in -1..1.
        vectors: by doc_id, as in `Document`, if they were wanted. An index that cannot give vectors back gives none.
    """

    legs: Mapping[str, tuple[Hit, ...]]
    missing: tuple[str, ...] = ()
    vectors: Mapping[str, bytes] = field(default_factory=dict)
