"""Chinese dates that a calendar gives: months and their parts, days, quarters, halves, seasons, holidays.

A date without a year is the most recent one that has begun.
"""

from __future__ import annotations

import re
from datetime import date, timedelta

from engram.resolve.temporal.chinese_words import (
    DAY,
    DIGITS,
    MONTH,
    PARTS,
    SEASONS,
    SHIFT,
    TAIL,
    WEEKDAYS,
    YEAR,
    YEARS,
    number,
    offset_of,
)
from engram.resolve.temporal.grammar import Found, Match, Rule
from engram.resolve.temporal.holidays import CHINESE_NAMES, holiday, latest_holiday
from engram.resolve.temporal.periods import LocalCalendar, first_of_next, real_date, shifted


def year_of(match: Match, calendar: LocalCalendar) -> int | None:
    """The year that an expression names, or None where it leaves it open."""
    text = match.groupdict().get("year")
    if not text:
        return None
    if text in YEARS:
        return calendar.today.year + YEARS[text]
    digits = "".join(str(DIGITS.get(character, character)) for character in text[:-1])
    return int(digits) if len(digits) == 4 else 2000 + int(digits)


def within_day(match: Match, calendar: LocalCalendar, day: date) -> Found:
    """A day, narrowed by a part of the day and a clock time where the match has them."""
    groups = match.groupdict()
    part, hour = groups.get("part"), groups.get("hour")
    if hour:
        return clock_of(calendar, day, part, match)
    if part:
        return calendar.part(day, PARTS[part]), "part"
    return calendar.day(day), "day"


def clock_of(calendar: LocalCalendar, day: date, part: str | None, match: Match) -> Found:
    """From one clock time to another, or the hour that begins at the only one."""
    hour, minute = number(match["hour"]), match["minute"]
    if hour > 24:
        return None
    noon = bool(part) and PARTS[part or ""][0] >= 11
    if noon and hour < 12 and not (part == "中午" and hour == 11):
        hour += 12
    minutes = {"半": 30, "一刻": 15, "三刻": 45, None: 0}.get(minute, -1)
    minutes = min(number(minute) if minutes < 0 and minute else max(minutes, 0), 59)
    until, until_minutes = hour + 1, minutes
    if match["upto"]:
        until, until_minutes = number(match["upto"]), 30 if match["upto_half"] else 0
        until += 12 if until <= hour and until <= 12 else 0
    start, end = calendar.at(day, hour, minutes), calendar.at(day, until, until_minutes)
    return ((start, end), "clock") if start < end else None


def _month_shift(match: Match, calendar: LocalCalendar) -> Found:
    year, month = shifted(calendar.today.year, calendar.today.month, offset_of(match["shift"]))
    return _part_of_month(match, calendar, year, month)


def _part_of_month(match: Match, calendar: LocalCalendar, year: int, month: int) -> Found:
    groups = match.groupdict()
    if groups.get("day"):
        day = real_date(year, month, number(groups["day"]))
        return within_day(match, calendar, day) if day else None
    third = groups.get("third")
    if not third:
        return calendar.month(year, month), "month"
    edges = {
        "初": (1, 11),
        "上旬": (1, 11),
        "中旬": (11, 21),
        "中": (11, 21),
        "底": (21, 0),
        "末": (21, 0),
        "下旬": (21, 0),
    }
    first, last = edges[third]
    end = date(year, month, last) if last else first_of_next(year, month)
    return calendar.days(date(year, month, first), end), "span"


def _month(match: Match, calendar: LocalCalendar) -> Found:
    month = number(match["month"])
    year = year_of(match, calendar)
    if match["day"] and year is None:
        day = calendar.latest_day(month, number(match["day"]))
        return within_day(match, calendar, day) if day else None
    return _part_of_month(match, calendar, calendar.latest_month(month) if year is None else year, month)


def _month_day(match: Match, calendar: LocalCalendar) -> Found:
    day = calendar.latest_month_day(number(match["day"]))
    return within_day(match, calendar, day) if day else None


def _iso(match: Match, calendar: LocalCalendar) -> Found:
    day = real_date(int(match["y"]), int(match["m"]), int(match["d"]))
    return within_day(match, calendar, day) if day else None


def _whole_year(match: Match, calendar: LocalCalendar) -> Found:
    year = year_of(match, calendar)
    if year is None or not 1900 < year < 2200:
        return None
    part = match["half"]
    if part is None:
        return calendar.year(year), "year"
    months = {
        "上半年": (1, 6),
        "下半年": (7, 6),
        "年初": (1, 2),
        "初": (1, 2),
        "年底": (11, 2),
        "底": (11, 2),
        "年末": (11, 2),
        "末": (11, 2),
        "年中": (6, 2),
    }
    return calendar.months(year, *months[part]), "span"


