"""What a recall is asked: the user's words, and what surrounds them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from engram.domain.documents import DocumentKind

DEFAULT_LIMIT = 20
MAX_LIMIT = 100


@dataclass(frozen=True, slots=True)
class RecentMessage:
    """A message of the present conversation, as the app has it in its window."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """One recall.

    Attributes:
        query: what the user wrote, as written.
        session_id: the session it was written in; "" where the app has none.
        recent_messages: the last messages of the present conversation, oldest first.
        now: aware; the moment that relative expressions are read from. None is the present.
        timezone: IANA name of the user's zone; "" takes the service's.
        limit: most messages of evidence, and most items.
        kinds: what to answer; empty for everything.
        explain: whether to say how each hit came to its place.
    """

    query: str
    session_id: str = ""
    recent_messages: tuple[RecentMessage, ...] = ()
    now: datetime | None = None
    timezone: str = ""
    limit: int = DEFAULT_LIMIT
    kinds: tuple[DocumentKind, ...] = ()
    explain: bool = False

    def wants(self, kind: DocumentKind) -> bool:
        return not self.kinds or kind in self.kinds
