"""The distil stage: the buffer becomes slots, an event with gists, and memory items.

What a redelivery must not repeat is written down before the next step begins: which buffers are taken, then the
model's answer, then the commit. So a worker killed anywhere ends in the same state with one model bill.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import msgspec

from engram.domain.clock import Clock, to_text
from engram.domain.errors import ConditionFailed, Throttled
from engram.domain.ids import derived_id
from engram.domain.models import Message, MessageRef, Operation, OperationStatus
from engram.domain.scope import Scope
from engram.domain.table import Delete, Item, Key
from engram.extraction.accept import Accepted, accept
from engram.extraction.batches import cut, excerpts, relevant_slots
from engram.extraction.indexing import embedded
from engram.extraction.merge import MergeResult, Present, merge
from engram.extraction.models import Distillation, DistillationRequest
from engram.extraction.outcome import summed
from engram.extraction.projection import Projector
from engram.ports import Distiller, Embedder, Meter, Table
from engram.profile.taxonomy import Taxonomy
from engram.recall.indexing import document_of_gist, document_of_memory, memory_document_id
from engram.store import keys
from engram.store.commits import Commits, ProfileCommit
from engram.store.items import encode
from engram.store.operations import Operations
from engram.store.reader import Profile, Reader

_ATTEMPTS = 10
TAKEN = "taken_buffers"
DONE_PARTS = "done_parts"
DONE_UNTIL = "done_until"
KNOWN_GISTS = 200
"""Newest gists that a batch is compared with, so that what is said again is not told again."""
CHANGED = "changed"


@dataclass(frozen=True, slots=True)
class BusinessRules:
    """What a business sets for distillation."""

    taxonomy: Taxonomy
    topic_ids: tuple[str, ...]
    language: str


class DistilStage:
    """Distils what a user's buffer holds, on behalf of one operation."""

    def __init__(
        self,
        *,
        table: Table,
        reader: Reader,
        commits: Commits,
        operations: Operations,
        projector: Projector,
        distiller: Distiller,
        embedder: Embedder | None,
        meter: Meter,
        rules_of: Callable[[str], BusinessRules],
        count_tokens: Callable[[str], int],
        clock: Clock,
        timezone: str,
        buffer_tokens: int,
    ) -> None:
        self._table = table
        self._reader = reader
        self._commits = commits
        self._operations = operations
        self._projector = projector
        self._distiller = distiller
        self._embedder = embedder
        self._meter = meter
        self._rules_of = rules_of
        self._count_tokens = count_tokens
        self._clock = clock
        self._timezone = timezone
        self._buffer_tokens = buffer_tokens

    def is_due(self, scope: Scope) -> bool:
        """Whether the buffer is full. One query."""
        return sum(int(row.body["tokens"]) for row in self._reader.rows(scope, keys.BUFFER)) >= self._buffer_tokens

    def run(self, scope: Scope, operation: Operation) -> Operation:
        """Distils everything buffered and projects it; the operation is SUCCEEDED after.

        Raises:
            ModelFailure: the model's answer cannot be used; the buffer stays.
            Unavailable, Throttled: may pass; the operation is delivered again.
        """
        operation = self._take(scope, operation)
        if operation.stage("distil") != "SUCCEEDED":
            parts = self._parts(scope, operation)
            first = int(operation.arguments[DONE_PARTS])
            for number, part in enumerate(parts, start=first):
                last = number == first + len(parts) - 1
                operation = self._distil_part(scope, operation, number, part, last=last)
            if not parts:
                operation = self._nothing_to_do(scope, operation)
        self._settle(scope, operation)
        self._project(scope, operation)
        return self._operations.change(scope, operation.operation_id, self._succeeded)

    def _take(self, scope: Scope, operation: Operation) -> Operation:
        """Fixes which buffers this operation distils. Written down once; a redelivery takes the same."""
        if TAKEN in operation.arguments:
            return operation
        taken = [keys.unescape(row.key.sk.removeprefix(keys.BUFFER)) for row in self._reader.rows(scope, keys.BUFFER)]
        return self._operations.change(
            scope,
            operation.operation_id,
            lambda one: replace(
                one, status=OperationStatus.RUNNING, arguments={**one.arguments, TAKEN: taken, DONE_PARTS: 0}
            ),
        )

    def _parts(self, scope: Scope, operation: Operation) -> list[tuple[Message, ...]]:
        """What is left to distil. Counted by message and not by part: one deleted meanwhile moves every cut."""
        rows = self._table.batch_get([keys.buffered(scope, one) for one in operation.arguments[TAKEN]])
        refs = [MessageRef(*pair) for row in rows.values() for pair in row.body["messages"]]
        done_until = operation.arguments.get(DONE_UNTIL)
        found = sorted(self._reader.messages(scope, refs).values(), key=_place)
        left = [one for one in found if done_until is None or _place(one) > done_until]
        return list(cut(left, count_tokens=self._count_tokens))

    def _distil_part(
        self, scope: Scope, operation: Operation, number: int, messages: Sequence[Message], *, last: bool
    ) -> Operation:
        rules = self._rules_of(scope.business_id)
        draft = keys.draft(scope, operation.operation_id, number)
        request = self._request(scope, messages, rules)
        distillation = self._answer(scope, draft, request)
        for _ in range(_ATTEMPTS):
            profile = self._reader.profile(scope, gists=KNOWN_GISTS)
            if profile.user is None:
                return operation
            now = self._clock()
            # Read again at each try: a message deleted meanwhile supports nothing any more, and an answer that was
            # made from it may repeat its words.
            readable = self._reader.messages(scope, [one.ref for one in messages])
            left = tuple(one for one in messages if one.ref in readable)
            if len(left) < len(request.messages):
                request = replace(request, messages=left)
                distillation = self._answer(scope, draft, request)
            accepted = accept(distillation, request)
            merged = merge(
                accepted,
                Present(profile.slots, self._reader.memory_items(scope), profile.gists),
                operation_id=derived_id("part", operation.operation_id, number),
                now=now,
                count_tokens=self._count_tokens,
                taxonomy=rules.taxonomy,
            )
            changed = self._advanced(operation, messages[-1], merged, accepted, now, last=last)
            taken = tuple(operation.arguments[TAKEN]) if last else ()
            commit = _commit(scope, profile, merged, changed, done_buffers=taken, draft=draft)
            try:
                self._commits.profile(scope, commit)
            except ConditionFailed:
                continue
            return changed
        raise Throttled("profile is contended")

    def _request(self, scope: Scope, messages: Sequence[Message], rules: BusinessRules) -> DistillationRequest:
        return DistillationRequest(
            messages=tuple(messages),
            slots=relevant_slots(self._reader.slots(scope), messages),
            taxonomy=rules.taxonomy,
            topic_ids=rules.topic_ids,
            timezone=self._timezone,
            language=rules.language,
        )

    def _answer(self, scope: Scope, draft: Any, request: DistillationRequest) -> Distillation:
        """The distiller's answer, asked for once: kept in the table until it is committed.

        An answer that was made from other messages (some were deleted since) is not used.
        """
        if not request.messages:
            return Distillation()
        made_from = [[one.conversation_id, one.seq] for one in request.messages]
        kept = self._table.get(draft)
        if kept is not None and kept.body["made_from"] == made_from:
            return msgspec.convert(kept.body, Distillation)
        shown = excerpts(request.messages, count_tokens=self._count_tokens)
        answer = self._distiller.distil(replace(request, messages=shown))
        body = {**encode(answer), "made_from": made_from}
        self._table.write([Item(draft, body, epoch=self._reader.tombstones(scope).epoch)])
        if answer.tokens_in or answer.tokens_out:
            amounts = {"model_tokens_in": answer.tokens_in, "model_tokens_out": answer.tokens_out, "model_calls": 1}
            self._meter.add(scope, self._clock(), amounts)
        return answer

    def _advanced(
        self,
        operation: Operation,
        until: Message,
        merged: MergeResult,
        accepted: Accepted,
        now: datetime,
        *,
        last: bool,
    ) -> Operation:
        """The operation after this part, with the sums of what its parts did."""
        result = summed(operation.result or {}, merged, accepted)
        changes = operation.arguments.get(CHANGED, {})
        done = {DONE_PARTS: int(operation.arguments[DONE_PARTS]) + 1, DONE_UNTIL: _place(until)}
        arguments = {**operation.arguments, **done, CHANGED: _changes(changes, merged)}
        return replace(
            operation,
            arguments=arguments,
            result=result,
            stages=operation.staged("distil", "SUCCEEDED" if last else "RUNNING", now),
            updated_at=now,
            version=operation.version + 1,
        )

    def _nothing_to_do(self, scope: Scope, operation: Operation) -> Operation:
        now = self._clock()
        for taken in operation.arguments[TAKEN]:
            self._table.write(deletes=[keys.buffered(scope, taken)])
        return self._operations.change(
            scope, operation.operation_id, lambda one: replace(one, stages=one.staged("distil", "SUCCEEDED", now))
        )

    def _settle(self, scope: Scope, operation: Operation) -> None:
        """Tells the operations whose messages were distilled here."""
        for identifier in operation.arguments[TAKEN]:
            if identifier != operation.operation_id:
                self._tell(scope, identifier, operation)

    def _tell(self, scope: Scope, identifier: str, by: Operation) -> None:
        other = self._operations.get(scope, identifier)
        if other is None or other.stage("distil") == "SUCCEEDED":
            return
        now = self._clock()
        self._operations.change(
            scope,
            identifier,
            lambda one: replace(
                one,
                status=OperationStatus.SUCCEEDED,
                error="",
                error_detail="",
                stages=one.staged("distil", "SUCCEEDED", now),
                result={**(one.result or {}), "distilled_by": by.operation_id},
            ),
        )

    def _project(self, scope: Scope, operation: Operation) -> None:
        changed = operation.arguments.get(CHANGED, {})
        gists = set(changed.get("gists", ()))
        documents = []
        if gists:
            documents += [document_of_gist(one) for one in self._reader.gists(scope) if one.id in gists]
        items = [self._reader.memory_item(scope, one) for one in changed.get("memories", ())]
        documents += [document_of_memory(one) for one in items if one is not None]
        documents = embedded(documents, self._embedder)
        if made := sum(bool(one.vector) for one in documents):
            self._meter.count(scope, {"embeddings": made})
        self._projector.write_rows(scope, documents)
        self._projector.project(scope, documents)
        ended = {memory_document_id(one): int(version) for one, version in changed.get("ended", {}).items()}
        self._projector.withdraw(scope, ended)
        self._projector.refresh_profile(scope)

    def _succeeded(self, operation: Operation) -> Operation:
        now = self._clock()
        kept = {
            name: value
            for name, value in operation.arguments.items()
            if name not in (TAKEN, DONE_PARTS, DONE_UNTIL, CHANGED)
        }
        return replace(
            operation,
            status=OperationStatus.SUCCEEDED,
            stages=operation.staged("project", "SUCCEEDED", now),
            arguments=kept,
            error="",
            error_detail="",
        )


