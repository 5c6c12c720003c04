"""Users of a Memobase server as they were there: data, profile rows and events under their own ids and times.

Writing a row again writes the same row, so an import that was cut short is simply run again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from engram.domain.clock import Clock
from engram.domain.errors import Conflict, EngramError, InvalidInput
from engram.domain.models import Event, EventTag, Gist, ProfileDelta, ProfileSlot
from engram.domain.scope import Scope
from engram.ingestion.checks import EARLIEST, LATEST
from engram.memobase.edits import Edit, Edits
from engram.memobase.events import EventChange, MemobaseEvents, check_change
from engram.memobase.profiles import MemobaseProfiles, SlotDraft
from engram.memobase.users import MemobaseUsers
from engram.store.reader import Profile


@dataclass(frozen=True, slots=True)
class ImportedSlot:
    """A profile row of another server."""

    id: str
    draft: SlotDraft
    created_at: datetime | None
    updated_at: datetime | None


@dataclass(frozen=True, slots=True)
class ImportedEvent:
    """An event of another server."""

    id: str
    summary: str
    delta: tuple[ProfileDelta, ...]
    tags: tuple[EventTag, ...]
    created_at: datetime | None
    updated_at: datetime | None


@dataclass(frozen=True, slots=True)
class Refused:
    """A row that did not fit, and why. Holds no user text."""

    kind: str
    id: str
    reason: str


class MemobaseImports:
    """Writes users of another server."""

    def __init__(
        self, *, users: MemobaseUsers, profiles: MemobaseProfiles, events: MemobaseEvents, edits: Edits, clock: Clock
    ) -> None:
        self._users = users
        self._profiles = profiles
        self._events = events
        self._edits = edits
        self._clock = clock

    def run(
        self,
        scope: Scope,
        *,
        data: Mapping[str, Any] | None,
        slots: Sequence[ImportedSlot],
        events: Sequence[ImportedEvent],
    ) -> list[Refused]:
        """Writes what fits and says what did not."""
        try:
            self._users.create(scope.business_id, user_id=scope.user_id, data=data)
        except Conflict:
            if data is not None:
                self._users.update(scope, data)
        refused: list[Refused] = []
        rows = [row for one in slots if (row := self._slot(scope, one, refused)) is not None]
        kept = [made for one in events if (made := self._event(one, refused)) is not None]
        lines = [gist for _, gists in kept for gist in gists]

        def change(_: Profile) -> Edit:
            return Edit(slots=tuple(rows), events=tuple(event for event, _ in kept), gists=tuple(lines))

        if rows or kept:
            self._edits.apply(scope, change)
            self._events.project(scope, gone=(), new=lines)
        return refused

    def _slot(self, scope: Scope, one: ImportedSlot, refused: list[Refused]) -> ProfileSlot | None:
        try:
            _check_times(one.created_at, one.updated_at)
            return self._profiles.slot_of(
                scope, one.draft, identifier=one.id, created_at=one.created_at, updated_at=one.updated_at
            )
        except EngramError as error:
            refused.append(Refused("profile", one.id, str(error)))
            return None

    def _event(self, one: ImportedEvent, refused: list[Refused]) -> tuple[Event, tuple[Gist, ...]] | None:
        try:
            _check_times(one.created_at, one.updated_at)
            check_change(EventChange(one.summary, one.delta, one.tags))
        except EngramError as error:
            refused.append(Refused("event", one.id, str(error)))
            return None
        now = self._clock()
        created = one.created_at or now
        event = Event(
            id=one.id,
            summary=one.summary,
            happened_at=created,
            created_at=created,
            updated_at=one.updated_at or created,
            tags=one.tags,
            delta=one.delta,
        )
        gists = self._events.gists_of(event)
        return replace(event, gist_ids=tuple(gist.id for gist in gists)), gists


def _check_times(*moments: datetime | None) -> None:
    if any(moment is not None and not EARLIEST <= moment < LATEST for moment in moments):
        raise InvalidInput("times must lie between 1900 and 2200")
