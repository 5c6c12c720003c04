"""The memory items and gists of an answer: found like messages, read from the table, kept only on standing evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from engram.domain.clock import to_text
from engram.domain.documents import Document, DocumentFilter, DocumentKind
from engram.domain.models import Evidence, Message, MessageRef
from engram.domain.scope import Scope
from engram.domain.table import Key
from engram.recall.answering import Answer, Question
from engram.recall.bundle import RecalledItem
from engram.recall.features import QueryFeatures, features_of
from engram.recall.fusion import Ranked
from engram.recall.indexing import document_of_gist, document_of_memory
from engram.recall.request import RecallRequest
from engram.recall.searching import Searcher
from engram.recall.selection import means_one
from engram.recall.verification import item_of_gist, item_of_memory, sources_of
from engram.resolve.models import SourceType, TemporalIntent
from engram.store import keys
from engram.store.recall_reads import RecallReads, Truth

HITS = 50
_PREFIX = 2
"""Length of `g:` and `i:` in a document id."""


class Items:
    """Finds items. Holds no state between questions."""

    def __init__(self, *, searcher: Searcher, reads: RecallReads) -> None:
        self._searcher = searcher
        self._reads = reads

    def find(self, question: Question, request: RecallRequest, answer: Answer) -> tuple[Ranked, ...]:
        """Hits that bear on the question, best first; the encoder is asked only if it was asked for the messages."""
        kinds = tuple(one for one in (DocumentKind.MEMORY, DocumentKind.GIST) if request.wants(one))
        features = features_of(question.resolution)
        found = self._searched(question, features, kinds, answer) if kinds and features.text else ()
        known = {one.document.doc_id for one in found}
        listed = (one for one in self._listed(question, request) if one.document.doc_id not in known)
        return (*found, *listed)[: request.limit]

    def _searched(
        self, question: Question, features: QueryFeatures, kinds: tuple[DocumentKind, ...], answer: Answer
    ) -> tuple[Ranked, ...]:
        asked = bool(question.trace.vectors)
        vector = self._searcher.embed(features.meaning, question.trace) if asked else None
        temporal = question.resolution.temporal
        ranged = answer.selection is not None and temporal.intent is TemporalIntent.TIME_RANGE
        where = DocumentFilter(
            kinds=kinds, start=temporal.start if ranged else None, end=temporal.end if ranged else None
        )
        found = self._searcher.ranked(question.scope, features, where, vector=vector, trace=question.trace, limit=HITS)
        # Of a conversation that ids have chosen, what was learnt in it belongs to the answer whatever words it has.
        floor = 0.0 if limits_items(question, answer) else self._searcher.floor
        return tuple(one for one in found.ranked if one.relevance >= floor)

    def _listed(self, question: Question, request: RecallRequest) -> tuple[Ranked, ...]:
        """What no words find: everything known, where all is asked for, and what happened in a range."""
        resolution, scope = question.resolution, question.scope
        temporal = resolution.temporal
        if temporal.intent is TemporalIntent.TIME_RANGE and temporal.axis != "message":
            gists = self._reads.gists_between(scope, temporal.start, temporal.end, limit=request.limit)
            return tuple(_listed(document_of_gist(one)) for one in gists if request.wants(DocumentKind.GIST))
        everything = resolution.source_type is SourceType.MEMORY and not resolution.search_text.strip()
        if everything and temporal.intent is TemporalIntent.NONE and request.wants(DocumentKind.MEMORY):
            memories = self._reads.memories(scope, limit=request.limit)
            return tuple(_listed(document_of_memory(one)) for one in memories)
        return ()


def limits_items(question: Question, answer: Answer) -> bool:
    """Whether only what was learnt in the chosen conversations belongs to the answer."""
    unbound = (TemporalIntent.NONE, TemporalIntent.TIME_RANGE)
    bound = question.resolution.temporal.intent not in unbound and means_one(question.resolution)
    return answer.selection is not None and bound


def _listed(document: Document) -> Ranked:
    return Ranked(document, 0.5, 0.5, {"listed": 0.5})


def memory_ids(hits: Iterable[Ranked]) -> list[str]:
    return [one.document.doc_id[_PREFIX:] for one in hits if one.document.kind is DocumentKind.MEMORY]


def gist_keys(scope: Scope, hits: Iterable[Ranked]) -> list[Key]:
    return [
        keys.gist(scope, to_text(one.document.occurred_at), one.document.doc_id[_PREFIX:])
        for one in hits
        if one.document.kind is DocumentKind.GIST
    ]


def cited(truth: Truth, conversations: frozenset[str] | None) -> list[MessageRef]:
    """Messages that the items read stand on and that have not been read yet.

    Args:
        conversations: only of items that something in one of these speaks for; None means all items.
    """
    rows: list[tuple[Evidence, ...]] = [one.evidence for one in truth.memories.values()]
    rows += [one.evidence for one in truth.gists.values()]
    wanted = dict.fromkeys(one.ref for evidence in rows if _said_in(evidence, conversations) for one in evidence)
    return [ref for ref in wanted if ref not in truth.messages]


def _said_in(evidence: Sequence[Evidence], conversations: frozenset[str] | None) -> bool:
    return conversations is None or any(one.ref.conversation_id in conversations for one in evidence)


@dataclass(frozen=True, slots=True)
class Sorted:
    """Items that the table confirms, and the documents of those that it does not, each with the reason."""

    kept: tuple[RecalledItem, ...]
    refused: tuple[tuple[Document, str], ...]


def items_of(
    hits: Sequence[Ranked],
    truth: Truth,
    messages: Mapping[MessageRef, Message],
    *,
    conversations: frozenset[str] | None,
) -> Sorted:
    """The items that the table confirms, in the order of `hits`.

    Args:
        conversations: keep only what was said in one of these; None keeps everything.
    """
    kept: list[RecalledItem] = []
    refused: list[tuple[Document, str]] = []
    for hit in hits:
        identifier = hit.document.doc_id[_PREFIX:]
        stored = truth.memories.get(identifier) or truth.gists.get(identifier)
        if stored is not None and not _said_in(stored.evidence, conversations):
            continue
        item = _item(hit, truth, messages)
        if isinstance(item, str):
            refused.append((hit.document, item))
        elif conversations is None or any(one.conversation_id in conversations for one in item.evidence):
            kept.append(item)
    return Sorted(tuple(kept), tuple(refused))


def _item(hit: Ranked, truth: Truth, messages: Mapping[MessageRef, Message]) -> RecalledItem | str:
    """The item of a hit, or why it must not be answered."""
    identifier, version = hit.document.doc_id[_PREFIX:], hit.document.version
    score = round(hit.relevance, 6)
    if hit.document.kind is DocumentKind.MEMORY:
        memory = truth.memories.get(identifier)
        if memory is None or memory.version != version:
            return "gone" if memory is None else "version"
        sources = sources_of(memory.evidence, messages)
        return item_of_memory(memory, score, sources) if sources or memory.edited else "unsupported"
    gist = truth.gists.get(identifier)
    if gist is None or gist.version != version:
        return "gone" if gist is None else "version"
    sources = sources_of(gist.evidence, messages)
    # A gist without evidence was entered by a person; one that has lost what it stood on is no longer supported.
    return item_of_gist(gist, score, sources) if sources or not gist.evidence else "unsupported"
