"""Bounded input for a model: long buffers are cut into parts, and of a large profile only what matters goes along."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from engram.domain.models import Message, ProfileSlot, Role
from engram.extraction.elements import normal
from engram.extraction.shortening import TokenCounter

MAX_PART_TOKENS = 4_096
MAX_MESSAGES = 200
MAX_SLOTS = 60
MAX_EXCERPT_CHARACTERS = 15_000
_LEAST_CHARACTERS = 64
GAP = "\n\n[…]\n\n"
_WORD = re.compile(r"[a-z0-9]{3,}", re.IGNORECASE)
_CJK = re.compile(r"[\u3400-\u9fff]+")
MESSAGE_OVERHEAD_TOKENS = 12
"""Role, id and time of a message in the prompt."""


def cut(
    messages: Sequence[Message], *, count_tokens: TokenCounter, maximum: int = MAX_PART_TOKENS
) -> list[tuple[Message, ...]]:
    """Messages in order, in parts of at most `maximum` tokens; a longer message is a part by itself.

    A part does not begin with an answer whose question ended the part before, if it can be helped.
    """
    parts: list[tuple[Message, ...]] = []
    part: list[Message] = []
    size = 0
    for message in messages:
        tokens = count_tokens(message.content) + MESSAGE_OVERHEAD_TOKENS
        if part and (size + tokens > maximum or len(part) >= MAX_MESSAGES):
            carried = _question_of(part, message)
            size = sum(count_tokens(one.content) + MESSAGE_OVERHEAD_TOKENS for one in carried)
            if size + tokens > maximum:
                carried, size = [], 0
            parts.append(tuple(part[: len(part) - len(carried)]))
            part = carried
        part.append(message)
        size += tokens
    if part:
        parts.append(tuple(part))
    return parts


def excerpts(
    messages: Iterable[Message], *, count_tokens: TokenCounter, maximum: int = MAX_PART_TOKENS
) -> tuple[Message, ...]:
    """The messages as a distiller sees them: of one that is longer than a part, its beginning and its end.

    What it quotes is looked for in the whole message, so words on both sides of the gap are nobody's.
    """
    return tuple(
        message if len(message.content) <= maximum // 4 else _excerpt(message, count_tokens, maximum)
        for message in messages
    )


def _excerpt(message: Message, count_tokens: TokenCounter, maximum: int) -> Message:
    """At most `maximum` tokens. The bound in characters comes first: counting a megabyte takes half a second."""
    characters = min(len(message.content), MAX_EXCERPT_CHARACTERS)
    text = _both_ends(message.content, characters)
    while count_tokens(text) > maximum and characters > _LEAST_CHARACTERS:
        characters = characters * 3 // 4
        text = _both_ends(message.content, characters)
    return message if len(text) == len(message.content) else replace(message, content=text)


def _both_ends(text: str, characters: int) -> str:
    """Three quarters from the beginning, where people say what it is about, and one from the end, where they ask."""
    end = (characters - len(GAP)) // 4
    return text[: characters - len(GAP) - end] + GAP + text[len(text) - end :] if len(text) > characters else text


def _question_of(part: list[Message], answer: Message) -> list[Message]:
    last = part[-1]
    belongs = (
        last.role is Role.USER and answer.role is Role.ASSISTANT and last.conversation_id == answer.conversation_id
    )
    return [last] if belongs and len(part) > 1 else []


def relevant_slots(
    slots: Iterable[ProfileSlot], messages: Iterable[Message], *, maximum: int = MAX_SLOTS
) -> tuple[ProfileSlot, ...]:
    """The slots that the messages may touch: those that share words with them, then the most recently changed."""
    known = list(slots)
    if len(known) <= maximum:
        return tuple(known)
    said = _terms(" ".join(message.content for message in messages if message.role is Role.USER))
    ranked = sorted(
        known,
        key=lambda slot: (len(_terms(slot.content) & said), slot.updated_at, slot.id),
        reverse=True,
    )
    return tuple(ranked[:maximum])


def _terms(text: str) -> set[str]:
    words = {word.casefold().rstrip("s") for word in _WORD.findall(text)}
    runs = _CJK.findall(text)
    return words | {run[at : at + 2] for run in runs for at in range(len(run) - 1)} | {normal(run) for run in runs}
