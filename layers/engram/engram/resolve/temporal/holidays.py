"""Holidays, fixed, by weekday, and of the lunar calendar, as ranges of a year.

Chinese public holidays of several days are meant whole (国庆 is the golden week); others are one day.
"""

from __future__ import annotations

import calendar
from collections.abc import Callable
from datetime import date, timedelta
from functools import lru_cache

from engram.resolve.lexicon import read_json

_FIXED: dict[str, tuple[int, int, int]] = {
    "new_year": (1, 1, 1),
    "valentine": (2, 14, 1),
    "women": (3, 8, 1),
    "april_fools": (4, 1, 1),
    "labour_cn": (5, 1, 5),
    "children": (6, 1, 1),
    "independence": (7, 4, 1),
    "teachers": (9, 10, 1),
    "national_cn": (10, 1, 7),
    "halloween": (10, 31, 1),
    "singles": (11, 11, 1),
    "christmas_eve": (12, 24, 1),
    "christmas": (12, 25, 1),
    "boxing": (12, 26, 1),
    "new_years_eve": (12, 31, 1),
    "shopping_618": (6, 18, 1),
    "st_patrick": (3, 17, 1),
    "juneteenth": (6, 19, 1),
    "veterans": (11, 11, 1),
    "cinco_de_mayo": (5, 5, 1),
    "arbor_cn": (3, 12, 1),
    "party_cn": (7, 1, 1),
    "army_cn": (8, 1, 1),
}
"""Name → month, day, number of days."""
_LUNAR_DAYS = {"spring": 8}
"""Lunar festivals of more than one day: Spring Festival is meant with its eve and the week of holidays."""
_SPRING_WEEKS = {
    2019: (2, 4, 7),
    2020: (1, 24, 10),
    2021: (2, 11, 7),
    2022: (1, 31, 7),
    2023: (1, 21, 7),
    2024: (2, 10, 8),
    2025: (1, 28, 8),
    2026: (2, 15, 9),
}
"""Year → month, day and length of the Spring Festival as China's State Council gave it off."""
_BY_WEEKDAY: dict[str, tuple[int, int, int]] = {
    "mothers": (5, calendar.SUNDAY, 2),
    "fathers": (6, calendar.SUNDAY, 3),
    "thanksgiving": (11, calendar.THURSDAY, 4),
    "labor_us": (9, calendar.MONDAY, 1),
    "memorial": (5, calendar.MONDAY, -1),
    "mlk": (1, calendar.MONDAY, 3),
    "presidents": (2, calendar.MONDAY, 3),
    "columbus": (10, calendar.MONDAY, 2),
}
"""Name → month, weekday, which one (−1 the last)."""


@lru_cache(maxsize=1)
def _lunar() -> dict[str, dict[str, str]]:
    table: dict[str, dict[str, str]] = read_json("festivals.json")
    return table


def holiday(name: str, year: int) -> tuple[date, date] | None:
    """First day and the day after the last of a holiday in a year; None for a year outside the table."""
    if name in _FIXED:
        month, day, length = _FIXED[name]
        return _span(date(year, month, day), length)
    if name in _BY_WEEKDAY:
        return _span(_weekday_of_month(year, *_BY_WEEKDAY[name]), 1)
    if name in _COMPUTED:
        return _span(_COMPUTED[name](year), 1)
    if name == "spring_day_one":
        first = _lunar().get(str(year), {}).get("spring")
        return _span(date.fromisoformat(_padded(first)), 1) if first else None
    if name == "spring" and year in _SPRING_WEEKS:
        month, day, length = _SPRING_WEEKS[year]
        return _span(date(year, month, day), length)
    if name == "little_year":
        # The 23rd of the twelfth lunar month, 15 days after its 8th.
        eighth = _lunar().get(str(year - 1), {}).get("laba")
        return _span(date.fromisoformat(_padded(eighth)) + timedelta(days=15), 1) if eighth else None
    found = _lunar().get(str(year), {}).get("eve" if name == "spring" else name)
    return _span(date.fromisoformat(_padded(found)), _LUNAR_DAYS.get(name, 1)) if found else None


def latest_holiday(name: str, today: date) -> tuple[date, date] | None:
    """The most recent occurrence that has begun."""
    for year in (today.year, today.year - 1):
        found = holiday(name, year)
        if found and found[0] <= today:
            return found
    return None


def _span(first: date, days: int) -> tuple[date, date]:
    return first, first + timedelta(days=days)


def _padded(text: str) -> str:
    year, month, day = text.split("-")
    return f"{year}-{int(month):02}-{int(day):02}"


def _weekday_of_month(year: int, month: int, weekday: int, which: int) -> date:
    days = [day for week in calendar.monthcalendar(year, month) if (day := week[weekday])]
    return date(year, month, days[which - 1 if which > 0 else which])


