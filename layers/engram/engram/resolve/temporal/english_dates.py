"""English dates that a calendar gives: months and their parts, days, quarters, halves, seasons, holidays.

A date without a year is the most recent one that has begun.
"""

from __future__ import annotations

from datetime import date, timedelta

from engram.resolve.temporal.english_words import (
    DAY,
    DAY_WORDS,
    MONTH,
    MONTHS,
    NEXT,
    OF,
    ORDINALS,
    PART,
    PARTS,
    SEASONS,
    SHIFT,
    TAIL,
    THIS,
    WEEKDAY,
    WEEKDAYS,
    YEAR,
    names_of,
)
from engram.resolve.temporal.grammar import Found, Match, Rule
from engram.resolve.temporal.holidays import ENGLISH_NAMES, holiday, latest_holiday
from engram.resolve.temporal.periods import LocalCalendar, first_of_next, real_date, shifted


def offset_of(shift: str) -> int:
    """Units from the present one that last, this and next speak of."""
    return 1 if shift in NEXT else 0 if shift in THIS else -1


def day_of(text: str) -> int:
    """Number of a day of the month, in digits or as an ordinal word."""
    return int(text) if text.isdigit() else DAY_WORDS[text]


def within_day(match: Match, calendar: LocalCalendar, day: date) -> Found:
    """A day, narrowed by a part of the day and a clock time where the match has them."""
    groups = match.groupdict()
    if groups.get("hour"):
        return _clock(groups, calendar, day)
    if groups.get("part"):
        return calendar.part(day, PARTS[groups["part"]]), "part"
    return calendar.day(day), "day"


def _clock(groups: dict[str, str | None], calendar: LocalCalendar, day: date) -> Found:
    """From one clock time to another, or the hour that begins at the only one."""
    half, until_half = groups.get("half"), groups.get("upto_half")
    hour = _hour(int(groups["hour"] or 0), half or until_half or _half_of(groups.get("part")))
    minute = int(groups.get("minute") or 0)
    until, until_minute = hour + 1, minute
    if groups.get("upto"):
        until, until_minute = _hour(int(groups["upto"] or 0), until_half), int(groups.get("upto_minute") or 0)
        if until < hour and not half:
            hour -= 12  # 11 to 1pm begins in the morning
    if not (0 <= hour <= 23 and until <= 24 and minute <= 59 and until_minute <= 59):
        return None
    start, end = calendar.at(day, hour, minute), calendar.at(day, until, until_minute)
    return ((start, end), "clock") if start < end else None


def _half_of(part: str | None) -> str | None:
    return "pm" if part and PARTS[part][0] >= 12 else None


def _hour(hour: int, half: str | None) -> int:
    if half in ("pm", "p.m.") and hour < 12:
        return hour + 12
    return 0 if half in ("am", "a.m.") and hour == 12 else hour


def _month(match: Match, calendar: LocalCalendar) -> Found:
    month = MONTHS[match["month"]]
    groups = match.groupdict()
    year = int(groups["year"]) if groups.get("year") else None
    if groups.get("day"):
        number = day_of(groups["day"])
        day = real_date(year, month, number) if year else calendar.latest_day(month, number)
        return within_day(match, calendar, day) if day else None
    shift = groups.get("shift")
    if year is None:
        year = _year_of_month(calendar, month, shift)
    return _part_of_month(calendar, year, month, groups.get("third"))


def _year_of_month(calendar: LocalCalendar, month: int, shift: str | None) -> int:
    if shift in NEXT:
        return calendar.today.year + (month <= calendar.today.month)
    if shift in THIS:
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


def _days(match: Match, calendar: LocalCalendar) -> Found:
    """From one day to another of the same month: June 3-10."""
    month, first, last = MONTHS[match["month"]], day_of(match["day"]), day_of(match["last_day"])
    latest = calendar.latest_day(month, first)
    year = int(match["year"]) if match["year"] else latest.year if latest else 0
    start, end = real_date(year, month, first), real_date(year, month, last)
    if start is None or end is None or end < start:
        return None
    return calendar.days(start, end + timedelta(days=1)), "span"


