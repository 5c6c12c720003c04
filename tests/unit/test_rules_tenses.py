"""Which Friday "on Friday" is, by the tense of its clause. 2 March 2026, on which all is said, is a Monday."""

from __future__ import annotations

import pytest

from engram.adapters.rules import RulesDistiller
from engram.adapters.rules.clauses import language_of
from engram.domain.models import MemoryKind
from tests.builders import batch

DATED = [
    ("I need it for a code review on Friday.", "2026-03-06"),
    ("I have a dentist appointment on Thursday.", "2026-03-05"),
    ("I'm off on Friday", "2026-03-06"),
    ("I'm getting married in June", "2026-06-01"),
    ("My exam got moved to Thursday", "2026-03-05"),
    ("On Friday, I have to see the vet", "2026-03-06"),
    ("We had dinner on Friday", "2026-02-27"),
    ("I moved to Berlin on Friday", "2026-02-27"),
    ("I got my results on Friday", "2026-02-27"),
    ("I've been sick since Saturday", "2026-02-28"),
    ("I met Anna on Friday and we'll meet again on Sunday", "2026-02-27"),
    ("My birthday is May 4th", "2026-03-02"),
    ("I run every Friday", "2026-03-02"),
    ("周五要参加代码评审", "2026-03-06"),
    ("周三得去医院", "2026-03-04"),
    ("周五有个面试", "2026-03-06"),
    ("我约了周四看牙", "2026-03-05"),
    ("周五我去医院了", "2026-02-27"),
    ("我周日跑了马拉松", "2026-03-01"),
    ("周一刚入职", "2026-02-23"),
    ("我生日是5月2号", "2026-03-02"),
    ("我每周五都跑步", "2026-03-02"),
]
PLANNED = [
    ("My flight to Oslo is on Friday", "My flight to Oslo is on Friday (2026-03-06)"),
    ("On Friday, I have to see the vet", "to see the vet (2026-03-06)"),
    ("I must submit the report by Wednesday.", "must submit the report by Wednesday (2026-03-04)"),
    ("周五要参加代码评审", "周五要参加代码评审（2026-03-06）"),
    ("我的婚礼是6月5号", "婚礼是6月5号（2026-06-05）"),
    ("下个月15号我要去东京出差一周", "下个月15号要去东京出差一周（2026-04-15）"),
    ("我下个月搬去里斯本", "下个月搬去里斯本（2026-04）"),
]


@pytest.mark.parametrize(("text", "day"), DATED)
def test_a_bare_date_is_the_coming_one_unless_the_clause_looks_back(text: str, day: str) -> None:
    [gist] = RulesDistiller().distil(batch(text, language=language_of(text))).gists
    assert gist.happened_at.date().isoformat() == day


@pytest.mark.parametrize(("text", "plan"), PLANNED)
def test_what_is_to_be_done_on_a_day_is_a_plan_with_its_date(text: str, plan: str) -> None:
    slots = RulesDistiller().distil(batch(text, language=language_of(text))).slots
    assert [(one.kind, one.content) for one in slots] == [(MemoryKind.PLAN, plan)]
