"""Memobase's event calls."""

from __future__ import annotations

from typing import Any

from engram.api.http import body_of, query_of
from engram.api.memobase import MemobaseApp, Noted, enveloped, user_scope
from engram.api.memobase_schemas import EventBody, EventsQuery, SearchQuery, TagsQuery
from engram.bootstrap import services
from engram.domain.errors import InvalidInput
from engram.domain.scope import Scope
from engram.memobase.ids import check_uuid
from engram.memobase.views import event_view, gist_view


def declare(app: MemobaseApp) -> None:
    """Declares the routes on `app`."""
    _declare_rows(app)
    _declare_searches(app)


def _declare_rows(app: MemobaseApp) -> None:
    @app.get("/api/v1/users/event/<user_id>")
    @enveloped
    def get_events(user_id: str) -> Noted:
        scope = user_scope(app, user_id)
        query = query_of(app, EventsQuery)
        note = services().memobase.waiting.for_flush(scope)
        found = services().memobase.events.newest(
            scope, top_k=query.topk, max_tokens=query.max_token_size, need_summary=query.need_summary
        )
        return Noted({"events": [event_view(one) for one in found]}, note)

    @app.put("/api/v1/users/event/<user_id>/<event_id>")
    @enveloped
    def update_event(user_id: str, event_id: str) -> None:
        scope = user_scope(app, user_id)
        change = body_of(app, EventBody).to_change()
        services().memobase.events.update(scope, check_uuid(event_id, "event_id"), change)

    @app.delete("/api/v1/users/event/<user_id>/<event_id>")
    @enveloped
    def delete_event(user_id: str, event_id: str) -> None:
        scope = user_scope(app, user_id)
        services().memobase.events.delete(scope, check_uuid(event_id, "event_id"))


def _declare_searches(app: MemobaseApp) -> None:
    def asked(user_id: str) -> tuple[Scope, SearchQuery, str]:
        scope = user_scope(app, user_id)
        query = query_of(app, SearchQuery)
        return scope, query, services().memobase.waiting.for_flush(scope)

    @app.get("/api/v1/users/event/search/<user_id>")
    @enveloped
    def search_events(user_id: str) -> Noted:
        scope, query, note = asked(user_id)
        found = services().memobase.events.search(scope, query.query, **_bounds(query))
        return Noted({"events": [event_view(one, similarity=score) for one, score in found]}, note)

    @app.get("/api/v1/users/event_gist/search/<user_id>")
    @enveloped
    def search_gists(user_id: str) -> Noted:
        scope, query, note = asked(user_id)
        found = services().memobase.events.search_gists(scope, query.query, **_bounds(query))
        return Noted({"gists": [gist_view(one, similarity=score) for one, score in found]}, note)

    @app.get("/api/v1/users/event_tags/search/<user_id>")
    @enveloped
    def search_by_tags(user_id: str) -> Noted:
        scope = user_scope(app, user_id)
        query = query_of(app, TagsQuery)
        note = services().memobase.waiting.for_flush(scope)
        names = [name for name in query.tags.split(",") if name.strip()]
        found = services().memobase.events.by_tags(
            scope, names=names, values=tag_values(query.tag_values), top_k=query.topk
        )
        return Noted({"events": [event_view(one) for one in found]}, note)


def tag_values(text: str) -> dict[str, str]:
    """`a=1,b=2` as pairs; a part without `=` belongs to the value before it, which may hold a comma.

    Raises:
        InvalidInput: it does not begin with a pair.
    """
    values: dict[str, str] = {}
    name = ""
    for part in text.split(",") if text.strip() else ():
        before, equals, after = part.partition("=")
        if equals and before.strip():
            name = before
            values[name] = after
        elif name:
            values[name] += "," + part
        else:
            raise InvalidInput("tag_values must be name=value, separated by commas", field="tag_values")
    return values


def _bounds(query: SearchQuery) -> dict[str, Any]:
    return {"top_k": query.topk, "threshold": query.similarity_threshold, "days": query.time_range_in_days}
