"""A follow-up that names nothing ("and the time before?", 再上一次呢) means what the message before it was about.

Only a query that says it goes on, after one that itself referred to the past, takes anything over: "what did we talk
about last time?" asks about everything, whatever was said before it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from engram.recall.selection import is_definite
from engram.resolve.models import Mention, Resolution, Temporal, TemporalIntent

Understand = Callable[[str], Resolution]

_GOES_ON = re.compile(
    r"(?:and|or|but|so|then|what about|how about|what of|also)\b|(?:那|再|还有|以及|然后|那么|更早|另外|又)|"
    r"(?:呢|\bthe (?:time|one) before)[\s?？]*\Z",
    re.IGNORECASE,
)
_ONE_BEFORE = re.compile(
    r"\b(?:time|one|conversation|chat|session)s? before\b|\bbefore that\b|\bearlier (?:one|than that)\b|"
    r"再上|再前|再之前|再往前|更早|前一次|上一次呢|之前|以前|前面那次",
    re.IGNORECASE,
)
_EMPTY = re.compile(r"\b(?:times?|ones?|before|again|earlier|that|the)\b|那次|一次|次", re.IGNORECASE)
_LOOKED_AT = 6
"""Messages back that a follow-up may go on from."""


def carried_over(resolution: Resolution, recent: Sequence[str], understand: Understand) -> Resolution:
    """`resolution` with the subject of the newest earlier message that referred to the past, if it goes on from it.

    Args:
        recent: what the user wrote before in this conversation, oldest first.
        understand: resolves one of these.
    """
    if names_something(resolution) or not _GOES_ON.search(resolution.query):
        return resolution
    looked_at = recent[-_LOOKED_AT:]
    for place in reversed(range(len(looked_at))):
        if looked_at[place].strip() == resolution.query.strip():
            continue
        earlier = carried_over(understand(looked_at[place]), looked_at[:place], understand)
        if _refers(earlier, resolution.query):
            return replace(
                resolution,
                entities=tuple(_carried(one) for one in earlier.entities),
                topics=tuple(_carried(one) for one in earlier.topics),
                search_text=earlier.search_text,
                temporal=_further_back(resolution, earlier.temporal),
                trace=(*resolution.trace, "context: subject taken over from the conversation"),
            )
    return resolution


def names_something(resolution: Resolution) -> bool:
    """Whether the query has a subject of its own: a mention, or words that are no mere continuation."""
    words = _EMPTY.sub(" ", _ONE_BEFORE.sub(" ", _GOES_ON.sub(" ", resolution.search_text)))
    return bool(resolution.entities or resolution.topics or re.search(r"\w{2,}", words))


def _refers(earlier: Resolution, query: str) -> bool:
    """Whether `query` can go on from an earlier question: one about a subject, or about a last time of anything."""
    if names_something(earlier):
        return earlier.temporal.intent is not TemporalIntent.NONE
    counted = earlier.temporal.intent is TemporalIntent.PREVIOUS_RELATED and is_definite(earlier.query)
    return counted and _ONE_BEFORE.search(query) is not None


def _further_back(resolution: Resolution, earlier: Temporal) -> Temporal:
    temporal = resolution.temporal
    counted = earlier.intent is TemporalIntent.PREVIOUS_RELATED
    if not _ONE_BEFORE.search(resolution.query):
        return temporal if temporal.intent is not TemporalIntent.NONE else earlier
    if not counted or temporal.intent not in (TemporalIntent.NONE, TemporalIntent.PREVIOUS_RELATED):
        return temporal
    cue = temporal.cue or resolution.query.strip()
    nth = max(earlier.nth + 1, temporal.nth)
    return replace(temporal, intent=TemporalIntent.PREVIOUS_RELATED, cue=cue, nth=nth)


def _carried(mention: Mention) -> Mention:
    """A mention of another message: it has no place in this one."""
    return replace(mention, start=-1, end=-1, found_by="context")
