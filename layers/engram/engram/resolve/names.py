"""Names that the catalogue does not hold.

Conservative on purpose: an unknown name is counted for a person to promote, and a wrong one is noise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from engram.resolve.catalogue import Catalogue
from engram.resolve.latin_names import latin_names
from engram.resolve.lexicon import timely_names
from engram.resolve.people import is_person, people_in
from engram.text.normalise import NormalisedText
from engram.text.segment import kind_of, word_score, words

Span = tuple[int, int]

_WORKS = re.compile(r"(?:的)(?:歌|专辑|演唱会|新歌|单曲|电影|小说|漫画)")
_CONCERT = re.compile(r"演唱会|巡演|新专辑")
_RARE_WORD = -15.0
"""Logarithm of the probability below which a word of three characters before a concert is who gives it (五月天)."""
_GAME = re.compile(
    r"(?:^|[^\u4e00-\u9fff]|[的过到]|关于|给我|发我|上次|之前)"
    r"(?P<name>(?:(?![关新我你这那最全怎如任副游快哪找发求要的过到一两份个篇些款])[\u4e00-\u9fff]){2,7}?)(?:的)?(?:通关|游戏)(?:攻略|秘籍)"
)
"""What has a guide to playing it through is a game."""
_PROJECT = re.compile(r"(?P<name>[\u4e00-\u9fff]{2,6})项目")
_SELDOM = -12.0
"""Logarithm of the probability below which a name of the dictionary before 项目 is what the project is called."""
_TITLE = re.compile(r"《([^《》]{1,40})》")


def unknown_names(normalised: NormalisedText, catalogue: Catalogue) -> Iterator[Span]:
    """Spans in the folded text of names that the catalogue does not hold. May overlap what is known already."""
    text = normalised.text
    yield from latin_names(normalised, catalogue)
    yield from (match.span(1) for match in _TITLE.finditer(text))
    yield from (match.span() for match in timely_names().finditer(text))
    yield from _projects(text)
    yield from (match.span("name") for match in _GAME.finditer(text))
    yield from _han_works_and_people(text)
    yield from people_in(text)


def _projects(text: str) -> Iterator[Span]:
    for match in _PROJECT.finditer(text):
        start = match.start("name")
        for first, last in words(match["name"]):
            seldom = (word_score(match["name"][first:last]) or 0.0) < _SELDOM
            if last == len(match["name"]) and seldom and kind_of(match["name"][first:last]) == "name":
                yield start + first, match.end()


def _han_works_and_people(text: str) -> Iterator[Span]:
    for run in re.finditer(r"[\u4e00-\u9fff]{3,}", text):
        base = run.start()
        spans = [(base + first, base + last) for first, last in words(run.group())]
        for at, (first, last) in enumerate(spans):
            piece = text[first:last]
            before = text[spans[at - 1][0] : spans[at - 1][1]] if at else ""
            after = text[spans[at + 1][0] : spans[at + 1][1]] if at + 1 < len(spans) else ""
            works = last - first >= 2 and _WORKS.match(text, last) and (kind_of(piece) != "word" or len(piece) > 2)
            plays = last - first >= 2 and _CONCERT.match(text, last) and _is_performer(piece)
            if works or plays or is_person(piece, before, after):
                yield first, last


def _is_performer(piece: str) -> bool:
    return kind_of(piece) == "name" or (len(piece) > 2 and (word_score(piece) or 0.0) < _RARE_WORD)
