"""Which conversations hold the words that a question names a thing by.

Relevance says that a poem about the sea may be meant by "the poem for my grandma"; the missing word says no.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from itertools import takewhile

from engram.recall.features import is_cjk
from engram.recall.fusion import Ranked
from engram.recall.nearness import content_words
from engram.text.analysis import terms_of
from engram.text.normalise import fold
from engram.text.segment import words as segmented

AS_MUCH = 0.7
"""Share of the words held by the conversation that holds most, from which on another one may be meant as well."""

OF_ONE_THING = 0.5
"""The same where the first or newest word on one thing is asked for: it is told in other words each time."""

LOOKED_AT = 4_000
"""Characters of a message."""

_TALKED_OF = re.compile(
    r"[聊谈談][了过過到起的]?(?:关于|關於)?([^，。,.?？！]{1,12}?)(?:的(?:时候|時候|那次|那回|话)|[时時][，, ]|那次)|"
    r"\b(?:talk(?:ed|ing)?|spoke|chat(?:ted|ting)?|convers\w+) (?:about|of|on) ([^,.?!;]{1,40})",
    re.IGNORECASE,
)

LONGEST_NAMED = 2_000
"""Characters of a query in which words are told apart."""

_HAN = re.compile(r"[\u3400-\u9fff]+")
_WORD = re.compile(r"[^\W_]{4,}")
_CLOSE = 1
"""Letters by which a misspelt name is longer or shorter."""


def holding(ranked: Iterable[Ranked], words: str, *, surely: bool = False) -> dict[str, float]:
    """Share of `words` that each conversation holds in its hits, 0..1.

    Args:
        surely: leaves out the conversations in another script. Nothing is known of them; else they hold all words.
    """
    foreign = strangers(ranked := tuple(ranked), words)
    asked = [_parts(word) for word in naming_words(words)]
    held: dict[str, list[float]] = {}
    for one in ranked:
        text = fold(f"{one.document.speaker} {one.document.text[:LOOKED_AT]}")
        best = held.setdefault(one.document.conversation_id, [0.0] * len(asked))
        best[:] = [max(known, _held(parts, text)) for known, parts in zip(best, asked, strict=True)]
    return {
        name: 1.0 if name in foreign or not asked else sum(shares) / len(asked)
        for name, shares in held.items()
        if not (surely and name in foreign)
    }


def _parts(word: str) -> tuple[str, ...]:
    """What a text must hold of a folded word: the stem of one in letters, the pairs of a Chinese one."""
    if not is_cjk(word):
        return tuple(terms_of(word)[:1]) or (word,)
    return tuple(word[at : at + 2] for at in range(len(word) - 1)) or (word,)


def _held(parts: tuple[str, ...], text: str) -> float:
    """How far a folded text holds a word: 预算 is half of 预算表."""
    return sum(part in text for part in parts) / len(parts)


def named_in(query: str, words: str) -> str:
    """Of `words`, those by which a query names the talk it means: camping, in "what gear did you say I need when we
    last talked about camping?". All of them where it does not say that something was talked about.
    """
    found = _TALKED_OF.search(query)
    part = fold(next((one for one in found.groups() if one), "")) if found else ""
    named = [word for word in words.split() if any(one in part for one in naming_words(word))]
    return " ".join(named) or words


def naming_words(text: str) -> tuple[str, ...]:
    """Words that name something. Single ideographs (喝) do so only where there is nothing else, or together: no
    dictionary holds 减糖."""
    found = content_words(text)
    named = [word for word in found if len(word) > 1]
    for run in _HAN.findall(fold(text[:LONGEST_NAMED])):
        single = "".join(run[start:end] if end - start == 1 else " " for start, end in segmented(run))
        named += [word for word in single.split() if len(word) > 1]
    return tuple(dict.fromkeys(named)) or found


def strangers(ranked: Iterable[Ranked], words: str) -> frozenset[str]:
    """Conversations none of whose hits is in the script of `words`."""
    cjk = is_cjk(words)
    alike: dict[str, bool] = {}
    for one in ranked:
        name = one.document.conversation_id
        alike[name] = alike.get(name, False) or is_cjk(one.document.text) == cjk
    return frozenset(name for name, same in alike.items() if not same)


def as_full(held: Mapping[str, float], among: Collection[str], *, share: float = AS_MUCH) -> frozenset[str]:
    """Of the conversations `among`, those that hold about as many of the words as any of them does."""
    most = max((held.get(name, 0.0) for name in among), default=0.0)
    return frozenset(name for name in among if held.get(name, 0.0) >= share * most)


def names_it(name: str, text: str) -> bool:
    """Whether a folded text writes a folded name, one letter of a longer name aside."""
    if name in text:
        return True
    return name.isascii() and any(_nearly(name, word) for word in _WORD.findall(text))


def _nearly(name: str, word: str) -> bool:
    """Whether one letter is put in, left out, changed or swapped with the next; the first one is rarely mistaken."""
    if len(name) < 6 or abs(len(name) - len(word)) > _CLOSE or name[0] != word[0]:
        return False
    at = len(list(takewhile(lambda pair: pair[0] == pair[1], zip(name, word, strict=False))))
    left, right = name[at:], word[at:]
    if len(left) == len(right):
        return left[1:] == right[1:] or (left[1::-1] + left[2:] == right)
    return left[1:] == right if len(left) > len(right) else left == right[1:]
