"""The word lists of `resolve/data`, read once and compiled when first asked for."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from engram.resolve.aliases import NameTable
from engram.resolve.expressions import CueIndex

DATA = Path(__file__).parent / "data"
CALENDAR_WORDS = frozenset(
    "january february march april may june july august september october november december jan feb mar apr "
    "jun jul aug sep "
    "sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur "
    "thurs fri sat sun "
    "easter christmas halloween thanksgiving xmas hanukkah diwali ramadan english french german spanish".split()
)
"""Months, days, feasts and languages: words with a capital that are names of no unknown thing."""


def read_json(name: str) -> Any:
    """A shipped JSON file."""
    return json.loads((DATA / name).read_text("utf-8"))


def _lines(name: str) -> list[str]:
    return (DATA / name).read_text("utf-8").splitlines()


@lru_cache(maxsize=1)
def type_cues() -> CueIndex[str]:
    """Words that go with things of a type: 股价 with companies, `cook*` with food."""
    cues: Mapping[str, list[str]] = read_json("type_cues.json")
    return CueIndex.build(cues)


@lru_cache(maxsize=1)
def not_names() -> NameTable:
    """Fixed expressions that hold a name and mean something else: `cold turkey`, 一小张."""
    phrases = (line for line in _lines("not_names.txt") if not line.startswith("~"))
    return NameTable((phrase, phrase) for line in phrases for phrase in line.split("|"))


@lru_cache(maxsize=1)
def other_names() -> NameTable:
    """Names of people, works, clubs and brands that hold the name of something else: `Midnight in Paris`, 蜜雪冰城."""
    return NameTable((name, name) for line in _lines("other_names.txt") for name in line.split("|"))


@lru_cache(maxsize=1)
def not_name_patterns() -> tuple[re.Pattern[str], ...]:
    """Wordings that hold a name and mean something else (`pays us peanuts`). Where other names may stand in one, the
    group `what` is the one that is none: 单位是特斯拉."""
    return tuple(re.compile(line.removeprefix("~ ")) for line in _lines("not_names.txt") if line.startswith("~"))


@lru_cache(maxsize=1)
def timely_names() -> re.Pattern[str]:
    """Names that hold a time (`Edge of Tomorrow`, 今日头条), a regular expression each over the folded text."""
    return re.compile("|".join(rf"\b{name}\b" if name.isascii() else name for name in _lines("timely_names.txt")))


@lru_cache(maxsize=1)
def in_passing() -> re.Pattern[str]:
    """Clauses that name a place, a trade or an event without asking about it: `my uncle owns a hotel`."""
    return re.compile("|".join(f"(?:{clause})" for clause in _lines("passing.txt")))


@lru_cache(maxsize=1)
def loose_words() -> frozenset[str]:
    """Words of topics that are as often said of other things (`software suite`, 护照): alone they are weak evidence."""
    return frozenset((DATA / "loose_words.txt").read_text("utf-8").split())


@lru_cache(maxsize=1)
def given_names() -> frozenset[str]:
    """Given names in Latin letters, lower case: what follows one is a surname, whatever else it may name."""
    return frozenset((DATA / "given_names.txt").read_text("utf-8").split())


@lru_cache(maxsize=512)
def sense_cues(entity_id: str, hints: tuple[str, ...]) -> CueIndex[str]:
    """Words that go with one entity."""
    return CueIndex.build({entity_id: hints})


@dataclass(frozen=True, slots=True)
class KnownPlace:
    """A place of the world. `kind`: `country`, `metropolis` (a capital or very large city) or `city`."""

    id: str
    kind: str
    chinese: tuple[str, ...]
    english: tuple[str, ...]


@lru_cache(maxsize=1)
def places_known() -> tuple[KnownPlace, ...]:
    """Countries and larger cities, in the order of the file."""
    rows = (line.split("\t") for line in _lines("places.tsv"))
    return tuple(
        KnownPlace(place_id, kind, tuple(filter(None, chinese.split("|"))), tuple(filter(None, english.split("|"))))
        for place_id, kind, chinese, english in rows
    )


@lru_cache(maxsize=1)
def place_names() -> NameTable:
    """Names of all known places, for telling that a word is one, whether or not a catalogue holds it."""
    return NameTable((name, place.id) for place in places_known() for name in (*place.chinese, *place.english))