def _place(message: Message) -> list[str | int]:
    """Where a message stands in the order in which a buffer is distilled."""
    return [to_text(message.created_at), message.conversation_id, message.seq]


def _changes(before: dict[str, Any], merged: MergeResult) -> dict[str, Any]:
    """Ids of what has to be projected, over all parts so far."""
    ended = {one.id: one.version for one in merged.closed_items if one.id in merged.item_deletes}
    return {
        "gists": [*before.get("gists", ()), *(one.id for one in merged.gists)],
        "memories": list(dict.fromkeys([*before.get("memories", ()), *(one.id for one in merged.item_puts)])),
        "ended": {**before.get("ended", {}), **ended},
    }


def _commit(
    scope: Scope, read: Profile, merged: MergeResult, operation: Operation, *, done_buffers: tuple[str, ...], draft: Key
) -> ProfileCommit:
    """What one part changes, on the condition that the profile is still the one that was read."""
    assert read.user is not None
    return ProfileCommit(
        expected=read.user,
        tombstones=read.tombstones,
        slots=merged.slot_puts,
        events=(merged.event,) if merged.event else (),
        gists=merged.gists,
        memories=merged.item_puts,
        closed_memories=merged.closed_items,
        deleted=(
            *(keys.slot(scope, one) for one in merged.slot_deletes),
            *(keys.memory(scope, one) for one in merged.item_deletes),
        ),
        operation=operation,
        done_buffers=done_buffers,
        other=(Delete(draft),),
    )
