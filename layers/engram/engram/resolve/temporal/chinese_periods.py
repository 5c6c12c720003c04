"""Chinese expressions of time: 上周五, 三天前, 去年国庆, 8月20号下午三点, 过去7天.

Each rule is a pattern and a function from its match to a range; the longest match at a place wins.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from functools import lru_cache

from engram.resolve.temporal.chinese_dates import DATE_RULES, clock_of, within_day
from engram.resolve.temporal.chinese_words import (
    CLOCK,
    DAYS,
    NUMBER,
    PART,
    SHIFT,
    TAIL,
    WEEKDAYS,
    number,
    offset_of,
)
from engram.resolve.temporal.grammar import Compiled, Found, Match, Rule, compiled, periods_in
from engram.resolve.temporal.periods import LocalCalendar, Period


def _relative_day(match: Match, calendar: LocalCalendar) -> Found:
    word = match["word"]
    offset = DAYS[word]
    if offset == -1 and match["part"] in ("晚上", "晚", "夜里", "夜晚") and not match["hour"]:
        return calendar.part(calendar.today - timedelta(days=1), (18, 30)), "part"
    return within_day(match, calendar, calendar.today + timedelta(days=offset))


def _short_night(match: Match, calendar: LocalCalendar) -> Found:
    day = calendar.today + timedelta(days={"昨": -1, "前": -2, "今": 0, "明": 1, "当": 0}[match["which"]])
    if match["part"] in "晚夜":
        if match["hour"]:
            return clock_of(calendar, day, "晚上", match)
        return calendar.part(day, (18, 30) if match["which"] == "昨" else (18, 24)), "part"
    if match["hour"]:
        return clock_of(calendar, day, "早上", match)
    return calendar.part(day, (6, 12)), "part"


def _weekday(match: Match, calendar: LocalCalendar) -> Found:
    weekday = WEEKDAYS[match["weekday"]]
    shift = match["shift"]
    if weekday == 7:
        return calendar.weekend(offset_of(shift or "这")), "weekend"
    if not shift:
        return within_day(match, calendar, calendar.latest_weekday(weekday))
    return within_day(match, calendar, calendar.monday(offset_of(shift)) + timedelta(days=weekday))


def _week(match: Match, calendar: LocalCalendar) -> Found:
    return calendar.week(offset_of(match["shift"])), "week"


def _ago(match: Match, calendar: LocalCalendar) -> Found:
    """The calendar unit that holds the moment N units before now."""
    count, unit = match["count"], match["unit"]
    if unit in ("天", "日"):
        return within_day(match, calendar, calendar.today - timedelta(days=number(count)))
    if unit in ("周", "星期", "礼拜"):
        return calendar.week(-number(count)), "week"
    if unit == "月":
        if count == "半":
            return calendar.day(calendar.today - timedelta(days=15)), "day"
        return calendar.month_offset(-number(count)), "month"
    if unit == "年":
        if count == "半":
            return calendar.month_offset(-6), "month"
        if re.fullmatch(r"(?:19|20)\d\d", count):
            return None  # 2024年以前: a year, not a distance
        return calendar.year(calendar.today.year - number(count)), "year"
    return _hours_ago(calendar, 30 if count == "半" else 60 * number(count))


def _and_a_half_ago(match: Match, calendar: LocalCalendar) -> Found:
    """一年半前: the month that holds that moment; 一个半月前: the day."""
    count = number(match["count"])
    if match["unit"] == "年":
        return calendar.month_offset(-12 * count - 6), "month"
    return calendar.day(calendar.months_back(count) - timedelta(days=15)), "day"


def _hours_ago(calendar: LocalCalendar, minutes: int) -> Found:
    start, _now = calendar.rolling(minutes=minutes)
    if start is None:
        return None
    hour = start.replace(minute=0, second=0, microsecond=0)
    return (hour, hour + timedelta(hours=1)), "clock"


def _rolling(match: Match, calendar: LocalCalendar) -> Found:
    count, unit = match["count"], match["unit"]
    amount = number(count) if count else 1
    half = count == "半"
    distances: dict[str, dict[str, int]] = {
        "天": {"hours": 12} if half else {"days": amount}, "日": {"days": amount},
        "周": {"days": 3} if half else {"weeks": amount}, "星期": {"weeks": amount},
        "礼拜": {"weeks": amount}, "月": {"days": 15} if half else {"months": amount},
        "年": {"months": 6} if half else {"years": amount}, "小时": {"hours": amount}, "钟头": {"hours": amount},
    }  # fmt: skip
    return calendar.rolling(**distances[unit]), "rolling"


_UNIT = r"(?:个)?(?P<unit>天|日|周|星期|礼拜|月|年|小时|钟头)"
_RULES: tuple[Rule, ...] = (
    Rule(rf"(?P<word>{'|'.join(sorted(DAYS, key=len, reverse=True))}){TAIL}", _relative_day),
    Rule(rf"(?P<which>[昨前今明当])(?P<part>晚|夜|早|晨)(?!报|餐|饭|会|安|年|期)(?:上)?(?:{CLOCK})?", _short_night),
    Rule(
        rf"(?:{SHIFT}(?:个)?)?(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天末])(?![个次些点般直定样共起次]){TAIL}",
        _weekday,
        "week",
    ),
    Rule(rf"{SHIFT}(?:个)?(?:周|星期|礼拜)(?![二三四五六日天末刊边围年期]|一(?![共起直样定般些次个点]))", _week),
    Rule(rf"(?P<count>{NUMBER})(?:(?<=半)|(?!月)){_UNIT}(?:之|以)?前", _ago, ago=True),
    Rule(rf"(?P<count>{NUMBER})(?P<unit>天)(?:之|以)?前(?:的)?{PART}(?:{CLOCK})?", _ago, ago=True),
    Rule(r"(?P<count>[一两二三四五六七八九]|\d{1,2})(?:(?P<unit>年)半|个半月)(?:之|以)?前", _and_a_half_ago, ago=True),
    Rule(rf"(?:过去|最近|近|这|前)(?:的|这)?(?P<count>{NUMBER}){_UNIT}(?:内|里|来|以来)?", _rolling),
    Rule(
        r"(?:过去|最近|近)(?:的)?(?P<count>一)?(?:个)?(?P<unit>周|星期|礼拜|月|年)(?!(?<=年)[味轻级龄货纪])(?:内|里|来|以来)?",
        _rolling,
    ),
    *DATE_RULES,
)


@lru_cache(maxsize=1)
def _compiled() -> tuple[Compiled, ...]:
    return compiled(_RULES)


def chinese_periods(text: str, calendar: LocalCalendar) -> Iterator[Period]:
    """All expressions found, overlapping ones too; borders and senses are not looked at. `text` is folded.

    Spaces between numerals and Chinese letters (3 月 5 号) are no part of the grammar.
    """
    gaps = {match.start() for match in _GAP.finditer(text)}
    places = [place for place in range(len(text)) if place not in gaps]
    for period in periods_in("".join(text[place] for place in places), _compiled(), calendar):
        yield replace(period, first=places[period.first], last=places[period.last - 1] + 1)


_GAP = re.compile(r"(?<=\d) (?=[\u4e00-\u9fff])|(?<=[\u4e00-\u9fff]) (?=\d)")
