"""Topics near in meaning to a phrase, by an encoder, as calibrated probabilities.

`p = sigmoid(a·cos + b·(cos − best other) + c)`: a raw cosine says little, how far it leads the next topic says more.
The constants belong to one encoder; refit them by leaving one alias out when encoder or catalogue change.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from engram.domain.errors import EngramError
from engram.ports import Embedder
from engram.resolve.catalogue import Catalogue, topic_names
from engram.resolve.decision import decide, decimal_score, ranked
from engram.resolve.examples import MAX_WHOLE, shipped_encoder, shipped_examples
from engram.resolve.models import Candidate

MAX_PHRASE = 64
"""Characters: a longer rest of a query is a sentence about something, not the name of a topic."""
_KEPT = 5
_SAID = 0.005
"""Least probability of a topic by the words beside the names."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """When examples speak against a topic: the least probability that both texts are about none, and the most that the
    phrase, and the whole query, are about this one."""

    none: float
    phrase: float
    whole: float


_NEAR = Doubt(none=0.8, phrase=0.2, whole=0.05)
"""What doubts a topic that a phrase is near to by name."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Constants of the formula, with the encoder (and the catalogue) they were fitted on."""

    encoder: str
    catalogue: str
    a: float
    b: float
    c: float

    def probability(self, cosine: float, best_other: float) -> float:
        """Probability that the best topic is the one meant."""
        return 1 / (1 + math.exp(-(self.a * cosine + self.b * (cosine - best_other) + self.c)))


LOCAL_CALIBRATION = Calibration("usem3@512", "shipped-1", a=11.67, b=9.62, c=-8.32)
"""Fitted on the shipped topics with the local encoder, five folds: 98.6 % of what is accepted is right."""


