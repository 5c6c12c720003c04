"""The context block: who this user is and what happened, within a token budget, in one look-up.

Two lines, the profile and the events, are made side by side and meet in `assemble`. What fails costs its line, or
its refinement, and is named in `degraded`; the rest is served.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as DeadlinePassed
from dataclasses import dataclass
from datetime import datetime, timedelta

from engram.context.assembly import BUDGET, assemble
from engram.context.events import EventSearch
from engram.context.hot import KEPT_GISTS, HotGist, HotProfile, HotSlot
from engram.context.profiles import EVENTS, HotProfiles
from engram.context.request import ContextRequest
from engram.context.templates import Template, custom_template, template_for
from engram.domain.clock import Clock
from engram.domain.errors import ModelFailure, Unavailable
from engram.domain.scope import Scope
from engram.ports import ProfileFilter
from engram.profile.truncation import choose

PROFILE_FILTER = "profile_filter"
FILTERED = "not_relevant"


@dataclass(frozen=True, slots=True)
class Dropped:
    """A memory that is not in the block. `kind` is `profile` or `event`; `reason` the rule that left it out."""

    kind: str
    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class ContextBlock:
    """The answer.

    Attributes:
        tokens_total: of `text`; exact for our templates, an upper bound for a caller's own.
        degraded: what could not be had: `profile`, `events` (the line or its search), `profile_filter`.
    """

    text: str
    tokens_total: int
    tokens_profile: int
    tokens_events: int
    degraded: tuple[str, ...] = ()
    dropped: tuple[Dropped, ...] = ()


@dataclass(frozen=True, slots=True)
class _ProfileLine:
    rows: Sequence[HotSlot]
    dropped: tuple[Dropped, ...]
    degraded: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _EventLine:
    rows: Sequence[HotGist]
    degraded: tuple[str, ...]


class ContextService:
    """Makes context blocks.

    Args:
        profiles: hot profiles, from the cache or the table.
        search: gists by likeness to the chats; made when first needed.
        profile_filter: chooses relevant slots by a model, if one is configured; made when first needed.
        language_of: a business's language, for the block of a user nothing is known of.
        default_language: where the business cannot be asked.
        patience_ms: what the search of events may take: an encoder that is still loading is waited for.
    """

    def __init__(
        self,
        *,
        profiles: HotProfiles,
        search: Callable[[], EventSearch],
        profile_filter: Callable[[], ProfileFilter | None],
        language_of: Callable[[str], str],
        clock: Clock,
        default_language: str = "en",
        patience_ms: float = 5_000.0,
    ) -> None:
        self._default_language = default_language
        self._patience_ms = patience_ms
        self._profiles = profiles
        self._search = search
        self._profile_filter = profile_filter
        self._language_of = language_of
        self._clock = clock
        self._pool: ThreadPoolExecutor | None = None
        self._lock = threading.Lock()

    def context(self, scope: Scope, request: ContextRequest) -> ContextBlock:
        """The block for one turn. A user nothing is known of gets an empty, well-formed one."""
        loaded = self._profiles.get(scope)
        template = self._template(scope, request, loaded.profile)
        profile = loaded.profile or _NOBODY
        events = self._event_line(scope, request, profile, EVENTS in loaded.lost)
        slots = self._profile_line(request, profile)
        event_line = events()
        block = assemble(slots.rows, event_line.rows, budget=request.budget, template=template)
        degraded = dict.fromkeys((*loaded.lost, *slots.degraded, *event_line.degraded))
        return ContextBlock(
            text=block.text,
            tokens_total=block.total,
            tokens_profile=block.profile,
            tokens_events=block.events,
            degraded=tuple(degraded),
            dropped=(
                *slots.dropped,
                *(Dropped("profile", one, BUDGET) for one in block.dropped_profile),
                *(Dropped("event", one, BUDGET) for one in block.dropped_events),
            ),
        )

    def _template(self, scope: Scope, request: ContextRequest, profile: HotProfile | None) -> Template:
        if request.customize_context_prompt is not None:
            return custom_template(request.customize_context_prompt)
        return template_for(profile.language if profile is not None else self._language(scope.business_id))

    def _language(self, business_id: str) -> str:
        try:
            return self._language_of(business_id)
        except Unavailable:
            return self._default_language

    def _profile_line(self, request: ContextRequest, profile: HotProfile) -> _ProfileLine:
        rows: Sequence[HotSlot] = profile.slots
        dropped: list[Dropped] = []
        degraded: tuple[str, ...] = ()
        if request.chats and not request.full_profile_and_only_search_event and rows:
            wanted = self._relevant(request, rows)
            if wanted is None:
                degraded = (PROFILE_FILTER,)
            else:
                dropped += [Dropped("profile", row.id, FILTERED) for row in rows if row.id not in wanted]
                rows = [row for row in rows if row.id in wanted]
        kept, left_out = choose(rows, request.topics)
        dropped += [Dropped("profile", row.id, reason) for row, reason in left_out]
        return _ProfileLine(kept, tuple(dropped), degraded)

    def _relevant(self, request: ContextRequest, rows: Sequence[HotSlot]) -> frozenset[str] | None:
        """Ids of the slots that bear on the chats; None if nobody can tell now."""
        try:
            chooser = self._profile_filter()
            if chooser is None:
                return None
            turns = [(turn.role, turn.content) for turn in request.chats]
            return frozenset(chooser.choose(turns, {row.id: row.text for row in rows}))
        except (Unavailable, ModelFailure):
            return None

    def _event_line(
        self, scope: Scope, request: ContextRequest, profile: HotProfile, lost: bool
    ) -> Callable[[], _EventLine]:
        """Begins the event line; the answer waits for it. Without chats or gists there is nothing to wait for."""
        since = self._clock() - timedelta(days=request.time_range_in_days)
        recent = _recent(profile, request, since)
        if not request.chats or lost or not profile.gists:
            return lambda: _EventLine(recent, ())
        future = self._beside().submit(self._search_events, scope, request, profile, since, recent)

        def wait() -> _EventLine:
            try:
                return future.result(timeout=self._patience_ms / 1000)
            except DeadlinePassed:
                return _EventLine(recent, (EVENTS,))

        return wait

    def _search_events(
        self, scope: Scope, request: ContextRequest, profile: HotProfile, since: datetime, recent: Sequence[HotGist]
    ) -> _EventLine:
        """The gists nearest to the chats; the most recent ones, marked, if they cannot be searched."""
        try:
            rows = self._search().nearest(
                scope,
                request.chats,
                known=profile.gists,
                since=since,
                threshold=request.event_similarity_threshold,
                limit=KEPT_GISTS,
            )
        except Unavailable:
            return _EventLine(recent, (EVENTS,))
        if rows is None:
            return _EventLine(recent, ())
        return _EventLine([row for row in rows if row.summarised or not request.require_event_summary], ())

    def _beside(self) -> ThreadPoolExecutor:
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(8, thread_name_prefix="context")
        return self._pool


_NOBODY = HotProfile(format=0, epoch=0, profile_version=0, rules_version=0, language="")


def _recent(profile: HotProfile, request: ContextRequest, since: datetime) -> list[HotGist]:
    earliest = since.timestamp()
    return [
        gist
        for gist in profile.gists
        if gist.happened >= earliest and (gist.summarised or not request.require_event_summary)
    ]