def _this_half(match: Match, calendar: LocalCalendar) -> Found:
    half = match["half"]
    months = {"上半年": (1, 6), "下半年": (7, 6), "年初": (1, 2), "年底": (11, 2), "年末": (11, 2), "年中": (6, 2)}[
        half
    ]
    year = calendar.today.year if months[0] <= calendar.today.month else calendar.today.year - 1
    return calendar.months(year, *months), "span"


def _quarter(match: Match, calendar: LocalCalendar) -> Found:
    if match["shift"]:
        return calendar.quarter_offset(offset_of(match["shift"])), "quarter"
    which = number(match["quarter"] or match["q"])
    year = year_of(match, calendar)
    if not 1 <= which <= 4:
        return None
    if year is None:
        year = calendar.today.year if 3 * which - 2 <= calendar.today.month else calendar.today.year - 1
    return calendar.quarter(year, which), "quarter"


def _season(match: Match, calendar: LocalCalendar) -> Found:
    year = year_of(match, calendar)
    return calendar.months(calendar.today.year if year is None else year, SEASONS[match["season"]], 3), "season"


def _holiday(match: Match, calendar: LocalCalendar) -> Found:
    name = CHINESE_NAMES[match["name"]]
    year = year_of(match, calendar)
    if year is None and match["shift"]:
        year = _shifted_holiday_year(name, match["shift"], calendar)
    found = latest_holiday(name, calendar.today) if year is None else holiday(name, year)
    if not found:
        return None
    if match["eve"]:
        return calendar.day(found[0] - timedelta(days=1)), "day"
    if match["side"]:
        days = number(match["distance"]) * {"天": 1, "日": 1, "晚": 1}.get(match["distance_unit"], 7)
        first = found[0] - timedelta(days=days) if match["side"] == "前" else found[1]
        return calendar.days(first, first + timedelta(days=days)), "day" if days == 1 else "span"
    return calendar.days(*found), "holiday"


def _day_of_new_year(match: Match, calendar: LocalCalendar) -> Found:
    """大年初三, 正月十五: a day of the first lunar month."""
    which = number(match["lunar"])
    year = year_of(match, calendar)
    first = latest_holiday("spring_day_one", calendar.today) if year is None else holiday("spring_day_one", year)
    if not first or not 1 <= which <= 30:
        return None
    day = first[0] + timedelta(days=which - 1)
    if year is None and day > calendar.today:
        earlier = holiday("spring_day_one", first[0].year - 1)
        day = earlier[0] + timedelta(days=which - 1) if earlier else day
    found = within_day(match, calendar, day)
    return (found[0], "holiday") if found and found[1] == "day" else found


def _week_of_month(match: Match, calendar: LocalCalendar) -> Found:
    """The n-th seven days of a month, the last seven for 最后一周; or the n-th weekday (5月的第二个星期天)."""
    if match["month"]:
        month, named = number(match["month"]), year_of(match, calendar)
        year = calendar.latest_month(month) if named is None else named
    else:
        year, month = shifted(calendar.today.year, calendar.today.month, offset_of(match["shift"]))
    first, after = date(year, month, 1), first_of_next(year, month)
    which = number(match["nth"]) if match["nth"] else -1
    if match["weekday"] and match["weekday"] != "末":
        weekday = WEEKDAYS[match["weekday"]]
        day = first + timedelta(days=(weekday - first.weekday()) % 7, weeks=which - 1)
        if which < 0:
            day = after - timedelta(days=(after.weekday() - weekday - 1) % 7 + 1)
        return (calendar.day(day), "day") if day < after else None
    start = after - timedelta(days=7) if which < 0 else first + timedelta(weeks=which - 1)
    return (calendar.days(start, min(start + timedelta(days=7), after)), "week") if start < after else None


def _day_to_day(match: Match, calendar: LocalCalendar) -> Found:
    """From one day to another of the same month: 3月5-10日."""
    month, first, last = number(match["month"]), number(match["day"]), number(match["last_day"])
    latest = calendar.latest_day(month, first)
    year = year_of(match, calendar) or (latest.year if latest else 0)
    start, end = real_date(year, month, first), real_date(year, month, last)
    if start is None or end is None or end < start:
        return None
    return calendar.days(start, end + timedelta(days=1)), "span"


