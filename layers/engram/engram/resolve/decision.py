"""The one rule by which anything is linked: the best candidate is likely enough, and clearly ahead of the second.

Compared in decimal: in binary fractions .90 does not lead .80 by .10.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from decimal import ROUND_HALF_EVEN, Decimal

from engram.resolve.models import Candidate

ACCEPT = Decimal("0.90")
LEAD = Decimal("0.10")
_STEP = Decimal("0.001")


def decimal_score(probability: float) -> Decimal:
    """A probability with three decimals: more digits would only be noise of floating point."""
    return Decimal(repr(probability)).quantize(_STEP, rounding=ROUND_HALF_EVEN)


def ranked(candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
    """Best first; equal scores by id, so that the order never depends on where they came from."""
    return tuple(sorted(candidates, key=lambda candidate: (-candidate.score, candidate.id)))


def decide(candidates: Sequence[Candidate]) -> Candidate | None:
    """The candidate to link, or None: all of them are kept and nothing is linked. `candidates` in any order."""
    order = ranked(candidates)
    if not order or order[0].score < ACCEPT:
        return None
    if len(order) > 1 and order[0].score - order[1].score < LEAD:
        return None
    return order[0]


def shares(weights: Sequence[float]) -> tuple[float, ...]:
    """Evidence in log odds → probabilities that sum to one (softmax)."""
    if not weights:
        return ()
    top = max(weights)
    exponents = [math.exp(weight - top) for weight in weights]
    total = sum(exponents)
    return tuple(value / total for value in exponents)
