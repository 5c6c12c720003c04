"""What a conversation is about, read at write time by the resolver that reads queries.

What the user says decides. An assistant's long answer names a dozen places in passing; only its beginning, where it
says what it is, counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

from engram.domain.models import MentionStatus, Message, Role
from engram.resolve.catalogue import Catalogue
from engram.resolve.models import Mention, Resolution, ResolveContext, Subjects
from engram.text.normalise import fold

USER_CHARACTERS = 600
ANSWER_CHARACTERS = 120
MAX_READ = 60
"""Messages of one request that are read; the first say what it is about, and the last what it is about now."""

MAX_NAME_CHARACTERS = 80


class QueryResolver(Protocol):
    @property
    def catalogue(self) -> Catalogue: ...

    def resolve(self, query: str, context: ResolveContext) -> Resolution: ...


class ConversationResolver:
    """A resolver of queries that reads conversations too."""

    def __init__(self, resolver: QueryResolver) -> None:
        self._resolver = resolver

    @property
    def catalogue(self) -> Catalogue:
        return self._resolver.catalogue

    def resolve(self, query: str, context: ResolveContext) -> Resolution:
        return self._resolver.resolve(query, context)

    def subjects(self, messages: Sequence[Message], context: ResolveContext) -> Subjects:
        """Entities and topics of the messages of one conversation."""
        said = [self._read(one, context) for one in _chosen(messages, Role.USER)]
        answered = [self._read(one, context) for one in _chosen(messages, Role.ASSISTANT)]
        entities = [mention for one in said for mention in one.entities]
        named = [mention for one in answered for mention in one.entities]
        topics = [mention for one in said for mention in one.topics]
        return Subjects(
            entity_ids=_linked([*entities, *named]),
            topic_ids=_linked(topics),
            candidate_ids=_undecided(entities),
            unresolved=_unknown(entities),
        )

    def _read(self, message: Message, context: ResolveContext) -> Resolution:
        length = USER_CHARACTERS if message.role is Role.USER else ANSWER_CHARACTERS
        return self._resolver.resolve(message.content[:length], context)


def _chosen(messages: Sequence[Message], role: Role) -> list[Message]:
    spoken = [one for one in messages if one.role is role and one.content.strip()]
    if len(spoken) <= MAX_READ:
        return spoken
    return [*spoken[: MAX_READ // 2], *spoken[-MAX_READ // 2 :]]


def _linked(mentions: Iterable[Mention]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.id for one in mentions if one.status is MentionStatus.LINKED))


def _undecided(mentions: Iterable[Mention]) -> tuple[str, ...]:
    ambiguous = (one for one in mentions if one.status is MentionStatus.AMBIGUOUS)
    return tuple(dict.fromkeys(candidate.id for one in ambiguous for candidate in one.candidates))


def _unknown(mentions: Iterable[Mention]) -> tuple[str, ...]:
    unknown = (fold(one.text)[:MAX_NAME_CHARACTERS] for one in mentions if one.status is MentionStatus.UNRESOLVED)
    return tuple(dict.fromkeys(name for name in unknown if name))
