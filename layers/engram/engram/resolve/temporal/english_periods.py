"""English expressions of time: last Friday evening, two weeks ago, on April 27th, over the past 10 days, Q2 2024.

Each rule is a pattern and a function from its match to a range; the longest match at a place wins.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from functools import lru_cache

from engram.resolve.temporal.holidays import ENGLISH_NAMES, holiday, latest_holiday
from engram.resolve.temporal.periods import (
    LocalCalendar,
    Period,
    Range,
    first_of_next,
    real_date,
    shifted,
    within_calendar,
)

Match = re.Match[str]
Found = tuple[Range, str] | None
Rule = Callable[[Match, LocalCalendar], Found]

_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
            "september sept sep", "october oct", "november nov", "december dec",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
_WEEKDAYS = {
    name: number
    for number, names in enumerate(
        ("monday mon", "tuesday tues tue", "wednesday wed", "thursday thurs thur thu", "friday fri", "saturday sat",
         "sunday sun")
    )
    for name in names.split()
}  # fmt: skip
_PARTS: dict[str, tuple[int, int]] = {
    "early morning": (0, 6), "morning": (6, 12), "noon": (11, 14), "lunchtime": (11, 14), "afternoon": (12, 18),
    "evening": (18, 24), "night": (18, 24),
}  # fmt: skip
_NUMBERS = {
    "a couple of": 2, "a couple": 2, "couple of": 2, "couple": 2, "half a dozen": 6, "a dozen": 12, "an": 1, "a": 1,
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "fifteen": 15,
    "twenty": 20, "thirty": 30, "sixty": 60, "ninety": 90,
}  # fmt: skip
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}
_SEASONS = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}


def _names(table: dict[str, int] | dict[str, str] | dict[str, tuple[int, int]]) -> str:
    return "|".join(sorted((re.escape(name) for name in table), key=len, reverse=True))


_NUMBER = rf"(?P<count>\d{{1,4}}|{_names(_NUMBERS)})"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_MONTH = rf"(?P<month>{_names(_MONTHS)})\b\.?"
_DAY = r"(?P<day>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?\b"
_WEEKDAY = rf"(?P<weekday>{_names(_WEEKDAYS)})\b\.?"
_PART = rf"(?P<part>{_names(_PARTS)})"
_CLOCK = (
    r"(?:(?:at|around|about|by) )?(?P<hour>\d{1,2})(?:[:.](?P<minute>\d\d))? ?(?P<half>am|pm|a\.m\.|p\.m\.|o'clock)"
)
_TAIL = rf"(?:'s)?(?:,? (?:in the |at )?{_PART})?(?:,? {_CLOCK})?"
_SHIFT = r"(?P<shift>last|previous|past|this|next|this past|this coming|coming|current)"
_NEXT = frozenset(("next", "coming", "this coming"))
_THIS = frozenset(("this", "current"))


def count_of(text: str) -> int:
    """Value of a number as digits or as a word."""
    return int(text) if text.isdigit() else _NUMBERS[text]


def _offset(shift: str) -> int:
    return 1 if shift in _NEXT else 0 if shift in _THIS else -1


def _within_day(match: Match, calendar: LocalCalendar, day: date) -> Found:
    groups = match.groupdict()
    if groups.get("hour"):
        hour, minute = int(groups["hour"]), int(groups.get("minute") or 0)
        if groups["half"] in ("pm", "p.m.") and hour < 12:
            hour += 12
        if groups["half"] in ("am", "a.m.") and hour == 12:
            hour = 0
        if hour > 23 or minute > 59:
            return None
        return (calendar.at(day, hour, minute), calendar.at(day, hour + 1, minute)), "clock"
    if groups.get("part"):
        return calendar.part(day, _PARTS[groups["part"]]), "part"
    return calendar.day(day), "day"


def _relative_day(match: Match, calendar: LocalCalendar) -> Found:
    offset = {"the day before yesterday": -2, "day before yesterday": -2, "yesterday": -1, "today": 0, "tomorrow": 1,
              "the day after tomorrow": 2, "day after tomorrow": 2}[match["word"]]  # fmt: skip
    day = calendar.today + timedelta(days=offset)
    if offset == -1 and match["part"] == "night" and not match["hour"]:
        return calendar.part(day, (18, 30)), "part"
    return _within_day(match, calendar, day)


def _part_of_today(match: Match, calendar: LocalCalendar) -> Found:
    word = match["word"]
    if word == "last night":
        return calendar.part(calendar.today - timedelta(days=1), (18, 30)), "part"
    if word == "last evening":
        return calendar.part(calendar.today - timedelta(days=1), (18, 24)), "part"
    return calendar.part(calendar.today, _PARTS.get(word.removeprefix("this "), (18, 24))), "part"


def _night_before_last(match: Match, calendar: LocalCalendar) -> Found:
    return calendar.part(calendar.today - timedelta(days=2), (18, 30)), "part"


def _weekday(match: Match, calendar: LocalCalendar) -> Found:
    weekday, shift = _WEEKDAYS[match["weekday"]], match["shift"]
    if match["week"]:
        day = calendar.monday(_offset(match["week"])) + timedelta(days=weekday)
    elif shift in _NEXT:
        day = calendar.monday(1) + timedelta(days=weekday)
    elif shift in _THIS:
        day = calendar.monday() + timedelta(days=weekday)
    elif shift is None:
        day = calendar.latest_weekday(weekday)
    else:
        day = calendar.latest_weekday(weekday, before_today=True)
    return _within_day(match, calendar, day)


def _weekdays_ago(match: Match, calendar: LocalCalendar) -> Found:
    last = calendar.latest_weekday(_WEEKDAYS[match["weekday"]], before_today=True)
    return calendar.day(last - timedelta(weeks=count_of(match["count"]) - 1)), "day"


def _shifted_unit(match: Match, calendar: LocalCalendar) -> Found:
    offset, unit = _offset(match["shift"]), match["unit"]
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


def _before_last(match: Match, calendar: LocalCalendar) -> Found:
    return _unit_at(calendar, match["unit"], -2)


def _ago(match: Match, calendar: LocalCalendar) -> Found:
    """The calendar unit that holds the moment N units before now."""
    count, unit = count_of(match["count"]), match["unit"]
    if unit == "day":
        return calendar.day(calendar.today - timedelta(days=count)), "day"
    if unit == "night":
        return calendar.part(calendar.today - timedelta(days=count), (18, 30)), "part"
    if unit == "fortnight":
        return calendar.week(-2 * count), "week"
    if unit == "hour":
        start, _now = calendar.rolling(hours=count)
        if start is None:
            return None
        hour = start.replace(minute=0, second=0, microsecond=0)
        return (hour, hour + timedelta(hours=1)), "clock"
    return _unit_at(calendar, unit, -count)


def _half_ago(match: Match, calendar: LocalCalendar) -> Found:
    return calendar.month_offset(-6), "month"


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


def _month(match: Match, calendar: LocalCalendar) -> Found:
    month = _MONTHS[match["month"]]
    groups = match.groupdict()
    year = int(groups["year"]) if groups.get("year") else None
    if groups.get("day"):
        day = real_date(year, month, int(groups["day"])) if year else calendar.latest_day(month, int(groups["day"]))
        return _within_day(match, calendar, day) if day else None
    shift = groups.get("shift")
    if year is None:
        year = _year_of_month(calendar, month, shift)
    return _part_of_month(calendar, year, month, groups.get("third"))


def _year_of_month(calendar: LocalCalendar, month: int, shift: str | None) -> int:
    if shift in _NEXT:
        return calendar.today.year + (month <= calendar.today.month)
    if shift in _THIS:
        return calendar.today.year
    if shift is not None:
        return calendar.today.year - (month >= calendar.today.month)
    return calendar.latest_month(month)


def _part_of_month(calendar: LocalCalendar, year: int, month: int, third: str | None) -> Found:
    if not third:
        return calendar.month(year, month), "month"
    first, last = {"e": (1, 11), "b": (1, 11), "s": (1, 11), "m": (11, 21), "l": (21, 0)}[
        third[0] if third != "end" else "l"
    ]
    end = date(year, month, last) if last else first_of_next(year, month)
    return calendar.days(date(year, month, first), end), "span"


def _third_of_shifted_month(match: Match, calendar: LocalCalendar) -> Found:
    year, month = shifted(calendar.today.year, calendar.today.month, _offset(match["shift"]))
    return _part_of_month(calendar, year, month, match["third"])


def _edge_of_year(match: Match, calendar: LocalCalendar) -> Found:
    year = int(match["year"]) if match["year"] else calendar.today.year + _offset(match["shift"] or "this")
    return calendar.months(year, *((11, 2) if match["third"] in ("end", "late") else (1, 2))), "span"


def _day_of_month(match: Match, calendar: LocalCalendar) -> Found:
    day = calendar.latest_month_day(int(match["day"]))
    return _within_day(match, calendar, day) if day else None


def _numeric(match: Match, calendar: LocalCalendar) -> Found:
    """Month first, as in the United States, unless the first number cannot be a month or the zone is elsewhere."""
    first, second = int(match["a"]), int(match["b"])
    year = int(match["year"]) if match["year"] else None
    if year is not None and year < 100:
        year += 2000
    month_first = second > 12 or (first <= 12 and _counts_months_first(calendar))
    month, day = (first, second) if month_first else (second, first)
    found = real_date(year, month, day) if year else calendar.latest_day(month, day) if 1 <= month <= 12 else None
    return _within_day(match, calendar, found) if found else None


def _counts_months_first(calendar: LocalCalendar) -> bool:
    zone = calendar.zone.key
    return not zone.startswith(
        ("Europe/", "Australia/", "Africa/", "Asia/Kolkata", "Asia/Singapore", "Asia/Dubai", "Pacific/Auckland")
    )


def _iso(match: Match, calendar: LocalCalendar) -> Found:
    day = real_date(int(match["year"]), int(match["m"]), int(match["d"]))
    return _within_day(match, calendar, day) if day else None


def _iso_month(match: Match, calendar: LocalCalendar) -> Found:
    month = int(match["m"])
    return (calendar.month(int(match["year"]), month), "month") if 1 <= month <= 12 else None


def _quarter(match: Match, calendar: LocalCalendar) -> Found:
    which = int(match["q"]) if match["q"] else _ORDINALS[match["ordinal"]]
    if match["year"]:
        return calendar.quarter(int(match["year"]), which), "quarter"
    year = calendar.today.year + (_offset(match["shift"]) if match["shift"] else 0)
    if not match["shift"] and 3 * which - 2 > calendar.today.month:
        year -= 1
    return calendar.quarter(year, which), "quarter"


def _year(match: Match, calendar: LocalCalendar) -> Found:
    return calendar.year(int(match["year"])), "year"


def _season(match: Match, calendar: LocalCalendar) -> Found:
    first = _SEASONS[match["season"]]
    if match["year"]:
        year = int(match["year"])
    else:
        year = calendar.today.year
        begun = first <= calendar.today.month
        if match["shift"] not in _NEXT | _THIS:
            # "last summer" is the most recent one that is over.
            year -= 0 if begun and date(*shifted(year, first, 3), 1) <= calendar.today else 1
        elif match["shift"] in _NEXT:
            year += begun
    return calendar.months(year, first, 3), "season"


def _holiday(match: Match, calendar: LocalCalendar) -> Found:
    name = ENGLISH_NAMES[match["name"]]
    shift = match["shift"]
    if match["year"]:
        found = holiday(name, int(match["year"]))
    elif shift in _NEXT:
        latest = latest_holiday(name, calendar.today)
        found = holiday(name, latest[0].year + 1) if latest else None
    elif shift in _THIS:
        found = holiday(name, calendar.today.year)
    else:
        found = latest_holiday(name, calendar.today)
    return (calendar.days(*found), "holiday") if found else None


_WHOLE = r"(?P<unit>week|weekend|month|quarter|year|fortnight)"
_UNIT = r"(?P<unit>day|night|week|weekend|month|quarter|year|fortnight|hour)s?"
_THIRD = r"(?:the )?(?P<third>early|mid|late|beginning|start|middle|end)(?: of |-| )"
_RULES: tuple[tuple[str, Rule], ...] = (
    (
        rf"\b(?P<word>(?:the )?day before yesterday|(?:the )?day after tomorrow|yesterday|today|"
        rf"tomorrow){_TAIL}\b"
    , _relative_day),
    (rf"\b{_CLOCK} (?:on )?(?P<word>yesterday|today|tomorrow)\b(?P<part>)", _relative_day),
    (rf"\b{_CLOCK} (?:on )?(?P<week>)(?:{_SHIFT} )?{_WEEKDAY}", _weekday),
    (rf"\b{_NUMBER} (?P<weekday>{_names(_WEEKDAYS)})s ago\b", _weekdays_ago),
    (r"\b(?P<word>this morning|this afternoon|this evening|tonight|last night|last evening)\b", _part_of_today),
    (r"\bthe night before last\b", _night_before_last),
    (rf"\b(?:(?P<week>last|this|next) week(?:'s)? (?:on )?|{_SHIFT} )?{_WEEKDAY}{_TAIL}", _weekday),
    (rf"\b(?:the )?{_SHIFT} {_WHOLE}\b(?P<before> but one)?", _shifted_unit),
    (r"\bthe (?P<unit>week|weekend|month|quarter|year) before last\b", _before_last),
    (rf"\b{_NUMBER} {_UNIT} (?:ago|back|earlier|prior)\b", _ago),
    (r"\bhalf a year ago\b", _half_ago),
    (rf"\b(?:past|last|previous) {_NUMBER} {_UNIT}\b", _rolling),
    (rf"\b{_MONTH} {_DAY}(?!:)(?:,? {_YEAR})?{_TAIL}", _month),
    (rf"\b(?:the )?{_DAY} (?:of )?{_MONTH}(?:,? {_YEAR})?{_TAIL}", _month),
    (rf"\b(?:{_THIRD})?(?:{_SHIFT} )?{_MONTH}(?:,? (?:of )?{_YEAR}\b)?", _month),
    (rf"\b{_THIRD}(?P<shift>last|this|next|the) month\b", _third_of_shifted_month),
    (rf"\b{_THIRD}(?:(?P<shift>last|this|next|the) year|{_YEAR})\b", _edge_of_year),
    (
        rf"\bthe (?P<day>[12]\d|3[01]|[1-9])(?:st|nd|rd|th)\b(?! (?:floor|century|grade|birthday|time|"
        rf"edition|place|anniversary|generation|street|avenue|day|one|amendment|hole|chapter|question|item|"
        rf"step|draft|version)){_TAIL}"
    , _day_of_month),
    (rf"(?<![\d/.-])(?P<a>\d{{1,2}})/(?P<b>\d{{1,2}})(?:/(?P<year>(?:20)?\d\d))?(?![\d/%]){_TAIL}", _numeric),
    (rf"(?<![\d/.-]){_YEAR}[-/.](?P<m>\d{{1,2}})[-/.](?P<d>\d{{1,2}})(?![\d]){_TAIL}", _iso),
    (rf"(?<![\d/.-]){_YEAR}-(?P<m>0[1-9]|1[0-2])(?![\d-])", _iso_month),
    (
        rf"\b(?:{_SHIFT} year's )?(?:q(?P<q>[1-4])|(?:the )?(?P<ordinal>first|second|third|fourth|1st|2nd|"
        rf"3rd|4th) quarter)(?:,? (?:of )?(?:{_YEAR}|(?:this|the) year))?\b"
    , _quarter),
    (
        rf"\b(?:in|from|since|during|of|for|until|before|after|through|throughout|back in|between|and|to|"
        rf"by) (?P<core>{_YEAR})\b(?![-/])"
    , _year),
    (rf"\b{_YEAR}'s\b", _year),
    (rf"\b{_SHIFT} (?P<season>spring|summer|fall|autumn|winter)(?P<year>)\b", _season),
    (rf"\b(?P<shift>)(?P<season>spring|summer|fall|autumn|winter) (?:of )?{_YEAR}\b", _season),
    (rf"\b(?:{_SHIFT} )?(?P<name>{_names(ENGLISH_NAMES)})(?!\w)(?:,? (?:of )?{_YEAR})?", _holiday),
)  # fmt: skip


@lru_cache(maxsize=1)
def _compiled() -> tuple[tuple[re.Pattern[str], Rule], ...]:
    return tuple((re.compile(pattern), rule) for pattern, rule in _RULES)


def english_periods(text: str, calendar: LocalCalendar) -> Iterator[Period]:
    """All expressions found, overlapping ones too; senses are not looked at. `text` is folded."""
    for pattern, rule in _compiled():
        for match in pattern.finditer(text):
            found = within_calendar(rule, match, calendar)
            if found is not None:
                (start, end), unit = found
                first = match.start("core") if "core" in pattern.groupindex else match.start()
                yield Period(first, match.end(), start, end, unit, ago=rule in (_ago, _half_ago))
