"""Places that the catalogue need not hold: those of the world by name, and what is a place by its form."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from engram.resolve.aliases import Squeezed
from engram.resolve.lexicon import place_names
from engram.resolve.longer_names import longer_han
from engram.text.language import is_han
from engram.text.normalise import NormalisedText
from engram.text.segment import is_word, kind_of, on_borders, words

Span = tuple[int, int]

_PROVINCES = frozenset(
    "湖北 湖南 河北 河南 山东 山西 陕西 甘肃 青海 四川 贵州 云南 广东 广西 海南 福建 浙江 江苏 江西 安徽 辽宁 黑龙江 "
    "内蒙古 新疆 西藏 宁夏 吉林 台湾".split()
)
_PLACE_ENDING = re.compile(r"[\u4e00-\u9fff]{2,6}?(?:群岛|半岛|岛|古镇|古城|镇|县|湖|山|峡谷|沙漠)")
_TRAVEL_WORD = re.compile(
    r"\s{0,3}(?:的)?(?:旅游|旅行|自由行|攻略|游记|行程|酒店|民宿|机票|签证|怎么玩|好玩|景点|美食)"
)
_PLACE_SCORE = -13.9
_NOT_IN_NAMES = frozenset(
    "的 了 在 去 到 聊 说 把 给 和 跟 与 是 有 想 要 我 你 他 她 我们 你们 那 这 那个 这个 过 上次 之前 次 "
    "再 关于 发 看".split()
)


def unknown_places(normalised: NormalisedText, squeezed: Squeezed) -> Iterator[Span]:
    """Spans of a folded text that are surely names of places, whether or not the catalogue holds them; the longest
    first."""
    found = {*_places_of_the_world(normalised, squeezed), *_places_by_form(normalised.text)}
    yield from sorted(found, key=lambda span: (span[0] - span[1], span[0]))


def _places_by_form(text: str) -> Iterator[Span]:
    for run in re.finditer(r"[\u4e00-\u9fff]{3,}", text):
        spans = [(run.start() + first, run.start() + last) for first, last in words(run.group())]
        for left, right in pairwise(spans):
            here = text[right[0] : right[1]]
            if text[left[0] : left[1]] in _PROVINCES and kind_of(here) == "place" and here not in _PROVINCES:
                yield right
        for first, last in spans:
            if last - first > 1 and kind_of(text[first:last]) in ("place", "name") and _TRAVEL_WORD.match(text, last):
                yield first, last
    for match in _PLACE_ENDING.finditer(text):
        if _TRAVEL_WORD.match(text, match.end()):
            start = _name_start(text, match.start(), match.end())
            if match.end() - start >= 3 and not is_word(text[start : match.end()]):
                yield start, match.end()


def _places_of_the_world(normalised: NormalisedText, squeezed: Squeezed) -> Iterator[Span]:
    """Known places: in Latin letters only with a capital, since many are words or surnames too."""
    for hit in place_names().find(squeezed):
        start, end = squeezed.span(hit.start, hit.end)
        if is_han(hit.key[0]):
            if on_borders(squeezed.text, hit.start, hit.end, name_score=_PLACE_SCORE):
                yield longer_han(normalised.text, start, end, {"city"}) or (start, end)
        elif normalised.as_written(start, end)[:1].isupper() and on_borders(
            squeezed.text, hit.start, hit.end, name_score=_PLACE_SCORE
        ):
            yield start, end


def _name_start(text: str, start: int, end: int) -> int:
    """Where the name within `start..end` begins: after the last word that is certainly not part of it."""
    begin = start
    for first, last in words(text[start:end]):
        piece = text[start + first : start + last]
        if piece in _NOT_IN_NAMES or (last - first > 1 and kind_of(piece) == "word" and start + last < end - 1):
            begin = start + last
    return begin
