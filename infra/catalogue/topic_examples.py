"""Makes the weights of topics by example from phrases written for Engram, and says how well they do on held-out ones.

Run: `python -m infra.catalogue.topic_examples`. Phrases: `topic_examples.txt` beside this file, the labelled queries of
the resolver's tests, and the names of the shipped topics. Run again when a topic, a phrase or the encoder changes.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from engram.adapters.local_encoder import LocalEncoder
from engram.resolve.catalogue import topic_names
from engram.resolve.decision import ACCEPT
from engram.resolve.examples import BIAS, DESCRIPTION, WEIGHTS
from engram.resolve.lexicon import DATA
from engram.resolve.shipped import default_catalogue
from engram.text.normalise import normalise

PHRASES = Path(__file__).with_suffix(".txt")
QUERIES = Path(__file__).parents[2] / "tests" / "data" / "resolver" / "queries.txt"
NONE = "-"
_DECAY = 1e-5
_ROUNDS = 250
_STEP = 0.05
_FOLDS = 4
_SHARPER = (1.5, 1.4, 1.3, 1.2, 1.1, 1.0)
"""Factors of the weights to choose from: decay leaves the probabilities less sure than they are right."""
_RIGHT = 0.95
"""Share of what is accepted that must be right among examples left out, near misses of all topics among them."""
_FALSE = 0.011
"""Share of the examples of no topic, most of them near misses, that may be accepted for one: a topic that is missed
costs less than a false one."""


def phrases() -> Iterator[tuple[str, str]]:
    """Phrases with the id of their topic, `-` for none."""
    for line in PHRASES.read_text("utf-8").splitlines():
        topic, _, listed = line.partition(": ")
        yield from ((phrase.strip(), topic) for phrase in listed.split("|"))
    for line in QUERIES.read_text("utf-8").splitlines():
        if line and line[0] not in "#@":
            query, _entities, _unresolved, topic, *_rest = (part.strip() for part in line.split("|"))
            yield query, topic


def trained(vectors: Any, classes: Any, *, count: int) -> Any:
    """Weights of a softmax regression with weight decay, by Adam on all rows at once."""
    weights = np.zeros((vectors.shape[1], count), dtype=np.float32)
    mean, spread = np.zeros_like(weights), np.zeros_like(weights)
    wanted = np.eye(count, dtype=np.float32)[classes]
    for turn in range(1, _ROUNDS + 1):
        slope = vectors.T @ (softmax(vectors @ weights) - wanted) / len(vectors) + _DECAY * weights
        mean = 0.9 * mean + 0.1 * slope
        spread = 0.999 * spread + 0.001 * slope * slope
        weights -= _STEP * (mean / (1 - 0.9**turn)) / (np.sqrt(spread / (1 - 0.999**turn)) + 1e-9)
    return weights


def softmax(logits: Any) -> Any:
    """Probabilities of the classes, one row per vector."""
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def embedded(encoder: LocalEncoder, texts: Sequence[str]) -> Any:
    """One row per text: its vector and the constant."""
    folded = [normalise(text).text for text in texts]
    rows = [np.frombuffer(data, dtype="<f4") for data in encoder.embed(folded, "query")]
    return np.hstack([np.array(rows), np.full((len(rows), 1), BIAS)]).astype(np.float32)


def held_out(names: tuple[Any, Any], examples: tuple[Any, Any], *, count: int) -> Any:
    """Logarithms of the probabilities of examples that were left out of training, a fold at a time."""
    vectors, classes = examples
    folds = np.random.default_rng(0).integers(0, _FOLDS, len(classes))
    found = np.zeros((len(classes), count), dtype=np.float32)
    for fold in range(_FOLDS):
        kept = folds != fold
        rows, wanted = np.vstack([names[0], vectors[kept]]), np.concatenate([names[1], classes[kept]])
        found[~kept] = vectors[~kept] @ trained(rows, wanted, count=count)
    return found


def sharpness(logits: Any, classes: Any) -> float:
    """The largest factor with which enough of what is accepted is right, and little of what is about no topic is."""
    return next((factor for factor in _SHARPER if _good(softmax(logits * factor), classes)), _SHARPER[-1])


def _good(found: Any, classes: Any) -> bool:
    of_none = classes == found.shape[1] - 1
    return _right(found, classes) >= _RIGHT and float(_accepted(found)[of_none].mean()) <= _FALSE


def _accepted(found: Any) -> Any:
    best = found.argmax(axis=1)
    return (best != found.shape[1] - 1) & (found.max(axis=1) >= float(ACCEPT))


def _right(found: Any, classes: Any) -> float:
    accepted = _accepted(found)
    return float((found.argmax(axis=1) == classes)[accepted].mean()) if accepted.any() else 0.0


def quality(found: Any, classes: Any) -> str:
    """What is accepted at these probabilities."""
    accepted, best = _accepted(found), found.argmax(axis=1)
    about = classes != found.shape[1] - 1
    right = int((accepted & (best == classes)).sum())
    wrong = int((accepted & about & (best != classes)).sum())
    linked = int((accepted & ~about).sum())
    return f"held out: {right} right, {wrong} wrong of {about.sum()}; {linked} linked of {(~about).sum()} of no topic"


def main() -> None:
    catalogue = default_catalogue()
    topics = sorted(catalogue.topics)
    place = {topic_id: column for column, topic_id in enumerate([*topics, NONE])}
    encoder = LocalEncoder()
    named = [(name, topic.id) for topic in catalogue.topics.values() for name in topic_names(topic)]
    usable = [(phrase, topic) for phrase, topic in phrases() if topic in place]
    names, examples = (
        (embedded(encoder, [text for text, _ in rows]), np.array([place[topic] for _, topic in rows]))
        for rows in (named, usable)
    )
    left_out = held_out(names, examples, count=len(place))
    factor = sharpness(left_out, examples[1])
    sys.stdout.write(f"{quality(softmax(left_out * factor), examples[1])}; sharpened by {factor}\n")
    weights = trained(np.vstack([names[0], examples[0]]), np.concatenate([names[1], examples[1]]), count=len(place))
    weights *= factor
    (DATA / WEIGHTS).write_bytes(weights.astype("<f2").tobytes())
    (DATA / DESCRIPTION).write_text(json.dumps({"encoder": encoder.id, "topics": topics}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
