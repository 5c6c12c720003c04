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
MAX_ANSWER = 4_000
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


def subjects_of(
    messages: Sequence[Message], read: Callable[[str], Read], names: Callable[[str], list[tuple[int, str]]]
) -> Subjects:
    """Ids and names that the messages are about, the first said first.

    Args:
        read: a text read in full; names: places and ids of the names in a text that need no reading.
    """
    spoken = [read(message.content[:MAX_USER]) for message in messages if message.role is Role.USER]
    answers = [message.content for message in messages if message.role is Role.ASSISTANT]
    entities = [mention for one in spoken for mention in one.entities]
    topics = [mention for one in spoken for mention in one.topics]
    if not any(mention.status is MentionStatus.LINKED for mention in topics):
        topics += [mention for answer in answers for mention in read(answer[:OPENING]).topics]
    said = [mention.id for mention in entities if mention.status is MentionStatus.LINKED]
    answered = [identifier for answer in answers for identifier in _weighty(names(answer[:MAX_ANSWER]))]
    return Subjects(
        entity_ids=_first([*said, *answered]),
        topic_ids=_first(mention.id for mention in topics if mention.status is MentionStatus.LINKED),
        candidate_ids=_first(
            candidate.id
            for mention in entities
            if mention.status is MentionStatus.AMBIGUOUS
            for candidate in mention.candidates
        ),
        unresolved=_first(fold(mention.text) for mention in entities if mention.status is MentionStatus.UNRESOLVED),
    )


def _weighty(names: Sequence[tuple[int, str]]) -> list[str]:
    """Entities that an answer is about: named early, or more than once."""
    times = Counter(identifier for _place, identifier in names)
    return [identifier for place, identifier in names if place < OPENING or times[identifier] > 1]


def _first(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))[:MAX_IDS]
