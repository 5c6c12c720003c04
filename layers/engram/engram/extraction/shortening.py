"""Keeping a slot short and a topic small: what is least supported goes first. The memory items behind it stay."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from engram.domain.models import ProfileSlot
from engram.extraction.elements import joined

TokenCounter = Callable[[str], int]

MAX_SLOT_TOKENS = 128
MAX_SUB_TOPICS = 15
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s*")


def bounded(text: str, count_tokens: TokenCounter, *, maximum: int = MAX_SLOT_TOKENS) -> str:
    """`text` if it has at most `maximum` tokens, else its leading sentences that have, else its beginning and "…"."""
    if count_tokens(text) <= maximum:
        return text
    kept = ""
    for end in [match.start() for match in _SENTENCE_END.finditer(text)]:
        if count_tokens(text[:end]) > maximum:
            break
        kept = text[:end]
    if kept.strip():
        return kept.strip()
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if count_tokens(text[:middle].rstrip() + "…") <= maximum:
            low = middle
        else:
            high = middle - 1
    return text[:low].rstrip() + "…" if low else ""


def fitting(
    elements: Sequence[str],
    support: Callable[[str], int],
    count_tokens: TokenCounter,
    *,
    maximum: int = MAX_SLOT_TOKENS,
) -> tuple[str, ...]:
    """The elements that together fit, in their order: the least supported go first, of equals the oldest.

    Args:
        elements: oldest first, each within `maximum` by itself.
        support: how many pieces of evidence an element has.
    """
    kept = list(elements)
    while len(kept) > 1 and count_tokens(joined(kept)) > maximum:
        kept.remove(min(kept, key=support))
    return tuple(kept)


def surplus(slots: Sequence[ProfileSlot], *, maximum: int = MAX_SUB_TOPICS) -> tuple[ProfileSlot, ...]:
    """Which slots of one topic are too many: the least supported, of equals the longest unchanged.

    What a person wrote is never among them.
    """
    excess = len(slots) - maximum
    if excess <= 0:
        return ()
    removable = [slot for slot in slots if not slot.edited]
    return tuple(sorted(removable, key=lambda slot: (len(slot.evidence), slot.updated_at, slot.id))[:excess])
