"""What a conversation is about, read at write time by the same resolver that reads queries.

Bounded: a message of any length costs no more than its first few thousand characters.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from engram.domain.models import MentionStatus, Message, Role
from engram.resolve.expressions import CueText
from engram.resolve.models import Mention, Subjects, Temporal
from engram.text.normalise import NormalisedText, fold

MAX_USER = 4_000
MAX_ANSWER = 6_000
"""Characters of one message that are read."""
OPENING = 300
"""Characters at the beginning of an answer within which one mention is enough."""
MAX_IDS = 50
"""Entities, topics and names kept of one conversation: a list of everything is about nothing."""


@dataclass(frozen=True, slots=True)
class Read:
    """A text as the ladders read it."""

    normalised: NormalisedText
    cues: CueText
    temporal: Temporal
    entities: tuple[Mention, ...]
    topics: tuple[Mention, ...]
    trace: tuple[str, ...]


def subjects_of(messages: Sequence[Message], read: Callable[[str], Read]) -> Subjects:
    """Ids and names that the messages are about, the first said first."""
    spoken = [read(message.content[:MAX_USER]) for message in messages if message.role is Role.USER]
    answered = [read(message.content[:MAX_ANSWER]) for message in messages if message.role is Role.ASSISTANT]
    entities = [mention for one in spoken for mention in one.entities]
    entities += [mention for one in answered for mention in _weighty(one.entities)]
    topics = [mention for one in spoken for mention in one.topics]
    if not any(mention.status is MentionStatus.LINKED for mention in topics):
        topics += [mention for one in answered for mention in one.topics if mention.start < OPENING]
    return Subjects(
        entity_ids=_first(mention.id for mention in entities if mention.status is MentionStatus.LINKED),
        topic_ids=_first(mention.id for mention in topics if mention.status is MentionStatus.LINKED),
        candidate_ids=_first(
            candidate.id
            for mention in entities
            if mention.status is MentionStatus.AMBIGUOUS
            for candidate in mention.candidates
        ),
        unresolved=_first(fold(mention.text) for mention in entities if mention.status is MentionStatus.UNRESOLVED),
    )


def _weighty(mentions: Sequence[Mention]) -> list[Mention]:
    """Linked names of an answer that it is about: said early, or more than once."""
    linked = [mention for mention in mentions if mention.status is MentionStatus.LINKED]
    times = Counter(mention.id for mention in linked)
    return [mention for mention in linked if mention.start < OPENING or times[mention.id] > 1]


def _first(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))[:MAX_IDS]