def _month_named(match: Match, calendar: LocalCalendar) -> tuple[int, int]:
    """Year and month of `month`, `year` or a shift (last month)."""
    if match["month"]:
        month = MONTHS[match["month"]]
        return (int(match["year"]) if match["year"] else calendar.latest_month(month)), month
    return shifted(calendar.today.year, calendar.today.month, offset_of(match["shift"] or "this"))


def _week_of_month(match: Match, calendar: LocalCalendar) -> Found:
    """The n-th seven days of a month; the last seven for the last week."""
    year, month = _month_named(match, calendar)
    which, after = ORDINALS[match["ordinal"]], first_of_next(year, month)
    start = after - timedelta(days=7) if which < 0 else date(year, month, 1) + timedelta(weeks=which - 1)
    return (calendar.days(start, min(start + timedelta(days=7), after)), "week") if start < after else None


def _weekday_of_month(match: Match, calendar: LocalCalendar) -> Found:
    """The second Tuesday of June."""
    year, month = _month_named(match, calendar)
    which, weekday, after = ORDINALS[match["ordinal"]], WEEKDAYS[match["weekday"]], first_of_next(year, month)
    if which < 0:
        day = after - timedelta(days=(after.weekday() - weekday - 1) % 7 + 1)
    else:
        first = date(year, month, 1)
        day = first + timedelta(days=(weekday - first.weekday()) % 7, weeks=which - 1)
    return (calendar.day(day), "day") if day < after else None


def _half(match: Match, calendar: LocalCalendar) -> Found:
    """A half of a year or of a month."""
    second = match["ordinal"] in ("second", "2nd", "latter") if match["ordinal"] else match["h"] == "2"
    if match["month"] or match["unit"] == "month":
        year, month = _month_named(match, calendar)
        middle, after = date(year, month, 16), first_of_next(year, month)
        return calendar.days(*((middle, after) if second else (date(year, month, 1), middle))), "span"
    year = int(match["year"]) if match["year"] else calendar.today.year + offset_of(match["shift"] or "this")
    if not match["year"] and not match["shift"] and second and calendar.today.month < 7:
        year -= 1
    return calendar.months(year, 7 if second else 1, 6), "span"


def _third_of_shifted_month(match: Match, calendar: LocalCalendar) -> Found:
    year, month = shifted(calendar.today.year, calendar.today.month, offset_of(match["shift"]))
    return _part_of_month(calendar, year, month, match["third"])


def _edge_of_year(match: Match, calendar: LocalCalendar) -> Found:
    year = int(match["year"]) if match["year"] else calendar.today.year + offset_of(match["shift"] or "this")
    return calendar.months(year, *((11, 2) if match["third"] in ("end", "late") else (1, 2))), "span"


def _day_of_month(match: Match, calendar: LocalCalendar) -> Found:
    day = calendar.latest_month_day(day_of(match["day"]))
    return within_day(match, calendar, day) if day else None


def _day_of_shifted_month(match: Match, calendar: LocalCalendar) -> Found:
    year, month = shifted(calendar.today.year, calendar.today.month, offset_of(match["shift"]))
    day = real_date(year, month, day_of(match["day"]))
    return within_day(match, calendar, day) if day else None


def _numeric(match: Match, calendar: LocalCalendar) -> Found:
    """Month first, as in the United States, unless the first number cannot be a month or the zone is elsewhere."""
    first, second = int(match["a"]), int(match["b"])
    year = int(match["year"]) if match["year"] else None
    if year is not None and year < 100:
        year += 2000
    month_first = second > 12 or (first <= 12 and _counts_months_first(calendar))
    month, day = (first, second) if month_first else (second, first)
    found = real_date(year, month, day) if year else calendar.latest_day(month, day) if 1 <= month <= 12 else None
    return within_day(match, calendar, found) if found else None


def _counts_months_first(calendar: LocalCalendar) -> bool:
    zone = calendar.zone.key
    return not zone.startswith(
        ("Europe/", "Australia/", "Africa/", "Asia/Kolkata", "Asia/Singapore", "Asia/Dubai", "Pacific/Auckland")
    )


