"""Statements of which one holds at a time though their slot gathers several: a favourite colour, how many children."""

# ruff: noqa: E501  (a pattern reads best on one line)
from __future__ import annotations

import re

from engram.adapters.rules import chinese_words, english_words

_FRAMES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?P<frame>favou?rite [\w ]+):.+",
        r"(?P<frame>最喜欢的[^，是]{1,10})是.+",
        rf"(?:no|{english_words.NUMBER})(?: [\w-]+){{0,2}}? (?P<frame>{english_words.RELATION})",
        rf"(?:没有|{chinese_words.NUMBER}?[个位名对]?)(?P<frame>{chinese_words.KIN_WORD})",
    )
)
_EDIBLE = re.compile(
    r"favou?rite (?:[\w]+ )?(?:foods?|dish(?:es)?|meals?|snacks?|fruits?|drinks?|desserts?|cuisines?)\b|最喜欢的(?:食物|菜|水果|零食|饮料|美食|甜品)",
    re.IGNORECASE,
)


def frame_of(content: str) -> str:
    """What such a statement answers ("favorite food", "kid"); "" for all others."""
    for pattern in _FRAMES:
        match = pattern.fullmatch(content)
        if match is not None:
            return re.sub(r"(?<=[a-z])(?:ren|s)$", "", match["frame"].lower())
    return ""


def of_food(content: str) -> bool:
    """Whether it names a favourite thing to eat or drink, whatever that is."""
    return _EDIBLE.match(content) is not None