def _same_day(match: Match, calendar: LocalCalendar) -> Found:
    """去年今天: the day with today's date; 去年这个时候: the month."""
    if match["unit"] == "周":
        return calendar.day(calendar.today + timedelta(weeks=offset_of(match["shift"]))), "day"
    year = year_of(match, calendar)
    months = 12 * (year - calendar.today.year) if year is not None else offset_of(match["shift"])
    if match["time"]:
        return calendar.month_offset(months), "month"
    return calendar.day(calendar.months_back(-months)), "day"


def _shifted_holiday_year(name: str, shift: str, calendar: LocalCalendar) -> int:
    latest = latest_holiday(name, calendar.today)
    year = latest[0].year if latest else calendar.today.year
    return year + 1 if shift.startswith("下") else year


_HOLIDAY = "|".join(sorted((re.escape(name) for name in CHINESE_NAMES), key=len, reverse=True))
_THIRD = r"(?P<third>上旬|中旬|下旬|初|中|底|末)"
_LUNAR = r"(?P<lunar>(?:三十|二?十[一二三四五六七八九]|二十|廿[一二三四五六七八九]|[一二三四五六七八九十]))"
DATE_RULES: tuple[Rule, ...] = (
    Rule(rf"{SHIFT}(?:个)?月(?:份)?(?:的)?(?:{DAY}{TAIL}|{_THIRD})?(?![饼球亮票季光薪经])", _month_shift),
    Rule(rf"(?:{YEAR})?{MONTH}(?:的)?(?:{DAY}{TAIL}|{_THIRD})?", _month, "year"),
    Rule(rf"(?:{YEAR})?{MONTH}(?:的)?(?P<day>\d{{1,2}})[到至~—-](?P<last_day>\d{{1,2}})(?:号|日)", _day_to_day, "year"),
    Rule(
        rf"(?:(?:{YEAR})?{MONTH}|{SHIFT}(?:个)?月)(?:的)?(?:第(?P<nth>[一二三四五1-5])|最后一)(?:个)?"
        rf"(?:周(?P<weekday>[一二三四五六日天](?=$|的|那|聊|说|去))?|(?:星期|礼拜)(?!期))",
        _week_of_month,
        "year",
    ),
    Rule(
        rf"(?:(?:{YEAR})?{MONTH}|{SHIFT}(?:个)?月)(?:的)?(?:第(?P<nth>[一二三四五1-5])|最后一)个"
        rf"(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天])",
        _week_of_month,
        "year",
    ),
    Rule(rf"(?<!月){DAY}(?!线|楼|院|店|文|语|元|常|期|程|子|报|本){TAIL}", _month_day, "month"),
    Rule(rf"(?<!\d)(?P<y>(?:19|20)\d\d)[-/.年](?P<m>\d{{1,2}})[-/.月](?P<d>\d{{1,2}})(?:日|号)?(?!\d){TAIL}", _iso),
    Rule(rf"(?<!\d){YEAR}(?P<half>上半年|下半年|年初|年底|年末|年中|初|底|末)?", _whole_year),
    Rule(
        rf"(?:{YEAR}|{SHIFT}(?:个)?(?P<unit>周|月))(?:的)?(?:今天|今日|同一天|(?P<time>这个时候|这会儿|这时候|此时|同期))",
        _same_day,
    ),
    Rule(r"(?<![去今前明后\d年])(?P<half>上半年|下半年|年初|年底|年末|年中)", _this_half, "year"),
    Rule(rf"(?:{YEAR})?(?:{SHIFT}(?:个)?季度|第?(?P<quarter>[一二三四1-4])季度|q(?P<q>[1-4]))", _quarter, "year"),
    Rule(rf"{YEAR}(?P<season>[春夏秋冬])(?:天|季)?", _season),
    Rule(r"(?P<season>[春夏秋冬])[天季]", _season, "year"),
    Rule(
        rf"(?:{YEAR}|{SHIFT}(?:个)?)?(?P<name>{_HOLIDAY})(?:假期|长假|当天|期间)?(?:(?P<eve>前一[天晚日]|前夜|前夕)|"
        rf"(?P<side>前|后)(?:的)?(?P<distance>[一两三])(?:个)?(?P<distance_unit>天|日|周|星期|礼拜))?",
        _holiday,
        "year",
    ),
    Rule(rf"(?:{YEAR})?(?:农历)?(?:大年初|正月初?){_LUNAR}{TAIL}", _day_of_new_year, "year"),
)