def _iso(match: Match, calendar: LocalCalendar) -> Found:
    day = real_date(int(match["year"]), int(match["m"]), int(match["d"]))
    return within_day(match, calendar, day) if day else None


def _iso_month(match: Match, calendar: LocalCalendar) -> Found:
    month = int(match["m"])
    return (calendar.month(int(match["year"]), month), "month") if 1 <= month <= 12 else None


def _quarter(match: Match, calendar: LocalCalendar) -> Found:
    which = int(match["q"]) if match["q"] else ORDINALS[match["ordinal"]]
    if match["year"]:
        return calendar.quarter(int(match["year"]), which), "quarter"
    year = calendar.today.year + (offset_of(match["shift"]) if match["shift"] else 0)
    if not match["shift"] and 3 * which - 2 > calendar.today.month:
        year -= 1
    return calendar.quarter(year, which), "quarter"


def _year(match: Match, calendar: LocalCalendar) -> Found:
    return calendar.year(int(match["year"])), "year"


def _season(match: Match, calendar: LocalCalendar) -> Found:
    first, shift = SEASONS[match["season"]], match["shift"]
    if match["year"]:
        year = int(match["year"])
    else:
        year = calendar.today.year
        begun = first <= calendar.today.month
        if shift and shift not in NEXT | THIS:
            # "last summer" is the most recent one that is over.
            year -= 0 if begun and date(*shifted(year, first, 3), 1) <= calendar.today else 1
        elif shift in NEXT:
            year += begun
    return calendar.months(year, first, 3), "season"


def _holiday(match: Match, calendar: LocalCalendar) -> Found:
    name = ENGLISH_NAMES[match["name"]]
    shift = match["shift"]
    if match["year"]:
        found = holiday(name, int(match["year"]))
    elif shift in NEXT:
        latest = latest_holiday(name, calendar.today)
        found = holiday(name, latest[0].year + 1) if latest else None
    elif shift in THIS:
        found = holiday(name, calendar.today.year)
    else:
        found = latest_holiday(name, calendar.today)
    return (calendar.days(*found), "holiday") if found else None


