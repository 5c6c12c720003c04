"""What is left of conversations that lose messages: what they are about, their title, their documents.

A conversation without messages goes, and with it the sessions' pointers to it. A message whose predecessor went is
embedded anew: its vector was made with the predecessor's words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from engram.domain.documents import Document
from engram.domain.errors import ConditionFailed, Throttled
from engram.domain.models import Conversation, Gist, MemoryItem, Message, MessageRef, SessionPointer
from engram.domain.scope import Scope
from engram.domain.table import Delete, Put, VersionIs, Write
from engram.extraction.indexing import SubjectReader, embedded
from engram.extraction.projection import Projector
from engram.lifecycle.affected import Affected, conversation_documents
from engram.lifecycle.targets import Target, TargetKind
from engram.ports import BlobStore, Embedder, Table
from engram.recall.indexing import document_of_gist, document_of_memory, documents_of_messages
from engram.resolve.models import ResolveContext, Subjects
from engram.store import keys
from engram.store.commits import conversation_item, epoch_check
from engram.store.documents import document_of
from engram.store.items import decode
from engram.store.reader import CONTENT_BLOB, Reader

TITLE_CHARACTERS = 80
_ATTEMPTS = 8


class Remains:
    """Keeps what stays true to what is left."""

    def __init__(
        self,
        *,
        table: Table,
        blobs: BlobStore,
        reader: Reader,
        projector: Projector,
        embedder: Embedder | None,
        subjects_of: Callable[[str], SubjectReader],
        timezone: str,
    ) -> None:
        self._table = table
        self._blobs = blobs
        self._reader = reader
        self._projector = projector
        self._embedder = embedder
        self._subjects_of = subjects_of
        self._timezone = timezone

    def texts(self, scope: Scope, refs: Iterable[MessageRef]) -> dict[MessageRef, str]:
        """Content of messages, hidden ones included: to compare with what was made of them."""
        wanted = {keys.message(scope, ref): ref for ref in refs}
        texts = {}
        for key, item in self._table.batch_get(list(wanted)).items():
            blob = item.body.get(CONTENT_BLOB)
            data = self._blobs.get(scope, blob) if blob else None
            texts[wanted[key]] = data.decode() if data is not None else str(item.body["content"])
        return texts

    def project(self, scope: Scope, gists: Iterable[Gist], memories: Iterable[MemoryItem]) -> None:
        """Documents of rewritten rows, everywhere."""
        documents = [document_of_gist(one) for one in gists]
        documents += [document_of_memory(one) for one in memories if one.valid_until is None]
        self._write(scope, documents)

    def settle(self, scope: Scope, target: Target, affected: Affected) -> list[Write]:
        """Brings the conversations down to their remaining messages.

        Returns:
            Deletes of conversations without any, and of the pointers to them: for the transaction that lifts the
            tombstones, so that nothing can be said in one before it is gone.
        """
        emptied: list[Write] = []
        for identifier in target.conversation_ids:
            left = () if target.kind is TargetKind.CONVERSATION else self._left(scope, identifier, target)
            if left:
                self._reduce(scope, identifier, left, target)
            else:
                emptied += self._farewell(scope, identifier)
        return emptied

    def _left(self, scope: Scope, conversation_id: str, target: Target) -> tuple[Message, ...]:
        found = self._reader.conversation_messages(scope, conversation_id)
        return tuple(one for one in found if not target.covers(one.ref))

    def _reduce(self, scope: Scope, identifier: str, left: Sequence[Message], target: Target) -> None:
        about = self._subjects_of(scope.business_id).subjects(
            left, ResolveContext(now=left[-1].created_at, timezone=self._timezone)
        )
        for _ in range(_ATTEMPTS):
            tombstones = self._reader.tombstones(scope)
            item = self._table.get(keys.conversation(scope, identifier))
            if item is None:
                return
            present = decode(item, Conversation)
            reduced = retold(present, left, about)
            if reduced != present:
                put = Put(
                    conversation_item(scope, replace(reduced, version=present.version + 1), tombstones.epoch),
                    VersionIs(present.version),
                )
                try:
                    self._table.transact([put, epoch_check(scope, tombstones)])
                except ConditionFailed:
                    continue
            self._reindex(scope, left, about, target)
            return
        raise Throttled("the conversation is contended")

    def _reindex(self, scope: Scope, left: Sequence[Message], about: Subjects, target: Target) -> None:
        """Followers of deleted messages with new vectors; others whose subjects are no longer the conversation's."""
        followers = {MessageRef(ref.conversation_id, ref.seq + 1) for ref in target.refs}
        allowed = {*about.entity_ids, *about.topic_ids}
        stale: list[Document] = []
        anew = [one for one in left if one.ref in followers]
        for row in conversation_documents(self._reader, scope, left[0].conversation_id):
            found = document_of(row)
            if found.seq not in {one.seq for one in anew} and not allowed.issuperset(
                {*found.entity_ids, *found.topic_ids}
            ):
                kept = [one for one in left if one.seq == found.seq]
                stale += [_retagged(one, found, left, about) for one in kept]
        fresh = documents_of_messages(anew, about.entity_ids, about.topic_ids)
        self._projector.replace(scope, [*embedded(fresh, self._embedder), *stale])

    def _write(self, scope: Scope, documents: Sequence[Document]) -> None:
        if documents:
            made = embedded(documents, self._embedder)
            self._projector.write_rows(scope, made)
            self._projector.project(scope, made)

    def _farewell(self, scope: Scope, conversation_id: str) -> list[Write]:
        key = keys.conversation(scope, conversation_id)
        item = self._table.get(key)
        if item is None:
            return []
        writes: list[Write] = [Delete(key, VersionIs(item.version))]
        for row in self._reader.rows(scope, keys.SESSIONS):
            if decode(row, SessionPointer).conversation_id == conversation_id:
                writes.append(Delete(row.key, VersionIs(row.version)))
        return writes


def retold(present: Conversation, messages: Sequence[Message], about: Subjects) -> Conversation:
    """The conversation as its messages tell it, its version left alone."""
    spoken = next((one.content for one in messages if one.role == "user"), "")
    return replace(
        present,
        entity_ids=about.entity_ids,
        topic_ids=about.topic_ids,
        candidate_ids=about.candidate_ids,
        unresolved=about.unresolved,
        title=" ".join(spoken.split())[:TITLE_CHARACTERS],
        started_at=min(one.created_at for one in messages),
        ended_at=max(one.created_at for one in messages),
    )


def _retagged(message: Message, found: Document, messages: Sequence[Message], about: Subjects) -> Document:
    """The document with the conversation's present subjects; its words did not change, so its vector holds."""
    before = next((one for one in messages if one.seq == message.seq - 1), None)
    made = documents_of_messages([message], about.entity_ids, about.topic_ids, before=before)[0]
    return replace(made, vector=found.vector, encoder=found.encoder)
