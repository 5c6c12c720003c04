"""The table's word on an answer: which of its messages and items stand, read under the caller's own scope just now.

What an index claimed and the table does not confirm is noted, so that the answer can be found again without it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from engram.domain.documents import DocumentKind
from engram.domain.models import Conversation, Message, MessageRef
from engram.domain.visibility import Tombstones
from engram.recall.answering import MAX_READ_WHOLE, Answer, Question, ids_of
from engram.recall.bundle import Dropped, EvidenceItem, RecalledItem
from engram.recall.candidates import HEAD
from engram.recall.fusion import Ranked
from engram.recall.indexing import message_document_id
from engram.recall.items import cited, gist_keys, items_of, limits_items, memory_ids
from engram.recall.ordering import cited_by, is_echo, ordered, within_range
from engram.recall.request import RecallRequest
from engram.recall.verification import Candidate, refusal
from engram.store.recall_reads import RecallReads

SPARE = 10
"""Candidates read beyond the limit, so that dropped ones are replaced without another round trip."""

_Confirmed = list[tuple[Candidate, Message]]


@dataclass(slots=True)
class Verified:
    """What the table has confirmed.

    Attributes:
        dropped: what was claimed and does not stand, over all attempts of one recall.
        messages: how many messages stand, wanted or not.
        read: every message that was read and may be shown.
        hidden: what was deleted when they were read.
        empty: nothing is stored at all.
    """

    evidence: tuple[EvidenceItem, ...] = ()
    items: tuple[RecalledItem, ...] = ()
    dropped: Dropped = field(default_factory=Dropped)
    messages: int = 0
    read: dict[MessageRef, Message] = field(default_factory=dict)
    hidden: Tombstones = field(default_factory=Tombstones)
    empty: bool = False


class Confirming:
    """Reads what answers stand on. Holds no state between questions."""

    def __init__(self, *, reads: RecallReads) -> None:
        self._reads = reads

    def verified(
        self,
        question: Question,
        request: RecallRequest,
        answer: Answer,
        hits: Sequence[Ranked],
        *,
        dropped: Dropped,
        every: bool,
    ) -> Verified:
        """The answer as the table confirms it. One batch get, and further ones where items cite other messages or
        too few candidates stand.

        Args:
            hits: of items.
            every: read all candidates: some were found not to stand.
        """
        scope = question.scope
        candidates = answer.candidates if request.wants(DocumentKind.MESSAGE) or answer.whole else ()
        count = len(candidates) if answer.whole or every else max(request.limit + SPARE, HEAD)
        first, rest = candidates[:count], candidates[count:]
        proofs = _proofs(first, answer)
        truth = self._reads.truth(
            scope, [*(one.ref for one in first), *proofs], memories=memory_ids(hits), gists=gist_keys(scope, hits)
        )
        found = Verified(dropped=dropped, read=dict(truth.messages), hidden=truth.hidden)
        chosen = answer.selection.conversations if answer.selection is not None else ()
        limited = ids_of(chosen) if limits_items(question, answer) else None
        if further := cited(truth, limited):
            found.read |= self._reads.truth(scope, further).messages
        confirmed = _confirmed(question, first, answer, found)
        while rest and len(confirmed) < request.limit:
            page, rest = rest[:MAX_READ_WHOLE], rest[MAX_READ_WHOLE:]
            found.read |= self._reads.truth(scope, [one.ref for one in page]).messages
            confirmed += _confirmed(question, page, answer, found)
        found.messages = len(confirmed)
        evidence = ordered(confirmed, answer, question, request)
        items = items_of(hits, truth, found.read, conversations=limited)
        for document, reason in items.refused:
            dropped.add(reason)
            question.trace.refuted.add(document)
        found.items = items.kept
        if not evidence and limited is None:
            evidence = cited_by(found.items, found.read, request.limit)
        found.evidence = evidence if request.wants(DocumentKind.MESSAGE) else ()
        return found


def _confirmed(question: Question, candidates: Sequence[Candidate], answer: Answer, found: Verified) -> _Confirmed:
    confirmed = []
    for one in candidates:
        message = found.read.get(one.ref)
        claimed = question.trace.claims.get(message_document_id(one.ref))
        if claimed is not None and refusal(claimed, message):
            question.trace.refuted.add(claimed)
        reason = refusal(one.hit.document if one.hit is not None else None, message)
        if message is None or reason:
            # A conversation's seqs need not all be there: only what an index claimed counts as dropped.
            found.dropped.add(reason, 1 if one.hit is not None else 0)
        elif is_echo(message, question):
            found.dropped.add("echo")
        elif within_range(message, answer, question.moment):
            confirmed.append((one, message))
    return confirmed


def _proofs(first: Sequence[Candidate], answer: Answer) -> list[MessageRef]:
    """Messages that prove conversations and their titles: the first of each, and the last of those that were chosen."""
    if answer.whole:
        return []
    chosen = answer.selection.conversations if answer.selection is not None else ()
    ends = [MessageRef(one.conversation_id, seq) for one in chosen for seq in (0, max(one.next_seq - 1, 0))]
    begins = [MessageRef(one.ref.conversation_id, 0) for one in first]
    return list(dict.fromkeys((*ends, *begins)))


def standing(conversations: Iterable[Conversation], verified: Verified) -> tuple[Conversation, ...]:
    """Those of which a message was read and may be shown, each as the table tells it now.

    The list was read when the recall began. A title repeats a message, so it stands only with that message.
    """
    openings: dict[str, list[str]] = {}
    for message in verified.read.values():
        openings.setdefault(message.conversation_id, []).append(" ".join(message.content.split()))
    told = (verified.hidden.told(one) for one in conversations if one.conversation_id in openings)
    return tuple(
        one if any(text.startswith(one.title) for text in openings[one.conversation_id]) else replace(one, title="")
        for one in told
        if one is not None
    )
