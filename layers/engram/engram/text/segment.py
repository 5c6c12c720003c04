"""Where words begin and end: in Chinese the most probable division, in Latin scripts the change of character kind.

A name that only appears across two words (完成|都要, 今日|本店) is no name. The dictionary is a text file whose lines
are read when a text first needs them: a few milliseconds at start instead of a second for a full segmenter.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from engram.text.language import is_han

_DATA = Path(__file__).parent / "data"
_TOTAL = math.log(60_101_967)
"""Sum of all frequencies of the dictionary."""
_UNKNOWN = math.log(1) - _TOTAL
_LONGEST = 5
_WINDOW = 12
"""Characters on either side of a name that can decide whether it stands on word borders."""
FREE_WORDS = frozenset(
    "的了在是有和与跟我你您他她它这那去到来回从给要想不没就都也还很把被让对为向往用做吃喝看听说讲聊问写买卖住走坐飞玩"
    "爬逛游拍学教叫找带送发改查订请帮再又才只能会可得着过吗呢吧啊呀嘛哦么些个次天年月日号点里外上下前后中内大小新老好"
    "多少几一二两三四五六七八九十百千万第每各某该此其之以于及或但而且如若因所谁哪怎何吃药书车房家人事钱菜饭水茶酒猫狗"
)
"""Characters that are often words by themselves."""
_BOUND = 2.0
"""What a single character that is seldom a word by itself costs (店, 今): a piece of a longer word, most likely."""
_ENTRY = re.compile(r"(\D*)(\d+)([*#]?)")


@lru_cache(maxsize=1)
def _lines() -> dict[str, str]:
    lines = [*(_DATA / "words.txt").read_text("utf-8").splitlines()]
    table = {line[0]: line[2:] for line in lines}
    for line in (_DATA / "more_words.txt").read_text("utf-8").splitlines():
        for word in line.split():
            name, _, frequency = word.partition("=")
            table[name[0]] = f"{table.get(name[0], '')} {name[1:]}{frequency or _MORE_FREQUENCY}"
    return table


_MORE_FREQUENCY = 50
"""Ten times the logarithm of the frequency given to words that the dictionary does not know."""


@lru_cache(maxsize=4096)
def _words_from(first: str) -> dict[str, float]:
    line = _lines().get(first)
    if line is None:
        return {}
    entries = (_ENTRY.fullmatch(entry) for entry in line.split())
    return {first + entry[1]: int(entry[2]) / 10 - _TOTAL for entry in entries if entry}


@lru_cache(maxsize=4096)
def _marks_from(first: str) -> dict[str, str]:
    entries = (_ENTRY.fullmatch(entry) for entry in _lines().get(first, "").split())
    marks: dict[str, str] = {}
    for entry in entries:
        if entry:
            # A word listed again with another frequency is still the kind of word it was.
            marks.setdefault(first + entry[1], entry[3])
    return marks


def kind_of(word: str) -> str:
    """`place`, `name`, `word`, or "" when the dictionary does not hold it."""
    mark = _marks_from(word[0]).get(word) if word else None
    return "" if mark is None else _KINDS[mark]


_KINDS = {"#": "place", "*": "name", "": "word"}


def word_score(word: str) -> float | None:
    """Natural logarithm of the word's probability, or None when the dictionary does not hold it."""
    return _words_from(word[0]).get(word) if word else None


def is_word(word: str) -> bool:
    """Whether the dictionary holds this Chinese word of two characters or more."""
    return len(word) > 1 and word_score(word) is not None


def words(run: str) -> tuple[tuple[int, int], ...]:
    """Half-open spans of the most probable words of a run of Han characters."""
    if not run:
        return ()
    best = _best_from(run)
    spans: list[tuple[int, int]] = []
    at = 0
    while at < len(run):
        spans.append((at, best[at][1]))
        at = best[at][1]
    return tuple(spans)


@lru_cache(maxsize=256)
def _best_from(run: str) -> Sequence[tuple[float, int]]:
    """For each position, the best score from there to the end, and where its first word ends. Every name in a query is
    weighed against the same runs around it.
    """
    length = len(run)
    best: list[tuple[float, int]] = [(0.0, length)] * (length + 1)
    for start in range(length - 1, -1, -1):
        block = _words_from(run[start])
        alone = block.get(run[start], _UNKNOWN) - (0.0 if run[start] in FREE_WORDS else _BOUND)
        choice = (alone + best[start + 1][0], start + 1)
        for end in range(start + 2, min(start + _LONGEST, length) + 1):
            score = block.get(run[start:end])
            if score is not None and score + best[end][0] > choice[0]:
                choice = (score + best[end][0], end)
        best[start] = choice
    return best


def score_of(run: str) -> float:
    """Logarithm of the probability of the best division of a run of Han characters."""
    return _best_from(run)[0][0] if run else 0.0


def han_run(text: str, start: int, end: int) -> tuple[int, int]:
    """The run of Han characters around `start..end`, at most a window wide on either side."""
    first, last = start, end
    while first > 0 and start - first < _WINDOW and is_han(text[first - 1]):
        first -= 1
    while last < len(text) and last - end < _WINDOW and is_han(text[last]):
        last += 1
    return first, last


def on_borders(text: str, start: int, end: int, *, name_score: float) -> bool:
    """Whether `text[start:end]` is a word or a row of words of its own, rather than pieces of its neighbours.

    Args:
        name_score: logarithm of the probability of the span as one name, for names that the dictionary lacks.
    """
    if not _latin_borders(text, start, end):
        return False
    if not any(is_han(character) for character in text[start:end]):
        return True
    first, last = han_run(text, start, end)
    if (first, last) == (start, end):
        return True
    inside = text[start:end]
    known = word_score(inside)
    apart = score_of(text[first:start]) + score_of(text[end:last])
    as_name = apart + max(known if known is not None else name_score, score_of(inside))
    return as_name >= score_of(text[first:last]) - 1e-9


def _latin_borders(text: str, start: int, end: int) -> bool:
    return not (
        (start > 0 and _joined(text[start - 1], text[start])) or (end < len(text) and _joined(text[end - 1], text[end]))
    )


def _joined(left: str, right: str) -> bool:
    """Whether two neighbours belong to one word of letters or digits."""
    if is_han(left) or is_han(right):
        return False
    return left.isalnum() and right.isalnum()


@lru_cache(maxsize=1)
def _english() -> frozenset[str]:
    return frozenset((_DATA / "english.txt").read_text("utf-8").split())


def is_english_word(word: str) -> bool:
    """Whether a lower-case word is ordinary English (names are not)."""
    return word in _english() or (word.endswith("'s") and word[:-2] in _english())


def is_listed_english(word: str) -> bool:
    """Whether a lower-case word is in the larger list as well: less common words, and those that take a capital."""
    listed = _english()
    return word in listed or f"{word}*" in listed or f"{word}~" in listed


@lru_cache(maxsize=1)
def _readings() -> dict[str, str]:
    return {
        character: sound
        for sound, _, characters in (
            line.partition(" ") for line in (_DATA / "readings.txt").read_text("utf-8").splitlines()
        )
        for character in characters
    }


def reading(text: str) -> str:
    """How a Chinese text sounds, without tones and with near sounds folded; other characters as they are."""
    table = _readings()
    return " ".join(table.get(character, character) for character in text)
