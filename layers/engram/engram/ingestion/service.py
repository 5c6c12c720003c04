"""Accept: keep every message verbatim, answer at once, think later.

A request is kept whole or refused whole. Once accepted it is in the table; the queue only makes it quick.
"""

from __future__ import annotations

import hashlib
import json
import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from engram.domain.clock import Clock
from engram.domain.errors import ConditionFailed, Conflict, Gone, NotFound, Throttled, Unavailable
from engram.domain.ids import content_hash, derived_id
from engram.domain.models import (
    Conversation,
    Message,
    MessageRef,
    Operation,
    OperationKind,
    OperationStatus,
    SessionPointer,
    Stage,
    User,
)
from engram.domain.scope import Scope
from engram.domain.table import Item, Key
from engram.domain.visibility import Tombstones
from engram.ingestion.checks import check_request
from engram.ingestion.grouping import Placement, place
from engram.ingestion.models import Accepted, IngestionRequest
from engram.observability import log
from engram.ports import BlobStore, Table, WorkQueue
from engram.store import keys, limits
from engram.store.commits import AcceptCommit, Commits, epoch_check
from engram.store.items import decode, encode
from engram.store.operations import Operations
from engram.store.reader import UserState, tombstones_of, user_of

_OTHER_WRITES = 7
"""Beside messages and new conversations: request, operation, pending mark, epoch, user, session, the one continued."""
_ATTEMPTS = 12
_INLINE_TEXT_BYTES = 300_000
_INLINE_REQUEST_BYTES = 3_000_000


@dataclass(frozen=True, slots=True)
class _Found:
    """What stands in the table before a request is accepted."""

    state: UserState
    request: Item | None
    session: SessionPointer | None
    conversation: Conversation | None


