"""What an answer is worth, in one word. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from engram.domain.models import Conversation
from engram.recall.answering import Answer
from engram.recall.bundle import SupportStatus
from engram.recall.conditions import Conditions, Wanted


def support_of(
    answer: Answer, conditions: Conditions, conversations: Sequence[Conversation], *, found: bool
) -> SupportStatus:
    """The support of a verified answer.

    Args:
        conversations: those that the answer's evidence stands in.
        found: whether any evidence or item is left.
    """
    if not found:
        return SupportStatus.UNSUPPORTED
    if answer.selection is not None and answer.selection.ambiguous:
        return SupportStatus.AMBIGUOUS
    if any(_several_readings(one, conversations) for one in conditions.ambiguous):
        return SupportStatus.AMBIGUOUS
    if answer.partial or (conversations and not all(_met(one, conversations) for one in conditions.entities)):
        return SupportStatus.PARTIAL
    return SupportStatus.SUPPORTED


def _several_readings(wanted: Wanted, conversations: Sequence[Conversation]) -> bool:
    """Whether the evidence shows the mention in more than one of its meanings."""
    shown = {
        identifier
        for one in conversations
        for identifier in (*one.entity_ids, *one.topic_ids)
        if identifier in wanted.ids
    }
    return len(shown) > 1


def _met(wanted: Wanted, conversations: Sequence[Conversation]) -> bool:
    return any(wanted.ids.intersection((*one.entity_ids, *one.candidate_ids)) for one in conversations)
