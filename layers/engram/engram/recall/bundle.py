"""The answer of a recall: conversations, evidence to the letter, items, and what all of it is worth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from engram.resolve.models import Resolution


class ExecutionStatus(StrEnum):
    """Whether every part that was needed answered."""

    COMPLETE = "COMPLETE"
    DEGRADED = "DEGRADED"


class SupportStatus(StrEnum):
    """What the answer is worth, apart from whether every part answered.

    EMPTY: nothing is stored of this user. UNSUPPORTED: nothing of it is relevant. PARTIAL: some conditions of the
    query are not met. AMBIGUOUS: the query may mean several things, and more than one of them is stored.
    """

    EMPTY = "EMPTY"
    UNSUPPORTED = "UNSUPPORTED"
    PARTIAL = "PARTIAL"
    AMBIGUOUS = "AMBIGUOUS"
    SUPPORTED = "SUPPORTED"


@dataclass(frozen=True, slots=True)
class Named:
    """An entity or topic by id, with the name a person reads."""

    id: str
    name: str
    type: str = ""


@dataclass(frozen=True, slots=True)
class EvidenceItem:
    """One message, read from the table for this answer.

    Attributes:
        text: to the letter.
        score: place in the order of relevance, 0..1; never rises along the list.
        parts: with `explain`, what the score is made of.
    """

    evidence_id: str
    message_id: str
    conversation_id: str
    session_id: str
    seq: int
    role: str
    name: str
    text: str
    time: datetime
    version: int
    content_hash: str
    score: float
    attachments: tuple[Mapping[str, Any], ...] = ()
    parts: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class ConversationRef:
    """A conversation that answers the query, and why.

    Attributes:
        matched: names of the conditions it meets: entity, topic, name, text, time.
        evidence_ids: of the evidence in this answer that it holds.
    """

    conversation_id: str
    session_id: str
    started_at: datetime
    ended_at: datetime
    title: str
    entities: tuple[Named, ...]
    topics: tuple[Named, ...]
    score: float
    matched: tuple[str, ...]
    evidence_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ItemSource:
    """The words in a message that an item stands on."""

    message_id: str
    conversation_id: str
    seq: int
    version: int
    content_hash: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class RecalledItem:
    """A memory item or a gist, with the words it stands on.

    Attributes:
        kind: `memory` or `gist`.
        category: for memory items fact, preference, instruction, plan or relationship.
        time: when it began to be true, or happened.
    """

    id: str
    kind: str
    category: str
    subject: str
    topic: str
    sub_topic: str
    text: str
    time: datetime
    valid_until: datetime | None
    version: int
    score: float
    evidence: tuple[ItemSource, ...]


@dataclass(frozen=True, slots=True)
class Freshness:
    """How far the index is behind the table.

    Attributes:
        as_of: when the table was read.
        pending_messages: accepted, not yet indexed, and taken into account from the table.
        index_lag_ms: age of the oldest of them; 0 when the index has everything.
    """

    as_of: datetime
    pending_messages: int
    index_lag_ms: int


@dataclass(frozen=True, slots=True)
class RecallBundle:
    """See `DESIGN` §6.

    Attributes:
        missing: the parts that did not answer, if any: `encoder`, `lexical`, `vector`, `index`, `chooser`.
        timings: milliseconds per stage, and `total`.
        explain: with `explain`, the trace of the resolver and what was dropped and why, in counts.
    """

    query_id: str
    bundle_id: str
    execution_status: ExecutionStatus
    support_status: SupportStatus
    resolution: Resolution
    conversation_refs: tuple[ConversationRef, ...]
    items: tuple[RecalledItem, ...]
    evidence: tuple[EvidenceItem, ...]
    freshness: Freshness
    timings: Mapping[str, float]
    missing: tuple[str, ...] = ()
    explain: Mapping[str, Any] | None = None


@dataclass(slots=True)
class Dropped:
    """Counts of hits that the table did not confirm, by reason."""

    counts: dict[str, int] = field(default_factory=dict)

    def add(self, reason: str, count: int = 1) -> None:
        if count:
            self.counts[reason] = self.counts.get(reason, 0) + count
