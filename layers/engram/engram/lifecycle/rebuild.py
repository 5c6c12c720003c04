"""Rebuilding what is derived from the table: search rows, the remote index, the hot profile.

One user is rebuilt in that user's own place in the queue, so that nothing of it is deleted meanwhile. A whole business
is one operation that begins one for each of its users, and ends when all of them have ended.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from engram.domain.clock import Clock, Stopwatch
from engram.domain.documents import Document
from engram.domain.errors import InvalidInput, NotFound
from engram.domain.models import Message, Operation, OperationKind, OperationStatus
from engram.domain.scope import Scope
from engram.extraction.indexing import embedded
from engram.extraction.projection import Projector
from engram.ingestion.service import IngestionService
from engram.lifecycle.affected import document_id_of
from engram.ports import Embedder, Table
from engram.recall.indexing import document_of_gist, document_of_memory, documents_of_messages
from engram.store import keys
from engram.store.children import PER_ROW, Children
from engram.store.operations import Operations
from engram.store.reader import Reader

DELIVERY_MS = 20_000.0
BATCH = 64
"""Documents embedded and written at a time."""

_ANY_VERSION = 2**31 - 1


class Rebuild:
    """Begins rebuilds, and works on them."""

    def __init__(
        self,
        *,
        table: Table,
        reader: Reader,
        operations: Operations,
        children: Children,
        ingestion: IngestionService,
        projector: Projector,
        embedder: Callable[[], Embedder | None],
        clock: Clock,
        delivery_ms: float = DELIVERY_MS,
    ) -> None:
        self._table = table
        self._reader = reader
        self._operations = operations
        self._children = children
        self._ingestion = ingestion
        self._projector = projector
        self._embedder = embedder
        self._clock = clock
        self._delivery_ms = delivery_ms

    def begin(self, scope: Scope, kind: OperationKind, *, request_id: str) -> Operation:
        """Queues a REINDEX of a user or business, or a REPROCESS of a business by its present catalogue.

        Raises:
            NotFound: nothing is known of the user.
            InvalidInput: a reprocessing of a single user.
        """
        if not scope.is_business and self._reader.user(scope) is None:
            raise NotFound("nothing is known of this user", field="user_id")
        if kind is OperationKind.REPROCESS and not scope.is_business:
            raise InvalidInput("a catalogue is reprocessed for the whole business", field="user_id")
        operation = self._ingestion.new_operation(scope, kind, request_id)
        if kind is OperationKind.REPROCESS:
            operation = replace(operation, arguments={"changed_ids": None, "after": ""})
        present = self._operations.create(scope, operation)
        if not present.status.final:
            self._ingestion.send(scope, present.operation_id)
        return present

    def run(self, scope: Scope, operation: Operation) -> Operation:
        """Raises Unavailable or Throttled, after which it goes on where it was."""
        watch = Stopwatch()

        def enough() -> bool:
            return watch.ms() > self._delivery_ms

        work = self._business if scope.is_business else self._user
        after = work(scope, operation, enough)
        if not after.status.final and enough():
            self._ingestion.send(scope, operation.operation_id)
        return after

    # A business -------------------------------------------------------------------------------------

    def _business(self, scope: Scope, operation: Operation, enough: Callable[[], bool]) -> Operation:
        while not operation.arguments.get("all_begun"):
            operation = self._begin_some(scope, operation)
            if enough():
                return operation
        held = operation.arguments
        found = self._children.progress(
            scope.business_id,
            operation.operation_id,
            row=int(held.get("row", 0)),
            ended=int(held.get("ended", 0)),
            failed=int(held.get("failed", 0)),
        )
        result = {
            "users": int(held.get("users", 0)),
            "ended": found.ended + found.partly,
            "failed": found.failed,
        }
        if found.done:
            self._children.forget(scope.business_id, operation.operation_id)
            return self._end(scope, operation, result)
        if found.row == int(held.get("row", 0)):
            return operation
        counts = {"row": found.row, "ended": found.ended, "failed": found.failed}
        return self._note(scope, operation, counts, result)

    def _begin_some(self, scope: Scope, operation: Operation) -> Operation:
        """One row of children: the next users of the business by id."""
        held = operation.arguments
        after, number = str(held.get("after", "")), int(held.get("rows", 0))
        users = self._users(scope.business_id, after)
        begun = [self._begin_user(Scope(scope.business_id, one), operation) for one in users]
        if begun:
            self._children.write(scope.business_id, operation.operation_id, number, begun)
        known = int(held.get("users", 0)) + len(begun)
        found = {
            "after": users[-1] if users else after,
            "rows": number + 1,
            "users": known,
            "all_begun": len(users) < PER_ROW,
        }
        return self._note(scope, operation, found, {"users": known, "ended": 0, "failed": 0})

    def _users(self, business_id: str, after: str) -> list[str]:
        start = keys.escape(after) + "\0" if after else ""
        page = self._table.query_index(keys.users_of(business_id), start=start, limit=PER_ROW)
        found = [keys.unescape(item.index.sk) for item in page.items if item.index is not None]
        while page.cursor is not None and len(found) < PER_ROW:
            page = self._table.query_index(
                keys.users_of(business_id), start=start, limit=PER_ROW - len(found), cursor=page.cursor
            )
            found += [keys.unescape(item.index.sk) for item in page.items if item.index is not None]
        return found

    def _begin_user(self, scope: Scope, parent: Operation) -> str:
        operation = self._ingestion.new_operation(scope, OperationKind.REINDEX, parent.operation_id)
        operation = replace(operation, arguments={"parent": parent.operation_id})
        present = self._operations.create(scope, operation)
        if not present.status.final:
            self._ingestion.send(scope, present.operation_id)
        return present.operation_id

    # A user -----------------------------------------------------------------------------------------

    def _user(self, scope: Scope, operation: Operation, enough: Callable[[], bool]) -> Operation:
        if self._reader.user(scope) is None:
            raise NotFound("nothing is known of this user", field="user_id")
        after, count = str(operation.arguments.get("after", "")), int(operation.arguments.get("documents", 0))
        if "pruned" not in operation.arguments:
            pruned = self._prune(scope)
            operation = self._note(scope, operation, {"pruned": pruned}, {"documents": 0, "pruned": pruned})
        for messages in self._batches(scope, after):
            self._write(scope, self._documents(scope, messages))
            count += len(messages)
            after = keys.message(scope, messages[-1].ref).sk
            if enough():
                result = {"documents": count, "pruned": operation.arguments["pruned"]}
                return self._note(scope, operation, {"after": after, "documents": count}, result)
        derived = [document_of_gist(one) for one in self._reader.gists(scope)]
        derived += [document_of_memory(one) for one in self._reader.memory_items(scope)]
        for start in range(0, len(derived), BATCH):
            self._write(scope, derived[start : start + BATCH])
        self._projector.refresh_profile(scope)
        result = {"documents": count + len(derived), "pruned": operation.arguments["pruned"]}
        return self._end(scope, operation, result)

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

    def _write(self, scope: Scope, documents: Sequence[Document]) -> None:
        self._projector.replace(scope, embedded(documents, self._embedder()))

    # Its state --------------------------------------------------------------------------------------

    def _note(self, scope: Scope, operation: Operation, held: dict[str, Any], result: dict[str, Any]) -> Operation:
        return self._operations.change(
            scope,
            operation.operation_id,
            lambda one: replace(
                one, status=OperationStatus.RUNNING, arguments={**one.arguments, **held}, result=result
            ),
        )

    def _end(self, scope: Scope, operation: Operation, result: dict[str, Any]) -> Operation:
        now = self._clock()
        return self._operations.change(
            scope,
            operation.operation_id,
            lambda one: replace(
                one,
                status=OperationStatus.SUCCEEDED,
                stages=one.staged("rebuild", "SUCCEEDED", now),
                result=result,
                error="",
                error_detail="",
            ),
        )