class TopicSimilarity:
    """Nearest topics of one catalogue with one encoder. Names are embedded once, when first asked."""

    def __init__(
        self, catalogue: Catalogue, embedder: Embedder, *, calibration: Calibration = LOCAL_CALIBRATION
    ) -> None:
        self._catalogue = catalogue
        self._embedder = embedder
        self._calibration = calibration
        self._by_example = embedder.id == shipped_encoder()
        self._names: tuple[tuple[str, ...], Any] | None = None

    def __call__(
        self, phrase: str, ruled_out: frozenset[str] = frozenset(), *, whole: str = ""
    ) -> tuple[Candidate, ...]:
        """Topics, best first; none for an empty or long phrase, or when the encoder does not answer.

        Args:
            whole: the query, compared with examples of topics when no name is near enough.
        """
        if not phrase or len(phrase) > MAX_PHRASE:
            return ()
        texts = [phrase, whole] if self._by_example and whole and len(whole) <= MAX_WHOLE else [phrase]
        try:
            data, *wholes = self._embedder.embed(texts, "query")
            topic_ids, matrix = self._embedded_names()
        except EngramError:
            return ()
        if not data:
            return ()
        import numpy as np

        best: dict[str, float] = {}
        cosines = matrix @ np.frombuffer(data, dtype="<f4")
        for topic_id, cosine in zip(topic_ids, cosines.tolist(), strict=True):
            if topic_id not in ruled_out:
                best[topic_id] = max(best.get(topic_id, -1.0), cosine)
        named = self._calibrated(best)
        if not named or not wholes or not wholes[0]:
            return named
        accepted = decide(named)
        if accepted is not None:
            against = all(
                _speaks_against(vector, accepted.id, most, _NEAR.none)
                for vector, most in ((data, _NEAR.phrase), (wholes[0], _NEAR.whole))
            )
            return () if against else named
        exemplified = self._exemplified(wholes[0], data, max(best, key=lambda topic_id: best[topic_id]), ruled_out)
        return exemplified if decide(exemplified) is not None else named

    def doubts(self, topic_id: str, phrase: str, whole: str, doubt: Doubt) -> bool:
        """Whether a phrase and the query that it is from look too little like examples of a topic. The query is asked
        about first, since alone it mostly decides."""
        if not self._by_example or max(len(phrase), len(whole)) > MAX_WHOLE:
            return False
        try:
            return all(
                vector and _speaks_against(vector, topic_id, most, doubt.none)
                for text, most in {whole: doubt.whole, phrase: doubt.phrase}.items()
                for vector in self._embedder.embed([text], "query")
            )
        except EngramError:
            return False

    def _exemplified(
        self, whole: bytes, phrase: bytes, nearest: str, ruled_out: frozenset[str]
    ) -> tuple[Candidate, ...]:
        """Topics by example; none when the nearest name is of a topic without examples, which may be the one meant, or
        when the words beside the names say nothing of the topic (`tell me more about Python`).

        Probabilities are not shared out again among the topics that remain: what speaks for a topic that is ruled out,
        or that this catalogue does not have, speaks for no other.
        """
        examples = shipped_examples()
        if nearest not in examples.topics:
            return ()
        offered, said = self._catalogue.topics, examples.probabilities(phrase)
        return ranked(
            Candidate(topic_id, offered[topic_id].name, "topic", decimal_score(share))
            for topic_id, share in examples.probabilities(whole).items()
            if topic_id in offered and topic_id not in ruled_out and said[topic_id] >= _SAID
        )[:_KEPT]

    def _calibrated(self, cosines: dict[str, float]) -> tuple[Candidate, ...]:
        order = sorted(cosines, key=lambda topic_id: (-cosines[topic_id], topic_id))[: _KEPT + 1]
        candidates: list[Candidate] = []
        for topic_id in order[:_KEPT]:
            other = max((cosines[name] for name in order if name != topic_id), default=0.0)
            score = self._calibration.probability(cosines[topic_id], other)
            name = self._catalogue.topics[topic_id].name
            candidates.append(Candidate(topic_id, name, "topic", decimal_score(score)))
        return ranked(candidates)

    def _embedded_names(self) -> tuple[tuple[str, ...], Any]:
        """Topic id of each name, and the names' vectors as the rows of one matrix."""
        import numpy as np

        # Without a lock: one query that waits for a slow encoder must not hold the others behind it.
        if (names := self._names) is None:
            pairs = [(topic.id, name) for topic in self._catalogue.topics.values() for name in topic_names(topic)]
            vectors = self._embedder.embed([name for _id, name in pairs], "document")
            kept = [(topic_id, data) for (topic_id, _name), data in zip(pairs, vectors, strict=True) if data]
            rows = [np.frombuffer(data, dtype="<f4") for _id, data in kept]
            names = self._names = tuple(topic_id for topic_id, _data in kept), np.array(rows, dtype=np.float32)
        return names


def _speaks_against(vector: bytes, topic_id: str, most: float, none: float) -> bool:
    """Whether a text is about a topic with at most the probability `most`, and about none with at least `none`."""
    examples = shipped_examples()
    if topic_id not in examples.topics:
        return False
    shares = examples.probabilities(vector)
    return shares[topic_id] <= most and 1 - sum(shares.values()) >= none


def fit(
    examples: Iterable[tuple[float, float, bool]], *, rounds: int = 4000, rate: float = 0.5
) -> tuple[float, float, float]:
    """a, b, c by logistic regression.

    Args:
        examples: cosine of the best topic, cosine of the best other, whether the best was right.
    """
    rows = list(examples)
    a = b = c = 0.0
    for _ in range(rounds):
        gradient = [0.0, 0.0, 0.0]
        for cosine, other, right in rows:
            error = 1 / (1 + math.exp(-(a * cosine + b * (cosine - other) + c))) - right
            gradient[0] += error * cosine
            gradient[1] += error * (cosine - other)
            gradient[2] += error
        a, b, c = (value - rate * slope / len(rows) for value, slope in zip((a, b, c), gradient, strict=True))
    return a, b, c
