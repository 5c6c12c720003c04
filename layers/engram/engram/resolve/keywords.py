"""Topics by the words of their names in any order: `hunting for a flat` holds all of *flat hunting*.

Weighted as in BM25 by how few topics use a word; all words of a name must be there, so that a shared word alone
(plan, 推荐) decides nothing. Descriptions only help to order what the names found.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from engram.resolve.catalogue import Catalogue, topic_names
from engram.resolve.expressions import CueText, cue_text
from engram.text.language import is_han
from engram.text.normalise import fold

Span = tuple[int, int]
_ENDING = re.compile(r"(?:ing|ies|ed|es|s|e|y)$")
_SMALL = frozenset("a an the of for to in on my your which how do and or with".split())
MIN_STEM = 3


@dataclass(frozen=True, slots=True)
class KeywordIndex:
    """Names of two words or more, by topic, and the weight of each word."""

    names: tuple[tuple[str, frozenset[str]], ...]
    weights: dict[str, float]
    described: dict[str, frozenset[str]]

    def find(self, text: CueText) -> dict[str, tuple[float, tuple[Span, ...]]]:
        """Topic id → weight of its best name that is wholly there, and the spans of its words."""
        places = dict(_placed(text))
        found: dict[str, tuple[float, tuple[Span, ...]]] = {}
        for topic_id, words in self.names:
            if words <= places.keys():
                weight = sum(self.weights[word] for word in words)
                weight += 0.1 * len(self.described[topic_id] & places.keys())
                if weight > found.get(topic_id, (0.0, ()))[0]:
                    found[topic_id] = weight, tuple(sorted(places[word] for word in words))
        return found


@lru_cache(maxsize=8)
def keyword_index(catalogue: Catalogue) -> KeywordIndex:
    """The index of a catalogue's topics."""
    names: list[tuple[str, frozenset[str]]] = []
    used: Counter[str] = Counter()
    for topic in catalogue.topics.values():
        sets = {frozenset(_words(name)) for name in topic_names(topic)}
        used.update({word for words in sets for word in words})
        names += [(topic.id, words) for words in sorted(sets, key=sorted) if len(words) > 1]
    total = max(len(catalogue.topics), 1)
    weights = {word: math.log(1 + (total - count + 0.5) / (count + 0.5)) for word, count in used.items()}
    described = {
        topic.id: frozenset(word for text in topic.descriptions.values() for word in _words(text))
        for topic in catalogue.topics.values()
    }
    return KeywordIndex(tuple(names), weights, described)


def _words(text: str) -> Iterable[str]:
    return (word for word, _span in _placed(cue_text(fold(text))))


def _placed(text: CueText) -> Iterable[tuple[str, Span]]:
    for token, start, end in text.latin:
        if token not in _SMALL:
            yield _stem(token), (start, end)
    for start, end in text.han:
        word = text.text[start:end]
        if end - start > 1 and is_han(word[0]):
            yield word, (start, end)


def _stem(token: str) -> str:
    stem = _ENDING.sub("", token.removesuffix("'s"))
    return stem if len(stem) >= MIN_STEM else token
