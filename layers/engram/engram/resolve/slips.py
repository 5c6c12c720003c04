"""Where in a text a slip of the pen may be: pieces that are neither words nor names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from engram.resolve.phonetics import MIN_LATIN, SoundTable
from engram.text.segment import FREE_WORDS, is_english_word, words

_WORD = re.compile(r"[a-z][a-z0-9']*")
_HAN_RUN = re.compile(r"[\u3400-\u9fff]+")
_LONGEST_HAN = 6
_LONGEST_LATIN = 3
MAX_LENGTH = 400
"""Characters of a text that are looked at: slips matter in short questions."""


def slips(text: str, sounds: SoundTable) -> Iterator[tuple[int, int, str]]:
    """Spans in the folded text with the name that each is a slip of, longest first at each place."""
    part = text[:MAX_LENGTH]
    yield from _han_slips(part, sounds)
    yield from _latin_slips(part, sounds)


def _han_slips(text: str, sounds: SoundTable) -> Iterator[tuple[int, int, str]]:
    for run in _HAN_RUN.finditer(text):
        pieces = words(run.group())
        at = 0
        while at < len(pieces):
            found = _han_slip(run.group(), pieces, at, sounds)
            if found is None:
                at += 1
                continue
            last, key = found
            yield run.start() + pieces[at][0], run.start() + pieces[last][1], key
            at = last + 1


def _han_slip(run: str, pieces: tuple[tuple[int, int], ...], at: int, sounds: SoundTable) -> tuple[int, str] | None:
    """A slip that begins at a piece and ends with one. At least one piece must be a single character: a name that is
    written wrongly falls apart, while words that happen to sound like a name do not. A word that is often by itself
    (可 in 莫斯可) may be in a longer one once."""
    for last in range(min(at + _LONGEST_HAN, len(pieces)) - 1, at, -1):
        start, end = pieces[at][0], pieces[last][1]
        if end - start > _LONGEST_HAN:
            continue
        free = sum(run[left:right] in FREE_WORDS for left, right in pieces[at : last + 1])
        if free > (end - start > 2):
            continue
        broken = sum(right - left == 1 for left, right in pieces[at : last + 1])
        if broken == 0 or (end - start == 2 and broken != 2):
            continue
        key = sounds.near(run[start:end])
        if key is not None:
            return last, key
    return None


def _latin_slips(text: str, sounds: SoundTable) -> Iterator[tuple[int, int, str]]:
    tokens = [(match.group(), match.start(), match.end()) for match in _WORD.finditer(text)]
    at = 0
    while at < len(tokens):
        for size in range(min(_LONGEST_LATIN, len(tokens) - at), 0, -1):
            group = tokens[at : at + size]
            written = " ".join(token.removesuffix("'s") for token, _start, _end in group)
            if len(written) < MIN_LATIN or all(_ordinary(token) for token, _start, _end in group):
                continue
            key = sounds.near(written)
            if key is not None and not _apart(text, group):
                yield group[0][1], group[-1][2], key
                at += size - 1
                break
        at += 1


def _ordinary(token: str) -> bool:
    """Words, and single letters: `i ran` is no Iran."""
    return len(token) == 1 or is_english_word(token)


def _apart(text: str, group: list[tuple[str, int, int]]) -> bool:
    return any(text[left[2] : right[1]].strip(" -") for left, right in pairwise(group))
