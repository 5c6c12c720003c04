"""Purging a conversation, a message or one row: what rests on it goes or is rewritten, then the source itself.

The order lets a killed purge start again: rows made from messages come first, while the messages can still be
compared with them; the tombstones are lifted in the transaction that completes the receipt, when nothing is left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from engram.domain.clock import Clock, to_text
from engram.domain.errors import ConditionFailed, Throttled, Unavailable
from engram.domain.models import Gist, MemoryItem, MessageRef, Operation, OperationStatus
from engram.domain.scope import Scope
from engram.domain.table import Item, Key, Put, VersionIs, Write
from engram.extraction.projection import Projector
from engram.lifecycle.affected import Affected, Survey
from engram.lifecycle.remains import Remains
from engram.lifecycle.rewriting import CountTokens, Rewriter, Rewritten
from engram.lifecycle.targets import Target
from engram.ports import BlobStore, Table
from engram.recall.indexing import gist_document_id, memory_document_id
from engram.store import keys
from engram.store.commits import Commits, ProfileCommit, gist_keys, tombstones_write
from engram.store.items import decode
from engram.store.operations import Operations
from engram.store.reader import Reader

_ATTEMPTS = 8
_ANY_VERSION = 2**31 - 1
_BATCH = 100
BEFORE = "before"
KEPT = "kept"


@dataclass(frozen=True, slots=True)
class Parts:
    """What a withdrawal works with."""

    table: Table
    blobs: BlobStore
    reader: Reader
    commits: Commits
    operations: Operations
    projector: Projector
    survey: Survey
    remains: Remains
    count_tokens: CountTokens
    clock: Clock


class Withdrawal:
    """Purges everything but whole users."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def run(self, scope: Scope, operation: Operation, *, enough: Callable[[], bool]) -> Operation:
        """Purges until done or until `enough`; the operation is SUCCEEDED only when nothing of it is left.

        Raises:
            Unavailable, Throttled: may pass; the operation is delivered again and starts over what is left.
        """
        target = Target.from_arguments(operation.arguments)
        tombstones = self._parts.reader.tombstones(scope)
        # With its user deleted too, the purge of the user takes this along, operation and all.
        if tombstones.erasing or not any(mark in tombstones.purging for mark in target.marks):
            return operation
        if not self._parts.projector.forget_profile(scope, epoch=tombstones.epoch):
            raise Unavailable("the cache does not answer, and may still hold what was deleted")
        # What was committed while this was being hidden may repeat it as well.
        holders = dict.fromkeys((*target.holders, *self._parts.survey.holders(scope, target)))
        target = replace(target, holders=tuple(holders))
        affected = self._parts.survey.of(scope, target)
        operation = self._note(scope, operation, {BEFORE: affected.counts()})
        rewritten = self._rewrite(scope, target, affected)
        operation = self._note(scope, operation, {KEPT: rewritten.kept()})
        self._unbuffer(scope, target, affected)
        emptied = self._parts.remains.settle(scope, target, affected)
        if not self._remove_messages(scope, affected, enough):
            return operation
        self._trim_operations(scope, target, affected)
        return self._finish(scope, operation, target, emptied)

    def _note(self, scope: Scope, operation: Operation, found: dict[str, Any]) -> Operation:
        """Writes numbers down once, before what they count is changed."""
        if all(name in operation.arguments for name in found):
            return operation
        return self._parts.operations.change(
            scope,
            operation.operation_id,
            lambda one: replace(one, status=OperationStatus.RUNNING, arguments={**found, **one.arguments}),
        )

    def _rewrite(self, scope: Scope, target: Target, affected: Affected) -> Rewritten:
        """Slots, events, gists and memory items in one conditional commit.

        Their documents come first: a purge that begins anew finds what cites the messages, and nothing else.
        """
        parts = self._parts
        for _ in range(_ATTEMPTS):
            state = parts.reader.state(scope)
            rewritten = self._rewriter(scope, target, affected).rewrite(affected)
            if state.user is None or not _changes(rewritten):
                return rewritten
            self._project(scope, rewritten)
            commit = ProfileCommit(
                expected=state.user,
                tombstones=state.tombstones,
                slots=rewritten.slots,
                events=rewritten.events,
                gists=rewritten.gists,
                memories=rewritten.memories,
                closed_memories=rewritten.versions,
                deleted=_gone_keys(scope, rewritten),
            )
            try:
                parts.commits.profile(scope, commit)
            except ConditionFailed:
                affected = parts.survey.of(scope, target)
                continue
            return rewritten
        raise Throttled("the profile is contended")

    def _rewriter(self, scope: Scope, target: Target, affected: Affected) -> Rewriter:
        reader = self._parts.reader
        gists: dict[str, list[Gist]] = {}
        wanted = {one.id for one in affected.events}
        for row in reader.rows(scope, keys.GISTS) if wanted else ():
            gist = decode(row, Gist)
            if gist.event_id in wanted:
                gists.setdefault(gist.event_id, []).append(gist)
        said = bool(affected.slots or affected.events)
        items = tuple(decode(row, MemoryItem) for row in reader.rows(scope, keys.MEMORIES)) if said else ()
        closed = tuple(decode(row, MemoryItem) for row in reader.rows(scope, keys.CLOSED_MEMORIES)) if said else ()
        return Rewriter(
            target=target,
            texts=self._parts.remains.texts(scope, affected.cited),
            now=self._parts.clock(),
            count_tokens=self._parts.count_tokens,
            items=items,
            versions=closed,
            gists_of=gists,
        )

    def _project(self, scope: Scope, rewritten: Rewritten) -> None:
        gone = {gist_document_id(one.id): _ANY_VERSION for one in rewritten.gone_gists}
        gone |= {memory_document_id(one.id): _ANY_VERSION for one in rewritten.gone_memories}
        self._parts.projector.withdraw(scope, gone)
        self._parts.remains.project(scope, rewritten.gists, rewritten.memories)

    def _unbuffer(self, scope: Scope, target: Target, affected: Affected) -> None:
        """Work in waiting forgets the messages; model answers that may speak of them are asked for again."""
        puts: list[Item] = []
        deletes: list[Key] = [*affected.drafts, *(row.key for row in affected.client_blobs)]
        stored = [str(name) for row in affected.client_blobs if (name := row.body["frame"].get("stored"))]
        self._parts.blobs.delete(scope, stored)
        for row in (*affected.buffers, *affected.pending):
            pairs = row.body["messages"]
            left = [pair for pair in pairs if not target.covers(MessageRef(*pair))]
            if left:
                body = {**row.body, "messages": left}
                if "tokens" in body:
                    body["tokens"] = int(body["tokens"]) * len(left) // len(pairs)
                puts.append(replace(row, body=body))
            else:
                deletes.append(row.key)
        self._parts.table.write(puts, deletes)

    def _remove_messages(self, scope: Scope, affected: Affected, enough: Callable[[], bool]) -> bool:
        """Documents, texts and rows of the messages, some hundred at a time; whether all are gone."""
        parts = self._parts
        parts.projector.withdraw(scope, dict.fromkeys(affected.documents, _ANY_VERSION))
        parts.blobs.delete(scope, affected.blobs)
        rows = [item.key for item in affected.messages]
        for start in range(0, len(rows), 10 * _BATCH):
            parts.table.write(deletes=rows[start : start + 10 * _BATCH])
            if enough() and start + 10 * _BATCH < len(rows):
                return False
        return True

    def _trim_operations(self, scope: Scope, target: Target, affected: Affected) -> None:
        """The operations that brought the messages forget them: what they were about, and what came along."""
        wanted = [keys.operation(scope.business_id, one) for one in affected.operation_ids]
        for start in range(0, len(wanted), _BATCH):
            found = self._parts.table.batch_get(wanted[start : start + _BATCH])
            for item in found.values():
                operation = decode(item, Operation)
                self._parts.operations.change(
                    scope, operation.operation_id, lambda one: _trimmed(one, target, self._parts.clock)
                )

    def _finish(self, scope: Scope, operation: Operation, target: Target, emptied: Sequence[Write]) -> Operation:
        parts = self._parts
        # A slot that held a deleted memory item was rewritten, and stays.
        after = parts.survey.of(scope, replace(target, holders=())).counts()
        left = {name: count for name, count in after.items() if name not in ("conversations", "drafts")}
        if any(left.values()):
            raise Throttled("rows of what was deleted are still there")
        for _ in range(_ATTEMPTS):
            present = parts.operations.get(scope, operation.operation_id)
            if present is None:
                return operation
            tombstones = target.uncover(parts.reader.tombstones(scope))
            # Profiles cached meanwhile lack what was hidden: from here on the cache takes none of them.
            if not parts.projector.forget_profile(scope, epoch=tombstones.epoch):
                raise Unavailable("the cache does not answer, and may hold a profile that lacks rows")
            done = _completed(present, {**after, "conversations": 0}, parts.clock)
            writes: list[Write] = [
                tombstones_write(scope, tombstones),
                Put(parts.operations.item(scope, done), VersionIs(present.version)),
                *emptied,
            ]
            try:
                parts.table.transact(writes)
            except ConditionFailed as lost:
                if lost.index > 1:
                    raise Throttled("a conversation was continued meanwhile") from None
                continue
            parts.projector.refresh_profile(scope)
            return done
        raise Throttled("the deletion is being worked on elsewhere")


