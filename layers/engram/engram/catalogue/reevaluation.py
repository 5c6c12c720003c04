"""When the catalogue changes, what its old names had linked is read again: the job behind a REPROCESS operation.

Runs over a business's users in bounded portions, each of which begins where the last one ended; a portion that is
delivered twice writes the same rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from engram.catalogue.resolvers import CompiledResolver, Resolvers
from engram.domain.clock import Clock, NewId, Stopwatch
from engram.domain.documents import Document
from engram.domain.errors import ConditionFailed, Throttled, Unavailable
from engram.domain.models import Conversation, Message, Operation, OperationKind, OperationStatus
from engram.domain.scope import Scope
from engram.domain.table import Put, VersionIs
from engram.observability import log
from engram.ports import Table, WorkQueue
from engram.recall.indexing import documents_of_messages
from engram.resolve.aliases import key_of
from engram.resolve.catalogue import Catalogue, names_of, topic_names
from engram.resolve.models import ResolveContext, Subjects
from engram.store import keys
from engram.store.catalogue import CatalogueRows
from engram.store.commits import conversation_item, epoch_check
from engram.store.documents import document_of
from engram.store.operations import Operations
from engram.store.reader import Reader
from engram.text.normalise import fold

MAX_IDS = 500
"""More changed ids than this are not listed: every conversation is read again."""

PORTION_MS = 20_000
"""Work of one delivery; the rest is sent again."""

USERS_A_PAGE = 100
_ATTEMPTS = 5
_IDS, _AFTER = "changed_ids", "after"


@dataclass(frozen=True, slots=True)
class Affected:
    """What a change may have touched. `ids` None means everything."""

    ids: frozenset[str] | None
    names: tuple[str, ...] = ()

    def may_touch(self, one: Conversation) -> bool:
        """Whether a link of the conversation is among them."""
        linked = (*one.entity_ids, *one.candidate_ids, *one.topic_ids)
        return self.ids is None or not self.ids.isdisjoint(linked)

    def may_name(self, messages: Iterable[Message]) -> bool:
        """Whether a name that means one of them now stands in the messages."""
        texts = [fold(one.content) for one in messages]
        return any(name in text for name in self.names for text in texts)


class Projector(Protocol):
    """What follows the truth: the search rows, and the remote index if there is one."""

    def write_rows(self, scope: Scope, documents: Sequence[Document]) -> None: ...

    def project(self, scope: Scope, documents: Sequence[Document]) -> None: ...


class Reevaluation:
    """Begins re-evaluations, and works on them."""

    def __init__(
        self,
        *,
        table: Table,
        rows: CatalogueRows,
        reader: Reader,
        resolvers: Resolvers,
        projector: Projector,
        operations: Operations,
        queue: WorkQueue,
        clock: Clock,
        new_id: NewId,
        timezone: str,
    ) -> None:
        self._table = table
        self._rows = rows
        self._reader = reader
        self._resolvers = resolvers
        self._projector = projector
        self._operations = operations
        self._queue = queue
        self._clock = clock
        self._new_id = new_id
        self._timezone = timezone

    def begin(self, business_id: str, changed_ids: Sequence[str]) -> str:
        """The id of the operation that re-evaluates what these ids' names link; "" if there is nothing to do.

        A queue that does not answer loses nothing: the sweep sends the operation again.
        """
        if not changed_ids:
            return ""
        scope, now = Scope.of_business(business_id), self._clock()
        listed = list(changed_ids) if len(changed_ids) <= MAX_IDS else None
        operation = Operation(
            operation_id=self._new_id(),
            user_id=scope.user_id,
            kind=OperationKind.REPROCESS,
            status=OperationStatus.ACCEPTED,
            created_at=now,
            updated_at=now,
            arguments={_IDS: listed, _AFTER: ""},
        )
        self._operations.create(scope, operation)
        self._send(scope, operation.operation_id)
        return operation.operation_id

    def run(self, scope: Scope, operation: Operation) -> Operation:
        """One portion of the work. Raises Throttled or Unavailable, after which it goes on where it was."""
        watch = Stopwatch()
        listed = operation.arguments.get(_IDS)
        ids = frozenset(listed) if listed is not None else None
        after = str(operation.arguments.get(_AFTER, ""))
        changed = int((operation.result or {}).get("conversations", 0))
        users = int((operation.result or {}).get("users", 0))
        while watch.ms() < PORTION_MS:
            page = self._rows.users(scope.business_id, after=after, limit=USERS_A_PAGE)
            if not page:
                return self._ended(scope, operation, users, changed)
            for user_id in page:
                changed += self.reprocess_user(Scope(scope.business_id, user_id), ids)
                after, users = user_id, users + 1
                if watch.ms() >= PORTION_MS:
                    break
        going_on = self._operations.change(
            scope,
            operation.operation_id,
            lambda one: replace(
                one,
                status=OperationStatus.RUNNING,
                arguments={**one.arguments, _AFTER: after},
                result={"users": users, "conversations": changed},
            ),
        )
        self._send(scope, operation.operation_id)
        return going_on

    def reprocess_user(self, scope: Scope, ids: Collection[str] | None = None) -> int:
        """Conversations of one user whose links changed when read again by the present catalogue.

        Args:
            ids: entities and topics whose names changed; None reads every conversation again.
        """
        resolver = self._resolvers.current(scope.business_id)
        affected = affected_by(resolver.catalogue, ids)
        changed = 0
        for one in self._reader.conversations(scope):
            messages: tuple[Message, ...] = ()
            if not affected.may_touch(one):
                messages = self._reader.conversation_messages(scope, one.conversation_id)
                if not affected.may_name(messages):
                    continue
            changed += self._reread(scope, one, messages, resolver)
        return changed

    def _reread(self, scope: Scope, one: Conversation, messages: Sequence[Message], resolver: CompiledResolver) -> bool:
        for _ in range(_ATTEMPTS):
            state = self._reader.state(scope)
            present = self._reader.conversation(scope, one.conversation_id)
            if state.user is None or present is None:
                return False
            messages = messages or self._reader.conversation_messages(scope, one.conversation_id)
            about = self._subjects(messages, resolver)
            reread = replace(
                present,
                entity_ids=about.entity_ids,
                topic_ids=about.topic_ids,
                candidate_ids=about.candidate_ids,
                unresolved=about.unresolved,
            )
            if reread == present:
                return False
            item = conversation_item(scope, replace(reread, version=present.version + 1), state.tombstones.epoch)
            documents = self._documents(scope, messages, reread)
            try:
                self._projector.write_rows(scope, documents)
                self._table.transact([Put(item, VersionIs(present.version)), epoch_check(scope, state.tombstones)])
            except ConditionFailed:
                messages = ()
                continue
            self._projector.project(scope, documents)
            return True
        raise Throttled("conversation is contended")

    def _documents(self, scope: Scope, messages: Sequence[Message], about: Conversation) -> list[Document]:
        """Search rows of the messages with what they are about now, and the vectors that they have."""
        fresh = documents_of_messages(messages, about.entity_ids, about.topic_ids)
        found = self._table.batch_get([keys.document(scope, one.doc_id) for one in fresh])
        known = {one.doc_id: one for one in map(document_of, found.values())}
        return [
            replace(one, vector=known[one.doc_id].vector, encoder=known[one.doc_id].encoder)
            for one in fresh
            if one.doc_id in known
        ]

    def _subjects(self, messages: Sequence[Message], resolver: CompiledResolver) -> Subjects:
        """As the index stage reads them: the messages of one request together."""
        groups: dict[str, list[Message]] = {}
        for message in messages:
            groups.setdefault(message.operation_id, []).append(message)
        found = [
            resolver.subjects(group, ResolveContext(now=group[-1].created_at, timezone=self._timezone))
            for group in groups.values()
        ]
        return Subjects(
            entity_ids=_all(one.entity_ids for one in found),
            topic_ids=_all(one.topic_ids for one in found),
            candidate_ids=_all(one.candidate_ids for one in found),
            unresolved=_all(one.unresolved for one in found),
        )

    def _ended(self, scope: Scope, operation: Operation, users: int, changed: int) -> Operation:
        result = {"users": users, "conversations": changed}
        return self._operations.succeeded(scope, operation.operation_id, stage="reprocess", result=result)

    def _send(self, scope: Scope, operation_id: str) -> None:
        try:
            self._queue.send(scope, operation_id)
        except Unavailable as error:
            log("not queued", operation_id=operation_id, code=error.code)


def affected_by(catalogue: Catalogue, ids: Collection[str] | None) -> Affected:
    """What changes of `ids` may touch, given the names that they have now."""
    if ids is None:
        return Affected(None)
    names: dict[str, None] = {}
    for identifier in ids:
        if identifier in catalogue.entities:
            names.update(dict.fromkeys(key_of(one) for one in names_of(catalogue.entities[identifier])))
        if identifier in catalogue.topics:
            names.update(dict.fromkeys(key_of(one) for one in topic_names(catalogue.topics[identifier])))
    return Affected(frozenset(ids), tuple(name for name in names if name))


def _all(groups: Iterable[Sequence[str]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(identifier for group in groups for identifier in group))
