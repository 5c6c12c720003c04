"""Days, weeks, months and the rest as half-open ranges in the user's own zone.

Weeks begin on Monday. A local day is from midnight to midnight on the wall clock: 23 or 25 hours where clocks change.
"""

from __future__ import annotations

import calendar
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from typing import TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_Match = TypeVar("_Match")
_Found = TypeVar("_Found")
Range = tuple[datetime | None, datetime | None]


@dataclass(frozen=True, slots=True)
class Period:
    """A range that some words of a text mean.

    Attributes:
        first, last: of the words, half-open, in the folded text.
        start, end: half-open, in the user's zone; None is open.
        unit: day, part (of a day), clock, weekend, week, month, quarter, season, year, holiday, rolling, span.
        ago: said as a distance from now (三天前, two weeks ago).
        cycle: week, month or year, in which the words come round when they do not say which one (3月, on Friday).
        again: what such words mean when they are read from another day.
    """

    first: int
    last: int
    start: datetime | None
    end: datetime | None
    unit: str
    ago: bool = False
    cycle: str = ""
    again: Callable[[LocalCalendar], tuple[Range, str] | None] | None = field(default=None, compare=False, repr=False)


def zone_of(name: str) -> ZoneInfo:
    """The zone of an IANA name; UTC when there is no such zone."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")


class LocalCalendar:
    """Ranges relative to one moment in one zone.

    Attributes:
        now: the moment, in the zone; today: its date there.
    """

    __slots__ = ("now", "today", "zone")

    def __init__(self, now: datetime, timezone: str) -> None:
        self.zone = zone_of(timezone)
        try:
            self.now = now.astimezone(self.zone)
        except OverflowError:  # the first or last day that dates can hold
            self.zone, self.now = ZoneInfo("UTC"), now.astimezone(ZoneInfo("UTC"))
        self.today = self.now.date()

    def at(self, day: date, hour: int = 0, minute: int = 0) -> datetime:
        """A wall-clock time of a day; hour 24 and above is on the following day.

        A time that clocks skip (midnight, where they go forward then) is the moment they go on to.
        """
        moment = datetime.combine(day + timedelta(days=hour // 24), time(hour % 24, minute), self.zone)
        return moment.astimezone(UTC).astimezone(self.zone)

    def as_of(self, day: date) -> LocalCalendar:
        """The same zone, seen from another day."""
        return LocalCalendar(self.at(day, 12), self.zone.key)

    def days(self, first: date, last: date) -> Range:
        """From the start of `first` to the start of `last`."""
        return self.at(first), self.at(last)

    def day(self, day: date) -> Range:
        return self.days(day, day + timedelta(days=1))

    def week(self, offset: int = 0, *, of: date | None = None) -> Range:
        monday = self.monday(offset, of=of)
        return self.days(monday, monday + timedelta(days=7))

    def monday(self, offset: int = 0, *, of: date | None = None) -> date:
        """Monday of the week that holds `of` (today), moved by weeks."""
        day = of or self.today
        return day - timedelta(days=day.weekday()) + timedelta(weeks=offset)

    def weekend(self, offset: int = 0) -> Range:
        saturday = self.monday(offset) + timedelta(days=5)
        return self.days(saturday, saturday + timedelta(days=2))

    def month(self, year: int, month: int) -> Range:
        return self.days(date(year, month, 1), first_of_next(year, month))

    def months(self, year: int, first: int, count: int) -> Range:
        """`count` months from a month, which may run into the next year."""
        end_year, end_month = shifted(year, first, count)
        return self.days(date(year, first, 1), date(end_year, end_month, 1))

    def month_offset(self, offset: int) -> Range:
        return self.month(*shifted(self.today.year, self.today.month, offset))

    def quarter(self, year: int, number: int) -> Range:
        return self.months(year, 3 * number - 2, 3)

    def quarter_offset(self, offset: int) -> Range:
        index = self.today.year * 4 + (self.today.month - 1) // 3 + offset
        return self.quarter(index // 4, index % 4 + 1)

    def year(self, year: int) -> Range:
        return self.days(date(year, 1, 1), date(year + 1, 1, 1))

    def part(self, day: date, hours: tuple[int, int]) -> Range:
        return self.at(day, hours[0]), self.at(day, hours[1])

    def rolling(self, **distance: int) -> Range:
        """From a distance before now to now. Days and longer go back on the wall clock, hours by elapsed time."""
        if "hours" in distance or "minutes" in distance:
            back = self.now - timedelta(**distance)
            utc = (self.now.astimezone(ZoneInfo("UTC")) - timedelta(**distance)).astimezone(self.zone)
            return (utc if utc != back else back), self.now
        if "months" in distance or "years" in distance:
            months = distance.get("months", 0) + 12 * distance.get("years", 0)
            return self.wall(self.months_back(months)), self.now
        return self.wall(self.today - timedelta(**distance)), self.now

    def wall(self, day: date) -> datetime:
        """The present wall-clock time on another day."""
        return datetime.combine(day, self.now.timetz().replace(tzinfo=None), self.zone)

    def months_back(self, months: int) -> date:
        """Today minus months; a day that the month lacks becomes its last."""
        year, month = shifted(self.today.year, self.today.month, -months)
        return date(year, month, min(self.today.day, calendar.monthrange(year, month)[1]))

    def latest_month(self, month: int) -> int:
        """The year of the most recent such month that has begun."""
        return self.today.year if month <= self.today.month else self.today.year - 1

    def latest_day(self, month: int, day: int) -> date | None:
        """The most recent such day that is not after today; None for a day that no year has."""
        for year in range(self.today.year, self.today.year - 9, -1):
            found = real_date(year, month, day)
            if found is not None and found <= self.today:
                return found
        return None

    def latest_month_day(self, day: int) -> date | None:
        """The most recent day of a month with this number that is not after today."""
        for back in range(3):
            year, month = shifted(self.today.year, self.today.month, -back)
            found = real_date(year, month, day)
            if found is not None and found <= self.today:
                return found
        return None

    def latest_weekday(self, weekday: int, *, before_today: bool = False) -> date:
        """The most recent such weekday, today included unless `before_today`."""
        back = (self.today.weekday() - weekday) % 7
        return self.today - timedelta(days=back or (7 if before_today else 0))


def within_calendar(
    rule: Callable[[_Match, LocalCalendar], _Found | None], match: _Match, calendar: LocalCalendar
) -> _Found | None:
    """What a rule reads, or None where that lies outside the years that dates can hold (9999 years ago)."""
    try:
        return rule(match, calendar)
    except (ValueError, OverflowError):
        return None


def shifted(year: int, month: int, offset: int) -> tuple[int, int]:
    """Year and month, `offset` months later."""
    index = year * 12 + month - 1 + offset
    return index // 12, index % 12 + 1


def first_of_next(year: int, month: int) -> date:
    return date(*shifted(year, month, 1), 1)


def real_date(year: int, month: int, day: int) -> date | None:
    """The date, or None if the calendar has no such day."""
    if not (1 <= year <= 9998 and 1 <= month <= 12 and 1 <= day <= 31):
        return None
    return date(year, month, day) if day <= calendar.monthrange(year, month)[1] else None
