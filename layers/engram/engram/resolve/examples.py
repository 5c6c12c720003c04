"""Topics by example: a linear softmax over the encoder's vector of a whole query, trained on phrases people might use.

Names and aliases are few words each; `a room near the station for two nights` shares none with `hotel booking`. One
class stands for queries of no topic, so that small talk and near misses take the probability and nothing is linked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from engram.resolve.lexicon import DATA, read_json

MAX_WHOLE = 200
"""Characters: a longer text is about more than one phrase can show."""
BIAS = 0.3
"""The constant that stands after a unit vector, so that a class can have a weight of its own."""
DESCRIPTION = "topic_examples.json"
WEIGHTS = "topic_examples.f16"


@dataclass(frozen=True, slots=True)
class TopicExamples:
    """Weights for one encoder.

    Attributes:
        encoder: id of the encoder whose vectors they weigh; topics: ids, in the order of the columns. The column after
            the last topic stands for none.
        weights: (dimension + 1) rows, one column per class.
    """

    encoder: str
    topics: tuple[str, ...]
    weights: Any

    def probabilities(self, vector: bytes) -> dict[str, float]:
        """Topic id → probability; what is missing to one is that of no topic. `vector`: little-endian float32."""
        import numpy as np

        logits = np.append(np.frombuffer(vector, dtype="<f4"), np.float32(BIAS)) @ self.weights
        shares = np.exp(logits - logits.max())
        shares /= shares.sum()
        return dict(zip(self.topics, shares.tolist(), strict=False))


@lru_cache(maxsize=1)
def shipped_examples() -> TopicExamples:
    """The weights that are shipped, read once per process."""
    import numpy as np

    described = read_json(DESCRIPTION)
    topics: Sequence[str] = described["topics"]
    stored = np.frombuffer((DATA / WEIGHTS).read_bytes(), dtype="<f2").astype(np.float32)
    return TopicExamples(described["encoder"], tuple(topics), stored.reshape(-1, len(topics) + 1))


def shipped_encoder() -> str:
    """Id of the encoder that the shipped weights belong to; with another one they say nothing."""
    encoder: str = read_json(DESCRIPTION)["encoder"]
    return encoder
