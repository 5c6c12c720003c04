"""From a text to the terms that lexical search matches: stemmed English, Chinese words and character bigrams.

Documents and queries go through this one function. Rows keep their terms with `VERSION`, so that reading a
user's rows needs no tokenizer; raise it with every change that alters terms.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from engram.text import segment
from engram.text.normalise import normalise

VERSION = 1
"""Of the terms that `terms_of` makes."""

MAX_TERMS = 4_000
"""Terms kept of one text. Eight thousand characters of any language stay below it, or nearly so."""

MAX_TERM_CHARACTERS = 40
"""Longer runs without a space are keys, hashes or noise; their beginning identifies them."""

TERMS_OF_A_QUESTION = 16

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_CJK = _HAN + "\u3040-\u30ff\uac00-\ud7af"
_RUN = re.compile(rf"[{_CJK}]+|(?:(?![{_CJK}_])\w)+(?:['’](?:(?![{_CJK}_])\w)+)*")
_IS_CJK = re.compile(rf"[{_CJK}]")
_LATIN = re.compile(r"[a-z]+\Z")

ENGLISH_STOP_WORDS = frozenset(
    """a about after all also am an and any are as at be because been before being but by can could did do does doing
    don down for from get got had has have having he her here hers him his how i if in into is it its just ll me might
    more most my of off oh on or our out over own re s she should so some such t than that the their them then there
    these they this those through to too up ve very was we were what when where which while who whom why will with
    would yeah you your yours""".split()
)
CHINESE_STOP_WORDS = frozenset(
    """的 了 吗 呢 吧 啊 呀 哦 嗯 我 你 您 他 她 它 我们 你们 他们 她们 是 在 有 和 与 也 都 就 还 又 很 这 那 这个 那个
    哪 哪个 什么 怎么 怎样 为什么 一个 一下 一些 没有 不 没 会 能 可以 要 想 说 过 着 得 地 把 被 对 给 跟 从 到 么 们
    个 曾经 之前 以前""".split()
)


def terms_of(text: str) -> list[str]:
    """Terms of `text` in order, with repetitions, stop words left out. Empty for punctuation, emoji or nothing."""
    terms: list[str] = []
    for run in _RUN.findall(normalise(text).text):
        if _IS_CJK.match(run):
            terms.extend(_chinese(run))
        elif (term := _word(run)) is not None:
            terms.append(term)
        if len(terms) >= MAX_TERMS:
            return terms[:MAX_TERMS]
    return terms


def share_held(held: int, asked: int) -> float:
    """How much of a question of `asked` terms a text with `held` of them answers, 0..1.

    Beyond `TERMS_OF_A_QUESTION` terms it is a page rather than a question: nothing holds half of a page's words, so
    every further term counts a quarter.
    """
    if asked <= 0:
        return 0.0
    wanted = min(asked, TERMS_OF_A_QUESTION) + max(asked - TERMS_OF_A_QUESTION, 0) / 4
    return min(1.0, held / wanted)


@lru_cache(maxsize=20_000)
def _word(run: str) -> str | None:
    word = re.split("['’]", run, maxsplit=1)[0][:MAX_TERM_CHARACTERS]
    if not word or word in ENGLISH_STOP_WORDS:
        return None
    return str(_stemmer().stemWord(word)) if _LATIN.match(word) else word


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import snowballstemmer

    return snowballstemmer.stemmer("english")


def _chinese(run: str) -> list[str]:
    words = [word for word in _segment(run) if word not in CHINESE_STOP_WORDS]
    return words + [run[place : place + 2] for place in range(len(run) - 1)]


@lru_cache(maxsize=8_192)
def _segment(run: str) -> tuple[str, ...]:
    """Most probable words, and the dictionary's words inside the long ones: 西湖龙井 is found by 龙井."""
    found: list[str] = []
    for start, end in segment.words(run):
        word = run[start:end]
        if len(word) > 3:
            found.extend(part for size in (2, 3) for part in _inside(word, size))
        found.append(word)
    return tuple(found)


def _inside(word: str, size: int) -> list[str]:
    parts = (word[place : place + size] for place in range(len(word) - size + 1))
    return [part for part in parts if segment.is_word(part)]
