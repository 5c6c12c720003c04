"""When a sentence says something happens: relative and absolute dates, read from the moment and zone it was said in.

Weeks begin on Monday; 上周五 and "next Friday" are that day of the previous or next calendar week. A bare weekday or
day of the year is the nearest one in the direction of the sentence.
"""

# ruff: noqa: E501  (a pattern reads best on one line)
from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta, tzinfo

_I = re.IGNORECASE
_WEEKDAYS = {name: day for day, names in enumerate((("monday", "mon"), ("tuesday", "tue", "tues"), ("wednesday", "wed"), ("thursday", "thu", "thurs"), ("friday", "fri"), ("saturday", "sat"), ("sunday", "sun"))) for name in names}  # fmt: skip
_WEEKDAY = r"(?P<weekday>monday|tuesday|wednesday|thursday|friday|saturday|sunday)"
_MONTHS = {
    name: number
    for number, names in enumerate(
        ("january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
         "september sept sep", "october oct", "november nov", "december dec"), start=1
    )
    for name in names.split()
}  # fmt: skip
_MONTH = rf"(?P<month>{'|'.join(sorted(_MONTHS, key=len, reverse=True))})"
_COUNT = r"(?P<count>\d{1,3}|an?|one|two|three|four|five|six|seven|eight|nine|ten|a couple of|a few)"
_COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10, "a couple of": 2, "a few": 3, "几": 3}  # fmt: skip
_ZH_DAYS = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6, "末": 5}
_ZH_DIGITS = {
    "零": 0,
    "〇": 0,
    "一": 1,
    "二": 2,
    "两": 2,
    "三": 3,
    "四": 4,
    "五": 5,
    "六": 6,
    "七": 7,
    "八": 8,
    "九": 9,
}
_ZH_COUNT = r"(?P<count>\d{1,3}|[一二两三四五六七八九十几]{1,3})"


@dataclass(frozen=True, slots=True)
class When:
    """A date, how exact it is (`day`, `month`, `year`), and where it stands in the text."""

    day: date
    precision: str
    start: int
    end: int

    def moment(self, zone: tzinfo) -> datetime:
        """Noon there: the same calendar day in nearly every zone it may be shown in."""
        return datetime.combine(self.day, time(12), zone)

    @property
    def text(self) -> str:
        return self.day.isoformat()[: {"day": 10, "month": 7, "year": 4}[self.precision]]


_Read = Callable[[re.Match[str], date, bool], "tuple[date, str] | None"]


def when(text: str, said: date, *, forward: bool) -> When | None:
    """The first date in `text`, or None. `forward`: whether the sentence looks ahead."""
    found = list(_all(text, said, forward))
    return min(found, key=lambda one: (one.start, one.start - one.end)) if found else None


def _all(text: str, said: date, forward: bool) -> Iterator[When]:
    for pattern, read in _GRAMMAR:
        for match in pattern.finditer(text):
            try:
                result = read(match, said, forward)
            except (ValueError, OverflowError):
                continue
            if result is not None:
                yield When(result[0], result[1], *match.span())


def _offset(days: int) -> _Read:
    return lambda match, said, forward: (said + timedelta(days), "day")


def _week_day(weeks: int, day: int | None, said: date) -> tuple[date, str]:
    monday = said - timedelta(said.weekday()) + timedelta(weeks=weeks)
    return monday + timedelta(day or 0), "day"


def _months_on(said: date, months: int) -> date:
    year, month = divmod(said.year * 12 + said.month - 1 + months, 12)
    return date(year, month + 1, 1)


def _number(text: str) -> int:
    text = text.lower()
    if text.isdigit():
        return int(text)
    if text in _COUNTS:
        return _COUNTS[text]
    tens, _, ones = text.partition("十")
    if "十" in text:
        return (_ZH_DIGITS[tens] if tens else 1) * 10 + (_ZH_DIGITS[ones] if ones else 0)
    return _ZH_DIGITS[text]