class IngestionService:
    """Accepts messages, flushes and retries."""

    def __init__(
        self,
        *,
        table: Table,
        blobs: BlobStore,
        commits: Commits,
        operations: Operations,
        queue: WorkQueue,
        clock: Clock,
        gap: timedelta,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._table = table
        self._blobs = blobs
        self._commits = commits
        self._operations = operations
        self._queue = queue
        self._clock = clock
        self._gap = gap
        self._pause = pause

    def accept(
        self, scope: Scope, request: IngestionRequest, *, asked_at: datetime | None = None, parent: str = ""
    ) -> Accepted:
        """Keeps the messages and queues the work.

        Args:
            asked_at: when somebody asked for this, if not just now. What was asked for before the user was deleted
                is not kept.
            parent: operation of the business that this is part of, to be told when this has ended.

        Raises:
            InvalidInput, Unprocessable, TooLarge: the request cannot be kept; says which field and why.
            Conflict: the request id was used for another request, or the conversation is another session's.
            Gone: the user was deleted after `asked_at`.
            Throttled: too many requests of this user at once; nothing was kept.
            Unavailable: the user was deleted a moment ago and its rows are still being purged.
        """
        check_request(request)
        request_hash = hash_of(request)
        for attempt in range(_ATTEMPTS):
            found = self._find(scope, request)
            if found.state.tombstones.erasing:
                self._wait(attempt)
                continue
            check_not_erased(found.state.tombstones, asked_at)
            if found.request is not None:
                return self._known(scope, request, request_hash, found.request)
            commit = self._prepare(scope, request, request_hash, found, parent)
            try:
                self._commits.accept(scope, commit)
            except ConditionFailed:
                self._wait(attempt)
                continue
            self.send(scope, commit.operation.operation_id)
            conversation = commit.messages[-1].conversation_id
            return Accepted(commit.operation.operation_id, request.request_id, conversation, OperationStatus.ACCEPTED)
        if found.state.tombstones.erasing:
            raise Unavailable("the user was deleted and is still being purged", code="USER_BEING_ERASED")
        raise Throttled("too many requests of this user at once")

    def _wait(self, attempt: int) -> None:
        self._pause(random.uniform(0, 0.01 * 2 ** min(attempt, 5)))

    def flush(self, scope: Scope, *, request_id: str) -> Accepted:
        """Queues the distillation of what is buffered. The same request id is the same flush.

        Raises:
            NotFound: nothing is known of the user.
        """
        operation = self.new_operation(scope, OperationKind.FLUSH, request_id)
        present = self._create(scope, operation)
        if not present.status.final:
            self.send(scope, present.operation_id)
        duplicate = present is not operation
        return Accepted(present.operation_id, request_id, "", present.status, duplicate=duplicate)

    def _create(self, scope: Scope, operation: Operation) -> Operation:
        """Creates an operation of a user that is there; a deletion in between leaves no trace of it."""
        for _ in range(_ATTEMPTS):
            found = self._table.batch_get([keys.user(scope), keys.tombstones(scope)])
            tombstones = tombstones_of(found.get(keys.tombstones(scope)))
            if user_of(found.get(keys.user(scope)), tombstones) is None:
                raise NotFound("nothing is known of this user", field="user_id")
            try:
                return self._operations.create(scope, operation, epoch_check(scope, tombstones))
            except ConditionFailed:
                continue
        raise Throttled("too many deletions of this user at once")

    def retry(self, business_id: str, operation_id: str) -> Operation | None:
        """Redrives a failed operation; others are returned as they are. None if there is no such operation."""
        present = self._operations.find(business_id, operation_id)
        if present is None or present.status is not OperationStatus.FAILED:
            return present
        scope = Scope(business_id, present.user_id)
        again = self._operations.change(scope, operation_id, _accepted_again)
        self.send(scope, operation_id)
        return again

    def send(self, scope: Scope, operation_id: str) -> None:
        """Queues an operation. If the queue does not answer, it stays ACCEPTED and the sweep sends it."""
        try:
            self._queue.send(scope, operation_id)
        except Unavailable as error:
            log("work not queued, left to the sweep", operation_id=operation_id, code=error.code)

    def new_operation(self, scope: Scope, kind: OperationKind, request_id: str) -> Operation:
        """An operation whose id follows from who asks for what, so that asking twice is asking once."""
        now = self._clock()
        return Operation(
            operation_id=derived_id("operation", kind.value, scope.business_id, scope.user_id, request_id),
            user_id=scope.user_id,
            kind=kind,
            status=OperationStatus.ACCEPTED,
            created_at=now,
            updated_at=now,
            request_id=request_id,
            stages=(Stage("accept", "SUCCEEDED", now),),
        )

    def _find(self, scope: Scope, request: IngestionRequest) -> _Found:
        wanted: list[Key] = [
            keys.request(scope, request.request_id),
            keys.user(scope),
            keys.tombstones(scope),
            keys.session(scope, request.session_id),
        ]
        if request.conversation_id:
            wanted.append(keys.conversation(scope, request.conversation_id))
        found = self._table.batch_get(wanted)
        tombstones = tombstones_of(found.get(wanted[2]))
        visible = {key: item for key, item in found.items() if tombstones.shows_row(item.epoch)}
        session_item = visible.get(wanted[3])
        session = decode(session_item, SessionPointer) if session_item else None
        name = request.conversation_id or (session.conversation_id if session else "")
        item = visible.get(keys.conversation(scope, name)) if name else None
        if item is None and name and not request.conversation_id:
            item = self._table.get(keys.conversation(scope, name))
        hidden = name in tombstones.conversations or (item is not None and not tombstones.shows_row(item.epoch))
        conversation = decode(item, Conversation) if item is not None and not hidden else None
        if conversation is not None and conversation.session_id != request.session_id:
            raise Conflict("conversation_id belongs to another session", field="conversation_id")
        state = UserState(user_of(visible.get(wanted[1]), tombstones), tombstones)
        return _Found(state, visible.get(wanted[0]), session, conversation)

    def _known(self, scope: Scope, request: IngestionRequest, request_hash: str, item: Item) -> Accepted:
        if item.body["hash"] != request_hash:
            raise Conflict("request_id was used for another request", field="request_id", code="REQUEST_ID_REUSED")
        operation_id = str(item.body["operation_id"])
        operation = self._operations.get(scope, operation_id)
        status = operation.status if operation else OperationStatus.SUCCEEDED
        conversation = str(item.body["conversation_id"])
        return Accepted(operation_id, request.request_id, conversation, status, duplicate=True)

    def _prepare(
        self, scope: Scope, request: IngestionRequest, request_hash: str, found: _Found, parent: str
    ) -> AcceptCommit:
        operation = self.new_operation(scope, OperationKind.INGESTION, request.request_id)
        now = operation.created_at
        times = [message.created_at or now for message in request.messages]
        placement = self._place(request, times, operation.operation_id, found.conversation)
        messages = _messages(request, times, placement, operation.operation_id)
        arguments = {"flush": request.flush, "metadata": dict(request.metadata)}
        if parent:
            arguments["parent"] = parent
        if not request.distil:
            arguments["distil"] = False
        operation = replace(operation, messages=tuple(one.ref for one in messages), arguments=arguments)
        pointer = SessionPointer(
            request.session_id, messages[-1].conversation_id, version=found.session.version + 1 if found.session else 1
        )
        user = User(scope.user_id, created_at=now, updated_at=now) if found.state.user is None else None
        return AcceptCommit(
            operation=operation,
            request_hash=request_hash,
            messages=messages,
            new_conversations=placement.opened,
            continued_conversations=placement.continued,
            session=pointer,
            user=user,
            tombstones=found.state.tombstones,
            content_blobs=self._keep_large_texts(scope, messages),
        )

    def _place(
        self, request: IngestionRequest, times: Sequence[datetime], operation_id: str, present: Conversation | None
    ) -> Placement:
        named = request.conversation_id
        return place(
            times,
            session_id=request.session_id,
            present=present,
            gap=None if named else self._gap,
            new_id=lambda number: named or derived_id("conversation", operation_id, number),
            most=limits.MAX_TRANSACTION_WRITES - _OTHER_WRITES - len(times),
        )

    def _keep_large_texts(self, scope: Scope, messages: Sequence[Message]) -> dict[MessageRef, str]:
        """Texts that would not fit, put into the blob store: over 300 KB each, or over 3 MB together."""
        kept: dict[MessageRef, str] = {}
        inline = 0
        for message in messages:
            size = len(limits.encode_body(encode(message)).encode())
            if size > _INLINE_TEXT_BYTES or inline + size > _INLINE_REQUEST_BYTES:
                name = f"{message.conversation_id}/{message.seq:08d}/{message.content_hash}"
                self._blobs.put(scope, name, message.content.encode())
                kept[message.ref] = name
            else:
                inline += size
        return kept


def check_not_erased(tombstones: Tombstones, asked_at: datetime | None) -> None:
    """Raises Gone for work that was asked for before its user was deleted."""
    if asked_at is not None and tombstones.erased_at is not None and asked_at <= tombstones.erased_at:
        raise Gone("the user was deleted after this was asked for", field="user_id")


def hash_of(request: IngestionRequest) -> str:
    """SHA-256 over everything the request says: two requests with one id are one only if they say the same."""
    return hashlib.sha256(json.dumps(encode(request), sort_keys=True, ensure_ascii=True).encode()).hexdigest()


def _messages(
    request: IngestionRequest, times: Sequence[datetime], placement: Placement, operation_id: str
) -> tuple[Message, ...]:
    return tuple(
        Message(
            message_id=given.message_id or derived_id("message", operation_id, position),
            conversation_id=conversation_id,
            session_id=request.session_id,
            seq=seq,
            role=given.role,
            content=given.content,
            content_hash=content_hash(given.content),
            created_at=at,
            name=given.name,
            operation_id=operation_id,
            attachments=given.attachments,
        )
        for position, (given, at, (conversation_id, seq)) in enumerate(
            zip(request.messages, times, placement.places, strict=True)
        )
    )


def _accepted_again(operation: Operation) -> Operation:
    return replace(operation, status=OperationStatus.ACCEPTED, error="", error_detail="", attempts=0)
