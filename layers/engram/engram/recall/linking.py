"""What messages that are not indexed yet are about, found out at read time by the same resolver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from engram.domain.models import MentionStatus, Message, Role
from engram.recall.timeline import Linker, Links
from engram.resolve.models import Mention, Resolution, ResolveContext

MAX_MESSAGES = 20
"""Newest messages of a conversation that are resolved; indexing does the rest a moment later."""

MAX_CHARACTERS = 400


class Resolving(Protocol):
    def resolve(self, query: str, context: ResolveContext) -> Resolution: ...


def linker(resolver: Resolving, context: ResolveContext) -> Linker:
    """Resolves what the user said in a few messages; the assistant's words come with the user's."""

    def link(messages: Sequence[Message]) -> Links:
        said = [one.content[:MAX_CHARACTERS] for one in messages if one.role is Role.USER][-MAX_MESSAGES:]
        resolved = [resolver.resolve(text, context) for text in said if text.strip()]
        entities = [mention for one in resolved for mention in one.entities]
        topics = [mention for one in resolved for mention in one.topics]
        return Links(
            entity_ids=_linked(entities),
            topic_ids=_linked(topics),
            candidate_ids=_undecided(entities),
        )

    return link


def _linked(mentions: Sequence[Mention]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.id for one in mentions if one.status is MentionStatus.LINKED))


def _undecided(mentions: Sequence[Mention]) -> tuple[str, ...]:
    open_ones = (one for one in mentions if one.status is MentionStatus.AMBIGUOUS)
    return tuple(dict.fromkeys(candidate.id for one in open_ones for candidate in one.candidates))
