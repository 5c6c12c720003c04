"""Recipes: the named, versioned weights that fusion ranks with. They are data (`recipes.json`), chosen by `bench/`.

A published version never changes; better weights are a new version beside it, so that a ranking can be explained later.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from engram.domain.errors import InvalidInput

DEFAULT = "default"


@dataclass(frozen=True, slots=True)
class Weights:
    """What adds up to a document's score. Legs are scaled to 0..1 per query first; features are 0..1 by themselves.

    Attributes:
        fused, without_vector, without_lexical, across_languages: weight of each leg, by what there is to go on.
            A leg that an index does not offer is derived from its neighbours among the hits.
        speaker: for what a person named in the question said. Moderate: who is asked about may be quoted by another.
        date: for what was said in the period that the question names.
        afterwards: share of `date` for what was said just after it: people tell of a day later on.
        moment: for turns that tell a time, when the question asks for one.
        question: taken from turns that ask: evidence is more often in an answer.
        length: for turns that say something at all: "Thanks!" answers nothing.
        next_turn: share of the next turn's legs that a turn gets.
        recency: for the newest, halved every `Recipe.recency_half_life_days`.
        user_prior: factor on what the user said: an assistant's long answers match anything.
    """

    fused: Mapping[str, float]
    without_vector: Mapping[str, float]
    without_lexical: Mapping[str, float]
    across_languages: Mapping[str, float]
    speaker: float
    date: float
    afterwards: float
    moment: float
    question: float
    length: float
    next_turn: float
    recency: float
    user_prior: float


@dataclass(frozen=True, slots=True)
class Curve:
    """Logistic curve from what a hit shows to the probability that it bears on the question."""

    coverage: float
    cosine: float
    bias: float


@dataclass(frozen=True, slots=True)
class Doubts:
    """What is taken from a curve before it is bent, by what the question is like.

    Attributes:
        impersonal: it speaks neither of the user, nor of a speaker, nor of earlier talk.
        absent: something it names is in no message found (across languages a name is written otherwise).
        ideographs: its memory is written in them as well: any two Chinese sentences are nearer than English ones.
    """

    impersonal: float
    absent: float
    ideographs: float


@dataclass(frozen=True, slots=True)
class Curves:
    """By what there is to go on: words and meaning, words alone, or meaning alone (also across languages)."""

    fused: Curve
    words_alone: Curve
    meaning_alone: Curve


@dataclass(frozen=True, slots=True)
class Recipe:
    """How legs and features become one order.

    Attributes:
        people: weights where people talk with each other; assistant: where one of the speakers is an assistant.
        same_language_share: below this share of hits in the question's language its words are not expected to match.
        floor: relevance below which a hit does not count as support.
    """

    name: str
    version: int
    people: Weights
    assistant: Weights
    recency_half_life_days: float
    same_language_share: float
    relevance: Curves
    doubts: Doubts
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
    rows = json.loads(Path(__file__).with_name("recipes.json").read_text(encoding="utf-8"))
    return tuple(_recipe(row) for row in rows)


def _recipe(row: dict[str, Any]) -> Recipe:
    curves = Curves(**{name: Curve(**values) for name, values in row["relevance"].items()})
    kinds = {kind: Weights(**row[kind]) for kind in ("people", "assistant")}
    return Recipe(**{**row, **kinds, "relevance": curves, "doubts": Doubts(**row["doubts"])})
