"""Which conversation a message belongs to: a run of one session's messages without a long silence. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from engram.domain.models import Conversation


@dataclass(frozen=True, slots=True)
class Placement:
    """Where messages go.

    Attributes:
        places: (conversation id, seq) per message, in order.
        opened, continued: conversations as they are after the messages; continued ones one version up.
    """

    places: tuple[tuple[str, int], ...]
    opened: tuple[Conversation, ...]
    continued: tuple[Conversation, ...]


def place(
    times: Sequence[datetime],
    *,
    session_id: str,
    present: Conversation | None,
    gap: timedelta | None,
    new_id: Callable[[int], str],
) -> Placement:
    """Puts messages said at `times` into conversations.

    Args:
        present: the conversation that the session is in, or the one the caller names.
        gap: silence in either direction that ends a conversation (a back-dated import may be older than what
            is there); None never splits, because the caller named the conversation.
        new_id: the id of the n-th conversation opened here, counted from 0.
    """
    places: list[tuple[str, int]] = []
    states: dict[str, Conversation] = {}
    current = present
    if present is not None:
        states[present.conversation_id] = present
    opened: list[str] = []
    for at in times:
        if current is None or (gap is not None and not _joins(current, at, gap)):
            identifier = new_id(len(opened))
            current = Conversation(identifier, session_id, started_at=at, ended_at=at, next_seq=0)
            opened.append(identifier)
        places.append((current.conversation_id, current.next_seq))
        current = replace(
            current,
            started_at=min(current.started_at, at),
            ended_at=max(current.ended_at, at),
            next_seq=current.next_seq + 1,
        )
        states[current.conversation_id] = current
    continued: tuple[Conversation, ...] = ()
    if present is not None and states[present.conversation_id] is not present:
        continued = (replace(states[present.conversation_id], version=present.version + 1),)
    return Placement(tuple(places), tuple(states[one] for one in opened), continued)


def _joins(conversation: Conversation, at: datetime, gap: timedelta) -> bool:
    return conversation.started_at - gap < at < conversation.ended_at + gap
