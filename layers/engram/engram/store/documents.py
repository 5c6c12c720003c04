"""The search rows of a user in the table: text, terms and embedding of each document, and a log of what changed.

Rows, log and head change in one transaction conditional on the head, so writers take turns and a reader that holds
a copy refreshes it by one read when nothing changed, and by the changed rows when something did.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import Any

from engram.domain.clock import Clock, NewId, from_text, random_id, system_clock, to_text
from engram.domain.documents import MAX_TEXT_CHARACTERS, Document, DocumentKind
from engram.domain.errors import ConditionFailed, Throttled
from engram.domain.scope import Scope
from engram.domain.table import Absent, Delete, Item, Key, Put, VersionIs, Write
from engram.ports import Table
from engram.store import keys
from engram.text import analysis

LOG_KEPT = timedelta(days=1)
"""A copy that was not refreshed for longer is read anew."""

_CHUNK = 90
"""Documents a transaction: with head and log below the 100 writes that a transaction may have."""
_CHUNK_BYTES = 3 * 1024 * 1024
_ATTEMPTS = 12
_FIRST_PAUSE = 0.004
_CONTENDED = "the search rows of this user are being written by too many at once"
_PLAIN = ("conversation_id", "session_id", "role", "speaker", "encoder")


@dataclass(frozen=True, slots=True)
class Head:
    """State of a user's search rows. `generation` changes when they are erased: version 5 may come twice."""

    generation: str = ""
    version: int = 0


