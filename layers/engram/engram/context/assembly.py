"""The rendered block: whole lines in order, as many as fit. Arithmetic on stored counts and one join of strings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from engram.context.budget import Budget
from engram.context.templates import EVENT_PLACEHOLDER, PROFILE_PLACEHOLDER, Template

BUDGET = "budget"


class Line(Protocol):
    """A memory as `context.lines` renders it, and its tokens as counted at write time."""

    @property
    def id(self) -> str: ...

    @property
    def text(self) -> str: ...

    @property
    def tokens(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Block:
    """What goes into the system prompt.

    Attributes:
        text: "" if not even the empty template fits.
        total: tokens of `text` (o200k_base): exact for our templates, an upper bound for a caller's own.
        profile, events: tokens of the two sections.
        dropped_profile, dropped_events: ids of lines for which there was no room.
    """

    text: str
    total: int
    profile: int
    events: int
    dropped_profile: tuple[str, ...]
    dropped_events: tuple[str, ...]


def assemble(profile: Sequence[Line], events: Sequence[Line], *, budget: Budget, template: Template) -> Block:
    """Fills the template in order; a line that does not fit is left out whole and a smaller one may follow."""
    room = budget.max_tokens - template.tokens
    if room < 0:
        return Block("", 0, 0, 0, tuple(line.id for line in profile), tuple(line.id for line in events))
    profile_section = _fill(profile, min(budget.profile, room), template, PROFILE_PLACEHOLDER)
    event_room = min(budget.events(profile_section.tokens), room - profile_section.tokens)
    event_section = _fill(events, event_room, template, EVENT_PLACEHOLDER)
    return Block(
        text=template.render(profile_section.text, event_section.text),
        total=template.tokens + profile_section.tokens + event_section.tokens,
        profile=profile_section.tokens,
        events=event_section.tokens,
        dropped_profile=profile_section.dropped,
        dropped_events=event_section.dropped,
    )


@dataclass(frozen=True, slots=True)
class _Section:
    text: str
    tokens: int
    dropped: tuple[str, ...]


def _fill(lines: Sequence[Line], room: int, template: Template, placeholder: str) -> _Section:
    places = template.places(placeholder)
    if not places:
        return _Section("", 0, ())
    texts, dropped = [], []
    used = seam = 0
    for line in lines:
        cost = line.tokens * places
        last_seam = template.seam(line.text, placeholder) if used + cost <= room else 0
        if used + cost + last_seam > room:
            dropped.append(line.id)
            continue
        texts.append(line.text)
        used, seam = used + cost, last_seam
    return _Section("".join(texts), used + seam, tuple(dropped))
