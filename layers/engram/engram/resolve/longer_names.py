"""Known names that are only a part of a longer one: 中山 in 中山大学, Washington in Washington Post."""

from __future__ import annotations

import re

from engram.resolve.aliases import key_of
from engram.resolve.catalogue import PLACE_TYPES, Catalogue
from engram.resolve.lexicon import CALENDAR_WORDS, given_names
from engram.resolve.people import SURNAMES, begins_word, goes_on_as_given_name
from engram.text.language import is_han
from engram.text.normalise import NormalisedText
from engram.text.segment import han_run, is_english_word, kind_of, word_score, words

Span = tuple[int, int]

_INSTITUTION = re.compile(
    r"(?:[东南西北中]?(?:大街|大道|东路|西路|南路|北路|中路|路)(?![线上程过径况人由费演灯边口段牌])|"
    r"(?:外国语|师范|理工|交通|医科|科技|财经|音乐|体育|农业|工业|政法|邮电)?(?:大学|学院|附中)|"
    r"银行|日报|晚报|时报|航空|啤酒|卫视|电视台|出版社|商会|证券)"
)
_LANDFORM = re.compile(r"群岛|半岛|海峡|岛(?![屿国主民内上])")
_TRANSLITERATION = frozenset("尔斯达特顿拉娜莎蒂亚恩姆诺比克德罗维夫森逊伊")
_RARE_ALONE = -10.3
"""Logarithm of the probability below which a single character is hardly a word by itself."""
_WORD_BEFORE = re.compile(r"\b([A-Z][a-z]+) $")
_CAPITAL_NEXT = re.compile(r" ([A-Z][a-z]{2,})")
_PRESS = frozenset("times post daily weekly tribune herald gazette journal chronicle".split())
_MODEL = re.compile(
    r" ?(?:pro max|pro|max|plus(?! (?:an?|the|my|some|two|airpods|one)\b)|mini|ultra|lite|se)\b(?! a\b)"
)
"""What makes the name of a product that of another (iPhone 15 Pro Max)."""


def inside_longer_name(
    normalised: NormalisedText, start: int, end: int, kinds: set[str], catalogue: Catalogue
) -> Span | None:
    """The longer, unknown name that the known name `start..end` (folded text) is only a part of, if any."""
    text = normalised.text
    if is_han(text[end - 1]):
        return longer_han(text, start, end, kinds)
    return _longer_latin(normalised, start, end, kinds, catalogue)


def name_around(text: str, start: int, end: int) -> Span | None:
    """The longer word of the dictionary, itself a name, that `start..end` is only a part of (中山 in 中山大学)."""
    first, last = han_run(text, start, end)
    for left, right in words(text[first:last]):
        whole = (first + left, first + right)
        if whole[0] <= start and end <= whole[1] and whole[1] - whole[0] > end - start:
            named = kind_of(text[slice(*whole)]) == "place" or _INSTITUTION.search(text, end, whole[1])
            return whole if named else None
    return None


def is_landform(name: str) -> bool:
    """Whether a name says itself that it is a piece of land: 帕劳群岛."""
    return any(match.end() == len(name) for match in _LANDFORM.finditer(name))


def doubled(text: str, start: int, end: int) -> bool:
    """Whether the last character of a name of two or more is written again: 王芳芳 is not 王芳."""
    return end - start >= 2 and is_han(text[end - 1]) and text[end : end + 1] == text[end - 1]


def longer_han(text: str, start: int, end: int, kinds: set[str]) -> Span | None:
    """The longer name that a Chinese one is the beginning of, by what follows it."""
    if "person" in kinds and doubled(text, start, end):
        return start, end + 1
    # 张伟 in 张伟丽: a further character of given names that begins no word of its own.
    two = "person" in kinds and end - start == 2 and text[start] in SURNAMES
    if two and goes_on_as_given_name(text, end):
        return start, end + 1
    if kinds & PLACE_TYPES:
        suffix = _INSTITUTION.match(text, end) or _LANDFORM.match(text, end)
        if suffix:
            return start, suffix.end()
    following = text[end : end + 1]
    if following and kinds & (PLACE_TYPES | {"company"}) and end - start >= 2 and not begins_word(text, end):
        # 韩国瑜: a seldom character that begins no word, after a name that could begin with a surname.
        of_person = text[start] in SURNAMES and is_han(following) and (word_score(following) or 0.0) < _RARE_ALONE
        if following in _TRANSLITERATION or of_person:
            return start, end + 1
    return None


def _longer_latin(
    normalised: NormalisedText, start: int, end: int, kinds: set[str], catalogue: Catalogue
) -> Span | None:
    if kinds == {"product"} and (model := _MODEL.match(normalised.text, end)):
        return start, model.end()
    if not kinds & (PLACE_TYPES | {"person", "pet"}) or " " in normalised.text[start:end]:
        return None
    first, last = normalised.span(start, end)
    written = normalised.original
    if not written[first:last].istitle():
        return None
    given = _WORD_BEFORE.search(written, 0, first)
    if given and given[1].lower() in given_names() and not catalogue.entity_names.get(given[1].lower()):
        return normalised.folded_span(given.start(), first)[0], end
    following = _CAPITAL_NEXT.match(written, last)
    if not following:
        return None
    word = following[1].lower()
    if word in _PRESS:
        return start, end + len(following[0])
    if is_english_word(word) or word in CALENDAR_WORDS or catalogue.entity_names.get(key_of(word)):
        return None
    if catalogue.topic_names.get(word) or (word.endswith("s") and is_english_word(word[:-1])):
        return None
    return start, end + len(following[0])
