"""Whether a message is about what few words name though it holds none of them: a "tent trip" is about camping.

An embedding of a whole sentence only says that it may be; a word in it that is near each asked word says that it is.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from functools import lru_cache

from engram.domain.errors import EngramError
from engram.ports import Embedder
from engram.text.analysis import CHINESE_STOP_WORDS, ENGLISH_STOP_WORDS
from engram.text.normalise import fold
from engram.text.segment import words

SENTENCE = 0.05
"""Least cosine of a message for its words to be looked at: below it nothing in it has to do with the words asked."""

OF_SENTENCE = 0.5
"""Weight of the message's own cosine beside that of its words: it tells the pot of a stew from a flower pot."""

NEAR = 0.66
"""Least mean, over the asked words, of the cosine of the nearest word of a message, with `OF_SENTENCE` of its own.
camping–tent is .79, pottery–clay .70, camping–hiking .63: what is done in the same place is not yet the same. Of 1,400
pairs of a pastime and an English sentence about something else, 3 reach it."""

NEAR_CHINESE = 0.57
"""The same where both are Chinese, whose words lie farther apart: 露营–帐篷 is .59, 露营–爬山 .51."""

NEAR_ACROSS = 0.64
"""Where one is Chinese and the other is not: camping–帐篷 is .66, 露营–tent .68."""

MAX_ASKED = 4
"""More words are a sentence; comparing sentences is the ranking's business."""

MAX_WORDS = 24
"""Of one message."""

MAX_KEPT = 20_000
_RUN = re.compile(r"[\u3400-\u9fff]+|[^\W\d_\u3400-\u9fff]+")
_HAN = re.compile(r"[\u3400-\u9fff]")


class Nearness:
    """Compares words by an encoder, and keeps the vectors of words that it has seen."""

    def __init__(self, *, embedder: Embedder | None) -> None:
        self._embedder = embedder
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def about(self, asked: str, texts: Mapping[str, float]) -> frozenset[str]:
        """Those of `texts` that are about `asked`. None without an encoder, or for more than a few words.

        Args:
            texts: to the cosine of each with the words asked.
        """
        wanted = content_words(asked)
        if self._embedder is None or not wanted or len(wanted) > MAX_ASKED or not texts:
            return frozenset()
        held = {text: _telling(content_words(text))[:MAX_WORDS] for text in texts}
        try:
            vectors = self._vectors(list(dict.fromkeys([*wanted, *(word for one in held.values() for word in one)])))
        except EngramError:
            return frozenset()
        least = {text: _least(asked, text) - OF_SENTENCE * cosine for text, cosine in texts.items()}
        return frozenset(text for text, one in held.items() if _near(wanted, one, vectors) >= least[text])

    def _vectors(self, asked: Sequence[str]) -> dict[str, bytes]:
        assert self._embedder is not None
        with self._lock:
            known = {word: self._kept[word] for word in asked if word in self._kept}
        missing = [word for word in asked if word not in known]
        if missing:
            known |= dict(zip(missing, self._embedder.embed(missing, "query"), strict=True))
        with self._lock:
            for word in asked:
                self._kept[word] = known[word]
                self._kept.move_to_end(word)
            while len(self._kept) > MAX_KEPT:
                self._kept.popitem(last=False)
        return known


@lru_cache(maxsize=2_048)
def content_words(text: str) -> tuple[str, ...]:
    """The words of a text that carry meaning, each once, in order."""
    found: dict[str, None] = {}
    for run in _RUN.findall(fold(text[:2_000])):
        parts = [run[start:end] for start, end in words(run)] if _HAN.match(run) else [run]
        for word in parts:
            stop = word in ENGLISH_STOP_WORDS or word in CHINESE_STOP_WORDS
            if not stop and (_HAN.match(word) or len(word) > 2):
                found[word] = None
    return tuple(found)


def _telling(found: Sequence[str]) -> list[str]:
    """Without single ideographs: 打, 去, 做 are near every verb."""
    return [word for word in found if len(word) > 1]


def _least(asked: str, text: str) -> float:
    chinese = bool(_HAN.search(asked)), bool(_HAN.search(text))
    if all(chinese):
        return NEAR_CHINESE
    return NEAR_ACROSS if any(chinese) else NEAR


def _near(wanted: Sequence[str], held: Sequence[str], vectors: dict[str, bytes]) -> float:
    """Mean over `wanted` of the cosine of the nearest of `held`; 0 for a text without words."""
    import numpy as np

    rows = [vectors[word] for word in held if vectors[word]]
    asked = [vectors[word] for word in wanted if vectors[word]]
    if not rows or not asked:
        return 0.0
    left = np.stack([np.frombuffer(one, dtype="<f4") for one in asked])
    right = np.stack([np.frombuffer(one, dtype="<f4") for one in rows])
    return float((left @ right.T).max(axis=1).mean())