def _changes(rewritten: Rewritten) -> bool:
    return any(getattr(rewritten, name) for name in Rewritten.__dataclass_fields__)


def _gone_keys(scope: Scope, rewritten: Rewritten) -> tuple[Key, ...]:
    return (
        *(keys.slot(scope, one.id) for one in rewritten.gone_slots),
        *(keys.event(scope, one.id) for one in rewritten.gone_events),
        *gist_keys(scope, rewritten.gone_gists),
        *(keys.memory(scope, one.id) for one in rewritten.gone_memories),
        *(keys.closed_memory(scope, one.id, one.version) for one in rewritten.gone_versions),
    )


def _trimmed(operation: Operation, target: Target, clock: Clock) -> Operation:
    left = tuple(ref for ref in operation.messages if not target.covers(ref))
    result = {name: value for name, value in (operation.result or {}).items() if isinstance(value, int)}
    arguments = operation.arguments if left else {**operation.arguments, "metadata": {}}
    stages = operation.stages
    if not left and operation.stage("distil") not in ("", "SUCCEEDED"):
        stages = operation.staged("distil", "SUCCEEDED", clock())
    return replace(operation, messages=left, result=result, arguments=arguments, stages=stages)


def _completed(present: Operation, after: dict[str, int], clock: Clock) -> Operation:
    now = clock()
    receipt = {
        **(present.result or {}),
        "before": present.arguments[BEFORE],
        "kept": present.arguments[KEPT],
        "after": after,
        "requested_at": to_text(present.created_at),
        "finished_at": to_text(now),
    }
    return replace(
        present,
        status=OperationStatus.SUCCEEDED,
        stages=present.staged("purge", "SUCCEEDED", now),
        arguments={},
        result=receipt,
        error="",
        error_detail="",
        updated_at=now,
        version=present.version + 1,
    )
