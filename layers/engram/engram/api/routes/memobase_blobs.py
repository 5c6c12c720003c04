"""Memobase's blob and buffer calls."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

from engram.api.http import body_of, parse, query_of
from engram.api.memobase import MemobaseApp, enveloped, user_scope
from engram.api.memobase_schemas import DATA_OF, BlobBody, CapacityQuery, PageQuery, WaitQuery
from engram.bootstrap import services
from engram.domain.errors import InvalidInput
from engram.memobase.blob_shapes import BlobType, moment_of
from engram.memobase.blobs import BlobDraft
from engram.memobase.ids import check_uuid


def declare_insert(app: MemobaseApp) -> None:
    """Declares the route that takes blobs: it belongs to the function that accepts."""

    @app.post("/api/v1/blobs/insert/<user_id>")
    @enveloped
    def insert_blob(user_id: str) -> dict[str, Any]:
        scope = user_scope(app, user_id)
        wait = query_of(app, WaitQuery).wait_process
        inserted = services().memobase.blobs.insert(scope, draft_of(body_of(app, BlobBody)), wait=wait)
        return {"id": inserted.blob_id, "chat_results": list(inserted.outcomes)}


def declare(app: MemobaseApp) -> None:
    """Declares all other routes."""

    @app.get("/api/v1/blobs/<user_id>/<blob_id>")
    @enveloped
    def get_blob(user_id: str, blob_id: str) -> dict[str, Any]:
        return services().memobase.blobs.get(user_scope(app, user_id), check_uuid(blob_id, "blob_id"))

    @app.delete("/api/v1/blobs/<user_id>/<blob_id>")
    @enveloped
    def delete_blob(user_id: str, blob_id: str) -> None:
        services().memobase.blobs.delete(user_scope(app, user_id), check_uuid(blob_id, "blob_id"))

    @app.get("/api/v1/users/blobs/<user_id>/<blob_type>")
    @enveloped
    def list_blobs(user_id: str, blob_type: str) -> dict[str, Any]:
        scope = user_scope(app, user_id)
        query = query_of(app, PageQuery)
        kind = kind_of(blob_type, "blob_type")
        return {"ids": services().memobase.blobs.ids(scope, kind, page=query.page, page_size=query.page_size)}

    @app.post("/api/v1/users/buffer/<user_id>/<buffer_type>")
    @enveloped
    def flush_buffer(user_id: str, buffer_type: str) -> list[dict[str, Any]] | None:
        scope = user_scope(app, user_id)
        kind_of(buffer_type, "buffer_type")
        return services().memobase.buffers.flush(scope, wait=query_of(app, WaitQuery).wait_process)

    @app.get("/api/v1/users/buffer/capacity/<user_id>/<buffer_type>")
    @enveloped
    def buffer_capacity(user_id: str, buffer_type: str) -> dict[str, Any]:
        scope = user_scope(app, user_id)
        kind = kind_of(buffer_type, "buffer_type")
        return {"ids": services().memobase.blobs.in_state(scope, kind, query_of(app, CapacityQuery).status)}


def kind_of(name: str, field: str) -> BlobType:
    """Raises InvalidInput for a kind there is not."""
    try:
        return BlobType(name)
    except ValueError:
        raise InvalidInput(f"{field} must be one of {', '.join(BlobType)}", field=field) from None


def draft_of(body: BlobBody) -> BlobDraft:
    """The blob, its data checked against its kind. Raises InvalidInput."""
    try:
        data = parse(body.blob_data, DATA_OF[body.blob_type]).model_dump(mode="json")
    except InvalidInput as error:
        raise InvalidInput(f"blob_data.{error}", field=f"blob_data.{error.field}") from None
    said_at = moment_of(body.created_at, ZoneInfo(services().settings.timezone))
    return BlobDraft(body.blob_type, data, body.fields, said_at)
