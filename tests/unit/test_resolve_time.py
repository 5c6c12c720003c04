"""Calendar arithmetic of temporal ranges: zones, clock changes, month ends, leap years, festivals of the moon."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.resolve.filler import search_text
from engram.resolve.models import ResolveContext, TemporalIntent
from engram.resolve.temporal import LocalCalendar, read_temporal
from engram.resolve.temporal.holidays import easter, holiday
from engram.text.normalise import normalise


def at(text: str, zone: str) -> ResolveContext:
    return ResolveContext(datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone)), zone)


def hours(query: str, now: str, zone: str) -> float:
    found = read_temporal(query, at(now, zone))
    assert found.start is not None
    assert found.end is not None
    return (found.end.timestamp() - found.start.timestamp()) / 3600


def dates(query: str) -> tuple[str, str]:
    """First day of the range and the day after its last, asked on a Wednesday."""
    found = read_temporal(query, at("2025-09-17T15:30", "Asia/Shanghai"))
    assert found.start is not None
    assert found.end is not None
    return found.start.date().isoformat(), found.end.date().isoformat()


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
        ("去年春节", "2025-09-17T08:00", "2024-02-10", "2024-02-18"),
        ("今年中秋", "2025-10-20T08:00", "2025-10-06", "2025-10-07"),
        ("last Easter", "2025-09-17T08:00", "2025-04-20", "2025-04-21"),
    ],
)
def test_months_weeks_and_festivals_end_where_calendars_end_them(query: str, now: str, start: str, end: str) -> None:
    found = read_temporal(query, at(now, "Asia/Shanghai"))
    assert found.start is not None
    assert found.end is not None
    assert (found.start.date().isoformat(), found.end.date().isoformat()) == (start, end)


@pytest.mark.parametrize(
    ("query", "start", "end"),
    [
        ("2023年3月到5月聊的", "2023-03-01", "2023-06-01"),
        ("from March to May 2023", "2023-03-01", "2023-06-01"),
        ("11月到2月聊的", "2024-11-01", "2025-03-01"),
        ("上周一到周三聊的", "2025-09-08", "2025-09-11"),
        ("8月1日到15日", "2025-08-01", "2025-08-16"),
        ("June 3-10 trip", "2025-06-03", "2025-06-11"),
        ("in March of last year", "2024-03-01", "2024-04-01"),
        ("last year in March", "2024-03-01", "2024-04-01"),
        ("去年我们夏天去的", "2024-06-01", "2024-09-01"),
        ("July 4th barbecue last year", "2024-07-04", "2024-07-05"),
        ("Tuesday last week", "2025-09-09", "2025-09-10"),
        ("3 weeks ago on Monday", "2025-08-25", "2025-08-26"),
        ("the fifth of last month", "2025-08-05", "2025-08-06"),
        ("Good Friday last year", "2024-03-29", "2024-03-30"),
    ],
)
def test_what_a_range_leaves_open_comes_from_the_one_beside_it(query: str, start: str, end: str) -> None:
    assert dates(query) == (start, end)


@pytest.mark.parametrize(
    ("query", "start", "end"),
    [
        ("二〇二三年的总结", "2023-01-01", "2024-01-01"),
        ("去年 3 月 5 号聊的", "2024-03-05", "2024-03-06"),
        ("一年半前聊的", "2024-03-01", "2024-04-01"),
        ("two and a half years ago", "2023-03-01", "2023-04-01"),
        ("forty-two days ago", "2025-08-06", "2025-08-07"),
        ("去年的今天聊的", "2024-09-17", "2024-09-18"),
        ("5月的第二个星期天", "2025-05-11", "2025-05-12"),
        ("the last Monday of May", "2025-05-26", "2025-05-27"),
        ("3月第一周聊的", "2025-03-01", "2025-03-08"),
        ("second half of last year", "2024-07-01", "2025-01-01"),
        ("the day after Thanksgiving", "2024-11-29", "2024-11-30"),
        ("the week before Christmas", "2024-12-18", "2024-12-25"),
        ("国庆前一天聊的", "2024-09-30", "2024-10-01"),
        ("大年初三聊的", "2025-01-31", "2025-02-01"),
        ("小年那天聊的", "2025-01-22", "2025-01-23"),
        ("Q3 of 2024", "2024-07-01", "2024-10-01"),
        ("2024 Thanksgiving menu", "2024-11-28", "2024-11-29"),
        ("what did we talk about over the weekend", "2025-09-13", "2025-09-15"),
        ("from 2024 to 2023", "2023-01-01", "2025-01-01"),
    ],
)
def test_further_forms_name_the_days_they_name(query: str, start: str, end: str) -> None:
    assert dates(query) == (start, end)


def test_a_year_before_which_is_a_year_and_no_distance() -> None:
    found = read_temporal("2024年以前的计划", at("2025-09-17T15:30", "Asia/Shanghai"))
    assert found.start is None
    assert found.end == datetime(2024, 1, 1, tzinfo=ZoneInfo("Asia/Shanghai"))


@pytest.mark.parametrize(
    ("query", "first", "last"),
    [
        ("今天下午三点到五点聊的", "15:00", "17:00"),
        ("between 2pm and 4pm yesterday", "14:00", "16:00"),
        ("yesterday 11 to 1pm", "11:00", "13:00"),
        ("yesterday at 15:30", "15:30", "16:30"),
        ("noon yesterday", "11:00", "14:00"),
        ("三天前下午聊的", "12:00", "18:00"),
        ("the morning of June 5", "06:00", "12:00"),
    ],
)
def test_clock_times_narrow_a_day(query: str, first: str, last: str) -> None:
    found = read_temporal(query, at("2025-09-17T15:30", "Asia/Shanghai"))
    assert found.start is not None
    assert found.end is not None
    assert (f"{found.start:%H:%M}", f"{found.end:%H:%M}") == (first, last)


def test_a_day_begins_when_clocks_go_forward_at_its_midnight() -> None:
    found = read_temporal("yesterday", at("2018-11-05T10:00", "America/Sao_Paulo"))
    assert found.start is not None
    assert found.start.isoformat() == "2018-11-04T01:00:00-02:00"


@pytest.mark.parametrize(
    ("query", "nth"),
    [
        ("what did we say last time", 1),
        ("the time before last we talked about Kyoto", 2),
        ("two conversations ago", 2),
        ("what did we say three chats back", 3),
        ("the third last time we spoke", 3),
        ("the 3rd last conversation", 3),
        ("fourth-to-last conversation", 4),
        ("our penultimate conversation", 2),
        ("what did you recommend the last time but one", 2),
        ("the session before the previous one", 2),
        ("上次聊的", 1),
        ("上上上上次聊的啥", 4),
        ("大上次你推荐的馆子", 2),
        ("上次的上次聊了啥", 2),
        ("再上一次的方案发我", 2),
        ("倒数第四次聊减脂", 4),
        ("两次之前的对话", 2),
        ("上上个对话", 2),
        ("go back two chats, what did you say", 2),
        ("not the last conversation but the one before it", 2),
    ],
)
def test_the_nth_previous_conversation_is_counted_in_any_wording(query: str, nth: int) -> None:
    found = read_temporal(query, at("2025-09-17T08:00", "Asia/Shanghai"))
    assert (found.intent, found.nth) == (TemporalIntent.PREVIOUS_RELATED, nth)


@pytest.mark.parametrize(
    "query",
    [
        "Last Christmas by Wham lyrics",
        "the day after tomorrow movie review",
        "we may first discuss prices",
        "the second may be better",
        "version 3.10.2024",
        "first quarter moon meaning",
        "summer dress ideas",
        "先前台登记再上楼",
        "后天免疫是什么",
        "三月街在哪",
        "第三次之前要休息",
        "两个以前的同事",
        "上一段感情怎么放下",
        "最新的欧盟协议",
        "what should we cook over the weekend",
        "recently deleted albums on a phone",
        "how many days until Christmas",
        "june carter songs",
        "3/4 cup of flour",
        "24/7 support",
        "thursday in french",
        "monday.com pricing",
        "离地铁最近的小区",
        "后天和先天的区别",
        "2008年奥运会在哪",
        "the oldest version of the bible",
    ],
)
def test_words_that_look_like_a_time_are_none(query: str) -> None:
    assert read_temporal(query, at("2025-09-17T08:00", "Asia/Shanghai")).intent is TemporalIntent.NONE


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


@pytest.mark.parametrize("query", ["9999 days before the 5th", "9999 months before 1990", "2024 years ago in March"])
def test_arithmetic_beyond_what_dates_can_hold_ends_in_no_error(query: str) -> None:
    found = read_temporal(query, at("1970-01-02T00:00", "Pacific/Kiritimati"))
    assert found.start is None or found.end is None or found.start < found.end


@pytest.mark.parametrize(
    "query",
    [
        "从上周五到现在聊了什么",
        "between March and May what did we discuss",
        "what did I say before 2024",
        "6月1号之后聊的",
        "截至昨天我们聊了什么",
        "上周之前说了什么",
        "not the last conversation but the one before it",
    ],
)
def test_the_words_that_open_or_join_a_range_are_not_searched_for(query: str) -> None:
    folded = normalise(query)
    spans = read_temporal(query, at("2025-09-17T15:30", "Asia/Shanghai")).spans
    assert not search_text(folded, [folded.folded_span(*span) for span in spans], [])
