"""Calendar arithmetic of temporal ranges: zones, clock changes, month ends, leap years, festivals of the moon."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.resolve.models import ResolveContext, TemporalIntent
from engram.resolve.temporal import LocalCalendar, read_temporal
from engram.resolve.temporal.holidays import easter, holiday


def at(text: str, zone: str) -> ResolveContext:
    return ResolveContext(datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)), zone)


def hours(query: str, now: str, zone: str) -> float:
    found = read_temporal(query, at(now, zone))
    assert found.start is not None
    assert found.end is not None
    return (found.end.timestamp() - found.start.timestamp()) / 3600


@pytest.mark.parametrize(
    ("query", "now", "zone", "length"),
    [
        ("yesterday", "2025-03-10T09:00", "America/New_York", 23),
        ("yesterday", "2025-11-03T09:00", "America/New_York", 25),
        ("yesterday", "2025-10-06T09:00", "Australia/Lord_Howe", 23.5),
        ("昨天聊的", "2025-09-17T09:00", "Asia/Shanghai", 24),
        ("last week", "2025-03-31T10:00", "Europe/London", 167),
        ("the last 24 hours", "2025-03-09T12:00", "America/New_York", 24),
    ],
)
def test_a_local_day_is_as_long_as_the_clocks_there_say(query: str, now: str, zone: str, length: float) -> None:
    assert hours(query, now, zone) == pytest.approx(length)


@pytest.mark.parametrize(
    ("query", "now", "start", "end"),
    [
        ("上个月", "2025-03-31T12:00", "2025-02-01", "2025-03-01"),
        ("一个月前", "2025-03-31T12:00", "2025-02-01", "2025-03-01"),
        ("last month", "2024-03-31T12:00", "2024-02-01", "2024-03-01"),
        ("昨天说的", "2024-03-01T00:05", "2024-02-29", "2024-03-01"),
        ("上周五", "2025-01-01T08:00", "2024-12-27", "2024-12-28"),
        ("last quarter", "2025-02-10T08:00", "2024-10-01", "2025-01-01"),
        ("in December", "2025-02-10T08:00", "2024-12-01", "2025-01-01"),
        ("on February 29th", "2025-09-17T08:00", "2024-02-29", "2024-03-01"),
        ("the 31st", "2025-10-05T08:00", "2025-08-31", "2025-09-01"),
        ("去年春节", "2025-09-17T08:00", "2024-02-09", "2024-02-17"),
        ("今年中秋", "2025-10-20T08:00", "2025-10-06", "2025-10-07"),
        ("last Easter", "2025-09-17T08:00", "2025-04-20", "2025-04-21"),
    ],
)
def test_months_weeks_and_festivals_end_where_calendars_end_them(query: str, now: str, start: str, end: str) -> None:
    found = read_temporal(query, at(now, "Asia/Shanghai"))
    assert found.start is not None
    assert found.end is not None
    assert (found.start.date().isoformat(), found.end.date().isoformat()) == (start, end)


def test_a_date_that_no_calendar_has_is_no_time() -> None:
    for query in ("2025-02-30", "2月30号", "February 30", "13/45/2025"):
        found = read_temporal(query, at("2025-09-17T08:00", "UTC"))
        assert found.start is None or found.start.day != 30


def test_the_same_words_mean_other_days_in_other_zones() -> None:
    now = datetime.fromisoformat("2025-09-17T20:00:00+00:00")
    shanghai = read_temporal("yesterday", ResolveContext(now, "Asia/Shanghai"))
    honolulu = read_temporal("yesterday", ResolveContext(now, "Pacific/Honolulu"))
    assert shanghai.start is not None
    assert honolulu.start is not None
    assert shanghai.start.date() == date(2025, 9, 17)
    assert honolulu.start.date() == date(2025, 9, 16)


def test_numbers_before_months_follow_the_zone() -> None:
    american = read_temporal("on 9/3/2025", at("2025-09-17T08:00", "America/New_York"))
    british = read_temporal("on 9/3/2025", at("2025-09-17T08:00", "Europe/London"))
    assert american.start is not None
    assert british.start is not None
    assert (american.start.month, british.start.month) == (9, 3)


@pytest.mark.parametrize(
    ("query", "intent"),
    [
        ("上次也就是上周四聊的", TemporalIntent.TIME_RANGE),
        ("刚才说的上次那个", TemporalIntent.CURRENT_SESSION),
        ("把我们聊过的所有最新版都列出来", TemporalIntent.ALL_HISTORY),
        ("最近一次和上次", TemporalIntent.LATEST),
        ("最近上次聊的", TemporalIntent.PREVIOUS_RELATED),
    ],
)
def test_where_cues_meet_the_stronger_speaks(query: str, intent: TemporalIntent) -> None:
    assert read_temporal(query, at("2025-09-17T08:00", "Asia/Shanghai")).intent is intent


@given(st.datetimes(datetime(1970, 1, 2), datetime(2099, 1, 1)), st.integers(1, 400))
def test_n_days_ago_is_the_local_day_that_many_days_back(moment: datetime, days: int) -> None:
    now = moment.replace(tzinfo=ZoneInfo("Europe/Berlin"))
    found = read_temporal(f"{days} days ago", ResolveContext(now, "Europe/Berlin"))
    assert found.start is not None
    assert found.start.date() == moment.date() - timedelta(days=days)


@given(st.dates(date(1971, 1, 1), date(2098, 1, 1)), st.integers(-60, 60))
def test_a_month_begins_where_the_one_before_it_ends(day: date, offset: int) -> None:
    calendar = LocalCalendar(datetime(day.year, day.month, day.day, 12, tzinfo=ZoneInfo("UTC")), "UTC")
    assert calendar.month_offset(offset)[1] == calendar.month_offset(offset + 1)[0]
    assert calendar.week(offset)[1] == calendar.week(offset + 1)[0]
    assert calendar.quarter_offset(offset)[1] == calendar.quarter_offset(offset + 1)[0]


def test_known_festivals_fall_on_their_days() -> None:
    assert easter(2024) == date(2024, 3, 31)
    assert holiday("thanksgiving", 2024) == (date(2024, 11, 28), date(2024, 11, 29))
    assert holiday("mid_autumn", 2023) == (date(2023, 9, 29), date(2023, 9, 30))
    assert holiday("mid_autumn", 1700) is None
