"""Blobs: kept as messages like everything that is said, and given back in the shape in which they came."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from typing import Any

from engram.domain.clock import Clock, NewId, to_text
from engram.domain.errors import EngramError, InvalidInput, NotFound, TooLarge
from engram.domain.ids import derived_id
from engram.domain.models import MessageRef, Operation, OperationStatus
from engram.domain.scope import Scope
from engram.domain.table import Item
from engram.extraction import outcome
from engram.ingestion.checks import MAX_MESSAGES, check_json_size
from engram.ingestion.models import IngestionRequest
from engram.ingestion.service import IngestionService
from engram.lifecycle.deletion import DeletionService
from engram.lifecycle.targets import TargetKind
from engram.memobase.blob_shapes import BlobType, put_together, take_apart
from engram.memobase.ids import new_uuid
from engram.memobase.views import blob_view, outcome_view
from engram.memobase.waiting import Waiting
from engram.ports import BlobStore, Meter, Table
from engram.store import keys
from engram.store.items import decode
from engram.store.operations import Operations
from engram.store.reader import Reader

MAX_IMAGE_BYTES = 4_000_000
MAX_FRAME_BYTES = 200_000
INSERTS, ACCEPTED_INSERTS = "blob_inserts", "blob_inserts_accepted"


@dataclass(frozen=True, slots=True)
class BlobDraft:
    """What a client hands over. `data` has the shape of its kind."""

    kind: BlobType
    data: Mapping[str, Any]
    fields: Mapping[str, Any] | None = None
    said_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Inserted:
    """A blob that was taken in.

    Attributes:
        outcomes: what its distillation changed, as Memobase's `chat_results`, where the caller waited and the buffer
            was full; empty while it is buffered.
    """

    blob_id: str
    outcomes: tuple[dict[str, Any], ...] = ()


class MemobaseBlobs:
    """Inserts, reads and deletes blobs.

    Args:
        zone: of times that carry no offset.
    """

    def __init__(
        self,
        *,
        table: Table,
        blobs: BlobStore,
        reader: Reader,
        operations: Operations,
        ingestion: IngestionService,
        deletions: DeletionService,
        waiting: Waiting,
        meter: Meter,
        clock: Clock,
        new_id: NewId,
        zone: tzinfo,
    ) -> None:
        self._table = table
        self._blobs = blobs
        self._reader = reader
        self._operations = operations
        self._ingestion = ingestion
        self._deletions = deletions
        self._waiting = waiting
        self._meter = meter
        self._clock = clock
        self._new_id = new_id
        self._zone = zone

    def insert(self, scope: Scope, draft: BlobDraft, *, wait: bool) -> Inserted:
        """The blob, kept and queued; with `wait`, worked on as far as it goes now (25 s at most).

        Raises:
            InvalidInput, Unprocessable, TooLarge: what cannot be kept.
            EngramError: with `wait`, that the work has failed.
        """
        now = self._clock()
        self._meter.count(scope, {INSERTS: 1})
        blob_id = new_uuid(self._new_id)
        taken = take_apart(draft.kind, draft.data, said_at=draft.said_at, zone=self._zone)
        check_json_size(draft.fields or {}, "fields")
        frame = self._keep_image(scope, blob_id, taken.frame) if draft.kind is BlobType.IMAGE else taken.frame
        check_json_size(frame, "blob_data", MAX_FRAME_BYTES)
        accepted = [self._ingestion.accept(scope, part) for part in _requests(blob_id, draft.kind, taken.messages)]
        operation_ids = [one.operation_id for one in accepted]
        body = {
            "type": draft.kind.value,
            "fields": draft.fields,
            "frame": frame,
            "said_at": to_text(draft.said_at) if draft.said_at else None,
            "created_at": to_text(now),
            "operations": operation_ids,
            "messages": [[ref.conversation_id, ref.seq] for ref in self._refs(scope, operation_ids)],
        }
        epoch = self._reader.tombstones(scope).epoch
        self._table.write([Item(keys.client_blob(scope, blob_id), body, epoch=epoch)])
        self._meter.count(scope, {ACCEPTED_INSERTS: 1})
        ended = [self._waiting.for_end(scope, one) for one in operation_ids] if wait else []
        for operation in ended:
            check_ended(operation)
        distilled = (one for one in ended if one is not None and one.result and outcome.EVENT in one.result)
        return Inserted(blob_id, tuple(outcome_view(one) for one in distilled))

    def get(self, scope: Scope, blob_id: str) -> dict[str, Any]:
        """The blob as it came, without texts deleted since. Raises NotFound."""
        item = self._item(scope, blob_id)
        kind = BlobType(item.body["type"])
        refs = [MessageRef(*pair) for pair in item.body["messages"]]
        shown = self._reader.messages(scope, refs)
        texts = [shown[ref].content if ref in shown else None for ref in refs]
        if not any(text is not None for text in texts):
            raise NotFound("no such blob", field="blob_id")
        frame = item.body["frame"]
        if kind is BlobType.IMAGE:
            frame = self._image(scope, frame)
        return blob_view(item.body, put_together(kind, frame, texts))

    def ids(self, scope: Scope, kind: BlobType, *, page: int, page_size: int) -> list[str]:
        """Ids in the order in which the blobs came."""
        found = [item.key.sk for item in self._of_kind(scope, kind)][page * page_size : (page + 1) * page_size]
        return [_blob_id(sk) for sk in found]

    def delete(self, scope: Scope, blob_id: str) -> None:
        """Hides the blob's messages at once and queues their purge. Raises NotFound."""
        item = self._item(scope, blob_id)
        kind = BlobType(item.body["type"])
        if kind is BlobType.CHAT:
            for position in range(len(item.body["messages"])):
                self._forget(scope, TargetKind.MESSAGE, message_id_of(blob_id, position))
        else:
            self._forget(scope, TargetKind.CONVERSATION, blob_id)
        if stored := item.body["frame"].get("stored"):
            self._blobs.delete(scope, [stored])
        self._table.write(deletes=[item.key])

    def in_state(self, scope: Scope, kind: BlobType, state: str) -> list[str]:
        """Ids of blobs whose distillation is `idle` (buffered), `processing`, `done` or `failed`."""
        items = list(self._of_kind(scope, kind))
        wanted = {keys.operation(scope.business_id, item.body["operations"][-1]) for item in items}
        rows = self._table.batch_get(list(wanted)) if wanted else {}
        flushing = self._waiting.flush_under_way(scope) is not None
        found = []
        for item in items:
            row = rows.get(keys.operation(scope.business_id, item.body["operations"][-1]))
            operation = decode(row, Operation) if row is not None else None
            if _state(operation, flushing=flushing) == state:
                found.append(_blob_id(item.key.sk))
        return found

    def _refs(self, scope: Scope, operation_ids: Sequence[str]) -> list[MessageRef]:
        found = (self._operations.get(scope, one) for one in operation_ids)
        return [ref for operation in found if operation is not None for ref in operation.messages]

    def _item(self, scope: Scope, blob_id: str) -> Item:
        item = self._table.get(keys.client_blob(scope, blob_id))
        if item is None or not self._reader.tombstones(scope).shows_row(item.epoch):
            raise NotFound("no such blob", field="blob_id")
        return item

    def _of_kind(self, scope: Scope, kind: BlobType) -> Iterator[Item]:
        tombstones = self._reader.tombstones(scope)
        rows = (row for row in self._reader.rows(scope, keys.CLIENT_BLOBS) if tombstones.shows_row(row.epoch))
        yield from sorted(
            (row for row in rows if row.body["type"] == kind.value),
            key=lambda row: (row.body["created_at"], row.key.sk),
        )

    def _forget(self, scope: Scope, kind: TargetKind, identifier: str) -> None:
        try:
            self._deletions.delete(scope, kind, identifier)
        except NotFound:
            return  # deleted before, on its own

    def _keep_image(self, scope: Scope, blob_id: str, frame: Mapping[str, Any]) -> dict[str, Any]:
        """The frame with its bytes in the blob store instead of in a row."""
        text = frame.get("base64")
        if not text:
            return dict(frame)
        try:
            data = base64.b64decode(text, validate=True)
        except (binascii.Error, ValueError):
            raise InvalidInput("base64 must be valid base64", field="blob_data.base64") from None
        if len(data) > MAX_IMAGE_BYTES:
            raise TooLarge(f"an image takes at most {MAX_IMAGE_BYTES} bytes", field="blob_data.base64")
        name = f"image/{blob_id}"
        self._blobs.put(scope, name, data)
        return {"url": frame.get("url"), "stored": name}

    def _image(self, scope: Scope, frame: Mapping[str, Any]) -> dict[str, Any]:
        stored = frame.get("stored")
        data = self._blobs.get(scope, stored) if stored else None
        return {"url": frame.get("url"), "base64": base64.b64encode(data).decode() if data is not None else None}