def easter(year: int) -> date:
    """Easter Sunday (anonymous Gregorian algorithm)."""
    a, b, c = year % 19, year // 100, year % 100
    d, e = divmod(b, 4)
    g = (8 * b + 13) // 25
    h = (19 * a + b - d - g + 15) % 30
    i, k = divmod(c, 4)
    m = (32 + 2 * e + 2 * i - h - k) % 7
    n = (a + 11 * h + 22 * m) // 451
    month, day = divmod(h + m - 7 * n + 114, 31)
    return date(year, month, day + 1)


def _black_friday(year: int) -> date:
    return _weekday_of_month(year, 11, calendar.THURSDAY, 4) + timedelta(days=1)


_COMPUTED: dict[str, Callable[[int], date]] = {
    "easter": easter,
    "good_friday": lambda year: easter(year) - timedelta(days=2),
    "easter_monday": lambda year: easter(year) + timedelta(days=1),
    "black_friday": _black_friday,
    "cyber_monday": lambda year: _black_friday(year) + timedelta(days=3),
}

CHINESE_NAMES: dict[str, str] = {
    "元旦": "new_year",
    "春节": "spring",
    "过年": "spring",
    "农历新年": "spring",
    "大年初一": "spring_day_one",
    "除夕": "eve",
    "年三十": "eve",
    "大年三十": "eve",
    "大年夜": "eve",
    "元宵节": "lantern",
    "元宵": "lantern",
    "清明节": "qingming",
    "清明": "qingming",
    "五一": "labour_cn",
    "劳动节": "labour_cn",
    "端午节": "dragon_boat",
    "端午": "dragon_boat",
    "七夕": "qixi",
    "中秋节": "mid_autumn",
    "中秋": "mid_autumn",
    "重阳节": "double_ninth",
    "重阳": "double_ninth",
    "国庆节": "national_cn",
    "国庆": "national_cn",
    "十一黄金周": "national_cn",
    "十一假期": "national_cn",
    "十一": "national_cn",
    "黄金周": "national_cn",
    "双十一": "singles",
    "双11": "singles",
    "圣诞节": "christmas",
    "圣诞": "christmas",
    "平安夜": "christmas_eve",
    "情人节": "valentine",
    "妇女节": "women",
    "三八节": "women",
    "儿童节": "children",
    "六一": "children",
    "教师节": "teachers",
    "万圣节": "halloween",
    "感恩节": "thanksgiving",
    "母亲节": "mothers",
    "父亲节": "fathers",
    "跨年": "new_years_eve",
    "愚人节": "april_fools",
    "618": "shopping_618",
    "小年": "little_year",
    "中元节": "ghost",
    "中元": "ghost",
    "腊八": "laba",
    "腊八节": "laba",
    "冬至": "winter_solstice",
    "复活节": "easter",
    "植树节": "arbor_cn",
    "建党节": "party_cn",
    "建军节": "army_cn",
    "光棍节": "singles",
    "黑色星期五": "black_friday",
}

ENGLISH_NAMES: dict[str, str] = {
    "new year's eve": "new_years_eve",
    "new years eve": "new_years_eve",
    "new year's day": "new_year",
    "new years day": "new_year",
    "new year's": "new_year",
    "new year": "new_year",
    "valentine's day": "valentine",
    "valentines day": "valentine",
    "valentine's": "valentine",
    "good friday": "good_friday",
    "easter monday": "easter_monday",
    "easter sunday": "easter",
    "presidents' day": "presidents",
    "presidents day": "presidents",
    "columbus day": "columbus",
    "veterans day": "veterans",
    "juneteenth": "juneteenth",
    "cinco de mayo": "cinco_de_mayo",
    "women's day": "women",
    "international women's day": "women",
    "cyber monday": "cyber_monday",
    "qingming festival": "qingming",
    "qingming": "qingming",
    "tomb sweeping day": "qingming",
    "double ninth festival": "double_ninth",
    "qixi festival": "qixi",
    "winter solstice": "winter_solstice",
    "easter": "easter",
    "april fools' day": "april_fools",
    "april fools": "april_fools",
    "mother's day": "mothers",
    "mothers day": "mothers",
    "father's day": "fathers",
    "fathers day": "fathers",
    "memorial day": "memorial",
    "independence day": "independence",
    "fourth of july": "independence",
    "4th of july": "independence",
    "labor day": "labor_us",
    "halloween": "halloween",
    "thanksgiving": "thanksgiving",
    "black friday": "black_friday",
    "christmas eve": "christmas_eve",
    "christmas day": "christmas",
    "christmas": "christmas",
    "xmas": "christmas",
    "boxing day": "boxing",
    "chinese new year": "spring",
    "lunar new year": "spring",
    "spring festival": "spring",
    "mid-autumn festival": "mid_autumn",
    "mid autumn festival": "mid_autumn",
    "dragon boat festival": "dragon_boat",
    "lantern festival": "lantern",
    "national day": "national_cn",
    "singles' day": "singles",
    "singles day": "singles",
    "st patrick's day": "st_patrick",
    "mlk day": "mlk",
    "qixi": "qixi",
    "golden week": "national_cn",
}
