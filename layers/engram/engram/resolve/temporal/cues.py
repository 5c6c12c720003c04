"""Words that say when without naming a range: 上次, just now, the first time, lately, every time.

They are rows of `data/cues.txt`: a pattern over the folded text whose group `cue` is the words themselves, in a setting
that makes them speak of past talk. 上次 across two words, `last name` and `first aid` are what the settings keep out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from engram.resolve.lexicon import DATA
from engram.resolve.models import TemporalIntent
from engram.resolve.temporal.counting import nth_of
from engram.text.language import has_han
from engram.text.segment import on_borders

CUE_SCORE = -9.5


@dataclass(frozen=True, slots=True)
class Cue:
    """Words that carry an intent, as a span of the folded text. `again`: they only ask to repeat or go on."""

    intent: TemporalIntent
    first: int
    last: int
    nth: int = 1
    again: bool = False


_AGAIN = re.compile(r"一(?:遍|次)$|^(?:接着|继续)|\b(?:again|back|once more|one more time)$")


@lru_cache(maxsize=2)
def _rows(*, chinese: bool) -> tuple[tuple[TemporalIntent, re.Pattern[str]], ...]:
    """The rows of one language: a text without its letters needs neither to compile nor to try them."""
    fragments: dict[str, str] = {}
    rows: list[tuple[TemporalIntent, re.Pattern[str]]] = []
    intent = TemporalIntent.NONE
    for line in (DATA / "cues.txt").read_text("utf-8").splitlines():
        defined = _DEFINITION.match(line)
        if not line or line.startswith("#"):
            continue
        if line.startswith("[") and line.endswith("]") and line[1:-1] in TemporalIntent.__members__:
            intent = TemporalIntent[line[1:-1]]
        elif defined:
            fragments[defined[1]] = defined[2]
        else:
            pattern = _FRAGMENT.sub(lambda match: fragments[match[1]], line)
            if has_han(pattern) is chinese:
                rows.append((intent, re.compile(pattern)))
    return tuple(rows)


_LETTER = re.compile(r"[a-z]{2}")
_DEFINITION = re.compile(r"([A-Z]+) = (.*)")
_FRAGMENT = re.compile(r"<([A-Z]+)>")


def cues_in(text: str) -> Iterator[Cue]:
    """All cues of the folded text that stand on word borders."""
    rows = (*(_rows(chinese=True) if has_han(text) else ()), *(_rows(chinese=False) if _LETTER.search(text) else ()))
    for intent, pattern in rows:
        for match in pattern.finditer(text):
            name = next((key for key, value in match.groupdict().items() if value), None)
            if name is None:
                continue
            first, last = match.span(name)
            if name == "sure" or on_borders(text, first, last, name_score=CUE_SCORE):
                again = intent is TemporalIntent.CURRENT_SESSION and bool(_AGAIN.search(match[name]))
                yield Cue(intent, first, last, nth_of(match[name]), again)
