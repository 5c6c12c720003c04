"""What resolving a text answers: mentions with candidates, a temporal intent, and the words left to search for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from engram.domain.models import MentionStatus


class TemporalIntent(StrEnum):
    """The closed set. Where cues meet, the first in this order wins (NONE last)."""

    TIME_RANGE = "TIME_RANGE"
    CURRENT_SESSION = "CURRENT_SESSION"
    ALL_HISTORY = "ALL_HISTORY"
    LATEST = "LATEST"
    EARLIEST = "EARLIEST"
    PREVIOUS_RELATED = "PREVIOUS_RELATED"
    RECENT = "RECENT"
    NONE = "NONE"


class SourceType(StrEnum):
    """What the user asks for: what was said, what is known about them, or either."""

    CONVERSATION = "CONVERSATION"
    MEMORY = "MEMORY"
    ANY = "ANY"


@dataclass(frozen=True, slots=True)
class Candidate:
    """An existing id that a mention may denote.

    `score` is a probability in 0..1, decimal: the rule "leads by 0.10" must hold for .90 over .80,
    and in binary fractions it does not.
    """

    id: str
    name: str
    type: str
    score: Decimal


@dataclass(frozen=True, slots=True)
class Mention:
    """Words of a text that may denote an entity or a topic.

    Attributes:
        text: as written; start, end: half-open span in characters of the original text.
        id, name: of the linked target; "" unless LINKED.
        found_by: the step that decided: alias, typo, rule, keyword, embedding, context, model, unknown.
        candidates: best first; one when linked, several when ambiguous, none when unresolved.
    """

    text: str
    start: int
    end: int
    status: MentionStatus
    id: str = ""
    name: str = ""
    type: str = ""
    found_by: str = ""
    candidates: tuple[Candidate, ...] = ()


@dataclass(frozen=True, slots=True)
class Temporal:
    """When the user means.

    Attributes:
        intent: one of the closed set.
        cue: the words that say so, as written.
        nth: for PREVIOUS_RELATED, 1 for 上次 / last time, 2 for 上上次 / the time before last, …
        start, end: half-open range, aware; None is open. Only with TIME_RANGE.
        axis: whether the range is about when it was said (`message`), when it happens (`event`), or `either`.
        spans: spans of all time cues in the original text, to leave them out of the search.
    """

    intent: TemporalIntent
    cue: str = ""
    nth: int = 1
    start: datetime | None = None
    end: datetime | None = None
    axis: str = "either"
    spans: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Resolution:
    """A text, understood.

    Attributes:
        normalised: NFKC, case, width and script folded; for matching, never for display.
        language: `zh`, `en` or `mixed`.
        entities, topics: mentions in order of the text.
        search_text: the words left to match once cues of time and filler are out, entity and topic words kept.
        trace: one line per step of the ladder that ran: what it accepted or why it passed on (no user text).
    """

    query: str
    normalised: str
    language: str
    entities: tuple[Mention, ...]
    topics: tuple[Mention, ...]
    temporal: Temporal
    source_type: SourceType
    search_text: str
    trace: tuple[str, ...] = ()

    @property
    def entity_ids(self) -> tuple[str, ...]:
        """Ids of linked entities."""
        return tuple(mention.id for mention in self.entities if mention.status is MentionStatus.LINKED)

    @property
    def topic_ids(self) -> tuple[str, ...]:
        """Ids of linked topics."""
        return tuple(mention.id for mention in self.topics if mention.status is MentionStatus.LINKED)


@dataclass(frozen=True, slots=True)
class ResolveContext:
    """What surrounds a text.

    Attributes:
        now: aware; the moment relative expressions are read from.
        timezone: IANA name of the user's zone.
        recent: the last messages of the present conversation, oldest first.
    """

    now: datetime
    timezone: str = "UTC"
    recent: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Subjects:
    """What messages are about, as the resolver reads it when they are written.

    Attributes:
        candidate_ids: entities of ambiguous mentions.
        unresolved: names that the catalogue does not know, folded.
    """

    entity_ids: tuple[str, ...] = ()
    topic_ids: tuple[str, ...] = ()
    candidate_ids: tuple[str, ...] = ()
    unresolved: tuple[str, ...] = ()
