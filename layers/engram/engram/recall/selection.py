"""Which conversations a query means. Pure: from the conversations that its time allows, those that meet its conditions,
then the newest, the oldest, the n-th before, or all of them.

"上次" is no word to search for: it means the newest conversation before this one that meets the other conditions.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engram.domain.models import Conversation
from engram.recall.conditions import Conditions, Tier, TypeOf, tier_of
from engram.recall.timeline import Moment, recent
from engram.resolve.models import Resolution, Temporal, TemporalIntent

MAX_CONVERSATIONS = 100
"""Most conversations one answer enumerates."""

ABOUT = 0.5
"""A conversation is about words if its best message is at least this near, relative to the best of all."""

ONE = frozenset({TemporalIntent.PREVIOUS_RELATED, TemporalIntent.LATEST, TemporalIntent.EARLIEST})
"""Intents that mean one conversation."""

_DEFINITE = re.compile(
    r"(?<!上)上+[一1]?[次回]|前[一几两]?次|上一?个?(?:对话|会话|聊天)|再上|last (?:time|conversation|chat|session)|"
    r"\b(?:we|i|you) last (?:talk|spoke|discuss|chat|mention)|"
    r"(?:time|one|conversation|chat|session)s? before|previous (?:time|conversation|chat|session|discussion)",
    re.IGNORECASE,
)
_TALKED = re.compile(
    r"[聊谈说讲提问]|讨论|对话|[给給]我|推荐|推薦|建议|建議|"
    r"\b(?:talk|discuss|mention|chat|ask|told|tell|said|say|conversation|session|gave|wrote|recommend|suggest)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Meeting:
    """Conversations that meet the structured conditions equally well, oldest first by their end."""

    tier: Tier
    conversations: tuple[Conversation, ...]

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(one.conversation_id for one in self.conversations)


@dataclass(frozen=True, slots=True)
class Selection:
    """The conversations that answer.

    Attributes:
        conversations: in the order of the answer.
        partial: some condition is not met.
        ambiguous: several readings of the query lead to different conversations.
        short: the query asks for an earlier conversation than there is.
    """

    conversations: tuple[Conversation, ...]
    partial: bool = False
    ambiguous: bool = False
    short: bool = False


def by_conditions(conversations: Sequence[Conversation], conditions: Conditions, type_of: TypeOf) -> Meeting:
    """Those of the best tier that any of them reaches; none when nothing structured is asked or met."""
    tiers: dict[Tier, list[Conversation]] = {}
    wanted = conditions.ids
    for one in conversations:
        # Of hundreds few are about anything that is asked for: the others are passed over at little cost.
        if not wanted.isdisjoint((*one.entity_ids, *one.candidate_ids, *one.topic_ids)):
            tiers.setdefault(tier_of(one, conditions, type_of), []).append(one)
    tiers.pop(Tier.NONE, None)
    if not tiers:
        return Meeting(Tier.NONE, ())
    best = min(tiers)
    return Meeting(best, tuple(tiers[best]))


def decided(found: Meeting, conditions: Conditions) -> bool:
    """Whether ids alone settle which conversations are meant, so that nothing has to be embedded or searched.

    An entity with a topic says what is meant; either alone does when no further words narrow it down.
    """
    if found.tier is not Tier.FULL or conditions.names:
        return False
    return bool(conditions.entities and conditions.topics) or not conditions.words


def by_relevance(
    conversations: Sequence[Conversation], relevance: Mapping[str, float], floor: float, *, about: float = ABOUT
) -> tuple[Conversation, ...]:
    """Those with a message above the floor and not far below the best one, in the order given.

    Args:
        relevance: conversation id to the relevance of its best message, 0..1.
        about: least share of the best conversation's relevance.
    """
    best = max((relevance.get(one.conversation_id, 0.0) for one in conversations), default=0.0)
    border = max(floor, best * about)
    return tuple(one for one in conversations if relevance.get(one.conversation_id, 0.0) >= border > 0)


def choose(
    conversations: Sequence[Conversation], temporal: Temporal, conditions: Conditions, moment: Moment
) -> Selection:
    """Of conversations that meet the conditions, oldest first by their end, those that the query's time means."""
    if not conversations:
        return Selection(())
    if temporal.intent in ONE:
        return _one_of_each_reading(conversations, temporal, conditions)
    if temporal.intent is TemporalIntent.ALL_HISTORY:
        ordered = sorted(conversations, key=lambda one: (one.started_at, one.conversation_id))
        return Selection(tuple(ordered[-MAX_CONVERSATIONS:]))
    newest = tuple(reversed(conversations))
    if temporal.intent is TemporalIntent.RECENT:
        counted = temporal.nth > 1  # 最近三次对话
        newest = newest[: temporal.nth] if counted else tuple(reversed(recent(conversations, moment)))
    return Selection(newest[:MAX_CONVERSATIONS])


def means_one(resolution: Resolution) -> bool:
    """Whether the query names one conversation (上次, first time we talked), not the past at large (之前, before).

    Read from the query: the cue that decided the intent may be another one ("what did we settle last time").
    """
    temporal = resolution.temporal
    if temporal.intent is TemporalIntent.PREVIOUS_RELATED:
        return temporal.nth > 1 or is_definite(resolution.query)
    if temporal.intent in ONE or temporal.intent is TemporalIntent.RECENT:
        return _TALKED.search(resolution.query) is not None
    return True


def is_definite(text: str) -> bool:
    """Whether a text speaks of one certain earlier time (上次, last time we talked)."""
    return _DEFINITE.search(text) is not None


def _one_of_each_reading(
    conversations: Sequence[Conversation], temporal: Temporal, conditions: Conditions
) -> Selection:
    picked = [_pick(group, temporal) for group in _readings(conversations, conditions)]
    found = tuple({one.conversation_id: one for one in picked if one is not None}.values())
    ordered = tuple(sorted(found, key=lambda one: (one.ended_at, one.conversation_id), reverse=True))
    return Selection(ordered, ambiguous=len(ordered) > 1, short=not ordered)


def _readings(conversations: Sequence[Conversation], conditions: Conditions) -> list[Sequence[Conversation]]:
    """`conversations` once for each reading of the first ambiguous mention that any of them supports."""
    for wanted in conditions.ambiguous:
        groups = [
            [one for one in conversations if identifier in (*one.entity_ids, *one.topic_ids)]
            for identifier in sorted(wanted.ids)
        ]
        supported = [group for group in groups if group]
        if len(supported) > 1:
            return list(supported)
    return [conversations]


def _pick(conversations: Sequence[Conversation], temporal: Temporal) -> Conversation | None:
    if temporal.intent is TemporalIntent.EARLIEST:
        return min(conversations, key=lambda one: (one.started_at, one.conversation_id))
    nth = temporal.nth if temporal.intent is TemporalIntent.PREVIOUS_RELATED else 1
    return conversations[-nth] if 1 <= nth <= len(conversations) else None
