"""What a conversation is about, read when it is written, by the same rules that read a query."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from engram.domain.models import MentionStatus, Message, Role
from engram.resolve.models import Mention, Resolution, ResolveContext, Subjects

MAX_READ = 40
"""Messages of one batch that are read: a batch is a turn, or an import whose subjects show early."""

ANSWER_CHARACTERS = 200
"""Of an answer: its beginning says what it is about; a long guide names many places that nobody asked for."""

Resolve = Callable[[str, ResolveContext], Resolution]


def subjects_of(resolve: Resolve, messages: Sequence[Message], context: ResolveContext) -> Subjects:
    """What `messages` are about. Names count from every speaker, topics only where the user speaks."""
    entities: list[Mention] = []
    topics: list[Mention] = []
    for message in messages[-MAX_READ:]:
        spoken = message.role is Role.USER
        found = resolve(message.content if spoken else message.content[:ANSWER_CHARACTERS], context)
        entities += found.entities
        if spoken:
            topics += found.topics
    return Subjects(
        entity_ids=_distinct(one.id for one in entities if one.status is MentionStatus.LINKED),
        topic_ids=_distinct(one.id for one in topics if one.status is MentionStatus.LINKED),
        candidate_ids=_distinct(
            candidate.id for one in entities if one.status is MentionStatus.AMBIGUOUS for candidate in one.candidates
        ),
        unresolved=_distinct(one.text for one in entities if one.status is MentionStatus.UNRESOLVED),
    )


def _distinct(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(values))
