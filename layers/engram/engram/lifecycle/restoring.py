"""Puts exported rows back: slots, events, gists and memory items, each resting on messages that are here.

A row is written as it was, its tokens counted anew and its evidence pointed at where the messages stand now. A row
that is here in the same or a newer version is left alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from engram.context.lines import gist_line, slot_line
from engram.domain.clock import Clock, to_text
from engram.domain.errors import ConditionFailed, Throttled, Unavailable, Unprocessable
from engram.domain.models import Event, Evidence, Gist, MemoryItem, Message, ProfileSlot, User
from engram.domain.scope import Scope
from engram.domain.table import Key
from engram.extraction.indexing import embedded
from engram.extraction.projection import Projector
from engram.ingestion.service import check_not_erased
from engram.lifecycle.portable import Row, RowLine, UserLine
from engram.ports import Embedder, Table
from engram.recall.indexing import document_of_gist, document_of_memory
from engram.store import keys
from engram.store.commits import Commits, ProfileCommit
from engram.store.reader import Reader, UserState

_ATTEMPTS = 10


@dataclass(slots=True)
class _Places:
    """Where the messages of conversations stand now, read once each."""

    reader: Reader
    scope: Scope
    known: dict[str, dict[str, Message]] = field(default_factory=dict)

    def of(self, one: Evidence) -> Message | None:
        if one.conversation_id not in self.known:
            found = self.reader.conversation_messages(self.scope, one.conversation_id)
            self.known[one.conversation_id] = {message.message_id: message for message in found}
        return self.known[one.conversation_id].get(one.message_id)


class Restoring:
    """Writes rows of imports."""

    def __init__(
        self,
        *,
        table: Table,
        reader: Reader,
        commits: Commits,
        projector: Projector,
        embedder: Callable[[], Embedder | None],
        count_tokens: Callable[[str], int],
        clock: Clock,
    ) -> None:
        self._table = table
        self._reader = reader
        self._commits = commits
        self._projector = projector
        self._embedder = embedder
        self._count_tokens = count_tokens
        self._clock = clock

    def user(self, line: UserLine, *, asked_at: datetime) -> None:
        """Creates the user, or gives its data to one that has none. Raises Gone, Unavailable or Throttled."""
        for _ in range(_ATTEMPTS):
            state = self._state(line.scope, asked_at)
            present = state.user
            if present is not None and (present.data or not line.data):
                return
            expected = present or self._new_user(line.scope, line.created_at)
            try:
                self._commits.profile(
                    line.scope, ProfileCommit(expected=replace(expected, data=line.data), tombstones=state.tombstones)
                )
            except ConditionFailed:
                continue
            return
        raise Throttled("the user is contended")

    def rows(self, scope: Scope, lines: Sequence[RowLine], *, asked_at: datetime) -> None:
        """Writes rows of one user in one commit, and their documents.

        Raises:
            Unprocessable: a row rests on messages that are not here.
            Gone, Unavailable, Throttled: see `IngestionService.accept`.
        """
        places = _Places(self._reader, scope)
        settled = [replace(line, row=self._settled(line.row, places)) for line in lines]
        for _ in range(_ATTEMPTS):
            state = self._state(scope, asked_at)
            wanted = self._not_newer(scope, settled)
            if not wanted:
                return
            commit = _commit(state.user or self._new_user(scope, None), state, wanted)
            try:
                self._commits.profile(scope, commit)
            except ConditionFailed:
                continue
            self._project(scope, commit)
            return
        raise Throttled("the profile is contended")

    def _state(self, scope: Scope, asked_at: datetime) -> UserState:
        state = self._reader.state(scope)
        if state.tombstones.erasing:
            raise Unavailable("the user was deleted and is still being purged", code="USER_BEING_ERASED")
        check_not_erased(state.tombstones, asked_at)
        return state

    def _new_user(self, scope: Scope, created_at: datetime | None) -> User:
        now = self._clock()
        return User(scope.user_id, created_at=created_at or now, updated_at=now, version=0)

    def _settled(self, row: Row, places: _Places) -> Row:
        """The row with evidence that holds here. One that had evidence must keep some."""
        found = (_moved(one, places.of(one)) for one in row.evidence)
        held = tuple(one for one in found if one is not None)
        if row.evidence and not held:
            raise Unprocessable("none of the messages it rests on is here", field="evidence", code="EVIDENCE_MISSING")
        match row:
            case ProfileSlot():
                tokens = self._count_tokens(slot_line(row.topic, row.sub_topic, row.content))
                return replace(row, evidence=held, tokens=tokens)
            case Gist():
                return replace(
                    row, evidence=held, tokens=self._count_tokens(gist_line(row.content, row.happened_at, UTC))
                )
        return replace(row, evidence=held)

    def _not_newer(self, scope: Scope, lines: Iterable[RowLine]) -> list[RowLine]:
        by_key = {_key(scope, line): line for line in lines}
        there = self._table.batch_get(list(by_key))
        return [line for key, line in by_key.items() if key not in there or there[key].version < line.row.version]

    def _project(self, scope: Scope, commit: ProfileCommit) -> None:
        documents = [document_of_gist(one) for one in commit.gists]
        documents += [document_of_memory(one) for one in commit.memories if one.valid_until is None]
        documents = embedded(documents, self._embedder())
        self._projector.write_rows(scope, documents)
        self._projector.project(scope, documents)
        self._projector.refresh_profile(scope)


def _moved(one: Evidence, message: Message | None) -> Evidence | None:
    """The evidence at the message's present place; None if there is no such message or it says something else."""
    if (
        message is None
        or message.content_hash != one.content_hash
        or not 0 <= one.start < one.end <= len(message.content)
    ):
        return None
    return replace(one, seq=message.seq, version=message.version)


def _key(scope: Scope, line: RowLine) -> Key:
    match line.row:
        case ProfileSlot(id=identifier):
            return keys.slot(scope, identifier)
        case Event(id=identifier):
            return keys.event(scope, identifier)
        case Gist(id=identifier, happened_at=happened_at):
            return keys.gist(scope, to_text(happened_at), identifier)
        case MemoryItem(id=identifier, version=version):
            return keys.closed_memory(scope, identifier, version) if line.closed else keys.memory(scope, identifier)


def _commit(expected: User, state: UserState, lines: Sequence[RowLine]) -> ProfileCommit:
    rows = [line.row for line in lines if not line.closed]
    return ProfileCommit(
        expected=expected,
        tombstones=state.tombstones,
        slots=tuple(one for one in rows if isinstance(one, ProfileSlot)),
        events=tuple(one for one in rows if isinstance(one, Event)),
        gists=tuple(one for one in rows if isinstance(one, Gist)),
        memories=tuple(one for one in rows if isinstance(one, MemoryItem)),
        closed_memories=tuple(line.row for line in lines if line.closed and isinstance(line.row, MemoryItem)),
    )
