"""Events as Memobase's clients read, search and edit them. An event's lines (gists) follow its summary."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo

from engram.context.bounds import token_bound
from engram.context.events import GIST_PREFIX, EventSearch
from engram.context.lines import as_data, gist_line
from engram.domain.clock import Clock
from engram.domain.documents import Document
from engram.domain.errors import InvalidInput, NotFound
from engram.domain.ids import derived_id
from engram.domain.models import Event, EventTag, Gist, ProfileDelta
from engram.domain.scope import Scope
from engram.extraction.projection import Projector
from engram.ingestion.checks import check_text
from engram.lifecycle.deletion import DeletionService
from engram.lifecycle.targets import TargetKind
from engram.memobase.edits import Edit, Edits
from engram.profile.taxonomy import attribute_unify
from engram.recall.indexing import document_of_gist
from engram.store.commits import gist_keys
from engram.store.reader import Profile, Reader
from engram.text.tokens import TokenCounter

MAX_TIP_CHARACTERS = 20_000
MAX_GISTS_OF_EVENT = 60
MAX_LINE_CHARACTERS = 2_000
_SEARCHED_GISTS = 200

Embed = Callable[[Sequence[Document]], Sequence[Document]]


@dataclass(frozen=True, slots=True)
class EventChange:
    """What of an event a person changes; None leaves it."""

    summary: str | None = None
    delta: tuple[ProfileDelta, ...] | None = None
    tags: tuple[EventTag, ...] | None = None


class MemobaseEvents:
    """Reads, searches and edits events.

    Args:
        embed: documents with their vectors.
        zone: in which gists are dated.
    """

    def __init__(
        self,
        *,
        reader: Reader,
        edits: Edits,
        deletions: DeletionService,
        search: Callable[[], EventSearch],
        projector: Projector,
        embed: Embed,
        count_tokens: TokenCounter,
        clock: Clock,
        zone: tzinfo,
    ) -> None:
        self._reader = reader
        self._edits = edits
        self._deletions = deletions
        self._search = search
        self._projector = projector
        self._embed = embed
        self._count_tokens = count_tokens
        self._clock = clock
        self._zone = zone

    def newest(
        self, scope: Scope, *, top_k: int, max_tokens: int | None = None, need_summary: bool = False
    ) -> list[Event]:
        """Newest first. Over `max_tokens` (of its lines) an event is skipped and a smaller one may follow."""
        found = [one for one in self._reader.events(scope) if one.summary or not need_summary][:top_k]
        if max_tokens is None:
            return found
        costs = self._costs(scope)
        kept, used = [], 0
        for event in found:
            cost = costs.get(event.id) or token_bound(event.summary)
            if used + cost <= max_tokens:
                kept.append(event)
                used += cost
        return kept

    def by_tags(self, scope: Scope, *, names: Sequence[str], values: Mapping[str, str], top_k: int) -> list[Event]:
        """Newest events that have every tag in `names` and every value in `values`."""
        wanted = {attribute_unify(name) for name in names}
        exact = {(attribute_unify(name), value.strip()) for name, value in values.items()}
        found = []
        for event in self._reader.events(scope):
            has = {(attribute_unify(tag.tag), tag.value.strip()) for tag in event.tags}
            if wanted <= {name for name, _ in has} and exact <= has:
                found.append(event)
        return found[:top_k]

    def search_gists(
        self, scope: Scope, query: str, *, top_k: int, threshold: float, days: int
    ) -> list[tuple[Gist, float]]:
        """Gists above the threshold, nearest first, each with its cosine. Raises Unavailable without an encoder."""
        since = self._clock() - timedelta(days=days)
        hits = self._search().hits(scope, query, since=since, threshold=threshold, limit=max(top_k, 1)) or []
        wanted = [(hit.document.occurred_at, hit.document.doc_id.removeprefix(GIST_PREFIX)) for hit in hits]
        rows = {row.id: row for row in self._reader.gists_at(scope, wanted)} if wanted else {}
        named = ((hit.document.doc_id.removeprefix(GIST_PREFIX), hit.score) for hit in hits)
        return [(rows[name], score) for name, score in named if name in rows][:top_k]

    def search(self, scope: Scope, query: str, *, top_k: int, threshold: float, days: int) -> list[tuple[Event, float]]:
        """Events by their nearest line."""
        best: dict[str, float] = {}
        for gist, score in self.search_gists(scope, query, top_k=_SEARCHED_GISTS, threshold=threshold, days=days):
            best.setdefault(gist.event_id, score)
        found = []
        for identifier, score in list(best.items())[:top_k]:
            event = self._reader.event(scope, identifier)
            if event is not None:
                found.append((event, score))
        return found

    def update(self, scope: Scope, event_id: str, change: EventChange) -> None:
        """Changes an event; a new summary makes new lines of it. Raises NotFound or InvalidInput."""
        check_change(change)
        old: tuple[Gist, ...] = ()
        new: tuple[Gist, ...] = ()

        def edit(_: Profile) -> Edit:
            nonlocal old, new
            present = self._event(scope, event_id)
            changed = _changed(present, change, self._clock())
            if change.summary is None or change.summary == present.summary:
                return Edit(events=(changed,))
            old = self._gists_of(scope, event_id)
            new = self.gists_of(changed)
            changed = replace(changed, gist_ids=tuple(gist.id for gist in new))
            kept = set(gist_keys(scope, new))
            gone = tuple(key for key in gist_keys(scope, old) if key not in kept)
            return Edit(events=(changed,), gists=new, deleted=gone)

        self._edits.apply(scope, edit)
        self.project(scope, gone=old, new=new)

    def delete(self, scope: Scope, event_id: str) -> None:
        """Hides an event and its lines from every read at once; the purge follows. Raises NotFound."""
        self._event(scope, event_id)
        self._deletions.delete(scope, TargetKind.EVENT, event_id)

    def gists_of(self, event: Event) -> tuple[Gist, ...]:
        """The lines of an event: of its summary, or of the profile changes of one that has none."""
        lines = [line.strip().removeprefix("-").strip() for line in event.summary.splitlines()]
        summarised = any(lines)
        if not summarised:
            lines = [f"{one.topic}::{one.sub_topic}: {one.content}" for one in event.delta]
        kept = [line[:MAX_LINE_CHARACTERS] for line in lines if as_data(line)][:MAX_GISTS_OF_EVENT]
        return tuple(
            Gist(
                id=derived_id("gist", event.id, event.version, position),
                event_id=event.id,
                content=line,
                tokens=self._count_tokens(gist_line(line, event.happened_at, self._zone)),
                happened_at=event.happened_at,
                created_at=event.updated_at,
                evidence=event.evidence,
                summarised=summarised,
            )
            for position, line in enumerate(kept)
        )

    def project(self, scope: Scope, *, gone: Sequence[Gist], new: Sequence[Gist]) -> None:
        """Search rows follow the lines."""
        kept = {gist.id for gist in new}
        self._projector.withdraw(scope, {GIST_PREFIX + gist.id: gist.version for gist in gone if gist.id not in kept})
        if new:
            documents = self._embed([document_of_gist(gist) for gist in new])
            self._projector.write_rows(scope, documents)
            self._projector.project(scope, documents)

    def _event(self, scope: Scope, event_id: str) -> Event:
        found = self._reader.event(scope, event_id)
        if found is None:
            raise NotFound("no such event", field="event_id")
        return found

    def _gists_of(self, scope: Scope, event_id: str) -> tuple[Gist, ...]:
        return tuple(gist for gist in self._reader.gists(scope) if gist.event_id == event_id)

    def _costs(self, scope: Scope) -> dict[str, int]:
        costs: dict[str, int] = {}
        for gist in self._reader.gists(scope):
            costs[gist.event_id] = costs.get(gist.event_id, 0) + gist.tokens
        return costs


def check_change(change: EventChange) -> None:
    """Raises InvalidInput or Unprocessable for what cannot be kept."""
    summary = change.summary or ""
    check_text(summary, "event_tip")
    if len(summary) > MAX_TIP_CHARACTERS:
        raise InvalidInput(f"event_tip takes at most {MAX_TIP_CHARACTERS} characters", field="event_tip")
    for one in change.delta or ():
        check_text(one.content, "profile_delta")
    for tag in change.tags or ():
        check_text(tag.tag + tag.value, "event_tags")


def _changed(event: Event, change: EventChange, now: datetime) -> Event:
    return replace(
        event,
        summary=event.summary if change.summary is None else change.summary,
        delta=event.delta if change.delta is None else change.delta,
        tags=event.tags if change.tags is None else change.tags,
        updated_at=now,
        version=event.version + 1,
    )