@dataclass(frozen=True, slots=True)
class SearchRow:
    """A document as stored: `previous` is left out (it is a row of its own), its terms are ready to match."""

    document: Document
    terms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All rows of a user. `head` was read before the rows: they may be newer, never older."""

    head: Head
    rows: tuple[SearchRow, ...]


@dataclass(frozen=True, slots=True)
class Changes:
    """What to do to a copy to make it current."""

    head: Head
    rows: tuple[SearchRow, ...]
    removed: tuple[str, ...]


class SearchRows:
    """Reads and writes of search rows, on the Table port."""

    def __init__(
        self,
        *,
        table: Table,
        clock: Clock = system_clock,
        new_id: NewId = random_id,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._table = table
        self._clock = clock
        self._new_id = new_id
        self._pause = pause

    def head(self, scope: Scope) -> Head:
        """One get."""
        return _head(self._table.get(keys.documents_head(scope)))

    def write(self, scope: Scope, documents: Sequence[Document]) -> None:
        """Keeps the highest version of each; a document that stands there as it is costs no write.

        Raises:
            Throttled: other writers kept winning; nothing of the last chunk was written.
        """
        newest: dict[str, Document] = {}
        for document in documents:
            known = newest.get(document.doc_id)
            if known is None or known.version <= document.version:
                newest[document.doc_id] = document
        for chunk in _chunks([_item(scope, document) for document in newest.values()]):
            self._commit(scope, [item.key for item in chunk], partial(_newer, chunk))

    def delete(self, scope: Scope, documents: Mapping[str, int]) -> None:
        """Removes each document up to and including the version given. Raises Throttled like `write`."""
        versions = {keys.document(scope, doc_id): version for doc_id, version in documents.items()}
        found = list(versions)
        for start in range(0, len(found), _CHUNK):
            self._commit(
                scope,
                found[start : start + _CHUNK],
                lambda there: [Delete(key) for key, item in there.items() if item.version <= versions[key]],
            )

    def delete_all(self, scope: Scope) -> None:
        """Removes rows, log and head. Writers at work meanwhile lose their turn and find an empty user.

        Raises:
            Throttled: writers kept coming in between.
        """
        for _ in range(_ATTEMPTS):
            head = self.head(scope)
            fenced = Head(self._new_id(), head.version + 1)
            try:
                self._table.transact([Put(_head_item(scope, fenced), _unchanged(head))])
                for prefix in (keys.DOCUMENTS, keys.DOCUMENT_CHANGES):
                    self._table.write(deletes=[item.key for item in self._range(scope, prefix)])
                self._table.transact([Delete(keys.documents_head(scope), VersionIs(fenced.version))])
            except ConditionFailed:
                continue
            return
        raise Throttled(_CONTENDED)

    def count(self, scope: Scope) -> int:
        return sum(1 for _ in self._range(scope, keys.DOCUMENTS))

    def snapshot(self, scope: Scope) -> Snapshot:
        """Every row, page by page."""
        head = self.head(scope)
        return Snapshot(head, tuple(_row(item) for item in self._range(scope, keys.DOCUMENTS)))

    def changes(self, scope: Scope, since: Head, now: Head) -> Changes | None:
        """What changed between two heads; None if the log does not reach back so far: take a snapshot."""
        if since.generation != now.generation or since.version > now.version:
            return None
        start, end = keys.document_changes(since.version + 1), keys.document_changes(now.version + 1)
        logged = list(self._range(scope, start, end))
        if len(logged) != now.version - since.version:
            return None
        ids = list(dict.fromkeys(doc_id for item in logged for doc_id in item.body["doc_ids"]))
        found = self._table.batch_get([keys.document(scope, doc_id) for doc_id in ids])
        rows = tuple(_row(item) for item in found.values())
        kept = {row.document.doc_id for row in rows}
        return Changes(now, rows, tuple(doc_id for doc_id in ids if doc_id not in kept))

    def _commit(
        self, scope: Scope, wanted: Sequence[Key], plan: Callable[[dict[Key, Item]], Sequence[Put | Delete]]
    ) -> None:
        """Writes what `plan` makes of the rows at `wanted`, with head and log; once more if others were first."""
        for attempt in range(_ATTEMPTS):
            head = self.head(scope)
            there = self._table.batch_get(wanted)
            writes = plan(there)
            if not writes:
                return
            after = Head(head.generation or self._new_id(), head.version + 1)
            log = self._log_item(scope, after, [_doc_id(write.key) for write in writes])
            batch: list[Write] = [Put(_head_item(scope, after), _unchanged(head)), Put(log), *writes]
            try:
                self._table.transact(batch)
            except (ConditionFailed, Throttled):
                self._pause(_FIRST_PAUSE * 2 ** min(attempt, 6) * (0.5 + random.random()))
                continue
            return
        raise Throttled(_CONTENDED)

    def _log_item(self, scope: Scope, head: Head, doc_ids: Sequence[str]) -> Item:
        expires = int((self._clock() + LOG_KEPT).timestamp())
        return Item(keys.document_change(scope, head.version), {"doc_ids": list(doc_ids)}, expires_at=expires)

    def _range(self, scope: Scope, start: str, end: str | None = None) -> Iterator[Item]:
        cursor: Key | None = None
        stop = end if end is not None else keys.end_of(start)
        while True:
            page = self._table.query(keys.user_partition(scope), start=start, end=stop, cursor=cursor)
            yield from page.items
            cursor = page.cursor
            if cursor is None:
                return


def _head(item: Item | None) -> Head:
    return Head(item.body["generation"], item.version) if item is not None else Head()


def _head_item(scope: Scope, head: Head) -> Item:
    return Item(keys.documents_head(scope), {"generation": head.generation}, version=head.version)


def _unchanged(head: Head) -> Absent | VersionIs:
    return VersionIs(head.version) if head.version else Absent()


def _newer(items: Iterable[Item], there: Mapping[Key, Item]) -> list[Put | Delete]:
    puts: list[Put | Delete] = []
    for item in items:
        known = there.get(item.key)
        if known is None or known.version < item.version or (known.version == item.version and known != item):
            puts.append(Put(item))
    return puts


def _chunks(items: Sequence[Item]) -> Iterator[list[Item]]:
    chunk: list[Item] = []
    size = 0
    for item in items:
        # A character of a text or a term takes four bytes at most.
        weight = 4 * (len(item.body["text"]) + len(item.body["terms"])) + len(item.blob) + 1_000
        if chunk and (len(chunk) == _CHUNK or size + weight > _CHUNK_BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append(item)
        size += weight
    if chunk:
        yield chunk


def _item(scope: Scope, document: Document) -> Item:
    text = document.text[:MAX_TEXT_CHARACTERS]
    body: dict[str, Any] = {
        "kind": document.kind.value,
        "occurred_at": to_text(document.occurred_at),
        "text": text,
        "terms": " ".join(analysis.terms_of(text)),
        "analysis": analysis.VERSION,
    }
    body.update({name: value for name in _PLAIN if (value := getattr(document, name))})
    if document.seq >= 0:
        body["seq"] = document.seq
    if document.entity_ids:
        body["entity_ids"] = list(document.entity_ids)
    if document.topic_ids:
        body["topic_ids"] = list(document.topic_ids)
    return Item(keys.document(scope, document.doc_id), body, document.vector, version=document.version)


def document_of(item: Item) -> Document:
    """The document in a search row, without `previous`."""
    return _row(item).document


def _row(item: Item) -> SearchRow:
    body = item.body
    document = Document(
        doc_id=_doc_id(item.key),
        kind=DocumentKind(body["kind"]),
        version=item.version,
        occurred_at=from_text(body["occurred_at"]),
        text=body["text"],
        conversation_id=body.get("conversation_id", ""),
        session_id=body.get("session_id", ""),
        seq=body.get("seq", -1),
        role=body.get("role", ""),
        speaker=body.get("speaker", ""),
        entity_ids=tuple(body.get("entity_ids", ())),
        topic_ids=tuple(body.get("topic_ids", ())),
        vector=item.blob,
        encoder=body.get("encoder", ""),
    )
    current = body["analysis"] == analysis.VERSION
    terms = body["terms"].split(" ") if current and body["terms"] else ()
    return SearchRow(document, tuple(terms) if current else tuple(analysis.terms_of(document.text)))


def _doc_id(key: Key) -> str:
    return keys.unescape(key.sk.removeprefix(keys.DOCUMENTS))