def message_id_of(blob_id: str, position: int) -> str:
    return derived_id("blob", blob_id, position)


def check_ended(operation: Operation | None) -> None:
    """Raises EngramError unless the operation has ended well."""
    if operation is None or operation.status is OperationStatus.SUCCEEDED:
        return
    error = EngramError(f"operation {operation.operation_id} is still being processed", code="STILL_PROCESSING")
    error.status = 504
    if operation.status is OperationStatus.FAILED:
        error = EngramError(f"operation {operation.operation_id} failed: {operation.error}", code=operation.error)
    raise error


def _requests(blob_id: str, kind: BlobType, messages: Sequence[Any]) -> Iterator[IngestionRequest]:
    """A blob as requests of a size that one transaction takes. Only a chat goes on with the conversation before it."""
    named = tuple(
        replace(message, message_id=message_id_of(blob_id, position)) for position, message in enumerate(messages)
    )
    for number, start in enumerate(range(0, len(named), MAX_MESSAGES)):
        yield IngestionRequest(
            request_id=f"{blob_id}:{number}",
            session_id=f"memobase-{kind.value}" if kind is BlobType.CHAT else f"memobase-{blob_id}",
            conversation_id="" if kind is BlobType.CHAT else blob_id,
            messages=named[start : start + MAX_MESSAGES],
        )


def _state(operation: Operation | None, *, flushing: bool) -> str:
    """Where the distillation of a blob stands, in Memobase's words. An operation long forgotten was done."""
    if operation is None:
        return "done"
    stage = operation.stage("distil")
    if operation.status is OperationStatus.FAILED or stage == "FAILED":
        return "failed"
    if stage == "SUCCEEDED":
        return "done"
    return "processing" if flushing or stage == "RUNNING" else "idle"


def _blob_id(sk: str) -> str:
    return keys.unescape(sk.removeprefix(keys.CLIENT_BLOBS))
