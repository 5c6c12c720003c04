"""One spelling for matching: width, case, accents' composition, script and regional wording folded together.

Every folded character remembers where it came from, so that a match can be quoted as it was written. The folded text is
never shown as the user's words and never stored instead of them.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

_DATA = Path(__file__).parent / "data"
_QUOTES = {"’": "'", "‘": "'", "ʼ": "'", "′": "'", "“": '"', "”": '"', "–": "-", "—": "-", "‐": "-", "‑": "-"}
_REPLACEMENT = "\ufffd"
_CONTROLS = dict.fromkeys((*range(32), 127), " ")
_RUN = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class NormalisedText:
    """A folded text and the way back.

    Attributes:
        text: folded.
        original: as given.
        starts, ends: for each folded character, the half-open span of the original it stands for; empty when the
            two texts have the same length and every character stands for the one at its own place.
    """

    text: str
    original: str
    starts: tuple[int, ...] = ()
    ends: tuple[int, ...] = ()

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The half-open span of the original that holds the folded characters `start..end`."""
        if not self.starts or start >= end:
            return start, end
        return self.starts[start], self.ends[end - 1]

    def as_written(self, start: int, end: int) -> str:
        """The original words of the folded span."""
        first, last = self.span(start, end)
        return self.original[first:last]

    def folded_span(self, start: int, end: int) -> tuple[int, int]:
        """The folded span that covers the original characters `start..end`: the inverse of `span`."""
        if not self.starts:
            return start, end
        first = max(bisect_right(self.starts, start) - 1, 0)
        last = max(bisect_right(self.starts, max(end - 1, start)), first)
        return first, last


def normalise(text: str) -> NormalisedText:
    """Fold `text` for matching. Total: any string of Python is accepted, lone surrogates and NUL included."""
    if text.isascii():  # no width, script or wording to fold, but controls among the letters
        return NormalisedText(text.lower().translate(_CONTROLS), text)
    simple = _fold_in_place(text)
    if simple is not None:
        return _reword(NormalisedText(simple, text))
    return _reword(_fold_by_cluster(text))


def fold(text: str) -> str:
    """The folded text alone, with runs of white space as one blank: the form in which aliases are compared."""
    return " ".join(normalise(text).text.split())


def _fold_in_place(text: str) -> str | None:
    """The folded text if folding keeps every character's place, else None."""
    if not unicodedata.is_normalized("NFKC", text):
        return None
    lowered = text.lower()
    return lowered.translate(_characters()) if len(lowered) == len(text) else None


def _fold_by_cluster(text: str) -> NormalisedText:
    """Runs of letters that folding leaves in their places go as a whole: in Chinese all but the punctuation."""
    folded: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    at, length = 0, len(text)
    while at < length:
        match = _RUN.match(text, at)
        end = match.end() if match else at + 1
        simple = _fold_in_place(text[at:end]) if end == length or not unicodedata.combining(text[end]) else None
        if simple is not None:
            folded.append(simple)
            starts.extend(range(at, end))
            ends.extend(range(at + 1, end + 1))
            at = end
        while at < end:
            at = _fold_cluster(text, at, folded, starts, ends)
    return NormalisedText("".join(folded), text, tuple(starts), tuple(ends))


def _fold_cluster(text: str, at: int, folded: list[str], starts: list[int], ends: list[int]) -> int:
    """Adds one character with its marks; where the next one begins."""
    end = at + 1
    while end < len(text) and unicodedata.combining(text[end]):
        end += 1
    piece = unicodedata.normalize("NFKC", text[at:end]).lower().translate(_characters())
    folded.append(piece)
    starts.extend([at] * len(piece))
    ends.extend([end] * len(piece))
    return end


def _reword(normalised: NormalisedText) -> NormalisedText:
    """Taiwan's wordings in the mainland's words (資料庫 → 数据库), longest first."""
    text, (pattern, wordings) = normalised.text, _wordings()
    found = [(match.start(), match.group(), wordings[match.group()]) for match in pattern.finditer(text)]
    if not found:
        return normalised
    folded: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    at = 0
    for start, old, new in [*found, (len(text), "", "")]:
        for place in range(at, start):
            first, last = normalised.span(place, place + 1)
            folded.append(text[place])
            starts.append(first)
            ends.append(last)
        if new:
            first, last = normalised.span(start, start + len(old))
            folded.append(new)
            starts.extend([first] * len(new))
            ends.extend([last] * len(new))
        at = start + len(old)
    return NormalisedText("".join(folded), normalised.original, tuple(starts), tuple(ends))


@lru_cache(maxsize=1)
def _characters() -> dict[int, str]:
    """Traditional to simplified (OpenCC), typographic quotes, and what cannot be written in UTF-8 or shown."""
    old, new = (_DATA / "script.txt").read_text("utf-8").splitlines()
    table: dict[int, str] = dict(zip(map(ord, old), new, strict=True))
    table |= {ord(key): value for key, value in _QUOTES.items()}
    table |= dict.fromkeys(range(0xD800, 0xE000), _REPLACEMENT)
    return table | _CONTROLS | dict.fromkeys((8203, 12288, 65279), " ")


@lru_cache(maxsize=1)
def _wordings() -> tuple[re.Pattern[str], dict[str, str]]:
    """What finds a wording, the longest first, and what each of them is folded to."""
    lines = (_DATA / "wordings.txt").read_text("utf-8").splitlines()
    wordings: dict[str, str] = {}
    for line in lines:
        old, new = line.split(" ")
        wordings[old] = new
    return re.compile("|".join(map(re.escape, sorted(wordings, key=len, reverse=True)))), wordings
