"""Recipes: the named, versioned weights that fusion ranks with. They are data (`recipes.json`), chosen by `bench/`.

A published version never changes; better weights are a new version beside it, so that a ranking can be explained later.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from engram.domain.errors import InvalidInput

DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class RelevanceCurve:
    """Logistic curve from what a hit shows to the probability that it bears on the question."""

    coverage: float
    cosine: float
    bias: float


@dataclass(frozen=True, slots=True)
class Recipe:
    """How legs and features become one order.

    Attributes:
        fused, without_vector, without_lexical, across_languages: weight of each leg, scaled per query to 0..1, by
            what there is to go on. A leg that an index does not offer is derived from its neighbours in the hits.
        speaker: added to what a person named in the question said.
        date: added to what was said on the day or in the period that the question names.
        question: taken from turns that ask: evidence is more often in an answer.
        next_turn: share of the next turn's score that a turn gets: "do you have pets?" stands before the answer.
        user_prior: factor on what the user said where an assistant speaks too; its answers are long and match anything.
        same_language_share: below this share of hits in the query's language its words are not expected to match.
        judged: how many of the best hits get their relevance from their own words.
        relevance: see `RelevanceCurve`.
        floor: relevance below which a question counts as unsupported if its best hit stays there.
    """

    name: str
    version: int
    fused: Mapping[str, float]
    without_vector: Mapping[str, float]
    without_lexical: Mapping[str, float]
    across_languages: Mapping[str, float]
    speaker: float
    date: float
    question: float
    next_turn: float
    user_prior: float
    same_language_share: float
    judged: int
    relevance: RelevanceCurve
    floor: float


def recipe(name: str = DEFAULT, version: int | None = None) -> Recipe:
    """The recipe of that name, its newest version unless one is given.

    Raises:
        InvalidInput: there is none.
    """
    known = [one for one in _recipes() if one.name == name and version in (None, one.version)]
    if not known:
        raise InvalidInput("no such recipe", field="recipe")
    return max(known, key=lambda one: one.version)


@lru_cache(maxsize=1)
def _recipes() -> tuple[Recipe, ...]:
    data = json.loads(Path(__file__).with_name("recipes.json").read_text(encoding="utf-8"))
    return tuple(Recipe(**{**row, "relevance": RelevanceCurve(**row["relevance"])}) for row in data)
