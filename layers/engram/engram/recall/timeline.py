"""A user's conversations in the order of time, those the index has not seen yet among them, and which of them a
temporal intent allows. Pure; what is newest, earlier or current is decided here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from operator import attrgetter

from engram.domain.models import Conversation, Message
from engram.resolve.models import Subjects, Temporal, TemporalIntent

CLOCK_SKEW = timedelta(minutes=5)
"""A caller's clock may be ahead of ours by so much before its messages count as dated in the future."""

RECENT_DAYS = 30
"""最近, lately: a soft border; older conversations answer when there are no newer ones."""


Linker = Callable[[Sequence[Message]], Subjects]
"""What messages of one conversation are about, by the resolver."""


@dataclass(frozen=True, slots=True)
class Moment:
    """When and where a query is asked.

    Attributes:
        now: aware.
        given: whether the caller said so; its own clock then has no skew.
        current_id: the conversation in which the query is asked; "" when it begins a new one.
    """

    now: datetime
    given: bool
    session_id: str
    current_id: str

    @property
    def horizon(self) -> datetime:
        """Nothing later than this has been said yet."""
        return self.now if self.given else self.now + CLOCK_SKEW


def current_conversation(
    conversations: Iterable[Conversation], pointed_at: str, *, now: datetime, gap: timedelta
) -> str:
    """The conversation that a message written now would join: the session's own, unless it has been silent too long.

    Without this an app that keeps one session for ever would have no earlier conversation.
    """
    for one in conversations:
        if one.conversation_id == pointed_at and one.ended_at + gap > now >= one.started_at - CLOCK_SKEW:
            return pointed_at
    return ""


def with_pending(
    conversations: Sequence[Conversation], pending: Sequence[Message], link: Linker
) -> tuple[Conversation, ...]:
    """`conversations` as they will be once `pending` is indexed, by start."""
    if not pending:
        return tuple(conversations)
    known = {one.conversation_id: one for one in conversations}
    new: dict[str, list[Message]] = {}
    for message in pending:
        new.setdefault(message.conversation_id, []).append(message)
    for conversation_id, messages in new.items():
        known[conversation_id] = _extended(known.get(conversation_id), messages, link(messages))
    return tuple(sorted(known.values(), key=lambda one: (one.started_at, one.conversation_id)))


def eligible(
    conversations: Iterable[Conversation], temporal: Temporal, moment: Moment, *, with_current: bool = False
) -> tuple[Conversation, ...]:
    """The conversations that the query's time allows, oldest first by their end.

    The current conversation is what the app has before it: only CURRENT_SESSION, a range and NONE mean it too.

    Args:
        with_current: it is meant as well: what is newest may have just been said.
    """
    admits = _admits(temporal, moment, with_current=with_current)
    return tuple(sorted(filter(admits, conversations), key=attrgetter("ended_at", "conversation_id")))


def _admits(temporal: Temporal, moment: Moment, *, with_current: bool) -> Callable[[Conversation], bool]:
    intent, horizon = temporal.intent, moment.horizon
    if intent is TemporalIntent.NONE:
        return lambda one: True
    if intent is TemporalIntent.CURRENT_SESSION:
        return lambda one: one.session_id == moment.session_id and one.started_at <= horizon
    if intent is TemporalIntent.TIME_RANGE:
        return lambda one: overlaps(one, temporal) and one.started_at <= horizon
    return lambda one: with_current if one.conversation_id == moment.current_id else one.ended_at <= horizon


def overlaps(one: Conversation, temporal: Temporal) -> bool:
    """Whether something of the conversation may have been said in the half-open range."""
    return (temporal.end is None or one.started_at < temporal.end) and (
        temporal.start is None or one.ended_at >= temporal.start
    )


def recent(conversations: Sequence[Conversation], moment: Moment) -> tuple[Conversation, ...]:
    """Those of the last `RECENT_DAYS`, or all when there are none."""
    border = moment.now - timedelta(days=RECENT_DAYS)
    return tuple(one for one in conversations if one.ended_at >= border) or tuple(conversations)


def _extended(known: Conversation | None, messages: Sequence[Message], links: Subjects) -> Conversation:
    times = [one.created_at for one in messages]
    last = max(one.seq for one in messages) + 1
    if known is None:
        first = messages[0]
        return Conversation(
            conversation_id=first.conversation_id,
            session_id=first.session_id,
            started_at=min(times),
            ended_at=max(times),
            next_seq=last,
            entity_ids=links.entity_ids,
            topic_ids=links.topic_ids,
            candidate_ids=links.candidate_ids,
            unresolved=links.unresolved,
        )
    return replace(
        known,
        started_at=min(known.started_at, *times),
        ended_at=max(known.ended_at, *times),
        next_seq=max(known.next_seq, last),
        entity_ids=_union(known.entity_ids, links.entity_ids),
        topic_ids=_union(known.topic_ids, links.topic_ids),
        candidate_ids=_union(known.candidate_ids, links.candidate_ids),
        unresolved=_union(known.unresolved, links.unresolved),
    )


def _union(left: tuple[str, ...], right: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*left, *right)))