def _stepped(said: date, count: int, unit: str) -> tuple[date, str]:
    """`count` units from `said`; beyond days, the calendar unit is what is known."""
    if unit.startswith(("day", "天", "日", "night")):
        return said + timedelta(count), "day"
    if unit.startswith(("week", "周", "星期", "个星期", "礼拜", "个礼拜")):
        return said + timedelta(weeks=count), "day"
    if unit.startswith(("month", "个月", "月")):
        return _months_on(said, count), "month"
    return date(said.year + count, 1, 1), "year"


def _nearest_weekday(said: date, day: int, forward: bool) -> date:
    ahead = (day - said.weekday()) % 7
    return said + timedelta(ahead) if forward else said - timedelta((said.weekday() - day) % 7 or 7)


def _nearest_day_of_year(said: date, month: int, day: int, forward: bool) -> date:
    here = date(said.year, month, day)
    if forward:
        return here if here >= said else date(said.year + 1, month, day)
    return here if here <= said else date(said.year - 1, month, day)


def _english_unit(match: re.Match[str], said: date, forward: bool) -> tuple[date, str] | None:
    step = {"last": -1, "past": -1, "previous": -1, "this": 0, "coming": 1, "next": 1}[match["which"].lower()]
    unit = match["unit"].lower()
    if unit in _WEEKDAYS:
        if step < 0:
            return _nearest_weekday(said, _WEEKDAYS[unit], False), "day"
        if match["which"].lower() == "coming":
            return _nearest_weekday(said, _WEEKDAYS[unit], True), "day"
        return _week_day(step, _WEEKDAYS[unit], said)
    if unit == "week":
        return _week_day(step, None, said) if step else (said, "day")
    if unit == "weekend":
        return _week_day(step, 5, said)
    if unit in _MONTHS:
        return _nearest_month(said, _MONTHS[unit], step > 0 or (step == 0 and forward)), "month"
    return (_months_on(said, step), "month") if unit == "month" else (date(said.year + step, 1, 1), "year")


def _nearest_month(said: date, month: int, forward: bool) -> date:
    here = date(said.year, month, 1)
    if forward:
        return here if month >= said.month else date(said.year + 1, month, 1)
    return here if month <= said.month else date(said.year - 1, month, 1)


def _english_day(match: re.Match[str], said: date, forward: bool) -> tuple[date, str] | None:
    month, day = _MONTHS[match["month"].lower()], int(match["day"])
    if match["year"]:
        return date(int(match["year"]), month, day), "day"
    return _nearest_day_of_year(said, month, day, forward), "day"


def _english_month(match: re.Match[str], said: date, forward: bool) -> tuple[date, str] | None:
    month = _MONTHS[match["month"].lower()]
    if match["year"]:
        return date(int(match["year"]), month, 1), "month"
    return _nearest_month(said, month, forward), "month"


def _chinese_week(match: re.Match[str], said: date, forward: bool) -> tuple[date, str] | None:
    steps = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
    day = _ZH_DAYS[match["day"]] if match["day"] else None
    step = steps[match["which"]]
    return (said, "day") if day is None and step == 0 else _week_day(step, day, said)


def _chinese_month(match: re.Match[str], said: date, forward: bool) -> tuple[date, str] | None:
    first = _months_on(said, {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}[match["which"]])
    return (first.replace(day=int(match["day"])), "day") if match["day"] else (first, "month")


def _chinese_day(match: re.Match[str], said: date, forward: bool) -> tuple[date, str] | None:
    years = {"前": -2, "去": -1, "今": 0, "明": 1, "后": 2}
    year = match["year"]
    month = _number(match["month"]) if match["month"] else None
    day = int(match["day"]) if match["day"] else None
    if year is None and month is None:
        return None
    if year is not None:
        number = said.year + years[year] if year in years else int(year)
        precision = "day" if day else "month" if month else "year"
        return date(number, month or 1, day or 1), precision
    assert month is not None
    if day is None:
        return _nearest_month(said, month, forward), "month"
    return _nearest_day_of_year(said, month, day, forward), "day"


def _iso(match: re.Match[str], said: date, forward: bool) -> tuple[date, str] | None:
    return date(int(match["year"]), int(match["month"]), int(match["day"])), "day"


