"""Conversation references of an answer: which conversations, why, and which evidence each of them holds."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from engram.domain.models import Conversation
from engram.recall.answering import Answer
from engram.recall.bundle import ConversationRef, EvidenceItem, Named
from engram.recall.conditions import Conditions, matched
from engram.recall.selection import MAX_CONVERSATIONS
from engram.resolve.catalogue import Catalogue
from engram.resolve.models import TemporalIntent


def references_of(
    answer: Answer,
    evidence: Sequence[EvidenceItem],
    conversations: Iterable[Conversation],
    conditions: Conditions,
    catalogue: Catalogue,
    intent: TemporalIntent,
) -> tuple[ConversationRef, ...]:
    """Conversations in the order of the answer: chosen ones as chosen, others by their best evidence."""
    known = {one.conversation_id: one for one in conversations}
    held: dict[str, list[EvidenceItem]] = {}
    for item in evidence:
        held.setdefault(item.conversation_id, []).append(item)
    chosen = [one.conversation_id for one in answer.selection.conversations] if answer.selection else []
    ids = frozenset(chosen)
    shown = [one for one in chosen if one in held or not answer.whole]
    order = [one for one in dict.fromkeys((*shown, *held)) if one in known]
    return tuple(
        _reference(known[one], held.get(one, []), answer, ids, conditions, catalogue, intent)
        for one in order[:MAX_CONVERSATIONS]
    )


def entities_named(conversation: Conversation, catalogue: Catalogue) -> tuple[Named, ...]:
    found = (catalogue.entities.get(one) for one in conversation.entity_ids)
    return tuple(Named(one.id, one.name, one.type) for one in found if one is not None)


def topics_named(conversation: Conversation, catalogue: Catalogue) -> tuple[Named, ...]:
    found = (catalogue.topics.get(one) for one in conversation.topic_ids)
    return tuple(Named(one.id, one.name) for one in found if one is not None)


def _reference(
    one: Conversation,
    evidence: Sequence[EvidenceItem],
    answer: Answer,
    chosen: Container[str],
    conditions: Conditions,
    catalogue: Catalogue,
    intent: TemporalIntent,
) -> ConversationRef:
    met = list(matched(one, conditions))
    if one.conversation_id in answer.text:
        met.append("text")
    if one.conversation_id in chosen and intent is not TemporalIntent.NONE:
        met.append("time")
    return ConversationRef(
        conversation_id=one.conversation_id,
        session_id=one.session_id,
        started_at=one.started_at,
        ended_at=one.ended_at,
        title=one.title,
        entities=entities_named(one, catalogue),
        topics=topics_named(one, catalogue),
        score=max((item.score for item in evidence), default=0.0),
        matched=tuple(met),
        evidence_ids=tuple(item.evidence_id for item in evidence),
    )