_THIRD = r"(?:the )?(?P<third>early|mid|late|beginning|start|middle|end)(?: of |-| )"
_NTH = rf"(?:the )?(?P<ordinal>{names_of(ORDINALS)})"
_OF_MONTH = rf"(?:of|in) (?:{MONTH}(?:,? (?:of )?{YEAR}\b)?|(?:the )?{SHIFT} month\b|the month\b)"
_UPTO = r" ?(?:-|–|—|to|through|thru|until|till) ?(?:the )?(?P<last_day>[12]\d|3[01]|0?[1-9])(?:st|nd|rd|th)?\b"
_UPTO_DAY = rf"{_UPTO}(?! ?(?:[ap]m|[ap]\.m\.|:|{names_of(MONTHS)}))"
_PART_OF = rf"(?:(?:the )?{PART} of (?:the )?)?"
_NO_DAY = (
    r"(?! (?:floor|century|grade|birthday|time|edition|place|anniversary|generation|street|avenue|day|one|amendment|"
    r"hole|chapter|question|item|step|draft|version|(?:to |from )?last\b|most\b|most recent\b))"
)
_NO_QUARTER = r"(?! moon\b| back\b| of the (?:game|match|book|century)\b)"
DATE_RULES: tuple[Rule, ...] = (
    Rule(rf"\b{MONTH} (?:the )?{DAY}(?!:)(?:,? {YEAR})?{TAIL}", _month, "year"),
    Rule(rf"\b(?:the )?{PART} of {MONTH} (?:the )?{DAY}(?!:)(?:,? {YEAR})?", _month, "year"),
    Rule(rf"\b{_PART_OF}(?:the )?{DAY}{OF}{MONTH}(?:,? {YEAR})?(?!\w)", _month, "year"),
    Rule(rf"\b(?:the )?{DAY}{OF}{MONTH}(?:,? {YEAR})?{TAIL}", _month, "year"),
    Rule(rf"\b{MONTH} (?:the )?{DAY}{_UPTO_DAY}(?:,? {YEAR})?", _days, "year"),
    Rule(
        rf"\b(?:the )?{DAY}{_UPTO}(?! ?(?:[ap]m|:)) (?:of )?{MONTH}(?:,? {YEAR})?", _days, "year"
    ),
    Rule(rf"\b(?:{_THIRD})?(?:{SHIFT} )?{MONTH}(?:,? (?:of )?{YEAR}\b)?", _month, "year"),
    Rule(rf"\b{YEAR} {MONTH}(?: {DAY})?", _month),
    Rule(rf"\b{_NTH} week {_OF_MONTH}", _week_of_month, "year"),
    Rule(rf"\b{_NTH} {WEEKDAY} {_OF_MONTH}", _weekday_of_month, "year"),
    Rule(
        rf"\b(?:(?:the )?(?P<ordinal>first|second|1st|2nd|latter) half of|h(?P<h>[12])(?: of)?(?! tag))"
        rf"(?: (?:the|{SHIFT}))?(?: (?:{YEAR}|{MONTH}|(?P<unit>year|month)))\b", _half
    ),
    Rule(rf"\b{_THIRD}(?P<shift>last|this|next|the) month\b", _third_of_shifted_month),
    Rule(rf"\b{_PART_OF}the {DAY} of {SHIFT} month\b", _day_of_shifted_month),
    Rule(rf"\b{_THIRD}(?:(?P<shift>last|this|next|the) year|{YEAR})\b", _edge_of_year),
    Rule(rf"\b{_PART_OF}the (?P<day>[12]\d|3[01]|[1-9])(?:st|nd|rd|th)\b{_NO_DAY}(?!\w)", _day_of_month, "month"),
    Rule(rf"\bthe (?P<day>[12]\d|3[01]|[1-9])(?:st|nd|rd|th)\b{_NO_DAY}{TAIL}", _day_of_month, "month"),
    Rule(
        rf"(?<![\d/.-])(?P<a>\d{{1,2}})/(?P<b>\d{{1,2}})(?:/(?P<year>(?:20)?\d\d))?(?![\d/%]){TAIL}", _numeric, "year"
    ),
    Rule(rf"(?<![\d/.-])(?P<a>\d{{1,2}})\.(?P<b>\d{{1,2}})\.(?P<year>20\d\d)(?![\d.]){TAIL}", _numeric),
    Rule(rf"(?<![\d/.-]){YEAR}[-/.](?P<m>\d{{1,2}})[-/.](?P<d>\d{{1,2}})(?![\d]){TAIL}", _iso),
    Rule(rf"(?<![\d/.-]){YEAR}-(?P<m>0[1-9]|1[0-2])(?![\d-])", _iso_month),
    Rule(rf"(?<![\d/.-])(?P<m>0?[1-9]|1[0-2])/{YEAR}(?![\d/-])", _iso_month),
    Rule(
        rf"\b(?:{SHIFT} year's )?(?:q(?P<q>[1-4])|(?:the )?(?P<ordinal>first|second|third|fourth|1st|2nd|"
        rf"3rd|4th) quarter{_NO_QUARTER})(?:,? (?:of )?(?:{YEAR}|(?:this|the) year))?\b", _quarter, "year"
    ),
    Rule(
        rf"\b(?:in|from|since|during|of|for|until|before|after|through|throughout|back in|between|and|to|"
        rf"by) (?P<core>{YEAR})\b(?![-/])", _year
    ),
    Rule(rf"\b{YEAR}'s\b", _year),
    Rule(rf"\b{SHIFT} (?P<season>spring|summer|fall|autumn|winter)(?P<year>)\b", _season),
    Rule(rf"\b(?P<shift>)(?P<season>spring|summer|fall|autumn|winter) (?:of )?{YEAR}\b", _season),
    Rule(r"\b(?P<shift>)(?P<season>spring|summer|fall|autumn|winter)(?P<year>)\b", _season, "year"),
    Rule(rf"\b{YEAR} (?P<shift>)(?P<name>{names_of(ENGLISH_NAMES)})(?!\w)", _holiday),
    Rule(rf"\b(?:{SHIFT} )?(?P<name>{names_of(ENGLISH_NAMES)})(?!\w)(?:,? (?:of )?{YEAR})?", _holiday, "year"),
)  # fmt: skip
