"""Words between and around ranges: since, before, between … and, 3月到5月, the day after Easter.

A month, a day or a weekday that leaves its year, month or week open takes it from the range that it stands in
(去年我们3月去的, March of last year) or that it is joined to (2023年3月到5月).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from engram.resolve.temporal.english_periods import count_of
from engram.resolve.temporal.english_words import NUMBER
from engram.resolve.temporal.periods import LocalCalendar, Period

_CONTAINERS = {"week": ("week",), "month": ("month",), "year": ("year",)}
"""Cycle → units of ranges that hold one round of it."""
_DAYS = {"week": 7, "month": 31, "year": 366}
_INSIDE = re.compile(
    r"(?:,? ?(?:of|in|on|the|de|back|early|late) ?)*|'s |,? | ?的?(?:[我你]们?|咱们?|那个?|在|里|,|，| )*的?"
)
_VERBS = frozenset(("sat", "sun"))
"""Short names of days that are other words beside a week (`where we sat last week`)."""
_NOUN_BETWEEN = re.compile(
    r" (?!(?:for|about|and|or|to|than|with|vs|not|but|from|by|until|before|after|since)\b)[a-z]+ (?:of )?"
)
"""`July 4th barbecue last year`."""

_SINCE = re.compile(r"(?:\bsince |\bever since |\bstarting (?:from |in |on )?|自从?|从)(?:the |early |last )?$")
_SINCE_AFTER = re.compile(
    r"^(?:(?:聊|说|谈|提|讨论|见面|开会)(?:过|完|了)?(?:之后|以后|后)|以来|之后|以后|后|起|开始|至今|"
    r"到现在|到今天|onwards?\b| onwards?\b| until now| to now| till now)"
)
_FROM_NOW = re.compile(r"^(?: (?:until|till|to|through) (?:now|today)| onwards?| on\b(?! (?:the|a)))")
_AFTER = re.compile(r"\bafter (?:the )?$")
_BEFORE = re.compile(r"\b(?:before|prior to|until|up to|till) (?:the )?$")
_BY = re.compile(r"(?:\bby (?:the )?|截[至止到]|直到)$")
_BEFORE_AFTER = re.compile(r"^(?:之前|以前|前)(?![天台后面一年晚])")
_BESIDE = re.compile(rf"\b(?:the |{NUMBER} )(?P<unit>day|night|week|weekend|month)s? (?P<side>before|after) (?:the )?$")
_JOIN = re.compile(r"^\s*(?:到|至|~|-|–|—|to|until|till|through|thru|and|和|跟|与)\s*(?:the )?$")
_FROM = re.compile(r"(?:\bbetween |\bfrom |从|自)(?:the )?$")


def connected(folded: str, periods: Sequence[Period], calendar: LocalCalendar) -> list[Period]:
    """Ranges in order, joined where a connector stands between them and opened on the side that the words say."""
    return [_opened(folded, period, calendar) for period in _joined(folded, periods, calendar)]


def nested(folded: str, periods: Sequence[Period], calendar: LocalCalendar) -> list[Period]:
    """A range that leaves its year, month or week open, beside one that names it: the fifth of last month."""
    result: list[Period] = []
    for period in periods:
        if result:
            left = result[-1]
            between = folded[left.last : period.first]
            for inner, outer in ((left, period), (period, left)):
                close = _INSIDE.fullmatch(between) or (outer is period and _NOUN_BETWEEN.fullmatch(between))
                is_day = folded[inner.first : inner.last] not in _VERBS
                found = _within(inner, outer, calendar) if close and is_day else None
                if found is not None:
                    result[-1] = replace(found, first=left.first, last=period.last)
                    break
            else:
                result.append(period)
            continue
        result.append(period)
    return result


def _within(inner: Period, outer: Period, calendar: LocalCalendar) -> Period | None:
    """`inner` as it falls inside `outer`, where that is one round of its cycle."""
    if outer.end is None or outer.start is None or outer.unit not in _CONTAINERS.get(inner.cycle, ()):
        return None
    found = _seen_from(inner, outer.end - timedelta(days=1), calendar)
    return found if found is not None and found.start is not None and found.start >= outer.start else None


def _seen_from(period: Period, moment: datetime, calendar: LocalCalendar) -> Period | None:
    """A range with an open cycle, as it is read on another day."""
    found = period.again(calendar.as_of(moment.date())) if period.again else None
    if found is None:
        return None
    (start, end), unit = found
    return replace(period, start=start, end=end, unit=unit, cycle="", again=None)


def _joined(folded: str, periods: Sequence[Period], calendar: LocalCalendar) -> list[Period]:
    """Two ranges with a connector between them become one: 3月到5月, between March and May."""
    result: list[Period] = []
    for period in periods:
        if result:
            previous = result[-1]
            between = folded[previous.last : period.first]
            opened = _FROM.search(folded[: previous.first])
            if _JOIN.match(between) and (opened or between.strip() not in ("and", "和", "跟", "与", "")):
                span = _span_of(previous, period, calendar)
                result[-1] = replace(span, first=opened.start()) if opened else span
                continue
        result.append(period)
    return result


def _span_of(left: Period, right: Period, calendar: LocalCalendar) -> Period:
    """From the start of one range to the end of the other; the one that is open follows the one that is not."""
    if right.cycle and left.start is not None and (not left.cycle or left.cycle != right.cycle or left.cycle == "week"):
        last = left.start + timedelta(days=_DAYS[right.cycle] - 1)
        right = _seen_from(right, last, calendar) or right
    elif left.cycle and right.end is not None:
        last = right.end - timedelta(days=1)
        left = _seen_from(left, last, calendar) or left
    start, end = left.start, right.end
    if start is not None and end is not None and start >= end:
        start, end = right.start, left.end  # from 2024 to 2023
    return Period(left.first, right.last, start, end, "span")


def _opened(folded: str, period: Period, calendar: LocalCalendar) -> Period:
    """A range opened on one side by since, after, before and their Chinese kin, which then are words of it."""
    before, after = folded[: period.first], folded[period.last :]
    since, from_after = _SINCE.search(before), _SINCE_AFTER.match(after)
    beside = _BESIDE.search(before)
    if beside:
        return _beside(period, beside, calendar)
    if from_after and not after.startswith("后天"):
        exclusive = from_after.group().endswith(("之后", "以后", "后"))
        start = period.end if exclusive else period.start
        first = since.start() if since else period.first
        return replace(period, first=first, start=start, end=None, last=period.last + from_after.end())
    if since and ("since" in since.group() or "starting" in since.group() or since.group().startswith("自")):
        return replace(period, first=since.start(), end=None)
    if (origin := _FROM.search(before)) and (until_now := _FROM_NOW.match(after)):
        return replace(period, first=origin.start(), last=period.last + until_now.end(), end=None)
    if found := _AFTER.search(before):
        return replace(period, first=found.start(), start=period.end, end=None)
    if found := _BY.search(before):
        return replace(period, first=found.start(), start=None)
    if found := _BEFORE.search(before):
        return replace(period, first=found.start(), start=None, end=period.start)
    if found := _BEFORE_AFTER.match(after):
        return replace(period, last=period.last + found.end(), start=None, end=period.start)
    return period


def _beside(period: Period, beside: re.Match[str], calendar: LocalCalendar) -> Period:
    """The day before Christmas, the week after Easter, two days before the 5th."""
    if period.start is None or period.end is None:
        return period
    first, last = period.start.date(), (period.end - timedelta(microseconds=1)).date()
    count, unit = count_of(beside["count"] or ""), beside["unit"]
    days = {"week": 7, "month": 30}.get(unit, 1)
    if beside["side"] == "before":
        start = first - timedelta(days=days * count)
    else:
        start = last + timedelta(days=1 + days * (count - 1))
    start_at, end_at = calendar.days(start, start + timedelta(days=days))
    return replace(period, first=beside.start(), start=start_at, end=end_at, unit="span", cycle="", again=None)