def _counted(sign: int) -> _Read:
    return lambda match, said, forward: _stepped(said, sign * _number(match["count"]), match["unit"].lower())


def _bare_weekday(match: re.Match[str], said: date, forward: bool) -> tuple[date, str] | None:
    name = match["weekday"].lower()
    return _nearest_weekday(said, _WEEKDAYS[name] if name in _WEEKDAYS else _ZH_DAYS[name], forward), "day"


_GRAMMAR: tuple[tuple[re.Pattern[str], _Read], ...] = tuple(
    (re.compile(pattern, _I), read)
    for pattern, read in (
        (r"(?P<year>(?:19|20)\d\d)[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})(?!\d)", _iso),
        (r"\bthe day before yesterday\b|(?<!大)前天", _offset(-2)),
        (r"大前天", _offset(-3)),
        (r"(?<!before )\b(?:yesterday|last night)\b|昨[天晚日]", _offset(-1)),
        (r"\b(?:today|tonight|this (?:morning|afternoon|evening)|just now)\b|今[天晚早日]|刚才", _offset(0)),
        (r"(?<!after )\btomorrow\b|明[天晚早日]", _offset(1)),
        (r"\bthe day after tomorrow\b|(?<!大)后天", _offset(2)),
        (r"大后天", _offset(3)),
        (rf"\b(?P<which>last|past|previous|this|coming|next) (?P<unit>week(?:end)?|month|year|{'|'.join(n for n in _WEEKDAYS if len(n) > 4)}|{'|'.join(n for n in _MONTHS if len(n) > 3 or n == 'may')})\b", _english_unit),
        (rf"\b{_COUNT} (?P<unit>days?|nights?|weeks?|months?|years?) ago\b", _counted(-1)),
        (rf"\bin {_COUNT} (?P<unit>days?|weeks?|months?|years?)\b(?! of)", _counted(1)),
        (rf"\b{_COUNT} (?P<unit>days?|weeks?|months?|years?) from now\b", _counted(1)),
        (rf"\b{_MONTH}\.? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?:,? (?P<year>(?:19|20)\d\d))?\b(?!:)", _english_day),
        (rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)? (?:of )?{_MONTH}\b(?:,? (?P<year>(?:19|20)\d\d))?", _english_day),
        (rf"\b(?:in|since|early|late|mid|by|until|from) {_MONTH}(?: (?:of )?(?P<year>(?:19|20)\d\d))?\b(?! \d)", _english_month),
        (r"\b(?:in|since|by|until) (?P<year>(?:19|20)\d\d)\b(?![-/.])", lambda match, said, forward: (date(int(match["year"]), 1, 1), "year")),
        (rf"(?<!last )(?<!next )(?<!this )(?<!past )(?<!coming )(?<!previous )(?<!every )(?<!each )\b{_WEEKDAY}\b", _bare_weekday),
        (r"(?P<which>上上|下下|上|下|这|本)(?:个)?(?:周|星期|礼拜)(?P<day>[一二三四五六日天末])?", _chinese_week),
        (r"(?<![上下这本个每])(?:周|星期|礼拜)(?P<weekday>[一二三四五六日天末])", _bare_weekday),
        (r"(?P<which>上上|下下|上|下|这|本)个?月(?:的)?(?:(?P<day>\d{1,2})[日号])?", _chinese_month),
        (rf"{_ZH_COUNT}(?P<unit>天|日|周|个?星期|个?礼拜|个月|年)(?:以|之)?前", _counted(-1)),
        (rf"{_ZH_COUNT}(?P<unit>天|日|周|个?星期|个?礼拜|个月|年)(?:以|之)?后", _counted(1)),
        (r"(?:(?P<year>[前去今明后]|(?:19|20)\d\d)年的?)?(?:(?P<month>1[0-2]|0?[1-9]|十[一二]?|(?<![\u4e00-\u9fff]个)[一二三四五六七八九])月(?:份)?)?(?:(?P<day>3[01]|[12]\d|0?[1-9])[日号])?", _chinese_day),
    )
)  # fmt: skip
