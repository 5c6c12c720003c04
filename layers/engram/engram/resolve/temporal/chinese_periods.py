"""Chinese expressions of time: 上周五, 三天前, 去年国庆, 8月20号下午三点, 过去7天.

Each rule is a pattern and a function from its match to a range; the longest match at a place wins.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from functools import lru_cache

from engram.resolve.temporal.holidays import CHINESE_NAMES, holiday, latest_holiday
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

NUMBER = r"(?:\d{1,4}|[一二两三四五六七八九十百半]{1,4})"
_DIGITS = {character: value for value, character in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0}
_YEARS = {"大前年": -3, "前年": -2, "去年": -1, "上年": -1, "今年": 0, "本年": 0, "明年": 1, "后年": 2}
_DAYS = {
    "大前天": -3, "前天": -2, "前日": -2, "昨天": -1, "昨日": -1, "昨儿": -1, "今天": 0, "今日": 0, "今儿": 0,
    "明天": 1, "明日": 1, "明儿": 1, "后天": 2, "大后天": 3,
}  # fmt: skip
_PARTS: dict[str, tuple[int, int]] = {
    "凌晨": (0, 6), "清晨": (6, 12), "早晨": (6, 12), "早上": (6, 12), "一早": (6, 12), "上午": (6, 12), "早": (6, 12),
    "中午": (11, 14), "午后": (12, 18), "下午": (12, 18), "傍晚": (18, 24), "晚上": (18, 24), "夜里": (18, 24),
    "晚间": (18, 24), "夜晚": (18, 24), "半夜": (0, 6), "晚": (18, 24),
}  # fmt: skip
_SEASONS = {"春": 3, "夏": 6, "秋": 9, "冬": 12}
_WEEKDAYS = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6, "末": 7}

_YEAR = r"(?P<year>大前年|前年|去年|上年|今年|本年|明年|后年|(?:19|20)\d\d年)(?:的)?"
_MONTH = r"(?P<month>1[0-2]|0?[1-9]|十[一二]|[一二三四五六七八九十])月(?:份)?"
_PART = rf"(?P<part>{'|'.join(sorted(_PARTS, key=len, reverse=True))})"
_CLOCK = (
    r"(?P<hour>\d{1,2}|十[一二]|[一二两三四五六七八九十])(?:点|[:：])(?P<minute>半|一刻|三刻|"
    r"[一二三四五]?十[一二三四五六七八九]?(?=分)|\d{1,2})?(?:分|钟|整)?"
)
_TAIL = rf"(?:的)?(?:{_PART})?(?:{_CLOCK})?"
_DAY = r"(?P<day>[12]\d|3[01]|0?[1-9]|三十一?|二?十[一二三四五六七八九]?|二十|[一二三四五六七八九])(?:号|日)"
_SHIFT = r"(?P<shift>上上上|上上|下下|上一|这一|下一|上|这|本|下|当)"


def number(text: str) -> int:
    """Value of a small Chinese or Arabic number; 半 is 0."""
    if text.isdigit():
        return int(text)
    total, current = 0, 0
    for character in text:
        if character == "百":
            total, current = total + (current or 1) * 100, 0
        elif character == "十":
            total, current = total + (current or 1) * 10, 0
        else:
            current = _DIGITS.get(character, 0)
    return total + current


def _offset(shift: str) -> int:
    return {"上上上": -3, "上上": -2, "上": -1, "上一": -1, "下": 1, "下一": 1, "下下": 2}.get(shift, 0)


def _year(match: Match, calendar: LocalCalendar) -> int | None:
    text = match.groupdict().get("year")
    if not text:
        return None
    return calendar.today.year + _YEARS[text] if text in _YEARS else int(text[:4])


def _within_day(match: Match, calendar: LocalCalendar, day: date) -> Found:
    """A day, narrowed by a part of the day and a clock time where the match has them."""
    groups = match.groupdict()
    part, hour = groups.get("part"), groups.get("hour")
    if hour:
        return _clock(calendar, day, part, number(hour), groups.get("minute"))
    if part:
        return calendar.part(day, _PARTS[part]), "part"
    return calendar.day(day), "day"


def _clock(calendar: LocalCalendar, day: date, part: str | None, hour: int, minute: str | None) -> Found:
    """The hour that begins at a clock time: an hour-long slot."""
    if hour > 24:
        return None
    if part and _PARTS[part][0] >= 11 and hour < 12 and not (part == "中午" and hour == 11):
        hour += 12
    minutes = {"半": 30, "一刻": 15, "三刻": 45, None: 0}.get(minute, -1)
    minutes = number(minute) if minutes < 0 and minute else max(minutes, 0)
    return (calendar.at(day, hour, min(minutes, 59)), calendar.at(day, hour + 1, min(minutes, 59))), "clock"


def _relative_day(match: Match, calendar: LocalCalendar) -> Found:
    word = match["word"]
    offset = _DAYS[word]
    if offset == -1 and match["part"] in ("晚上", "晚", "夜里", "夜晚") and not match["hour"]:
        return calendar.part(calendar.today - timedelta(days=1), (18, 30)), "part"
    return _within_day(match, calendar, calendar.today + timedelta(days=offset))


def _short_night(match: Match, calendar: LocalCalendar) -> Found:
    day = calendar.today + timedelta(days={"昨": -1, "前": -2, "今": 0, "明": 1, "当": 0}[match["which"]])
    if match["part"] in "晚夜":
        if match["hour"]:
            return _clock(calendar, day, "晚上", number(match["hour"]), match["minute"])
        return calendar.part(day, (18, 30) if match["which"] == "昨" else (18, 24)), "part"
    if match["hour"]:
        return _clock(calendar, day, "早上", number(match["hour"]), match["minute"])
    return calendar.part(day, (6, 12)), "part"


def _weekday(match: Match, calendar: LocalCalendar) -> Found:
    weekday = _WEEKDAYS[match["weekday"]]
    shift = match["shift"]
    if weekday == 7:
        return calendar.weekend(_offset(shift or "这")), "weekend"
    if not shift:
        return _within_day(match, calendar, calendar.latest_weekday(weekday))
    return _within_day(match, calendar, calendar.monday(_offset(shift)) + timedelta(days=weekday))


def _week(match: Match, calendar: LocalCalendar) -> Found:
    return calendar.week(_offset(match["shift"])), "week"


def _month_shift(match: Match, calendar: LocalCalendar) -> Found:
    year, month = shifted(calendar.today.year, calendar.today.month, _offset(match["shift"]))
    return _part_of_month(match, calendar, year, month)


def _part_of_month(match: Match, calendar: LocalCalendar, year: int, month: int) -> Found:
    groups = match.groupdict()
    if groups.get("day"):
        day = real_date(year, month, number(groups["day"]))
        return _within_day(match, calendar, day) if day else None
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
    year = _year(match, calendar)
    if match["day"] and year is None:
        day = calendar.latest_day(month, number(match["day"]))
        return _within_day(match, calendar, day) if day else None
    return _part_of_month(match, calendar, calendar.latest_month(month) if year is None else year, month)


def _month_day(match: Match, calendar: LocalCalendar) -> Found:
    day = calendar.latest_month_day(number(match["day"]))
    return _within_day(match, calendar, day) if day else None


def _iso(match: Match, calendar: LocalCalendar) -> Found:
    day = real_date(int(match["y"]), int(match["m"]), int(match["d"]))
    return _within_day(match, calendar, day) if day else None


def _whole_year(match: Match, calendar: LocalCalendar) -> Found:
    year = _year(match, calendar)
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
    months = {"上半年": (1, 6), "下半年": (7, 6), "年初": (1, 2), "年底": (11, 2), "年中": (6, 2)}[half]
    year = calendar.today.year if months[0] <= calendar.today.month else calendar.today.year - 1
    return calendar.months(year, *months), "span"


def _quarter(match: Match, calendar: LocalCalendar) -> Found:
    if match["shift"]:
        return calendar.quarter_offset(_offset(match["shift"])), "quarter"
    which = number(match["quarter"] or match["q"])
    year = _year(match, calendar)
    if not 1 <= which <= 4:
        return None
    if year is None:
        year = calendar.today.year if 3 * which - 2 <= calendar.today.month else calendar.today.year - 1
    return calendar.quarter(year, which), "quarter"


def _season(match: Match, calendar: LocalCalendar) -> Found:
    year = _year(match, calendar)
    return None if year is None else (calendar.months(year, _SEASONS[match["season"]], 3), "season")


def _holiday(match: Match, calendar: LocalCalendar) -> Found:
    name = CHINESE_NAMES[match["name"]]
    year = _year(match, calendar)
    if year is None and match["shift"]:
        year = _shifted_holiday_year(name, match["shift"], calendar)
    found = latest_holiday(name, calendar.today) if year is None else holiday(name, year)
    if not found:
        return None
    if match["eve"]:
        return calendar.day(found[0] - timedelta(days=1)), "day"
    return calendar.days(*found), "holiday"


def _shifted_holiday_year(name: str, shift: str, calendar: LocalCalendar) -> int:
    latest = latest_holiday(name, calendar.today)
    year = latest[0].year if latest else calendar.today.year
    return year + 1 if shift.startswith("下") else year


def _ago(match: Match, calendar: LocalCalendar) -> Found:
    """The calendar unit that holds the moment N units before now."""
    count, unit = match["count"], match["unit"]
    if unit in ("天", "日"):
        return calendar.day(calendar.today - timedelta(days=number(count))), "day"
    if unit in ("周", "星期", "礼拜"):
        return calendar.week(-number(count)), "week"
    if unit == "月":
        if count == "半":
            return calendar.day(calendar.today - timedelta(days=15)), "day"
        return calendar.month_offset(-number(count)), "month"
    if unit == "年":
        if count == "半":
            return calendar.month_offset(-6), "month"
        return calendar.year(calendar.today.year - number(count)), "year"
    return _hours_ago(calendar, number(count))


def _hours_ago(calendar: LocalCalendar, hours: int) -> Found:
    start, _now = calendar.rolling(hours=hours)
    if start is None:
        return None
    hour = start.replace(minute=0, second=0, microsecond=0)
    return (hour, hour + timedelta(hours=1)), "clock"


def _rolling(match: Match, calendar: LocalCalendar) -> Found:
    count, unit = match["count"], match["unit"]
    amount = number(count) if count else 1
    half = count == "半"
    distances: dict[str, dict[str, int]] = {
        "天": {"days": amount}, "日": {"days": amount}, "周": {"weeks": amount}, "星期": {"weeks": amount},
        "礼拜": {"weeks": amount}, "月": {"days": 15} if half else {"months": amount},
        "年": {"months": 6} if half else {"years": amount}, "小时": {"hours": amount}, "钟头": {"hours": amount},
    }  # fmt: skip
    return calendar.rolling(**distances[unit]), "rolling"


_UNIT = r"(?:个)?(?P<unit>天|日|周|星期|礼拜|月|年|小时|钟头)"
_HOLIDAY = "|".join(sorted((re.escape(name) for name in CHINESE_NAMES), key=len, reverse=True))
_RULES: tuple[tuple[str, Rule], ...] = (
    (rf"(?P<word>{'|'.join(sorted(_DAYS, key=len, reverse=True))}){_TAIL}", _relative_day),
    (rf"(?P<which>[昨前今明当])(?P<part>晚|夜|早|晨)(?!报|餐|饭|会|安|年|期)(?:上)?(?:{_CLOCK})?", _short_night),
    (
        rf"(?:{_SHIFT}(?:个)?)?(?:周|星期|"
        rf"礼拜)(?P<weekday>[一二三四五六日天末])(?![个次些点般直定样共起次]){_TAIL}"
    , _weekday),
    (rf"{_SHIFT}(?:个)?(?:周|星期|礼拜)(?![一二三四五六日天末刊边围年期])", _week),
    (
        rf"{_SHIFT}(?:个)?月(?:份)?(?:的)?(?:{_DAY}{_TAIL}|(?P<third>上旬|中旬|下旬|初|中|底|"
        rf"末))?(?![饼球亮票季光薪经])"
    , _month_shift),
    (rf"(?:{_YEAR})?{_MONTH}(?:的)?(?:{_DAY}{_TAIL}|(?P<third>上旬|中旬|下旬|初|中|底|末))?", _month),
    (rf"(?<!月){_DAY}(?!线|楼|院|店|文|语|元|常|期|程|子|报|本){_TAIL}", _month_day),
    (rf"(?<!\d)(?P<y>(?:19|20)\d\d)[-/.年](?P<m>\d{{1,2}})[-/.月](?P<d>\d{{1,2}})(?:日|号)?(?!\d){_TAIL}", _iso),
    (rf"(?<!\d){_YEAR}(?P<half>上半年|下半年|年初|年底|年末|年中|初|底|末)?", _whole_year),
    (r"(?<![去今前明后\d年])(?P<half>上半年|下半年|年初|年底|年中)", _this_half),
    (rf"(?:{_YEAR})?(?:{_SHIFT}(?:个)?季度|第?(?P<quarter>[一二三四1-4])季度|q(?P<q>[1-4]))", _quarter),
    (rf"{_YEAR}(?P<season>[春夏秋冬])(?:天|季)?", _season),
    (
        rf"(?:{_YEAR}|{_SHIFT}(?:个)?)?(?P<name>{_HOLIDAY})(?:假期|长假|当天|期间)?(?P<eve>前一天|前夜|"
        rf"前夕)?"
    , _holiday),
    (rf"(?P<count>{NUMBER})(?:(?<=半)|(?!月)){_UNIT}(?:之|以)?前", _ago),
    (rf"(?:过去|最近|近|这|前)(?:的|这)?(?P<count>{NUMBER}){_UNIT}(?:内|里|来|以来)?", _rolling),
    (r"(?:过去|最近|近)(?:的)?(?P<count>一)?(?:个)?(?P<unit>周|星期|礼拜|月|年)(?:内|里|来|以来)?", _rolling),
)  # fmt: skip


@lru_cache(maxsize=1)
def _compiled() -> tuple[tuple[re.Pattern[str], Rule], ...]:
    return tuple((re.compile(pattern), rule) for pattern, rule in _RULES)


def chinese_periods(text: str, calendar: LocalCalendar) -> Iterator[Period]:
    """All expressions found, overlapping ones too; borders and senses are not looked at. `text` is folded."""
    for pattern, rule in _compiled():
        for match in pattern.finditer(text):
            if not match.group():
                continue
            found = within_calendar(rule, match, calendar)
            if found is not None:
                (start, end), unit = found
                yield Period(match.start(), match.end(), start, end, unit, ago=rule is _ago)
