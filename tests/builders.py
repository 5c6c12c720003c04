"""What tests are made of: small builders with defaults, so that a test shows only what it is about."""

from __future__ import annotations

from copy import copy
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from engram.bootstrap import Services
from engram.domain.models import Role
from engram.domain.scope import Scope
from engram.ingestion.models import IncomingMessage, IngestionRequest
from engram.recall.bundle import RecallBundle
from engram.recall.request import RecallRequest
from engram.settings import Settings


class MovableClock:
    """A clock that stands still until it is told to go on."""

    def __init__(self, now: datetime = datetime(2026, 7, 1, 9, 0, tzinfo=UTC)) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def go_on(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def unix(self) -> int:
        return int(self.now.timestamp())


class Remembering:
    """One installation in a folder, without encoder or model, and its user `u1`: what is said is indexed at once.

    `at` is a day and time of 2026 in UTC, such as "01-05 10:00".
    """

    def __init__(self, folder: Path, *, clock: MovableClock | None = None, **settings: Any) -> None:
        self.clock = clock or MovableClock()
        self.services = Services(
            Settings(**{"data_dir": str(folder), "embedder": "none", **settings}), clock=self.clock
        )
        self.scope = Scope("acme", "u1")
        self._requests = 0

    def reopened(self, **parts: Any) -> Remembering:
        """The same installation in another process, with some of its parts replaced."""
        other = copy(self)
        other.services = Services(self.services.settings, clock=self.clock)
        other.services.__dict__.update(parts)
        return other

    def say(self, session_id: str, at: str, *texts: str, scope: Scope | None = None, index: bool = True) -> str:
        """Keeps `texts` as user and assistant in turn, a minute apart. The conversation's id."""
        start = moment(at)
        roles = (Role.USER, Role.ASSISTANT)
        messages = tuple(
            IncomingMessage(roles[place % 2], text, created_at=start + timedelta(minutes=place))
            for place, text in enumerate(texts)
        )
        self._requests += 1
        scope = scope or self.scope
        accepted = self.services.ingestion.accept(
            scope, IngestionRequest(f"request-{self._requests}", session_id, messages)
        )
        if index:
            self.work(scope, accepted.operation_id)
        return accepted.conversation_id

    def work(self, scope: Scope, operation_id: str) -> None:
        self.services.extractor.work(scope, operation_id, last_attempt=True)

    def recall(
        self, query: str, *, scope: Scope | None = None, session_id: str = "asking", **fields: Any
    ) -> RecallBundle:
        request = RecallRequest(query=query, session_id=session_id, **fields)
        return self.services.recall.recall(scope or self.scope, request)


def moment(at: str) -> datetime:
    """`01-05 10:00` in 2026, UTC; `2025-01-05 10:00` in another year."""
    text = at if at[:2] == "20" and at[4] == "-" else f"2026-{at}"
    return datetime.strptime(text, "%Y-%m-%d %H:%M").replace(tzinfo=UTC)
