"""Folding of texts for matching, the way back to the original, languages, and word borders."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.text.language import language_of
from engram.text.normalise import fold, normalise
from engram.text.segment import is_english_word, kind_of, on_borders, reading, words

NAME = -13.9


@pytest.mark.parametrize(
    ("written", "folded"),
    [
        ("ＫＹＯＴＯ", "kyoto"),
        ("東京旅遊", "东京旅游"),
        ("臺北", "台北"),
        ("資料庫設計", "数据库设计"),
        ("軟體專案", "软件项目"),
        ("ﬁne", "fine"),
        ("Xi’an", "xi'an"),
        ("e\u0301", "é"),
        ("STRASSE", "strasse"),
        ("  a \t b\n", "a b"),
    ],
)
def test_one_spelling_for_width_case_script_and_regional_words(written: str, folded: str) -> None:
    assert fold(written) == folded


@given(st.text(st.characters(codec=None), max_size=80))
def test_every_folded_character_knows_where_it_came_from(text: str) -> None:
    folded = normalise(text)
    for at in range(len(folded.text)):
        start, end = folded.span(at, at + 1)
        assert 0 <= start < end <= len(text)
    folded.text.encode("utf-8")


@given(st.text(max_size=60))
def test_folding_twice_changes_nothing(text: str) -> None:
    assert fold(fold(text)) == fold(text)


def test_a_match_in_the_folded_text_quotes_the_original() -> None:
    folded = normalise("看看資料庫設計吧")
    start = folded.text.index("数据库")
    assert folded.as_written(start, start + 3) == "資料庫"


@pytest.mark.parametrize(
    ("text", "language"), [("杭州", "zh"), ("hello", "en"), ("上次的 bug", "mixed"), ("", "en"), ("１２３", "en")]
)
def test_the_language_of_a_text(text: str, language: str) -> None:
    assert language_of(text) == language


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("这几项全部完成都要多久", "成都"),
        ("今日本店八折", "日本"),
        ("按以上次序", "上次"),
        ("马上次卧要装修", "上次"),
        ("网上海淘", "上海"),
        ("第三亚军", "三亚"),
        ("提高考试成绩", "高考"),
        ("包装修改一下", "装修"),
        ("立体检测", "体检"),
        ("西游记", "游记"),
        ("大理石桌面", "大理"),
        ("威尼斯攻略", "尼斯"),
        ("comparison", "paris"),
        ("climate", "lima"),
    ],
)
def test_a_name_across_word_borders_is_no_name(text: str, name: str) -> None:
    start = text.index(name)
    assert not on_borders(text, start, start + len(name), name_score=NAME)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("去成都要多久", "成都"),
        ("去日本玩", "日本"),
        ("跟上次一样", "上次"),
        ("我们的三体", "三体"),
        ("in paris now", "paris"),
    ],
)
def test_a_name_of_its_own_is_one(text: str, name: str) -> None:
    start = text.index(name)
    assert on_borders(text, start, start + len(name), name_score=NAME)


@given(st.text("完成都要上海今日本店的了在", max_size=30))
def test_words_cover_a_run_without_gaps(run: str) -> None:
    spans = words(run)
    assert "".join(run[first:last] for first, last in spans) == run


def test_the_dictionary_tells_words_from_names_and_sounds_alike() -> None:
    assert kind_of("南京") == "place"
    assert kind_of("完成") == "word"
    assert kind_of("没有这个词") == ""
    assert reading("航州") == reading("杭州")
    assert is_english_word("nice")
    assert not is_english_word("shanghai")
