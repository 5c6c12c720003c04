"""How a query asks: whether the ranking decides, and whether it is a question at all or a message that goes on from
what was said. Pure.
"""

from __future__ import annotations

import re

from engram.recall.conditions import Conditions
from engram.recall.features import words_in
from engram.recall.nearness import content_words
from engram.recall.selection import Meeting, decided, is_definite, means_one
from engram.resolve.models import Resolution, SourceType, TemporalIntent

QUESTION_WORDS = 12
"""Words that carry meaning in the longest question."""

_MESSAGES = ((3, 15), (2, 24))
"""Sentences and words from which on a text is a message: "Hi. I did that. What is next?"."""

_STATEMENT = (2, 9)
"""The same where nothing is asked and no time is meant: "I am ready for the next part. Let us start with it."."""

_SENTENCE = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])")


def ranks(resolution: Resolution, conditions: Conditions, found: Meeting) -> bool:
    """Whether relevance decides and time only leans on it.

    It does wherever words say more than the ids of what is named: a range may be about when something happened, which
    is often told later; 最近 without a word of talking asks for what is so lately. Neither filters what was said.
    """
    temporal = resolution.temporal
    if temporal.intent is TemporalIntent.NONE:
        return True
    if not conditions.any or decided(found, conditions):
        return False
    if temporal.intent is TemporalIntent.RECENT:
        return not means_one(resolution)
    said = temporal.axis == "message" and resolution.source_type is SourceType.CONVERSATION
    return temporal.intent is TemporalIntent.TIME_RANGE and not said


def rambles(resolution: Resolution, conditions: Conditions, found: Meeting) -> bool:
    """Whether this is a message rather than a question: in a page, "now" and "you said" are said in passing.

    It still means what it says when it names a thing and a topic and a definite last time.
    """
    if not is_message(resolution, conditions):
        return False
    return not (decided(found, conditions) and conditions.entities and conditions.topics and means_one(resolution))


def is_message(resolution: Resolution, conditions: Conditions) -> bool:
    """Whether the query holds more words than a question does, or several sentences that end in no definite question.

    "I thought of the summer. What did we settle last time?" is a question, however it began.
    """
    if len(content_words(conditions.search_text)) > QUESTION_WORDS:
        return True
    sentences = [one for one in _SENTENCE.split(resolution.query) if one.strip()]
    words = words_in(resolution.query)
    asks = "?" in resolution.query or "？" in resolution.query
    states = not asks and resolution.temporal.intent is TemporalIntent.NONE
    sizes = (*_MESSAGES, _STATEMENT) if states else _MESSAGES
    if not any(len(sentences) >= least and words >= enough for least, enough in sizes):
        return False
    last = sentences[-1].strip()
    return not (last.endswith(("?", "？")) and is_definite(last))
