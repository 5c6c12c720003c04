"""What a caller's template may cost, bounded without a tokenizer, against the tokenizer."""

from __future__ import annotations

from unicodedata import category

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram.context.bounds import cut_like_o200k, seam_bound, token_bound
from engram.context.templates import CHINESE, ENGLISH
from engram.text.tokens import _o200k, count_tokens

LATIN = "the user User USER don 't 's ' it's I'll привет naïve é e\u0301 12 3456 ½"
OTHER = "memory 记忆 用户 天天彩票 北京赛车 彩神 한국 の ー 🙂 👩‍👩‍👧 〇"
MARKS = "( (( )) . ... / // --- ## ** _ { } \\ 。 ， ：「 」"
SPACES = [" ", "  ", "\t", "\n", "\n\n", "\r\n", "\u3000", "\x85", "\u2028", "", "\ufeff", "\u200d"]
words = st.sampled_from([*f"{LATIN} {OTHER} {MARKS}".split(" "), *SPACES])
texts = st.one_of(
    st.lists(words, max_size=25).map("".join),
    st.lists(words, max_size=15).map(" ".join),
    st.text(max_size=40),
    st.text(alphabet="abcAB '\n./中天彩票é1", max_size=30),
)


@settings(max_examples=600, deadline=None)
@given(texts)
def test_a_text_is_cut_exactly_as_the_tokenizer_cuts_it(text):
    regex = pytest.importorskip("regex")
    text = "".join(char for char in text if category(char) not in ("Cn", "Cs"))
    assert cut_like_o200k(text) == regex.findall(_o200k()._pat_str, text)


@settings(max_examples=600, deadline=None)
@given(texts, texts, texts)
def test_the_bound_holds_whatever_stands_before_and_after(before, text, after):
    joined = count_tokens(before + text + after)
    assert joined <= token_bound(before) + token_bound(text) + token_bound(after)


@settings(max_examples=800, deadline=None)
@given(texts, texts)
def test_a_line_and_what_follows_it_stay_within_count_and_seam(line, follower):
    line = " ".join(line.split())
    counted = count_tokens(f"- {line}\n")
    assert count_tokens(f"- {line}{follower}") <= counted + seam_bound(f"- {line}", follower) + token_bound(follower)


@pytest.mark.parametrize(("text", "times"), [(ENGLISH, 1.5), (CHINESE, 2.2)])
def test_the_bound_of_a_usual_template_is_near_its_count(text, times):
    text = text.replace("{profile_section}", "").replace("{event_section}", "")
    assert token_bound(text) <= times * count_tokens(text)


def test_pieces_put_together_are_the_text():
    assert "".join(cut_like_o200k("Hello, it's\n\n  2026年！")) == "Hello, it's\n\n  2026年！"


@pytest.mark.parametrize("follower", ["", "\n", " and", "。", "\n\n## Events"])
def test_a_line_that_ends_in_a_word_costs_nothing_more_before_a_break(follower):
    assert seam_bound("- work::title: engineer", follower) == 0
