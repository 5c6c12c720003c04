"""English expressions of time: last Friday evening, two weeks ago, on April 27th, over the past 10 days, Q2 2024.

Each rule is a pattern and a function from its match to a range; the longest match at a place wins.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from functools import lru_cache

from engram.resolve.temporal.english_dates import DATE_RULES, offset_of, within_day
from engram.resolve.temporal.english_words import (
    CLOCK,
    COMING,
    NEXT,
    NUMBER,
    NUMBERS,
    PART,
    PARTS,
    SHIFT,
    TAIL,
    THIS,
    WEEKDAY,
    WEEKDAYS,
    names_of,
)
from engram.resolve.temporal.grammar import Compiled, Found, Match, Rule, compiled, periods_in
from engram.resolve.temporal.periods import LocalCalendar, Period


def count_of(text: str) -> int:
    """Value of a number as digits or as a word; one where there is none."""
    return int(text) if text.isdigit() else NUMBERS[text] if text else 1


def _relative_day(match: Match, calendar: LocalCalendar) -> Found:
    offset = {"the day before yesterday": -2, "day before yesterday": -2, "yesterday": -1, "today": 0, "tomorrow": 1,
              "the day after tomorrow": 2, "day after tomorrow": 2}[match["word"]]  # fmt: skip
    day = calendar.today + timedelta(days=offset)
    if offset == -1 and match["part"] == "night" and not match["hour"]:
        return calendar.part(day, (18, 30)), "part"
    return within_day(match, calendar, day)


def _part_of_today(match: Match, calendar: LocalCalendar) -> Found:
    word = match["word"]
    if word == "last night":
        return calendar.part(calendar.today - timedelta(days=1), (18, 30)), "part"
    if word == "last evening":
        return calendar.part(calendar.today - timedelta(days=1), (18, 24)), "part"
    return calendar.part(calendar.today, PARTS.get(word.removeprefix("this "), (18, 24))), "part"


def _night_before_last(match: Match, calendar: LocalCalendar) -> Found:
    return calendar.part(calendar.today - timedelta(days=2), (18, 30)), "part"


def _weekday(match: Match, calendar: LocalCalendar) -> Found:
    weekday, shift = WEEKDAYS[match["weekday"]], match["shift"]
    if match["week"]:
        day = calendar.monday(offset_of(match["week"])) + timedelta(days=weekday)
    elif shift in COMING:
        day = calendar.monday() + timedelta(days=weekday)
        day += timedelta(days=7 if day <= calendar.today else 0)
    elif shift in NEXT:
        day = calendar.monday(1) + timedelta(days=weekday)
    elif shift in THIS:
        day = calendar.monday() + timedelta(days=weekday)
    elif shift is None:
        day = calendar.latest_weekday(weekday)
    else:
        day = calendar.latest_weekday(weekday, before_today=True)
    return within_day(match, calendar, day)


def _weekdays_ago(match: Match, calendar: LocalCalendar) -> Found:
    last = calendar.latest_weekday(WEEKDAYS[match["weekday"]], before_today=True)
    return calendar.day(last - timedelta(weeks=count_of(match["count"]) - 1)), "day"


def _shifted_unit(match: Match, calendar: LocalCalendar) -> Found:
    offset, unit = offset_of(match["shift"]), match["unit"]
    if match["before"]:
        offset -= 1
    if match["shift"] in ("past", "this past") and unit != "weekend":
        distances: dict[str, dict[str, int]] = {
            "week": {"weeks": 1}, "month": {"months": 1}, "year": {"years": 1}, "quarter": {"months": 3},
            "fortnight": {"weeks": 2},
        }  # fmt: skip
        return calendar.rolling(**distances[unit]), "rolling"
    return _unit_at(calendar, unit, offset)


def _unit_at(calendar: LocalCalendar, unit: str, offset: int) -> Found:
    if unit == "week":
        return calendar.week(offset), "week"
    if unit == "weekend":
        return calendar.weekend(offset), "weekend"
    if unit == "month":
        return calendar.month_offset(offset), "month"
    if unit == "quarter":
        return calendar.quarter_offset(offset), "quarter"
    if unit == "year":
        return calendar.year(calendar.today.year + offset), "year"
    return calendar.days(calendar.monday(2 * offset), calendar.monday(2 * offset + 2)), "week"


def _weekend(match: Match, calendar: LocalCalendar) -> Found:
    """The weekend that has begun most recently."""
    return calendar.weekend(0 if calendar.today.weekday() >= 5 else -1), "weekend"


def _before_last(match: Match, calendar: LocalCalendar) -> Found:
    return _unit_at(calendar, match["unit"], -2)


def _ago(match: Match, calendar: LocalCalendar) -> Found:
    """The calendar unit that holds the moment N units before now."""
    count, unit = count_of(match["count"]), match["unit"]
    if unit == "day":
        return within_day(match, calendar, calendar.today - timedelta(days=count))
    if unit == "night":
        return calendar.part(calendar.today - timedelta(days=count), (18, 30)), "part"
    if unit == "fortnight":
        return calendar.week(-2 * count), "week"
    if unit == "hour":
        return _hour_of(calendar, 60 * count)
    return _unit_at(calendar, unit, -count)


def _half_ago(match: Match, calendar: LocalCalendar) -> Found:
    if match["unit"] == "year":
        return calendar.month_offset(-6), "month"
    return _hour_of(calendar, 30)


def _hour_of(calendar: LocalCalendar, minutes: int) -> Found:
    """The hour on the clock that holds the moment so many minutes before now."""
    start, _now = calendar.rolling(minutes=minutes)
    if start is None:
        return None
    hour = start.replace(minute=0, second=0, microsecond=0)
    return (hour, hour + timedelta(hours=1)), "clock"


def _rolling(match: Match, calendar: LocalCalendar) -> Found:
    count, unit = count_of(match["count"]), match["unit"]
    distances: dict[str, dict[str, int]] = {
        "day": {"days": count}, "night": {"days": count}, "week": {"weeks": count}, "month": {"months": count},
        "year": {"years": count}, "hour": {"hours": count}, "fortnight": {"weeks": 2 * count},
        "quarter": {"months": 3 * count},
    }  # fmt: skip
    if unit == "weekend":
        return None
    return calendar.rolling(**distances[unit]), "rolling"


def _and_a_half_ago(match: Match, calendar: LocalCalendar) -> Found:
    """The month that holds the moment N and a half years before now; the day, for months and weeks and a half."""
    count, unit = count_of(match["count"]), match["unit"]
    if unit == "year":
        return calendar.month_offset(-12 * count - 6), "month"
    days = {"month": 15, "week": 3}[unit]
    whole = calendar.months_back(count) if unit == "month" else calendar.today - timedelta(weeks=count)
    return calendar.day(whole - timedelta(days=days)), "day"


def _this_time(match: Match, calendar: LocalCalendar) -> Found:
    """The day that lies one unit before today; what was then, without a day, is the month a year ago."""
    unit, last = match["unit"], match["shift"]
    if unit == "year" and match["time"]:
        return calendar.month_offset(-12 if last == "last" else 12), "month"
    sign = -1 if last == "last" else 1
    if unit == "week":
        return calendar.day(calendar.today + timedelta(weeks=sign)), "day"
    return calendar.day(calendar.months_back(-sign * (12 if unit == "year" else 1))), "day"


def _from_now(match: Match, calendar: LocalCalendar) -> Found:
    count, unit = count_of(match["count"]), match["unit"]
    return (
        (calendar.day(calendar.today + timedelta(days=count)), "day")
        if unit == "day"
        else _unit_at(calendar, unit, count)
    )


_WHOLE = r"(?P<unit>week|weekend|month|quarter|year|fortnight)"
_UNIT = r"(?P<unit>day|night|week|weekend|month|quarter|year|fortnight|hour)s?"
_RULES: tuple[Rule, ...] = (
    Rule(
        rf"\b(?P<word>(?:the )?day before yesterday|(?:the )?day after tomorrow|yesterday|today|tomorrow){TAIL}(?!\w)",
        _relative_day,
    ),
    Rule(rf"\b(?:{CLOCK}|(?:at )?{PART})(?: on| of)? (?P<word>yesterday|today|tomorrow)\b", _relative_day),
    Rule(rf"\b(?:{CLOCK}|(?:the )?{PART})(?: on| of)? (?P<week>)(?:{SHIFT} )?{WEEKDAY}", _weekday, "week"),
    Rule(rf"\b{NUMBER} (?P<weekday>{names_of(WEEKDAYS)})s ago\b", _weekdays_ago),
    Rule(r"\b(?P<word>this morning|this afternoon|this evening|tonight|last night|last evening)\b", _part_of_today),
    Rule(r"\bthe night before last\b", _night_before_last),
    Rule(rf"\b(?:(?P<week>last|this|next) week(?:'s)? (?:on )?|{SHIFT} )?{WEEKDAY}{TAIL}", _weekday, "week"),
    Rule(rf"\b(?:the )?{SHIFT} {_WHOLE}\b(?P<before> but one)?", _shifted_unit),
    Rule(r"\b(?:over|during|on) the weekend\b", _weekend, "week"),
    Rule(r"\bthe (?P<unit>week|weekend|month|quarter|year) before last\b", _before_last),
    Rule(rf"\b{NUMBER} {_UNIT} (?:ago|back|earlier|prior)\b", _ago, ago=True),
    Rule(rf"\b{NUMBER} (?P<unit>day)s? ago{TAIL}(?!\w)", _ago, ago=True),
    Rule(r"\bhalf an? (?P<unit>year|hour) ago\b", _half_ago, ago=True),
    Rule(rf"\b{NUMBER} and a half (?P<unit>week|month|year)s? (?:ago|back|earlier)\b", _and_a_half_ago, ago=True),
    Rule(r"\b(?P<count>one|a) (?P<unit>week|month|year) and a half (?:ago|back|earlier)\b", _and_a_half_ago, ago=True),
    Rule(
        r"\b(?:(?P<time>this time|the same time|around this time|at this time)|(?:on )?(?:this|the same) (?:very )?day)"
        r" (?P<shift>last|next) (?P<unit>week|month|year)\b",
        _this_time,
    ),
    Rule(rf"\b{NUMBER} (?P<unit>day|week|month|year)s? from (?:now|today)\b", _from_now),
    Rule(rf"\b(?:past|last|previous) {NUMBER} {_UNIT}\b", _rolling),
    Rule(r"\b(?:within |in |over |during )?the (?:past|last) (?P<count>)(?P<unit>hour)\b", _rolling),
    Rule(r"\b(?:over |during |in )?the past (?P<count>)(?P<unit>day)\b", _rolling),
    *DATE_RULES,
)


@lru_cache(maxsize=1)
def _compiled() -> tuple[Compiled, ...]:
    return compiled(_RULES)


def english_periods(text: str, calendar: LocalCalendar) -> Iterator[Period]:
    """All expressions found, overlapping ones too; senses are not looked at. `text` is folded."""
    return periods_in(text, _compiled(), calendar)
