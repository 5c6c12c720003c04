"""The order of messages inside a conversation that is already chosen: by what of the query's words they hold.

No index, no tokenizer, no encoder: the conversation was found by what it is about, and all of it is at hand. A reply
stands before the request that it answers, since the user asks for what was said, not for having asked.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from engram.domain.models import Message, MessageRef, Role

LONG_REPLY = 2
"""A reply this many times longer than its request carries the content that both are about."""

_RUN = re.compile(r"[\u3400-\u9fff]+|[\u3040-\u30ff\uac00-\ud7af]+|[^\W_]+")
_IDEOGRAPH = re.compile(r"[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af]")
_STEM = 5
"""Letters by which a word is compared: `hiking` and `hike` need less, `national` and `nation` no more."""

_REPLY_SHARE = 0.9
_REST = 0.05
"""Score of a message that holds none of the words: it belongs to the conversation that was asked for."""

Fold = Callable[[str], str]


def units_of(text: str, fold: Fold) -> frozenset[str]:
    """What is compared: character pairs of Chinese, Japanese and Korean runs, beginnings of words of other scripts."""
    units: set[str] = set()
    for run in _RUN.findall(fold(text)):
        if _IDEOGRAPH.match(run):
            units.update(run[at : at + 2] for at in range(max(len(run) - 1, 1)))
        elif len(run) > 1:
            units.add(run[:_STEM])
    return frozenset(units)


def coverage(units: frozenset[str], text: str, fold: Fold) -> float:
    """Share of `units` that `text` holds, 0..1; a unit counts anywhere inside it."""
    if not units:
        return 0.0
    folded = fold(text)
    return sum(unit in folded for unit in units) / len(units)


def scores_within(
    messages: Sequence[Message], search_text: str, *, fold: Fold, priors: Mapping[MessageRef, float]
) -> dict[MessageRef, float]:
    """A score in 0..1 for each message of the chosen conversations.

    Args:
        messages: by conversation and seq.
        priors: scores of a search, 0..1, where there was one: then its ranking holds and the words are not looked at.
    """
    if priors:
        return {one.ref: max(priors.get(one.ref, 0.0), _REST) for one in messages}
    units = units_of(search_text, fold)
    rest = _REST if units else 1.0
    scores: dict[MessageRef, float] = {}
    before: Message | None = None
    for message in messages:
        own = coverage(units, message.content, fold)
        scores[message.ref] = max(own, rest)
        if before is not None and _answers(message, before):
            asked = scores[before.ref]
            scores[message.ref] = max(scores[message.ref], _REPLY_SHARE * asked)
            if len(message.content) >= LONG_REPLY * len(before.content):
                # Just above its request: the longer of the two is what the words are about.
                scores[message.ref] = max(scores[message.ref], min(asked * 1.01, 1.0))
                scores[before.ref] = min(asked, scores[message.ref] * 0.99)
        before = message
    return scores


def _answers(message: Message, before: Message) -> bool:
    return (
        message.role is Role.ASSISTANT
        and before.role is Role.USER
        and message.conversation_id == before.conversation_id
        and message.seq == before.seq + 1
    )
