"""A user's search rows as arrays, and the arithmetic of scoring all of them at once.

Term frequencies of a query's few terms are one small matrix, so that a turn with its predecessor or a window of turns
is a sum of its rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engram.domain.documents import Document, DocumentFilter, DocumentKind
from engram.store.documents import SearchRow
from engram.text.analysis import share_held

Array = np.ndarray[Any, Any]

WINDOW = 4
STRIDE = 2
K1 = 0.6
B = 0.2
"""BM25 for short turns: a second occurrence and the length say little (measured; EVALUATION's baselines agree)."""

_BYTES_A_DOCUMENT = 1_200
"""Objects and strings of one document beside its text, tokens and vector, roughly."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """Rows in order of conversation and seq, documents that are no messages last. Never changed once made.

    Attributes:
        documents: without vectors, with `previous` filled in.
        vocabulary: term to number.
        postings: the row of every token, ordered by term; those of term n stand from `bounds[n]` to `bounds[n + 1]`.
        lengths: tokens a row.
        before: row of the message before, or -1.
        members: rows of each window, padded with the number of rows.
        window_of: the two windows a row stands in; for a row outside any, the number of windows.
        vectors: unit rows, zero where there is none; has_vector: of the encoder `encoder`.
        window_norms: length of the mean vector of each window.
    """

    documents: tuple[Document, ...]
    vocabulary: Mapping[str, int]
    postings: Array
    bounds: Array
    lengths: Array
    before: Array
    members: Array
    window_of: Array
    vectors: Array
    encoders: Array
    encoder_codes: Mapping[str, int]
    window_norms: Array
    moments: Array
    codes: Mapping[str, tuple[Array, Mapping[str, int]]]
    size: int


def compile_rows(rows: Iterable[SearchRow]) -> Compiled:
    """Arrays of `rows`, at least one. About 0.1 s for 5,000 rows of a chat; a warm search does without."""
    ordered = sorted(rows, key=_order)
    documents = [row.document for row in ordered]
    vocabulary: dict[str, int] = {}
    numbers = [[vocabulary.setdefault(term, len(vocabulary)) for term in row.terms] for row in ordered]
    lengths = np.fromiter(map(len, numbers), dtype=np.int32, count=len(numbers))
    tokens = np.fromiter((number for row in numbers for number in row), dtype=np.int32, count=int(lengths.sum()))
    before = _before(documents)
    members, window_of = _windows(documents)
    vectors, encoders, encoder_codes = _vectors(documents)
    sums = _over_windows(members, vectors)
    text_bytes = sum(2 * len(document.text) for document in documents)
    postings = np.repeat(np.arange(len(documents), dtype=np.int32), lengths)[np.argsort(tokens, kind="stable")]
    size = postings.nbytes + vectors.nbytes + text_bytes + _BYTES_A_DOCUMENT * len(documents)
    return Compiled(
        documents=tuple(
            _for_hits(document, documents[place].text if place >= 0 else "")
            for document, place in zip(documents, before.tolist(), strict=True)
        ),
        vocabulary=vocabulary,
        postings=postings,
        bounds=np.concatenate([[0], np.cumsum(np.bincount(tokens, minlength=len(vocabulary)))]),
        lengths=lengths.astype(np.float32),
        before=before,
        members=members,
        window_of=window_of,
        vectors=vectors,
        encoders=encoders,
        encoder_codes=encoder_codes,
        window_norms=np.maximum(np.linalg.norm(sums, axis=1), 1e-6).astype(np.float32),
        moments=np.fromiter((d.occurred_at.timestamp() for d in documents), dtype=np.float64, count=len(documents)),
        codes={name: _coded([getattr(d, name) for d in documents]) for name in _FILTERED},
        size=size,
    )


def _for_hits(document: Document, previous: str) -> Document:
    """Without its vector, which the matrix has. Spelt out: `dataclasses.replace` takes ten times as long."""
    return Document(
        doc_id=document.doc_id,
        kind=document.kind,
        version=document.version,
        occurred_at=document.occurred_at,
        text=document.text,
        previous=previous,
        conversation_id=document.conversation_id,
        session_id=document.session_id,
        seq=document.seq,
        role=document.role,
        speaker=document.speaker,
        entity_ids=document.entity_ids,
        topic_ids=document.topic_ids,
        encoder=document.encoder,
    )


_FILTERED = ("conversation_id", "session_id", "role")


def matching(compiled: Compiled, where: DocumentFilter) -> Array:
    """Which rows meet every condition of `where` but the kind. Several values of one condition: any of them."""
    mask: Array = np.ones(len(compiled.documents), dtype=bool)
    wanted: list[tuple[str, Sequence[str]]] = [("conversation_id", where.conversation_ids), ("role", where.roles)]
    for name, values in wanted:
        if values:
            codes, numbers = compiled.codes[name]
            mask &= np.isin(codes, [numbers[value] for value in values if value in numbers])
    if where.exclude_session_id:
        codes, numbers = compiled.codes["session_id"]
        mask &= codes != numbers.get(where.exclude_session_id, -1)
    if where.start is not None:
        mask &= compiled.moments >= where.start.timestamp()
    if where.end is not None:
        mask &= compiled.moments < where.end.timestamp()
    for ids, name in ((where.entity_ids, "entity_ids"), (where.topic_ids, "topic_ids")):
        if ids:
            chosen = frozenset(ids)
            for place in np.flatnonzero(mask).tolist():
                mask[place] = not chosen.isdisjoint(getattr(compiled.documents[place], name))
    return mask


def lexical_scores(compiled: Compiled, terms: Sequence[str]) -> dict[str, Array]:
    """BM25 of every row for its own text, with the turn before, and in its best window; and the share of `terms`
    (distinct) that the row or the one before it holds. Empty if no term is known.
    """
    numbers = [compiled.vocabulary[term] for term in terms if term in compiled.vocabulary]
    if not numbers:
        return {}
    frequency, lengths = _frequencies(compiled, numbers), compiled.lengths
    with_previous = frequency + _padded(frequency)[compiled.before]
    windows = _bm25(_over_windows(compiled.members, frequency), _over_windows(compiled.members, lengths))
    return {
        "lexical": _bm25(frequency, lengths),
        "lexical_context": _bm25(with_previous, lengths + _padded(lengths)[compiled.before]),
        "lexical_window": _best_window(compiled, windows),
        "coverage": _shares(np.count_nonzero(with_previous, axis=1), len(terms)),
    }


def _shares(held: Array, asked: int) -> Array:
    shares: Array = np.array([share_held(count, asked) for count in range(asked + 1)])[held]
    return shares


def _frequencies(compiled: Compiled, numbers: Sequence[int]) -> Array:
    """How often each row holds each of the terms `numbers`."""
    rows = len(compiled.documents)
    frequency: Array = np.empty((rows, len(numbers)), dtype=np.float32)
    for column, number in enumerate(numbers):
        holding = compiled.postings[compiled.bounds[number] : compiled.bounds[number + 1]]
        frequency[:, column] = np.bincount(holding, minlength=rows)
    return frequency


def vector_scores(compiled: Compiled, query: Array, same: Array) -> dict[str, Array]:
    """Cosine of every row in `same` (of the query's encoder; the others count as 0), and of its best window's mean."""
    cosines = np.where(same, compiled.vectors[:, : len(query)] @ query, np.float32(0))
    means = _over_windows(compiled.members, cosines) / compiled.window_norms
    return {"vector": cosines, "vector_window": _best_window(compiled, means)}


def _padded(values: Array) -> Array:
    """One row of zeros more, for places outside: -1 and the number of rows both point at it."""
    padded: Array = np.concatenate([values, np.zeros((1, *values.shape[1:]), dtype=values.dtype)])
    return padded


def _over_windows(members: Array, values: Array) -> Array:
    """Sum of `values` over the rows of each window."""
    padded = _padded(values)
    total: Array = padded[members[:, 0]]
    for place in range(1, WINDOW):
        total = total + padded[members[:, place]]
    return total


def _bm25(frequency: Array, lengths: Array) -> Array:
    total = max(len(lengths), 1)
    holding = np.count_nonzero(frequency, axis=0)
    idf = np.log1p((total - holding + 0.5) / (holding + 0.5)).astype(np.float32)
    mean = max(float(lengths.sum()) / total, 1.0)
    norm = (K1 * (1 - B + B * lengths / mean)).astype(np.float32)[:, None]
    scores: Array = (frequency * (K1 + 1) / (frequency + norm)) @ idf
    return scores


def _best_window(compiled: Compiled, scores: Array) -> Array:
    best: Array = _padded(scores)[compiled.window_of].max(axis=1)
    return best


def _order(row: SearchRow) -> tuple[bool, str, int, str]:
    document = row.document
    return document.kind is not DocumentKind.MESSAGE, document.conversation_id, document.seq, document.doc_id


def _before(documents: Sequence[Document]) -> Array:
    before = np.full(len(documents), -1, dtype=np.int64)
    for place in range(1, len(documents)):
        if _follows(documents[place - 1], documents[place]):
            before[place] = place - 1
    return before


def _follows(first: Document, second: Document) -> bool:
    return (
        second.kind is DocumentKind.MESSAGE
        and first.kind is DocumentKind.MESSAGE
        and first.conversation_id == second.conversation_id
        and first.seq + 1 == second.seq
    )


def _windows(documents: Sequence[Document]) -> tuple[Array, Array]:
    """Windows of `WINDOW` turns every `STRIDE` turns of each conversation, and the two that each row stands in."""
    messages = sum(1 for document in documents if document.kind is DocumentKind.MESSAGE)
    starts: list[int] = []
    ends: list[int] = []
    window_of = np.full((len(documents), 2), -1, dtype=np.int64)
    begin = 0
    while begin < messages:
        end = begin
        while end < messages and documents[end].conversation_id == documents[begin].conversation_id:
            end += 1
        first = len(starts)
        for start in range(begin, max(end - STRIDE, begin + 1), STRIDE):
            starts.append(start)
            ends.append(min(start + WINDOW, end))
        last = len(starts) - 1
        for place in range(begin, end):
            own = first + (place - begin) // STRIDE
            window_of[place] = (min(own, last), min(max(own - 1, first), last))
        begin = end
    members = np.full((len(starts), WINDOW), len(documents), dtype=np.int64)
    for window, (start, end) in enumerate(zip(starts, ends, strict=True)):
        members[window, : end - start] = np.arange(start, end)
    window_of[window_of < 0] = len(starts)
    return members, window_of


def _vectors(documents: Sequence[Document]) -> tuple[Array, Array, Mapping[str, int]]:
    encoders, codes = _coded([document.encoder if document.vector else "" for document in documents])
    width = max((len(document.vector) // 2 for document in documents), default=0)
    vectors = np.zeros((len(documents), width), dtype=np.float32)
    for place, document in enumerate(documents):
        if document.vector:
            row = np.frombuffer(document.vector, dtype="<f2")
            vectors[place, : len(row)] = row
    return vectors, encoders, codes


def _coded(values: Sequence[str]) -> tuple[Array, Mapping[str, int]]:
    numbers: dict[str, int] = {}
    codes = np.fromiter((numbers.setdefault(value, len(numbers)) for value in values), np.int32, len(values))
    return codes, numbers
