"""What was made of a user's messages, made anew: after a change of the taxonomy, of prompts or of the model.

Everything that rests on messages is taken out in one commit and distilled again from all of them, in the order in which
they were said. What a person wrote or corrected stays. Until it has ended the profile is shorter than it was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from engram.domain.clock import Clock, Stopwatch, to_text
from engram.domain.errors import ConditionFailed, NotFound, Throttled
from engram.domain.models import Event, Gist, MemoryItem, Operation, OperationStatus, ProfileSlot
from engram.domain.scope import Scope
from engram.domain.table import Item, Key
from engram.extraction.distilling import DistilStage
from engram.extraction.projection import Projector
from engram.lifecycle.everybody import Everybody
from engram.ports import Table
from engram.recall.indexing import gist_document_id, memory_document_id
from engram.store import keys
from engram.store.commits import Commits, ProfileCommit
from engram.store.items import decode
from engram.store.operations import Operations
from engram.store.reader import Reader

TAXONOMY = "taxonomy"
MESSAGES_A_ROW = 200
DELIVERY_MS = 20_000.0

_CLEARED = "cleared"
_ANY_VERSION = 2**31 - 1
_ATTEMPTS = 8


@dataclass(frozen=True, slots=True)
class _Derived:
    """Rows that rest on messages, and their documents."""

    rows: tuple[Key, ...]
    documents: tuple[str, ...]


class Redistillation:
    """Works on REPROCESS operations of the taxonomy."""

    def __init__(
        self,
        *,
        table: Table,
        reader: Reader,
        commits: Commits,
        operations: Operations,
        projector: Projector,
        distil: DistilStage,
        everybody: Everybody,
        count_tokens: Callable[[str], int],
        send: Callable[[Scope, str], None],
        clock: Clock,
    ) -> None:
        self._table = table
        self._reader = reader
        self._commits = commits
        self._operations = operations
        self._projector = projector
        self._distil = distil
        self._everybody = everybody
        self._count_tokens = count_tokens
        self._send = send
        self._clock = clock

    def run(self, scope: Scope, operation: Operation) -> Operation:
        """Raises Unavailable or Throttled, after which it goes on where it was; ModelFailure as distillation does."""
        if scope.is_business:
            return self._for_everybody(scope, operation)
        if not operation.arguments.get(_CLEARED):
            self._buffer(scope, operation)
            operation = self._clear(scope, operation)
        return self._distil.run(scope, operation)

    def _for_everybody(self, scope: Scope, operation: Operation) -> Operation:
        watch = Stopwatch()
        after = self._everybody.run(scope, operation, lambda: watch.ms() > DELIVERY_MS)
        if not after.status.final and watch.ms() > DELIVERY_MS:
            self._send(scope, operation.operation_id)
        return after

    def _buffer(self, scope: Scope, operation: Operation) -> None:
        """All messages wait for distillation, as if they had just been said."""
        now = to_text(self._clock())
        epoch = self._reader.tombstones(scope).epoch
        rows = []
        for number, (refs, tokens) in enumerate(self._messages(scope)):
            name = f"{operation.operation_id}.{number}"
            body = {"messages": refs, "tokens": tokens, "due": now}
            rows.append(Item(keys.buffered(scope, name), body, epoch=epoch, index=keys.buffer_due(scope, now, name)))
        self._table.write(rows)

    def _messages(self, scope: Scope) -> Iterator[tuple[list[list[Any]], int]]:
        refs: list[list[Any]] = []
        tokens = 0
        for message in self._reader.all_messages(scope):
            refs.append([message.conversation_id, message.seq])
            tokens += self._count_tokens(message.content)
            if len(refs) == MESSAGES_A_ROW:
                yield refs, tokens
                refs, tokens = [], 0
        if refs:
            yield refs, tokens

    def _clear(self, scope: Scope, operation: Operation) -> Operation:
        """Takes out what rests on messages, documents first: killed in between, they are found again."""
        for _ in range(_ATTEMPTS):
            state = self._reader.state(scope)
            present = self._operations.get(scope, operation.operation_id)
            if state.user is None or present is None:
                raise NotFound("nothing is known of this user", field="user_id")
            derived = self._derived(scope)
            self._projector.withdraw(scope, dict.fromkeys(derived.documents, _ANY_VERSION))
            cleared = replace(
                present,
                status=OperationStatus.RUNNING,
                arguments={**present.arguments, _CLEARED: True},
                updated_at=self._clock(),
                version=present.version + 1,
            )
            commit = ProfileCommit(
                expected=state.user, tombstones=state.tombstones, deleted=derived.rows, operation=cleared
            )
            try:
                self._commits.profile(scope, commit)
            except ConditionFailed:
                continue
            return cleared
        raise Throttled("the profile is contended")

    def _derived(self, scope: Scope) -> _Derived:
        slots = self._resting(scope, keys.SLOTS, ProfileSlot)
        events = self._resting(scope, keys.EVENTS, Event)
        gists = self._resting(scope, keys.GISTS, Gist)
        items = self._resting(scope, keys.MEMORIES, MemoryItem)
        gone = {item.id for _, item in items}
        current = {decode(row, MemoryItem).id for row in self._reader.rows(scope, keys.MEMORIES)}
        closed = self._resting(scope, keys.CLOSED_MEMORIES, MemoryItem)
        # The history of an item goes with it; that of a corrected one stays, as the correction does.
        history = [(key, item) for key, item in closed if item.id not in current - gone]
        documents = [gist_document_id(gist.id) for _, gist in gists] + [memory_document_id(one) for one in gone]
        rows = tuple(key for key, _ in (*slots, *events, *gists, *items, *history))
        return _Derived(rows, tuple(documents))

    def _resting(self, scope: Scope, prefix: str, kind: type[Any]) -> list[tuple[Key, Any]]:
        found: Iterable[tuple[Key, Any]] = ((row.key, decode(row, kind)) for row in self._reader.rows(scope, prefix))
        return [(key, value) for key, value in found if value.evidence and not getattr(value, "edited", False)]
