"""What a whole message, rather than a question, goes on from: conversations as a whole, not single turns.

Nobody asks in it; it continues something that has been going on over several conversations. So one counts in which
several turns are near, that shares what the message names, that is newer, and that is like the others that count.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from engram.domain.models import Conversation
from engram.recall.conditions import Conditions
from engram.recall.searching import NearTurn
from engram.recall.verification import Candidate

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

NEAREST = 400
"""Messages near in meaning that are looked at; with 200, session recall@10 of RealMem is one point lower."""

SAID_BEFORE = 0.5
"""Weight of what the user has said just before, beside the message itself."""

NEAR_TURNS = 3
"""Nearest turns of a conversation whose mean says how near it is."""

HALVES_IN = 10
"""Conversations after which being new counts half."""

FURTHER_TURNS = 0.6
"""Share of it that each further turn of one conversation gets, so that one does not fill the answer."""

TURN, NEAR, SHARED, NEW, ALIKE = 1.6, 2.1, 0.6, 1.9, 1.7
"""Weights of a conversation's best turn, its nearness, shared subjects, newness, and likeness to the others that count.
They are those of a listwise logistic: e to the sum says how likely a conversation is meant. Fitted on one persona of
RealMem they reach .76 and .83 session recall@10 on the other, without `ALIKE` .72 and .78; these are of both."""

ByConversation = Mapping[str, float]


def leaning_on_conversations(
    candidates: Sequence[Candidate],
    near: Sequence[NearTurn],
    conversations: Sequence[Conversation],
    conditions: Conditions,
) -> tuple[Candidate, ...]:
    """`candidates`, with the nearest turn of each conversation that has none among them, by what their conversations
    add, best first; scores in 0..1.

    Args:
        near: turns near in meaning, nearest first.
        conversations: that may be meant, the newest last.
    """
    turns: dict[str, list[NearTurn]] = {}
    for turn in near:
        turns.setdefault(turn.ref.conversation_id, []).append(turn)
    top = max((one.score for one in candidates), default=0.0) or 1.0
    scaled = [replace(one, score=one.score / top) for one in candidates]
    best = {one.ref.conversation_id: one.score for one in sorted(scaled, key=lambda one: one.score)}
    scaled += [Candidate(found[0].ref, 0.0) for name, found in turns.items() if name not in best]
    return _by_conversation(scaled, _priors(best, turns, conversations, conditions))


def _by_conversation(scaled: Sequence[Candidate], priors: ByConversation) -> tuple[Candidate, ...]:
    most = TURN + NEAR + SHARED + NEW + ALIKE
    taken: dict[str, int] = {}
    leaning = []
    for one in sorted(scaled, key=lambda one: -one.score):
        name = one.ref.conversation_id
        share = FURTHER_TURNS ** taken.get(name, 0)
        taken[name] = taken.get(name, 0) + 1
        leaning.append(replace(one, score=round((TURN * one.score + share * priors.get(name, 0.0)) / most, 6)))
    return tuple(sorted(leaning, key=lambda one: -one.score))


def _priors(
    best: ByConversation,
    turns: Mapping[str, Sequence[NearTurn]],
    conversations: Sequence[Conversation],
    conditions: Conditions,
) -> ByConversation:
    """What each conversation adds to its turns."""
    nearness = _nearness(turns)
    wanted = conditions.ids
    priors: dict[str, float] = {}
    for age, one in enumerate(reversed(conversations)):
        shared = len(wanted.intersection((*one.entity_ids, *one.topic_ids))) / len(wanted) if wanted else 0.0
        near = nearness.get(one.conversation_id, 0.0)
        priors[one.conversation_id] = NEAR * near + SHARED * shared + NEW * 0.5 ** (age / HALVES_IN)
    likely = {name: math.exp(prior + TURN * best.get(name, 0.0)) for name, prior in priors.items()}
    for name, likeness in _likeness({name: turns[name] for name in turns if name in likely}, likely).items():
        priors[name] += ALIKE * likeness
    return priors


def _nearness(turns: Mapping[str, Sequence[NearTurn]]) -> ByConversation:
    """Mean cosine of the nearest turns of each conversation; a turn that was not found counts as the farthest."""
    farthest = min((found[-1].cosine for found in turns.values()), default=0.0)
    means = {}
    for name, found in turns.items():
        cosines = [one.cosine for one in found[:NEAR_TURNS]]
        means[name] = (sum(cosines) + (NEAR_TURNS - len(cosines)) * farthest) / NEAR_TURNS
    return _scaled(means, low=farthest)


def _likeness(turns: Mapping[str, Sequence[NearTurn]], likely: ByConversation) -> ByConversation:
    """Cosine of each conversation with every other, weighted by how likely that one is meant. What all of them have
    in common is taken off first. Empty where the index gives no vectors back.
    """
    import numpy as np

    width = max((len(one.vector) for found in turns.values() for one in found), default=0)
    means = {}
    for name, found in turns.items():
        vectors = [np.frombuffer(one.vector, dtype="<f2") for one in found if len(one.vector) == width > 0]
        if vectors:
            means[name] = np.mean(vectors, axis=0, dtype=np.float32)
    if len(means) < 2:
        return {}

    rows = _unit(np.stack(list(means.values())))
    rows = _unit(rows - rows.mean(axis=0))
    cosines = rows @ rows.T
    np.fill_diagonal(cosines, 0.0)
    weights = np.array([likely[name] for name in means], dtype=np.float32)
    found = (cosines @ (weights / weights.sum())).tolist()
    return _scaled(dict(zip(means, found, strict=True)), low=min(found))


def _unit(rows: Array) -> Array:
    import numpy as np

    unit: Array = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6)
    return unit


def _scaled(values: ByConversation, *, low: float) -> ByConversation:
    """From `low` to the highest, as 0..1."""
    width = max(values.values(), default=low) - low
    return {name: (value - low) / width if width > 0 else 1.0 for name, value in values.items()}
