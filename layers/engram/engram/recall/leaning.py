"""What a whole message, rather than a question, goes on from: conversations as a whole, not single turns.

Nobody asks in it; it continues something. So the conversation counts in which several turns are near, that shares what
it names, and that is newer: one of those that are going on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from engram.domain.models import Conversation
from engram.recall.conditions import Conditions
from engram.recall.verification import Candidate

NEAR_TURNS = 3
"""Nearest turns of a conversation whose mean says how near it is."""

HALVES_IN = 10
"""Conversations after which being new counts half."""

FURTHER_TURNS = 0.6
"""Share of it that each further turn of one conversation gets, so that one does not fill the answer."""

NEARNESS, BEFORE, SHARED, NEWNESS = 1.0, 1.0, 0.3, 0.6
"""Weights beside a turn's own score of at most 1: of nearness to the message, of nearness to what was said just before
it, of shared subjects, of being new. Rounded from what was best on either persona of RealMem; weights chosen on one
reach .79 and .75 session recall@10 on the other (.77 and .70 without `BEFORE`)."""


def leaning_on_conversations(
    candidates: Sequence[Candidate],
    cosines: tuple[Mapping[str, float], Mapping[str, float]],
    conversations: Sequence[Conversation],
    conditions: Conditions,
) -> tuple[Candidate, ...]:
    """`candidates` with what their conversations add, best first; scores in 0..1.

    Args:
        cosines: by document, with the message itself and with what was said just before it.
        conversations: oldest first.
    """
    near, before = (_nearness(one) for one in cosines)
    wanted = frozenset(identifier for one in (*conditions.entities, *conditions.topics) for identifier in one.ids)
    prior: dict[str, float] = {}
    for age, one in enumerate(reversed(conversations)):
        held = wanted.intersection((*one.entity_ids, *one.topic_ids))
        shared = len(held) / len(wanted) if wanted else 0.0
        prior[one.conversation_id] = (
            NEARNESS * near.get(one.conversation_id, 0.0)
            + BEFORE * before.get(one.conversation_id, 0.0)
            + SHARED * shared
            + NEWNESS * 0.5 ** (age / HALVES_IN)
        )
    best = max((one.score for one in candidates), default=0.0) or 1.0
    most = 1.0 + NEARNESS + BEFORE + SHARED + NEWNESS
    taken: dict[str, int] = {}
    scored = []
    for hit in sorted(candidates, key=lambda candidate: -candidate.score):
        identifier = hit.ref.conversation_id
        share = FURTHER_TURNS ** taken.setdefault(identifier, 0)
        taken[identifier] += 1
        scored.append(replace(hit, score=round((hit.score / best + share * prior.get(identifier, 0.0)) / most, 6)))
    return tuple(sorted(scored, key=lambda found: -found.score))


def _nearness(by_document: Mapping[str, float]) -> Mapping[str, float]:
    """Mean cosine of the nearest turns of each conversation, scaled to 0..1 over those found."""
    cosines: dict[str, list[float]] = {}
    for doc_id, cosine in by_document.items():
        cosines.setdefault(doc_id.partition(":")[2].rpartition(":")[0], []).append(cosine)
    if not cosines:
        return {}
    low = min(by_document.values())
    means = {
        identifier: sum((sorted(found, reverse=True) + [low] * NEAR_TURNS)[:NEAR_TURNS]) / NEAR_TURNS
        for identifier, found in cosines.items()
    }
    high = max(means.values())
    return {identifier: (mean - low) / (high - low) if high > low else 1.0 for identifier, mean in means.items()}
