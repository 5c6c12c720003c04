"""Memobase's profile calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engram.api.described import described
from engram.api.http import body_of, query_values
from engram.api.memobase import MemobaseApp, Noted, enveloped, user_scope
from engram.api.memobase_schemas import MAX_TOP_K, ProfileBody, TextImportBody
from engram.bootstrap import services
from engram.context.request import from_query
from engram.domain.errors import InvalidInput
from engram.memobase.ids import check_uuid
from engram.memobase.profiles import ProfileQuery
from engram.memobase.views import slot_view

_NAMES = (
    "max_token_size",
    "prefer_topics",
    "only_topics",
    "max_subtopic_size",
    "topic_limits",
    "topic_limits_json",
    "chats_str",
)


def declare(app: MemobaseApp) -> None:
    """Declares the routes on `app`."""
    _declare_reads(app)
    _declare_edits(app)


def _declare_reads(app: MemobaseApp) -> None:
    @app.get("/api/v1/users/profile/<user_id>")
    @enveloped
    @described(query="engram.api.context_schemas:ProfileReadQuery")
    def get_profile(user_id: str) -> Noted:
        scope = user_scope(app, user_id)
        query = profile_query(query_values(app))
        note = services().memobase.waiting.for_flush(scope)
        found = services().memobase.profiles.find(scope, query)
        return Noted({"profiles": [slot_view(one) for one in found]}, note)


def _declare_edits(app: MemobaseApp) -> None:
    @app.post("/api/v1/users/profile/<user_id>")
    @enveloped
    def add_profile(user_id: str) -> dict[str, Any]:
        scope = user_scope(app, user_id)
        body = body_of(app, ProfileBody)
        if body.attributes is None:
            raise InvalidInput("attributes must name topic and sub_topic", field="attributes")
        return {"id": services().memobase.profiles.add(scope, body.to_draft())}

    @app.put("/api/v1/users/profile/<user_id>/<profile_id>")
    @enveloped
    def update_profile(user_id: str, profile_id: str) -> None:
        scope = user_scope(app, user_id)
        body = body_of(app, ProfileBody)
        services().memobase.profiles.update(
            scope, check_uuid(profile_id, "profile_id"), body.to_draft(), keep_names=body.attributes is None
        )

    @app.delete("/api/v1/users/profile/<user_id>/<profile_id>")
    @enveloped
    def delete_profile(user_id: str, profile_id: str) -> None:
        scope = user_scope(app, user_id)
        services().memobase.profiles.delete(scope, check_uuid(profile_id, "profile_id"))

    @app.post("/api/v1/users/profile/import/<user_id>")
    @enveloped
    def import_profile(user_id: str) -> None:
        scope = user_scope(app, user_id)
        services().memobase.buffers.import_text(scope, body_of(app, TextImportBody).context)


def profile_query(given: Mapping[str, Sequence[str]]) -> ProfileQuery:
    """The filters of a profile read; all names but `topk` mean what they mean for the context.

    Raises:
        InvalidInput: unknown name or impossible value; names the parameter.
    """
    known = {name: values for name, values in given.items() if name != "topk"}
    unknown = next((name for name in known if name not in _NAMES), None)
    if unknown is not None:
        shown = "".join(char if char.isprintable() else "?" for char in unknown[:64])
        raise InvalidInput(f"unknown parameter {shown}", field=shown)
    parsed = from_query(known)
    return ProfileQuery(
        topics=parsed.topics,
        top_k=_top_k(given["topk"][-1]) if "topk" in given else None,
        max_tokens=parsed.max_token_size if "max_token_size" in given else None,
        chats=parsed.chats,
    )


def _top_k(text: str) -> int:
    if not (text.isascii() and text.isdigit()) or int(text[:9]) > MAX_TOP_K:
        raise InvalidInput(f"topk must be a whole number from 0 to {MAX_TOP_K}", field="topk")
    return int(text)
