"""From a text to one temporal intent: find the cues and ranges, drop what is no time, and let the strongest speak.

Precedence where cues meet: TIME_RANGE, CURRENT_SESSION, ALL_HISTORY, LATEST / EARLIEST, PREVIOUS_RELATED, RECENT.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime

from engram.resolve.models import ResolveContext, Temporal, TemporalIntent
from engram.resolve.sense import opens_sentence
from engram.resolve.temporal.chinese_periods import chinese_periods
from engram.resolve.temporal.connectors import connected, nested
from engram.resolve.temporal.cues import Cue, cues_in
from engram.resolve.temporal.english_periods import english_periods
from engram.resolve.temporal.periods import LocalCalendar, Period
from engram.resolve.temporal.senses import is_time
from engram.text.language import has_han
from engram.text.normalise import NormalisedText, normalise

MAX_LENGTH = 2_000
"""Characters that are read: a question says when at its beginning or its end."""
_ORDER = (
    TemporalIntent.TIME_RANGE,
    TemporalIntent.CURRENT_SESSION,
    TemporalIntent.ALL_HISTORY,
    TemporalIntent.LATEST,
    TemporalIntent.EARLIEST,
    TemporalIntent.PREVIOUS_RELATED,
    TemporalIntent.RECENT,
)

_PAST = re.compile(
    r"[上前]|以前|之前|先前|原先|曾|记得|回|last|previous|prior|before|earlier|remember|remind|recall|once|back"
)
"""What in a cue of earlier talk itself says that it was earlier."""


def read_temporal(query: str, context: ResolveContext) -> Temporal:
    """The temporal intent of a query.

    Args:
        query: as written.
        context: now and the zone of the user; an unknown zone counts as UTC.
    """
    return temporal_of(normalise(query), context)


def temporal_of(text: NormalisedText, context: ResolveContext) -> Temporal:
    """`read_temporal` of a text that is folded already."""
    folded = text.text[:MAX_LENGTH]
    periods = read_periods(folded, LocalCalendar(context.now, context.timezone))
    periods = [period for period in periods if not _spelt_as_title(text, period)]
    cues = [cue for cue in cues_in(folded) if not _within_any(cue, periods)]
    marked = [(item.first, item.last) for item in periods] + [(item.first, item.last) for item in cues]
    spans = sorted({text.span(first, last) for first, last in marked})
    if periods:
        period = narrowest(periods)
        return Temporal(
            TemporalIntent.TIME_RANGE,
            text.as_written(period.first, period.last),
            start=period.start,
            end=period.end,
            axis=axis_of(folded, period, context.now),
            spans=tuple(spans),
        )
    if not cues:
        return Temporal(TemporalIntent.NONE)
    # "Once more" asks for what is on the screen only when nothing else says when.
    firm = [cue for cue in cues if not cue.again] or cues
    if any(cue.intent is TemporalIntent.RECENT for cue in firm):
        # `we have talked about lately`: the verb only says that there was talk.
        firm = [
            c for c in firm if c.intent is not TemporalIntent.PREVIOUS_RELATED or _PAST.search(folded[c.first : c.last])
        ]
    best = min(firm, key=lambda cue: (_ORDER.index(cue.intent), -cue.nth, cue.first))
    return Temporal(best.intent, text.as_written(best.first, best.last), nth=best.nth, spans=tuple(spans))


def _spelt_as_title(text: NormalisedText, period: Period) -> bool:
    """Whether words that need no capital have one, before another word with one: `Tomorrow Never Dies`."""
    first, last = text.span(period.first, period.last)
    original = text.original
    if not _NO_CAPITAL.match(original, first, last) or _mostly_capitals(original):
        return False
    return bool(_CAPITAL_AFTER.match(original, last)) and not opens_sentence(original, first)


def _mostly_capitals(original: str) -> bool:
    """Whether capitals are how the text is written, and say nothing."""
    written: list[str] = _LATIN_WORD.findall(original)
    return 2 * sum(word[0].isupper() for word in written) > len(written)


_LATIN_WORD = re.compile(r"[A-Za-z]+")
_NO_CAPITAL = re.compile(r"Today|Tomorrow|Yesterday|Tonight|Last|Next|This")
_CAPITAL_AFTER = re.compile(
    r"(?:'s)? (?:of (?:the )?)?"
    r"(?!(?:About|With|For|On|In|At|And|I|We|You|He|She|They|My|Our|The|Was|Is)\b)[A-Z][a-z]+"
)


def read_periods(folded: str, calendar: LocalCalendar) -> list[Period]:
    """Ranges named in a folded text, not overlapping, in order; connectors (since, between … and) applied."""
    found = [*chinese_periods(folded, calendar)] if has_han(folded) else []
    if re.search(r"[a-z]{3}|\b[qh][1-4]\b|\d[/.-]\d", folded):
        found += english_periods(folded, calendar)
    # "The past 0 days" are no time.
    found = [one for one in found if one.start is None or one.end is None or one.start < one.end]
    chosen: list[Period] = []
    for period in sorted(found, key=lambda item: (item.first - item.last, item.first)):
        free = not any(period.first < other.last and other.first < period.last for other in chosen)
        if free:
            chosen.append(period)
    chosen.sort(key=lambda item: item.first)
    try:
        return _settled(folded, chosen, calendar)
    except (ValueError, OverflowError):  # arithmetic beyond the years that dates can hold
        return [period for period in chosen if is_time(folded, period)]


def _settled(folded: str, periods: Sequence[Period], calendar: LocalCalendar) -> list[Period]:
    # What is no time at all (Black Friday deals, 五月天) still covers the shorter expressions inside it.
    times = [period for period in nested(folded, periods, calendar) if is_time(folded, period)]
    return connected(folded, times, calendar)


def narrowest(periods: Sequence[Period]) -> Period:
    """The range that says most: of several, the shortest; open ranges last; the first among equals."""

    def length(period: Period) -> float:
        if period.start is None or period.end is None:
            return float("inf")
        return (period.end - period.start).total_seconds()

    return min(periods, key=lambda period: (length(period), period.first))


def _within_any(cue: Cue, periods: Sequence[Period]) -> bool:
    return any(period.first <= cue.first and cue.last <= period.last for period in periods)


_TALKED = re.compile(
    r"聊|说|讨论|谈|提|问|告诉|推荐|你给|给我|发我|发的|记录|对话|写的|"
    r"\b(?:talk|discuss|chat|said|say|told|tell|mention|conversation|ask|recommend|suggest|gave|give|made|wrote|send|sent|log)"
)
_DONE = re.compile(
    r"去|刷|看|吃|玩|做|买|跑|旅|住|参加|拍|爬|\b(?:doing|did|do|went|go|trip|visit|ate|eat|watch|bought|ran|met|happen)"
)


def axis_of(folded: str, period: Period, now: datetime) -> str:
    """Whether a range is about when it was said (`message`), when it happens (`event`), or may be either."""
    rest = folded[: period.first] + " " + folded[period.last :]
    if period.start is not None and period.start > now:
        return "event"
    if _TALKED.search(rest):
        return "message"
    if _DONE.search(rest) and not period.ago and period.unit not in ("day", "rolling", "weekend"):
        return "event"
    if period.ago or period.unit in ("day", "part", "clock", "rolling"):
        return "message"
    return "either"
