"""Deletion as its caller sees it: hidden from every read in one transaction, purged afterwards, with a receipt.

The answer is an operation whose result is the receipt. Asked again while the purge is under way it is the same
operation; once the purge is done there is nothing left to delete, and the answer is that it does not exist.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from engram.domain.clock import Clock
from engram.domain.errors import ConditionFailed, NotFound, Throttled
from engram.domain.ids import derived_id
from engram.domain.models import MemoryItem, Operation, OperationKind, OperationStatus, ProfileSlot, Stage
from engram.domain.scope import Scope
from engram.domain.table import Absent, Put, Write
from engram.domain.visibility import Tombstones
from engram.extraction.elements import elements_of, same
from engram.extraction.item_book import About
from engram.extraction.projection import Projector
from engram.lifecycle.affected import Survey
from engram.lifecycle.targets import Target, TargetKind
from engram.ports import Table
from engram.store.commits import tombstones_write
from engram.store.messages import refs_of_message
from engram.store.operations import Operations
from engram.store.reader import Reader, UserState

_ATTEMPTS = 12


@dataclass(frozen=True, slots=True)
class Deletion:
    """The 202. `duplicate` is true when the same deletion was already under way."""

    operation: Operation
    duplicate: bool = False


class DeletionService:
    """Hides at once and queues the purge.

    Args:
        send: queues an operation; if the queue does not answer, the sweep sends it.
    """

    def __init__(
        self,
        *,
        table: Table,
        reader: Reader,
        operations: Operations,
        projector: Projector,
        survey: Survey,
        send: Callable[[Scope, str], None],
        clock: Clock,
    ) -> None:
        self._table = table
        self._reader = reader
        self._operations = operations
        self._projector = projector
        self._survey = survey
        self._send = send
        self._clock = clock

    def delete(self, scope: Scope, kind: TargetKind, identifier: str) -> Deletion:
        """Hides the target and everything that rests on it, and queues its purge.

        Raises:
            NotFound: the user has nothing of that kind under that id.
            Throttled: the user is being changed by too many at once; nothing was deleted.
        """
        for _ in range(_ATTEMPTS):
            state = self._reader.state(scope)
            target = self._target(scope, kind, identifier)
            under_way = self._under_way(scope, target, state.tombstones)
            if under_way is not None:
                return Deletion(under_way, duplicate=True)
            self._check_there(scope, target, state)
            target = self._held(scope, target)
            try:
                operation = self._hide(scope, target, state.tombstones)
            except ConditionFailed:
                continue
            # A cache that does not answer is told again by the purge, which does not end before it was.
            self._projector.forget_profile(scope, epoch=state.tombstones.epoch + 1)
            self._send(scope, operation.operation_id)
            return Deletion(operation)
        raise Throttled("this user is being changed by too many at once")

    def _target(self, scope: Scope, kind: TargetKind, identifier: str) -> Target:
        if kind is TargetKind.MEMORY:
            return self._memory(scope, identifier)
        if kind is TargetKind.SLOT:
            return self._slot(scope, identifier)
        if kind is not TargetKind.MESSAGE:
            return Target(kind, identifier)
        refs = refs_of_message(self._reader, scope, identifier)
        if not refs:
            raise NotFound("no such message", field="message_id")
        return Target(kind, identifier, refs)

    def _held(self, scope: Scope, target: Target) -> Target:
        """With the events that repeat what is deleted. A whole user needs none."""
        if target.kind in (TargetKind.USER, TargetKind.EVENT):
            return target
        return replace(target, holders=(*target.holders, *self._survey.holders(scope, target)))

    def _memory(self, scope: Scope, identifier: str) -> Target:
        """With the slots of which it is a part: what is deleted must not stay in the profile."""
        item = self._reader.memory_item(scope, identifier)
        slots = self._reader.slots(scope) if item is not None else ()
        holders = tuple(f"slot:{slot.id}" for slot in slots if item is not None and says(slot, item))
        return Target(TargetKind.MEMORY, identifier, holders=holders)

    def _slot(self, scope: Scope, identifier: str) -> Target:
        """With the memory items that say the same: what is deleted must not be recalled."""
        slot = self._reader.slot(scope, identifier)
        items = self._reader.memory_items(scope) if slot is not None else ()
        twins = tuple(f"memory:{item.id}" for item in items if slot is not None and says(slot, item))
        return Target(TargetKind.SLOT, identifier, twins=twins)

    def _under_way(self, scope: Scope, target: Target, tombstones: Tombstones) -> Operation | None:
        found = {tombstones.purging.get(mark) for mark in target.marks}
        operation_id = found.pop() if len(found) == 1 else None
        return self._operations.get(scope, operation_id) if operation_id else None

    def _check_there(self, scope: Scope, target: Target, state: UserState) -> None:
        there: object = state.user
        if there is not None:
            match target.kind:
                case TargetKind.CONVERSATION:
                    there = self._reader.conversation(scope, target.id)
                case TargetKind.MEMORY:
                    there = self._reader.memory_item(scope, target.id) or self._reader.memory_history(scope, target.id)
                case TargetKind.SLOT:
                    there = self._reader.slot(scope, target.id)
                case TargetKind.EVENT:
                    there = self._reader.event(scope, target.id)
        if not there:
            raise NotFound(f"no such {target.kind.value}", field=f"{target.kind.value}_id")

    def _hide(self, scope: Scope, target: Target, present: Tombstones) -> Operation:
        operation = self._operation(scope, target, present.epoch + 1)
        writes: list[Write] = [Put(self._operations.item(scope, operation), Absent())]
        if target.kind is TargetKind.USER:
            hidden = present.hiding(everything=True, by=operation.operation_id, at=operation.created_at)
        else:
            hidden = target.hide(present, by=operation.operation_id)
            writes.append(self._operations.named(scope, operation))
        self._table.transact([tombstones_write(scope, hidden), *writes])
        return operation

    def _operation(self, scope: Scope, target: Target, epoch: int) -> Operation:
        now = self._clock()
        identifier = derived_id("deletion", scope.business_id, scope.user_id, epoch)
        operation = Operation(
            operation_id=identifier,
            user_id=scope.user_id,
            kind=OperationKind.DELETION,
            status=OperationStatus.ACCEPTED,
            created_at=now,
            updated_at=now,
            arguments=target.to_arguments(),
            result={"target": {"kind": target.kind.value, "id": target.id}},
        )
        return replace(operation, stages=(Stage("hide", "SUCCEEDED", now), Stage("purge", "PENDING", now)))


def says(slot: ProfileSlot, item: MemoryItem) -> bool:
    """Whether a part of the slot is the statement of the memory item."""
    about = About.of(item.subject, item.topic, item.sub_topic)
    if About.of("user", slot.topic, slot.sub_topic) != about:
        return False
    return any(same(part, item.content) for part in elements_of(slot.content))
