"""Gists, plans and tags by rules: what happened and what is to come, dated by when it happens."""

# ruff: noqa: E501  (tables of sentences)
from __future__ import annotations

from datetime import UTC, date, datetime

import pytest

from engram.adapters.rules import RulesDistiller
from engram.adapters.rules.clauses import language_of
from engram.adapters.rules.dates import when
from engram.domain.models import EventTag, MemoryKind
from engram.extraction.models import Distillation
from engram.profile.config import ProfileConfig, parse_config, taxonomy_of
from tests.builders import batch, said

MONDAY = date(2026, 3, 2)

DATES = [
    ("yesterday I ran", False, "2026-03-01"), ("the day before yesterday", False, "2026-02-28"), ("tomorrow", True, "2026-03-03"),
    ("the day after tomorrow", True, "2026-03-04"), ("last Friday", False, "2026-02-27"), ("next Friday", True, "2026-03-13"),
    ("this Friday", True, "2026-03-06"), ("on Friday", True, "2026-03-06"), ("on Friday", False, "2026-02-27"),
    ("last week", False, "2026-02-23"), ("next week", True, "2026-03-09"), ("last month", False, "2026-02"), ("next month", True, "2026-04"),
    ("next year", True, "2027"), ("3 days ago", False, "2026-02-27"), ("two weeks ago", False, "2026-02-16"), ("in two weeks", True, "2026-03-16"),
    ("in 3 months", True, "2026-06"), ("on March 15", True, "2026-03-15"), ("on March 15th, 2025", False, "2025-03-15"), ("on 5 January", False, "2026-01-05"),
    ("on 5 January", True, "2027-01-05"), ("in August", True, "2026-08"), ("in August", False, "2025-08"), ("on 2026-05-01", True, "2026-05-01"),
    ("since 2018", False, "2018"), ("昨天", False, "2026-03-01"), ("前天", False, "2026-02-28"), ("大前天", False, "2026-02-27"), ("明天", True, "2026-03-03"),
    ("后天", True, "2026-03-04"), ("大后天", True, "2026-03-05"), ("上周五", False, "2026-02-27"), ("下周三", True, "2026-03-11"), ("这周日", True, "2026-03-08"),
    ("上上周一", False, "2026-02-16"), ("上个月", False, "2026-02"), ("下个月5号", True, "2026-04-05"), ("去年", False, "2025"), ("明年3月", True, "2027-03"),
    ("三天前", False, "2026-02-27"), ("两周后", True, "2026-03-16"), ("5月2号", True, "2026-05-02"), ("5月2号", False, "2025-05-02"),
    ("2024年12月31日", False, "2024-12-31"), ("十五天后", True, "2026-03-17"), ("周六", True, "2026-03-07"), ("周六", False, "2026-02-28"),
]  # fmt: skip
NO_DATE = [
    "",
    "I like tea",
    "a day like any other",
    "我喜欢喝茶",
    "3 people",
    "version 2.1.3",
    "may I ask",
    "第二天性",
    "February 30th",
]


@pytest.mark.parametrize(("text", "forward", "expected"), DATES)
def test_dates_are_read_from_the_day_they_were_said_on(text: str, forward: bool, expected: str) -> None:
    found = when(text, MONDAY, forward=forward)
    assert found is not None
    assert found.text == expected


@pytest.mark.parametrize("text", NO_DATE)
def test_what_is_no_date_gives_none(text: str) -> None:
    assert when(text, MONDAY, forward=False) is None


def distilled(*texts: str, **more: object) -> Distillation:
    return RulesDistiller().distil(batch(*texts, language=language_of(texts[0]), **more))  # type: ignore[arg-type]


def gists(*texts: str, **more: object) -> list[tuple[str, str]]:
    return [(one.happened_at.date().isoformat(), one.content) for one in distilled(*texts, **more).gists]


def test_a_request_is_an_event_in_its_own_words_and_language() -> None:
    assert gists("帮我出一个杭州旅游攻略。") == [("2026-03-02", "用户请求：帮我出一个杭州旅游攻略")]
    assert gists("Can you plan a trip to Hangzhou?") == [("2026-03-02", "User asked: Can you plan a trip to Hangzhou")]


def test_what_happened_is_dated_by_when_it_happened() -> None:
    assert gists("昨天我跑了半程马拉松") == [("2026-03-01", "用户说：昨天我跑了半程马拉松")]
    assert gists("Last Friday I ran my first marathon!") == [
        ("2026-02-27", "User said: Last Friday I ran my first marathon")
    ]
    assert gists("I'm moving to Osaka next month")[0][0] == "2026-04-01"


def test_yesterday_is_the_users_yesterday_in_the_users_zone() -> None:
    late = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)
    [gist] = distilled_at("昨天我去了医院", late, "Asia/Shanghai").gists
    assert gist.happened_at.date().isoformat() == "2026-03-01"
    [gist] = distilled_at("昨天我去了医院", late, "America/New_York").gists
    assert gist.happened_at.date().isoformat() == "2026-02-28"


def distilled_at(text: str, at: datetime, zone: str) -> Distillation:
    return RulesDistiller().distil(batch(said(text, at=at), language="zh", timezone=zone))


@pytest.mark.parametrize(
    "text",
    [
        "ok",
        "好的",
        "thanks!",
        "上次我们聊天杭州游玩攻略再给我一下",
        "What is the capital of France?",
        "我明白了",
        "I see",
    ],
)
def test_pings_questions_and_look_backs_are_no_events(text: str) -> None:
    assert gists(text) == []


def test_sixty_echoes_and_thirty_pings_leave_no_trace() -> None:
    block = "---\n# Memory\nNotes about the user\n## User profile\n- basic_info::city: Oslo\n## Past events\n---\nI live in Oslo"
    found = distilled(*[block] * 30, *["ok"] * 30)
    assert (found.slots, found.gists, found.items) == ((), (), ())


def test_a_plan_keeps_the_date_that_its_words_meant() -> None:
    [plan] = distilled("I'm moving to Osaka next month").slots
    assert (plan.kind, plan.content) == (MemoryKind.PLAN, "moving to Osaka next month (2026-04)")
    [plan] = distilled("我下周五要去上海出差").slots
    assert (plan.kind, plan.content) == (MemoryKind.PLAN, "下周五要去上海出差（2026-03-13）")


@pytest.mark.parametrize(
    "text",
    [
        "I'll try that tonight",
        "我还没有计划",
        "I'm not going to Paris next week",
        "今天我有一个小问题想要请教你",
        "I was going to move",
    ],
)
def test_what_is_fleeting_denied_or_over_is_no_plan(text: str) -> None:
    assert [one for one in distilled(text).slots if one.kind is MemoryKind.PLAN] == []


def test_a_statement_holds_since_the_day_it_names() -> None:
    [change] = distilled("I work at Contoso since January").slots
    assert change.valid_from is not None
    assert change.valid_from.date() == date(2026, 1, 1)


def test_event_tags_get_the_values_that_the_words_give() -> None:
    config = parse_config(
        "event_tags:\n  - name: emotion\n    description: how they feel\n  - name: goal\n  - name: colour\n"
    )
    taxonomy = taxonomy_of(ProfileConfig(), config, language="en")
    found = RulesDistiller().distil(batch("I'm so nervous. I have an exam next Friday", taxonomy=taxonomy))
    assert found.tags == (EventTag("emotion", "anxious"), EventTag("goal", "an exam next Friday (2026-03-13)"))
    assert RulesDistiller().distil(batch("I'm not sad at all", taxonomy=taxonomy)).tags == ()
