"""Rebuilding what is derived from the table: search rows, the remote index, the hot profile.

One user is rebuilt in that user's own place in the queue, so that nothing of it is deleted meanwhile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby

from engram.domain.clock import Clock, Stopwatch
from engram.domain.documents import Document
from engram.domain.errors import NotFound
from engram.domain.ids import derived_id
from engram.domain.models import Message, Operation, OperationKind
from engram.domain.scope import Scope
from engram.extraction.indexing import embedded
from engram.extraction.projection import Projector
from engram.lifecycle.affected import document_id_of
from engram.lifecycle.everybody import Everybody
from engram.ports import Embedder, Table
from engram.recall.indexing import document_of_gist, document_of_memory, documents_of_messages
from engram.store import keys
from engram.store.lagging import LaggingSearch
from engram.store.operations import Operations
from engram.store.reader import Reader

DELIVERY_MS = 20_000.0
BATCH = 64
"""Documents embedded and written at a time."""

_ANY_VERSION = 2**31 - 1


class Rebuild:
    """Works on REINDEX operations."""

    def __init__(
        self,
        *,
        table: Table,
        reader: Reader,
        operations: Operations,
        everybody: Everybody,
        send: Callable[[Scope, str], None],
        projector: Projector,
        lagging: LaggingSearch,
        embedder: Callable[[], Embedder | None],
        clock: Clock,
        delivery_ms: float = DELIVERY_MS,
    ) -> None:
        self._table = table
        self._reader = reader
        self._operations = operations
        self._everybody = everybody
        self._send = send
        self._projector = projector
        self._lagging = lagging
        self._embedder = embedder
        self._clock = clock
        self._delivery_ms = delivery_ms

    def run(self, scope: Scope, operation: Operation) -> Operation:
        """Raises Unavailable or Throttled, after which it goes on where it was."""
        watch = Stopwatch()

        def enough() -> bool:
            return watch.ms() > self._delivery_ms

        work = self._everybody.run if scope.is_business else self._user
        after = work(scope, operation, enough)
        if not after.status.final and enough():
            self._send(scope, operation.operation_id)
        return after

    def _user(self, scope: Scope, operation: Operation, enough: Callable[[], bool]) -> Operation:
        if self._reader.user(scope) is None:
            raise NotFound("nothing is known of this user", field="user_id")
        after, count = str(operation.arguments.get("after", "")), int(operation.arguments.get("documents", 0))
        if "pruned" not in operation.arguments:
            pruned = self._prune(scope)
            operation = self._operations.progressed(
                scope, operation.operation_id, held={"pruned": pruned}, result={"documents": 0, "pruned": pruned}
            )
        complete = bool(operation.arguments.get("complete", True))
        for messages in self._batches(scope, after):
            complete &= self._write(scope, self._documents(scope, messages))
            count += len(messages)
            after = keys.message(scope, messages[-1].ref).sk
            if enough():
                result = {"documents": count, "pruned": operation.arguments["pruned"]}
                held = {"after": after, "documents": count, "complete": complete}
                return self._operations.progressed(scope, operation.operation_id, held=held, result=result)
        derived = [document_of_gist(one) for one in self._reader.gists(scope)]
        derived += [document_of_memory(one) for one in self._reader.memory_items(scope)]
        for start in range(0, len(derived), BATCH):
            complete &= self._write(scope, derived[start : start + BATCH])
        if complete:
            self._projector.caught_up(scope)
        self._projector.refresh_profile(scope)
        result = {"documents": count + len(derived), "pruned": operation.arguments["pruned"]}
        return self._operations.succeeded(scope, operation.operation_id, stage="rebuild", result=result)

    def _prune(self, scope: Scope) -> int:
        """Takes out documents of things that are no longer there; the rest are replaced one after another."""
        there = {document_id_of(row.key) for row in self._reader.rows(scope, keys.DOCUMENTS)}
        wanted = {f"m:{one.conversation_id}:{one.seq}" for one in self._reader.all_messages(scope)}
        wanted |= {f"g:{one.id}" for one in self._reader.gists(scope)}
        wanted |= {f"i:{one.id}" for one in self._reader.memory_items(scope)}
        gone = there - wanted
        self._projector.withdraw(scope, dict.fromkeys(sorted(gone), _ANY_VERSION))
        return len(gone)

    def _batches(self, scope: Scope, after: str) -> Iterable[list[Message]]:
        tombstones = self._reader.tombstones(scope)
        batch: list[Message] = []
        for item in self._reader.rows(scope, keys.MESSAGES, after=after):
            message = self._reader.visible_message(scope, item, tombstones)
            if message is not None:
                batch.append(message)
            if len(batch) == BATCH:
                yield batch
                batch = []
        if batch:
            yield batch

    def _documents(self, scope: Scope, messages: Sequence[Message]) -> list[Document]:
        documents: list[Document] = []
        for conversation_id, group in groupby(messages, key=lambda one: one.conversation_id):
            several = list(group)
            about = self._reader.conversation(scope, conversation_id)
            before = self._reader.message_before(scope, several[0])
            documents += documents_of_messages(
                several,
                about.entity_ids if about else (),
                about.topic_ids if about else (),
                before=before,
            )
        return documents

    def _write(self, scope: Scope, documents: Sequence[Document]) -> bool:
        """Whether all of them have their vectors: the encoder may not answer."""
        documents = embedded(documents, self._embedder())
        self._projector.replace(scope, documents)
        return self._projector.complete(documents)

    def repair(self, limit: int = 100) -> int:
        """Begins to rebuild users whose search documents are not complete; returns how many. Raises Unavailable."""
        begun = 0
        for scope, attempt in self._lagging.due(limit):
            try:
                self._everybody.begin(scope, OperationKind.REINDEX, request_id=derived_id("lagging", attempt))
            except NotFound:
                self._lagging.clear(scope)
                continue
            self._lagging.postpone(scope)
            begun += 1
        return begun
