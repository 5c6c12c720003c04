"""Imports: many lines, one operation with progress. A bad line is reported by its number and sinks no other.

The body is kept while it may be asked for (`import_bodies`); every line can be taken twice, since its request id or its
row says what it is. Work of one delivery is bounded: the operation is sent again until all lines are taken, and ends
when the operations that they began have ended.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from engram.domain.clock import Clock, Stopwatch
from engram.domain.errors import Conflict, EngramError, InvalidInput, Unavailable
from engram.domain.ids import derived_id
from engram.domain.models import Operation, OperationKind, OperationStatus
from engram.domain.scope import Scope
from engram.ingestion.service import IngestionService
from engram.lifecycle.import_bodies import ImportBodies
from engram.lifecycle.portable import MessagesLine, NextLine, ParseLine, RowLine, UserLine
from engram.lifecycle.restoring import Restoring
from engram.store.children import PER_ROW, Children
from engram.store.operations import Operations
from engram.store.reader import Reader

DELIVERY_MS = 20_000.0
MAX_LISTED_FAILURES = 500
_LINES_A_NOTE = 100
_PROGRESS = "progress"


@dataclass(slots=True)
class _Progress:
    """How far an import is. Numbers only; kept with the operation.

    Attributes:
        line: lines dealt with, good and bad.
        row, ended, partly, failed_parts: of `store.children`.
        written: rows of children written.
    """

    line: int = 0
    done: int = 0
    failed: int = 0
    written: int = 0
    row: int = 0
    ended: int = 0
    partly: int = 0
    failed_parts: int = 0
    failures: list[dict[str, Any]] = field(default_factory=list)

    def refuse(self, number: int, error: EngramError) -> None:
        self.failed += 1
        if len(self.failures) < MAX_LISTED_FAILURES:
            failure = {"line": number, "code": error.code, "reason": str(error)}
            self.failures.append({**failure, "field": error.field} if error.field else failure)

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _Progress.__slots__}


class ImportService:
    """Begins imports, and works on them."""

    def __init__(
        self,
        *,
        bodies: ImportBodies,
        reader: Reader,
        operations: Operations,
        children: Children,
        ingestion: IngestionService,
        restoring: Restoring,
        parse: ParseLine,
        clock: Clock,
        delivery_ms: float = DELIVERY_MS,
    ) -> None:
        self._bodies = bodies
        self._reader = reader
        self._operations = operations
        self._children = children
        self._ingestion = ingestion
        self._restoring = restoring
        self._parse = parse
        self._clock = clock
        self._delivery_ms = delivery_ms

    def begin(self, business_id: str, data: bytes, *, request_id: str) -> Operation:
        """Keeps the lines and queues the work. The same request id is the same import.

        Raises:
            InvalidInput: there is no line.
        """
        lines = sum(bool(line.strip()) for line in data.split(b"\n"))
        if not lines:
            raise InvalidInput("body must hold at least one line of JSON", field="body")
        scope = Scope.of_business(business_id)
        operation = self._ingestion.new_operation(scope, OperationKind.IMPORT, request_id)
        operation = replace(operation, result={"lines": lines, "done": 0, "failed": 0, "failures": []})
        if self._operations.get(scope, operation.operation_id) is None:
            self._bodies.keep(business_id, operation.operation_id, data)
        present = self._operations.create(scope, operation)
        if not present.status.final:
            self._ingestion.send(scope, present.operation_id)
        return present

    def run(self, scope: Scope, operation: Operation) -> Operation:
        """Takes lines until done or until the delivery's time is up. Raises Unavailable or Throttled."""
        progress = _Progress(**operation.arguments.get(_PROGRESS, {}))
        total = int((operation.result or {})["lines"])
        watch = Stopwatch()
        for chunk in self._lines(scope, operation, progress.line) if progress.line < total else ():
            self._take(scope, operation, chunk, progress)
            operation = self._note(scope, operation, progress)
            if watch.ms() > self._delivery_ms and progress.line < total:
                self._ingestion.send(scope, operation.operation_id)
                return operation
        return self._await_parts(scope, operation, progress)

    def _lines(self, scope: Scope, operation: Operation, done: int) -> Iterator[list[tuple[int, bytes]]]:
        data = self._bodies.get(scope.business_id, operation.operation_id)
        if data is None:
            raise Conflict("the lines of this import are no longer kept", code="IMPORT_LOST")
        return _chunks(data, done)

    def _take(self, scope: Scope, operation: Operation, chunk: list[tuple[int, bytes]], progress: _Progress) -> None:
        """Deals with some lines. Rows that follow each other are committed together."""
        parts: list[str] = []
        rows: list[tuple[int, RowLine]] = []
        for number, text in chunk:
            try:
                line = self._parse(scope.business_id, text)
                if rows and not (isinstance(line, RowLine) and line.scope == rows[0][1].scope):
                    self._restore(operation, rows, progress)
                    rows = []
                if isinstance(line, RowLine):
                    rows.append((number, line))
                else:
                    parts += self._apply(line, operation)
                    progress.done += 1
            except EngramError as error:
                _raise_if_passing(error)
                progress.refuse(number, error)
        self._restore(operation, rows, progress)
        for start in range(0, len(parts), PER_ROW):
            self._children.write(
                scope.business_id, operation.operation_id, progress.written, parts[start : start + PER_ROW]
            )
            progress.written += 1
        progress.line += len(chunk)

    def _apply(self, line: MessagesLine | UserLine | NextLine, operation: Operation) -> list[str]:
        """The operations that the line began."""
        asked_at = operation.created_at
        match line:
            case UserLine():
                self._restoring.user(line, asked_at=asked_at)
            case MessagesLine():
                request = self._missing(line) if line.exported else line.request
                if request.messages or not line.request.messages:
                    parent = operation.operation_id
                    accepted = self._ingestion.accept(line.scope, request, asked_at=asked_at, parent=parent)
                    return [accepted.operation_id]
        return []

    def _missing(self, line: MessagesLine) -> Any:
        """The request without messages that are here already: an export may be imported again when it has grown."""
        there = self._reader.conversation_messages(line.scope, line.request.conversation_id)
        known = {one.message_id for one in there}
        left = tuple(one for one in line.request.messages if one.message_id not in known)
        if len(left) == len(line.request.messages) or not left:
            return replace(line.request, messages=left)
        rest = derived_id("rest", line.request.request_id, *(one.message_id for one in left))
        return replace(line.request, messages=left, request_id=rest)

    def _restore(self, operation: Operation, rows: list[tuple[int, RowLine]], progress: _Progress) -> None:
        """Commits rows of one user; if one of them cannot be, each on its own."""
        if not rows:
            return
        scope = rows[0][1].scope
        try:
            self._restoring.rows(scope, [line for _, line in rows], asked_at=operation.created_at)
            progress.done += len(rows)
        except EngramError as error:
            _raise_if_passing(error)
            if len(rows) == 1:
                progress.refuse(rows[0][0], error)
                return
            for row in rows:
                self._restore(operation, [row], progress)

    def _note(self, scope: Scope, operation: Operation, progress: _Progress) -> Operation:
        return self._operations.change(scope, operation.operation_id, lambda one: _noted(one, progress))

    def _await_parts(self, scope: Scope, operation: Operation, progress: _Progress) -> Operation:
        """SUCCEEDED once every operation that the lines began has ended; each of them tells this one."""
        found = self._children.progress(
            scope.business_id,
            operation.operation_id,
            row=progress.row,
            ended=progress.ended,
            failed=progress.failed_parts,
        )
        moved = found.row > progress.row
        progress.row, progress.ended, progress.failed_parts = found.row, found.ended, found.failed
        progress.partly = found.partly
        if not found.done:
            return self._note(scope, operation, progress) if moved else operation
        now = self._clock()
        ended = self._operations.change(
            scope,
            operation.operation_id,
            lambda one: replace(
                _noted(one, progress),
                status=OperationStatus.SUCCEEDED,
                stages=one.staged("import", "SUCCEEDED", now),
                arguments={},
                error="",
                error_detail="",
            ),
        )
        self._bodies.drop(scope.business_id, operation.operation_id)
        return ended


def _chunks(data: bytes, done: int) -> Iterator[list[tuple[int, bytes]]]:
    """Lines with their numbers (from 1), empty ones left out, some at a time, from the one after `done` on."""
    numbered = [(number, line) for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    for start in range(done, len(numbered), _LINES_A_NOTE):
        yield numbered[start : start + _LINES_A_NOTE]


def _noted(operation: Operation, progress: _Progress) -> Operation:
    result = {
        **(operation.result or {}),
        "done": progress.done,
        "failed": progress.failed,
        "failures": progress.failures,
        "operations_ended": progress.ended + progress.partly,
        "operations_failed": progress.failed_parts,
    }
    return replace(
        operation,
        status=OperationStatus.RUNNING,
        arguments={**operation.arguments, _PROGRESS: progress.to_json()},
        result=result,
    )


def _raise_if_passing(error: EngramError) -> None:
    """A failure that may pass is not the line's fault: the delivery ends, and the next one begins at the same lines."""
    if isinstance(error, Unavailable) or error.retryable:
        raise error
