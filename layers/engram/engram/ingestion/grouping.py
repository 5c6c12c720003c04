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
    most: int | None = None,
) -> Placement:
    """Puts messages said at `times` into conversations.

    Args:
        present: the conversation that the session is in, or the one the caller names.
        gap: silence in either direction that ends a conversation (a back-dated import may be older than what
            is there); None never splits, because the caller named the conversation.
        new_id: the id of the n-th conversation opened here, counted from 0.
        most: conversations that may be opened. Where `gap` would open more, only the longer silences end one: a
            history of one message a day has to fit into one transaction as well.
    """

    def ends(conversation: Conversation, position: int) -> bool:
        return gap is not None and not _joins(conversation, times[position], gap)

    placement = _placed(times, session_id=session_id, present=present, ends=ends, new_id=new_id)
    if most is None or len(placement.opened) <= most:
        return placement
    opened = {one.conversation_id for one in placement.opened}
    starts = [at for at, (conversation, seq) in enumerate(placement.places) if seq == 0 and conversation in opened]
    kept = _longest(times, starts, most)
    return _placed(
        times, session_id=session_id, present=present, ends=lambda _, position: position in kept, new_id=new_id
    )


def _longest(times: Sequence[datetime], starts: Sequence[int], most: int) -> frozenset[int]:
    """`most` of the starts: the first message, then what follows the longest silences; of equal ones, evenly spread."""
    silence = {at: abs(times[at] - times[at - 1]) if at else timedelta.max for at in starts}
    ranked = sorted(starts, key=lambda at: silence[at], reverse=True)
    least = silence[ranked[most - 1]]
    longer = [at for at in starts if silence[at] > least]
    equal = [at for at in starts if silence[at] == least]
    room = most - len(longer)
    return frozenset((*longer, *(equal[number * len(equal) // room] for number in range(room))))


def _placed(
    times: Sequence[datetime],
    *,
    session_id: str,
    present: Conversation | None,
    ends: Callable[[Conversation, int], bool],
    new_id: Callable[[int], str],
) -> Placement:
    places: list[tuple[str, int]] = []
    states: dict[str, Conversation] = {}
    current = present
    if present is not None:
        states[present.conversation_id] = present
    opened: list[str] = []
    for position, at in enumerate(times):
        if current is None or ends(current, position):
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
