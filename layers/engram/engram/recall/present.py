"""What holds now: "am I still vegetarian?" is answered by the newest of what was said about it, not by the clearest."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from engram.text.analysis import terms_of

if TYPE_CHECKING:
    from engram.recall.verification import Candidate

CLOSE = 0.6
"""Share of the best score from which on a message may be the newer word about the same thing."""

FEW_TERMS = 4
"""Terms of a question beside which one more weighs much."""

_PRESENT = re.compile(
    r"\b(?:still|now|nowadays|currently|any ?more|these days|at the moment|as of (?:now|today))\b"
    r"|[现現]在|目前|如今|当前|當前|仍然?|依然|[还還](?![有要可需能会會得])(?=.{1,12}[吗嗎么?？])",
    re.IGNORECASE,
)


def asks_present(query: str) -> bool:
    """Whether a question is about how things are now."""
    return _PRESENT.search(query) is not None


def without_present(text: str) -> str:
    """A short `text` without the words that only say now, which are half of "launch now"; as it is if there are no
    others, or many."""
    left = " ".join(_PRESENT.sub(" ", text).split())
    return left if 0 < len(set(terms_of(left))) <= FEW_TERMS else text


def newest_first(candidates: Sequence[Candidate], about: Collection[str]) -> tuple[Candidate, ...]:
    """`candidates`, best first, with the close ones of the newest conversation before those of older ones.

    Args:
        about: conversations that hold as much of what is asked as the best one.
    """
    least = CLOSE * max((one.score for one in candidates), default=0.0)
    close = [
        one for one in candidates if one.hit is not None and one.score >= least and one.ref.conversation_id in about
    ]
    said: dict[str, float] = {}
    for one in close:
        at = one.hit.document.occurred_at.timestamp() if one.hit is not None else 0.0
        said[one.ref.conversation_id] = max(said.get(one.ref.conversation_id, at), at)
    order = sorted(close, key=lambda one: (-said[one.ref.conversation_id], -one.score))
    places = sorted((one.score for one in close), reverse=True)
    moved = {one.ref: score for one, score in zip(order, places, strict=True)}
    placed = [replace(one, score=moved.get(one.ref, one.score)) for one in candidates]
    rank = {one.ref: place for place, one in enumerate(order)}
    return tuple(sorted(placed, key=lambda one: (-one.score, rank.get(one.ref, len(rank)))))
