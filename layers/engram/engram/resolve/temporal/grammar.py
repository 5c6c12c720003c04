"""Rules of time: a pattern over the folded text, and what its match means in a calendar.

Expressions that leave their year, month or week open (3月, on Friday) say so with a cycle, and can be read again from
another day: 去年我们3月去的 means March of that year.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from engram.resolve.temporal.periods import LocalCalendar, Period, Range, within_calendar

Match = re.Match[str]
Found = tuple[Range, str] | None
Compiled = tuple[re.Pattern[str], "Rule"]
_ANCHORS = ("year", "shift", "week", "which")
"""Groups of a pattern that say which year, month or week is meant."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One form of expression.

    Attributes:
        pattern: over the folded text; a group `core` bounds the words themselves where the setting is part of it.
        read: the range and its unit, or None where the words mean none.
        cycle: week, month or year, in which the expression comes round if nothing in it says which one.
        ago: said as a distance from now.
    """

    pattern: str
    read: Callable[[Match, LocalCalendar], Found]
    cycle: str = ""
    ago: bool = False


def compiled(rules: Sequence[Rule]) -> tuple[Compiled, ...]:
    return tuple((re.compile(rule.pattern), rule) for rule in rules)


def periods_in(text: str, rules: Sequence[Compiled], calendar: LocalCalendar) -> Iterator[Period]:
    """All expressions found, overlapping ones too; borders and senses are not looked at. `text` is folded."""
    for pattern, rule in rules:
        for match in pattern.finditer(text):
            found = within_calendar(rule.read, match, calendar) if match.group() else None
            if found is None:
                continue
            (start, end), unit = found
            first = match.start("core") if "core" in pattern.groupindex else match.start()
            groups = match.groupdict()
            open_cycle = rule.cycle and not any(groups.get(name) for name in _ANCHORS)
            again = partial(within_calendar, rule.read, match) if open_cycle else None
            cycle = rule.cycle if open_cycle else ""
            yield Period(first, match.end(), start, end, unit, ago=rule.ago, cycle=cycle, again=again)
