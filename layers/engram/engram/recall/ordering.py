"""The order of confirmed messages in an answer, which of them stay within the limit, and which may not be in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from engram.domain.models import Message, MessageRef
from engram.recall.answering import Answer, Question
from engram.recall.bundle import EvidenceItem, Freshness, RecalledItem
from engram.recall.replies import answers_first
from engram.recall.request import RecallRequest
from engram.recall.timeline import Moment
from engram.recall.verification import Candidate, evidence_of
from engram.recall.within import scores_within


def ordered(
    confirmed: Sequence[tuple[Candidate, Message]], answer: Answer, question: Question, request: RecallRequest
) -> tuple[EvidenceItem, ...]:
    """Confirmed messages by relevance, at most the limit, the best of each chosen conversation among them."""
    messages = {message.ref: message for _, message in confirmed}
    parts = {one.ref: one.hit.parts for one, _ in confirmed if one.hit is not None and request.explain}
    if answer.whole:
        in_order = sorted(messages.values(), key=lambda one: (one.conversation_id, one.seq))
        within = scores_within(in_order, question.conditions.search_text, fold=question.fold, priors=answer.scores)
        # Chosen by what it is about: the words only order it.
        scores = within if answer.text else {ref: (1 + score) / 2 for ref, score in within.items()}
    else:
        scores = {one.ref: one.score for one, _ in confirmed}
    scores = answers_first(scores, messages, question.resolution.query, question.resolution.search_text)
    chosen = [one.conversation_id for one in answer.selection.conversations] if answer.selection else []
    rank = {identifier: place for place, identifier in enumerate(chosen)}
    refs = sorted(scores, key=lambda ref: (-scores[ref], rank.get(ref.conversation_id, len(rank)), ref.seq))
    kept = _covering_each(refs, chosen, request.limit)
    return tuple(evidence_of(messages[ref], round(scores[ref], 6), parts.get(ref)) for ref in kept)


def cited_by(
    items: Sequence[RecalledItem], messages: Mapping[MessageRef, Message], limit: int
) -> tuple[EvidenceItem, ...]:
    """The messages that items stand on, in their order: where only what was learnt answers, this is what was said."""
    scores: dict[MessageRef, float] = {}
    for item in items:
        for source in item.evidence:
            scores.setdefault(MessageRef(source.conversation_id, source.seq), item.score)
    order = sorted(scores, key=lambda ref: -scores[ref])[:limit]
    return tuple(evidence_of(messages[ref], scores[ref]) for ref in order)


def freshness_of(pending: Sequence[Message], as_of: datetime) -> Freshness:
    oldest = min((one.created_at for one in pending), default=as_of)
    return Freshness(
        as_of=as_of,
        pending_messages=len(pending),
        index_lag_ms=max(0, int((as_of - oldest).total_seconds() * 1000)),
    )


def _covering_each(refs: Sequence[MessageRef], chosen: Sequence[str], limit: int) -> list[MessageRef]:
    """The first `limit` of `refs`, but with the best one of each chosen conversation, in the order given."""
    if len(refs) <= limit:
        return list(refs)
    wanted = frozenset(chosen)
    best: dict[str, MessageRef] = {}
    for ref in refs:
        if ref.conversation_id in wanted:
            best.setdefault(ref.conversation_id, ref)
    kept = set(list(best.values())[:limit])
    for ref in refs:
        if len(kept) >= limit:
            break
        kept.add(ref)
    return [ref for ref in refs if ref in kept]


def is_echo(message: Message, question: Question) -> bool:
    """Whether this is the query itself, taken in before it was asked here."""
    here = message.conversation_id == question.moment.current_id
    return here and message.content.strip() == question.resolution.query.strip()


def within_range(message: Message, answer: Answer, moment: Moment) -> bool:
    if answer.selection is None:
        return True
    at = message.created_at
    inside = (answer.start is None or at >= answer.start) and (answer.end is None or at < answer.end)
    return inside and at <= moment.horizon
