"""A Chinese word of a topic counts only where no other division of the text is nearly as likely; and long queries stay
cheap, whatever they repeat."""

from __future__ import annotations

from datetime import UTC, datetime
from time import process_time

import pytest

from engram.resolve.borders import stands_alone
from engram.resolve.models import ResolveContext
from engram.resolve.resolver import Resolver
from engram.resolve.sense import opens_sentence
from engram.resolve.shipped import default_catalogue

NOW = ResolveContext(datetime(2025, 9, 17, 7, 30, tzinfo=UTC))


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("机器学习惯了", "机器学习"),
        ("记账号密码", "记账"),
        ("理财神庙", "理财"),
        ("一周报价", "周报"),
        ("出租约车", "租约"),
    ],
)
def test_a_word_that_another_division_tears_does_not_stand(text: str, word: str) -> None:
    start = text.index(word)
    assert not stands_alone(text, start, start + len(word), name_score=-12.0)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("上次聊的机器学习", "机器学习"),
        ("记账方法", "记账"),
        ("去首尔要办签证吗", "办签证"),
        ("今年春节聊的年夜饭菜谱", "菜谱"),
        ("our resume review", "resume"),
    ],
)
def test_a_word_with_no_near_rival_stands(text: str, word: str) -> None:
    start = text.index(word)
    assert stands_alone(text, start, start + len(word), name_score=-12.0)


def test_a_capital_says_nothing_at_the_start_or_where_all_are_capitals() -> None:
    assert opens_sentence('He left. "Paris', 10)
    assert opens_sentence("TRAVEL TIPS FOR TOKYO", 7)
    assert not opens_sentence("we saw Paris", 7)
    assert not opens_sentence("go TO", 3)


@pytest.mark.parametrize(
    "piece",
    ["we went to the Market with Anna and ", "我们去上海和小李说了旅游攻略以后就回家了", "推荐", "去 ", "Go To Paris "],
)
def test_a_query_that_repeats_itself_is_read_in_bounded_time(piece: str) -> None:
    resolver = Resolver(default_catalogue())
    query = (piece * 8_000)[:8_000]
    resolver.resolve(query, NOW)
    begun = process_time()
    resolver.resolve(query, NOW)
    assert process_time() - begun < 1.0
