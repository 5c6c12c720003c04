"""Terms of a text: what should match does, and any text at all is survived."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram.text.analysis import MAX_TERM_CHARACTERS, MAX_TERMS, TERMS_OF_A_QUESTION, share_held, terms_of


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("hiking", "hiked"),
        ("HANGZHOU", "Ｈａｎｇｚｈｏｕ"),
        ("Caroline's", "Caroline"),
        ("龍井", "龙井"),
        ("running shoes", "run shoe"),
    ],
)
def test_two_spellings_of_the_same_words_have_the_same_terms(one: str, other: str) -> None:
    assert terms_of(one) == terms_of(other) != []


@pytest.mark.parametrize("text", ["", "   ", "🙂🙂", "?!…。", "\x00\x01", "\ud800", "what did you do", "的 了 吗"])
def test_a_text_without_words_that_say_anything_has_no_terms(text: str) -> None:
    assert terms_of(text) == []


def test_a_word_inside_a_longer_chinese_word_is_found() -> None:
    assert "龙井" in terms_of("西湖龙井茶")
    assert "博物馆" in terms_of("历史博物馆")


def test_words_of_both_languages_stand_in_one_text() -> None:
    terms = terms_of("帮我订 Kyoto 的酒店")
    assert {"kyoto", "酒店"} <= set(terms)


def test_endless_texts_and_words_are_bounded() -> None:
    assert len(terms_of("word " * 50_000)) == MAX_TERMS
    assert len(terms_of("好" * 50_000)) <= MAX_TERMS
    assert max(map(len, terms_of("x" * 5_000))) <= MAX_TERM_CHARACTERS


@settings(deadline=None)
@given(st.text(st.characters(codec=None), max_size=200))
def test_no_text_is_too_strange(text: str) -> None:
    terms = terms_of(text)
    assert all(term and " " not in term and not term.isspace() for term in terms)
    assert terms == terms_of(text)


def test_the_share_of_a_question_is_plain_and_that_of_a_page_is_forgiving() -> None:
    assert share_held(2, 4) == 0.5
    assert share_held(8, TERMS_OF_A_QUESTION) == 0.5
    assert share_held(8, 10 * TERMS_OF_A_QUESTION) > 8 / (10 * TERMS_OF_A_QUESTION)
    assert share_held(0, 0) == share_held(3, 0) == 0.0


@settings(deadline=None)
@given(st.integers(0, 300), st.integers(0, 300))
def test_a_share_grows_with_what_is_held_and_stays_a_share(held: int, asked: int) -> None:
    held = min(held, asked)
    assert 0 <= share_held(held, asked) <= 1
    assert share_held(held, asked) <= share_held(min(held + 1, asked), asked)
    assert asked == 0 or share_held(asked, asked) == 1
