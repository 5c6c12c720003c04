"""What tests are made of: small builders with defaults, so that a test shows only what it is about."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from engram.bootstrap import Services
from engram.domain.ids import content_hash
from engram.domain.models import Event, Gist, MemoryItem, Message, ProfileSlot, Role
from engram.domain.scope import Scope
from engram.extraction.accept import accept
from engram.extraction.merge import MergeResult, Present, merge
from engram.extraction.models import Distillation, DistillationRequest
from engram.ingestion.models import IncomingMessage, IngestionRequest
from engram.ports import Distiller
from engram.profile.config import ProfileConfig, taxonomy_of
from engram.profile.taxonomy import Taxonomy
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

    def flush(self) -> None:
        """Distils what is buffered."""
        self._requests += 1
        accepted = self.services.ingestion.flush(self.scope, request_id=f"flush-{self._requests}")
        self.work(self.scope, accepted.operation_id)

    def recall(
        self, query: str, *, scope: Scope | None = None, session_id: str = "asking", **fields: Any
    ) -> RecallBundle:
        request = RecallRequest(query=query, session_id=session_id, **fields)
        return self.services.recall.recall(scope or self.scope, request)


def moment(at: str) -> datetime:
    """`01-05 10:00` in 2026, UTC; `2025-01-05 10:00` in another year."""
    text = at if at[:2] == "20" and at[4] == "-" else f"2026-{at}"
    return datetime.strptime(text, "%Y-%m-%d %H:%M").replace(tzinfo=UTC)


def said(
    text: str,
    *,
    role: Role = Role.USER,
    at: datetime = datetime(2026, 3, 2, 9, 0, tzinfo=UTC),
    message_id: str = "m1",
    seq: int = 0,
) -> Message:
    """One message; 2 March 2026 is a Monday."""
    return Message(message_id, "c1", "s1", seq, role, text, content_hash(text.encode("utf-8", "replace").decode()), at)


def batch(
    *messages: str | Message,
    slots: Sequence[ProfileSlot] = (),
    taxonomy: Taxonomy | None = None,
    language: str = "en",
    timezone: str = "UTC",
) -> DistillationRequest:
    """A batch to distil; texts become user messages m1, m2, … a minute apart."""
    made = tuple(
        one if isinstance(one, Message) else said(one, message_id=f"m{place + 1}", seq=place)
        for place, one in enumerate(messages)
    )
    known = taxonomy or taxonomy_of(ProfileConfig(), ProfileConfig(), language=language)
    return DistillationRequest(made, tuple(slots), known, ("TRAVEL_GUIDE",), timezone, language)


class Profile:
    """What is known about one user while batches are distilled one after the other, as the write path does it."""

    def __init__(self, distiller: Distiller, *, language: str = "en", taxonomy: Taxonomy | None = None) -> None:
        self.distiller = distiller
        self.language = language
        self.taxonomy = taxonomy
        self.slots: dict[str, ProfileSlot] = {}
        self.items: dict[str, MemoryItem] = {}
        self.closed: list[MemoryItem] = []
        self.events: list[Event] = []
        self.gists: list[Gist] = []
        self._batches = 0

    def hears(self, *messages: str | Message, day: int = 1, now: datetime | None = None) -> MergeResult:
        """Distils, accepts and merges one batch said on that day of March 2026."""
        at = datetime(2026, 3, day, 9, 0, tzinfo=UTC)
        made = [
            one
            if isinstance(one, Message)
            else said(one, at=at, message_id=f"b{self._batches + 1}m{place}", seq=100 * self._batches + place)
            for place, one in enumerate(messages)
        ]
        request = batch(*made, slots=tuple(self.slots.values()), taxonomy=self.taxonomy, language=self.language)
        return self.takes(self.distiller.distil(request), request, now=now or at)

    def takes(self, distillation: Distillation, request: DistillationRequest, *, now: datetime) -> MergeResult:
        """Accepts and merges a distillation."""
        self._batches += 1
        result = merge(
            accept(distillation, request),
            Present(tuple(self.slots.values()), tuple(self.items.values()), tuple(reversed(self.gists))),
            operation_id=f"operation-{self._batches}",
            now=now,
            count_tokens=lambda text: len(text.encode()) // 3 + 1,
            taxonomy=request.taxonomy,
        )
        self.slots |= {slot.id: slot for slot in result.slot_puts}
        self.items |= {item.id: item for item in result.item_puts}
        self.slots = {one: slot for one, slot in self.slots.items() if one not in result.slot_deletes}
        self.items = {one: item for one, item in self.items.items() if one not in result.item_deletes}
        self.closed += result.closed_items
        self.events += [result.event] if result.event else []
        written = {gist.id: gist for gist in result.gists}
        self.gists = [written.pop(gist.id, gist) for gist in self.gists] + list(written.values())
        return result

    def says(self) -> dict[str, str]:
        """`topic::sub_topic` to content."""
        return {f"{slot.topic}::{slot.sub_topic}": slot.content for slot in self.slots.values()}
