"""Which one back a cue means: 上上次, the time before last and two chats ago are the second, 倒数第三次 the third; and
how many: 最近三次对话, our last three chats."""

from __future__ import annotations

import re

from engram.resolve.temporal.chinese_words import number
from engram.resolve.temporal.english_periods import count_of
from engram.resolve.temporal.english_words import NUMBER, ORDINALS, names_of

_UPS = re.compile(r"上+")
_TWICE = re.compile(r"大上|再上|的上|[上前]两|上.?[次回趟](?:再往前|之前|以前|的前)|往前再")
_FROM_THE_END = re.compile(r"倒数第([一二两三四五六七八九十\d]+)")
_BACK = re.compile(r"^([一两二三四五六七八九十\d]+)(?:次|回|趟|场|个)")
_NEWEST = re.compile(r"^(?:最近|过去|近)(?:的|这)?([两二三四五六七八九十\d]+)(?:次|回|个|场|轮)")
_LAST_FEW = re.compile(rf"\b(?:last|past|previous|recent) {NUMBER} ")
_ORDINAL = re.compile(rf"\b({names_of(ORDINALS)})\b[- ](?:to[- ]|from[- ](?:the[- ])?)?last\b")
_AGO = re.compile(rf"\b{NUMBER} (?:\w+ )?\w+ (?:ago|back|before this)\b")
_GO_BACK = re.compile(rf"\bback {NUMBER} \w+$")
_BUT = re.compile(rf"\bbut {NUMBER}\b")
_WORDS = {"antepenultimate": 3, "penultimate": 2, "next to last": 2, "next-to-last": 2}
MAX = 99


def nth_of(words: str) -> int:
    """The place of the conversation meant, counted back from the present one, or the number of the newest ones meant;
    1 where the words do not count."""
    return max(1, min(_chinese(words) or _english(words) or 1, MAX))


def _chinese(words: str) -> int:
    if found := _FROM_THE_END.search(words) or _BACK.search(words) or _NEWEST.search(words):
        return number(found[1])
    ups = _UPS.match(words)
    if _TWICE.search(words):
        return 2
    return len(ups.group()) if ups else 0


def _english(words: str) -> int:
    for name, value in _WORDS.items():
        if name in words:
            return value
    if found := _ORDINAL.search(words):
        return ORDINALS[found[1]]
    if found := _AGO.search(words) or _GO_BACK.search(words) or _LAST_FEW.search(words):
        return count_of(found["count"])
    if found := _BUT.search(words):
        return 1 + count_of(found["count"])
    return 2 if re.search(r"\bbefore (?:(?:the )?(?:last|previous)|that|it)\b", words) else 0
