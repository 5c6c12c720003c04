"""Memory items as a person sees and corrects them. A correction is a new version; the old one stays in the history."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from engram.context.lines import slot_line
from engram.domain.clock import Clock
from engram.domain.errors import ConditionFailed, InvalidInput, NotFound, Throttled
from engram.domain.models import MemoryItem, MemoryKind, ProfileSlot
from engram.domain.scope import Scope
from engram.extraction.elements import elements_of, joined, same
from engram.extraction.indexing import embedded
from engram.extraction.projection import Projector
from engram.ingestion.checks import check_text
from engram.lifecycle.deletion import says
from engram.ports import Embedder
from engram.profile.taxonomy import attribute_unify
from engram.recall.indexing import document_of_memory, memory_document_id
from engram.store.commits import Commits, ProfileCommit
from engram.store.reader import Profile, Reader

MAX_CONTENT_CHARACTERS = 2_000
MAX_NAME_CHARACTERS = 128
_ATTEMPTS = 8


@dataclass(frozen=True, slots=True)
class MemoryFilter:
    """Which memory items of a user. None means any."""

    kind: MemoryKind | None = None
    topic: str | None = None
    include_closed: bool = False

    def takes(self, item: MemoryItem) -> bool:
        kind = self.kind is None or item.kind is self.kind
        return kind and (self.topic is None or attribute_unify(item.topic) == attribute_unify(self.topic))


@dataclass(frozen=True, slots=True)
class MemoryEdit:
    """What a person changes; None leaves it. `ended_at` says that it is no longer true since then."""

    content: str | None = None
    kind: MemoryKind | None = None
    topic: str | None = None
    sub_topic: str | None = None
    ended_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class MemoryHistory:
    """One memory item with its earlier versions, oldest first. `current` is None for one that has ended."""

    current: MemoryItem | None
    earlier: tuple[MemoryItem, ...]


class MemoryService:
    """Lists, shows and edits memory items."""

    def __init__(
        self,
        *,
        reader: Reader,
        commits: Commits,
        projector: Projector,
        embedder: Callable[[], Embedder | None],
        count_tokens: Callable[[str], int],
        clock: Clock,
    ) -> None:
        self._reader = reader
        self._commits = commits
        self._projector = projector
        self._embedder = embedder
        self._count_tokens = count_tokens
        self._clock = clock

    def list(self, scope: Scope, wanted: MemoryFilter) -> tuple[MemoryItem, ...]:
        """Newest change first."""
        items = self._reader.memory_items(scope, include_closed=wanted.include_closed)
        return tuple(item for item in items if wanted.takes(item))

    def get(self, scope: Scope, memory_id: str) -> MemoryHistory:
        """Raises NotFound."""
        current = self._reader.memory_item(scope, memory_id)
        earlier = self._reader.memory_history(scope, memory_id)
        if current is None and not earlier:
            raise NotFound("no such memory", field="memory_id")
        return MemoryHistory(current, earlier)

    def edit(self, scope: Scope, memory_id: str, change: MemoryEdit) -> MemoryHistory:
        """The item after a person's correction; the profile says the same. Extraction keeps it unless contradicted.

        Raises:
            NotFound: there is no current item of this id.
            InvalidInput: the change says nothing that can be kept.
        """
        checked(change)
        for _ in range(_ATTEMPTS):
            present = self._reader.memory_item(scope, memory_id)
            profile = self._reader.profile(scope, gists=1)
            if present is None or profile.user is None:
                raise NotFound("no such memory", field="memory_id")
            now = self._clock()
            edited = corrected(present, change, now)
            if replace(edited, version=present.version, updated_at=present.updated_at) == present:
                return self.get(scope, memory_id)
            closed = replace(present, valid_until=max(now, present.valid_from))
            commit = ProfileCommit(
                expected=profile.user,
                tombstones=profile.tombstones,
                memories=(edited,),
                closed_memories=(closed,),
                slots=self._slots(profile, present, edited),
            )
            try:
                self._commits.profile(scope, commit)
            except ConditionFailed:
                continue
            self._project(scope, edited)
            return self.get(scope, memory_id)
        raise Throttled("the profile is contended")

    def _slots(self, profile: Profile, before: MemoryItem, after: MemoryItem) -> tuple[ProfileSlot, ...]:
        """Slots that say what the item said, saying what it says now. An ended or moved item leaves them alone."""
        moved = (after.topic, after.sub_topic) != (before.topic, before.sub_topic)
        if moved or after.valid_until is not None or after.content == before.content:
            return ()
        changed = []
        for slot in profile.slots:
            if says(slot, before):
                parts = [after.content if same(part, before.content) else part for part in elements_of(slot.content)]
                content = joined(parts)
                tokens = self._count_tokens(slot_line(slot.topic, slot.sub_topic, content))
                changed.append(
                    replace(
                        slot,
                        content=content,
                        tokens=tokens,
                        updated_at=after.updated_at,
                        edited=True,
                        version=slot.version + 1,
                    )
                )
        return tuple(changed)

    def _project(self, scope: Scope, item: MemoryItem) -> None:
        if item.valid_until is not None:
            self._projector.withdraw(scope, {memory_document_id(item.id): item.version})
        else:
            documents = embedded([document_of_memory(item)], self._embedder())
            self._projector.write_rows(scope, documents)
            self._projector.project(scope, documents)
        self._projector.refresh_profile(scope)


def corrected(item: MemoryItem, change: MemoryEdit, now: datetime) -> MemoryItem:
    """The next version of `item`. Its evidence stays: it is what the person corrected."""
    topic = attribute_unify(change.topic) if change.topic is not None else item.topic
    sub_topic = attribute_unify(change.sub_topic) if change.sub_topic is not None else item.sub_topic
    return replace(
        item,
        content=change.content.strip() if change.content is not None else item.content,
        kind=change.kind or item.kind,
        topic=topic,
        sub_topic=sub_topic,
        valid_until=change.ended_at,
        updated_at=now,
        version=item.version + 1,
        edited=True,
    )


def checked(change: MemoryEdit) -> None:
    """Raises InvalidInput or Unprocessable."""
    if change == MemoryEdit():
        raise InvalidInput("nothing to change: give content, kind, topic, sub_topic or ended_at", field="body")
    if change.content is not None:
        check_text(change.content, "content")
        if not change.content.strip():
            raise InvalidInput("content must not be empty", field="content")
        if len(change.content) > MAX_CONTENT_CHARACTERS:
            raise InvalidInput(f"content takes at most {MAX_CONTENT_CHARACTERS} characters", field="content")
    for name, value in (("topic", change.topic), ("sub_topic", change.sub_topic)):
        if value is not None:
            check_text(value, name)
            if len(value) > MAX_NAME_CHARACTERS:
                raise InvalidInput(f"{name} takes at most {MAX_NAME_CHARACTERS} characters", field=name)
