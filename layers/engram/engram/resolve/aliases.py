"""Longest-match search for names in a text: a table of all names, entered by their first two characters.

Building it is one pass over the names; asking it costs a few dictionary look-ups per character of the text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from engram.text.language import is_han
from engram.text.normalise import fold
from engram.text.segment import is_english_word

_SILENT = "·・•"
_BLANK = "-_ \u00a0"


@dataclass(frozen=True, slots=True)
class Target:
    """Where a name leads.

    Attributes:
        id: of the entity or topic; written: the name as the catalogue spells it.
        exact: false for a derived spelling (plural, without blanks).
    """

    id: str
    written: str
    exact: bool = True


@dataclass(frozen=True, slots=True)
class Hit:
    """A name found in a folded text, `start` and `end` in its characters."""

    start: int
    end: int
    key: str
    targets: tuple[Target, ...]


@dataclass(frozen=True, slots=True)
class Squeezed:
    """A folded text without what may be written or left out (blanks between Han characters, hyphens, middle dots)."""

    text: str
    places: tuple[int, ...]

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The half-open span in the folded text."""
        return self.places[start], self.places[end - 1] + 1


def squeeze(text: str) -> Squeezed:
    """See `Squeezed`. `text` is folded already."""
    kept: list[str] = []
    places: list[int] = []
    for at, character in enumerate(text):
        if character in _SILENT:
            continue
        if character in _BLANK:
            following = text[at + 1 : at + 2]
            between_han = kept and is_han(kept[-1]) and following and is_han(following)
            if between_han or not kept or kept[-1] == " ":
                continue
            character = " "
        kept.append(character)
        places.append(at)
    return Squeezed("".join(kept), tuple(places))


@lru_cache(maxsize=16_384)
def key_of(name: str) -> str:
    """The form in which a name is filed."""
    return squeeze(fold(name)).text.strip()


class NameTable:
    """Names → targets. Immutable once built."""

    __slots__ = ("_by_start", "_targets")

    def __init__(self, names: Iterable[tuple[str, str]], *, plurals: bool = False) -> None:
        """Args:
        names: pairs of a written name and the id it leads to.
        plurals: also file the plural and singular of a last English word.
        """
        self._targets: dict[str, tuple[Target, ...]] = {}
        for written, target_id in names:
            key = key_of(written)
            if key:
                self._file(key, Target(target_id, written))
                for variant in _variants(key, plurals=plurals):
                    self._file(variant, Target(target_id, written, exact=False))
        starts: dict[str, set[int]] = {}
        for key in self._targets:
            starts.setdefault(key[:2], set()).add(len(key))
        self._by_start = {start: tuple(sorted(lengths, reverse=True)) for start, lengths in starts.items()}

    def __len__(self) -> int:
        return len(self._targets)

    def __iter__(self) -> Iterator[str]:
        return iter(self._targets)

    def get(self, key: str) -> tuple[Target, ...]:
        """Targets of a filed form (see `key_of`); empty when it is no name."""
        return self._targets.get(key, ())

    def find(self, squeezed: Squeezed) -> list[Hit]:
        """All names in the text, overlapping ones too, by place and then longest first. Borders are not looked at."""
        text = squeezed.text
        hits: list[Hit] = []
        for start in range(len(text)):
            lengths = self._by_start.get(text[start : start + 2], ())
            for length in lengths:
                key = text[start : start + length]
                targets = self._targets.get(key) if len(key) == length else None
                if targets:
                    hits.append(Hit(start, start + length, key, targets))
            single = self._targets.get(text[start]) if start + 1 < len(text) else None
            if single:
                hits.append(Hit(start, start + 1, text[start], single))
        return hits

    def _file(self, key: str, target: Target) -> None:
        present = self._targets.get(key, ())
        if all(other.id != target.id for other in present):
            self._targets[key] = (*present, target)


def _variants(key: str, *, plurals: bool) -> Iterator[str]:
    if key.isascii() and " " in key and len(key) > 5:
        joined = key.replace(" ", "")
        if not is_english_word(joined):
            yield joined
    if any(is_han(character) for character in key) and " " in key:
        yield key.replace(" ", "")
    if plurals and key.isascii() and key[-1:].isalpha() and len(key) > 3:
        if key.endswith("s"):
            yield key[:-1] if not key.endswith("ss") else key + "es"
        else:
            yield key[:-1] + "ies" if key.endswith("y") and key[-2] not in "aeiou" else key + "s"
