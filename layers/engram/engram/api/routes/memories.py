"""/v1/users/{id}/memories, slots and events: what was made of a user's words, for people to see and correct."""

from __future__ import annotations

from typing import Any

from engram.api.http import body_of, query_of, scope_of
from engram.api.lifecycle_schemas import (
    MemoriesQuery,
    MemoryBody,
    PageQuery,
    event_body,
    history_body,
    memory_body,
    page_body,
    slot_body,
)
from engram.api.paging import paged
from engram.api.resolver import HttpResolver
from engram.bootstrap import services
from engram.domain.clock import to_text
from engram.domain.scope import check_id


def declare(app: HttpResolver) -> None:
    """Declares the routes on `app`."""
    _declare_memories(app)
    _declare_derived(app)


def _declare_memories(app: HttpResolver) -> None:
    @app.get("/v1/users/<user_id>/memories")
    def memories(user_id: str) -> dict[str, Any]:
        scope, query = scope_of(app, user_id), query_of(app, MemoriesQuery)
        wanted = query.to_filter()
        page, after = paged(
            services().memories.list(scope, wanted),
            cursors=services().cursors,
            subject=f"memories {scope} {wanted}",
            cursor=query.cursor,
            limit=query.limit,
            key=lambda one: (to_text(one.updated_at), one.id, one.version),
        )
        return page_body("memories", map(memory_body, page), after)

    @app.get("/v1/users/<user_id>/memories/<memory_id>")
    def memory(user_id: str, memory_id: str) -> dict[str, Any]:
        return history_body(services().memories.get(scope_of(app, user_id), check_id(memory_id, "memory_id")))

    @app.patch("/v1/users/<user_id>/memories/<memory_id>")
    def edit(user_id: str, memory_id: str) -> dict[str, Any]:
        scope, change = scope_of(app, user_id), body_of(app, MemoryBody).to_edit()
        return history_body(services().memories.edit(scope, check_id(memory_id, "memory_id"), change))


def _declare_derived(app: HttpResolver) -> None:
    @app.get("/v1/users/<user_id>/slots")
    def slots(user_id: str) -> dict[str, Any]:
        scope, query = scope_of(app, user_id), query_of(app, PageQuery)
        page, after = paged(
            sorted(services().reader.slots(scope), key=lambda one: (one.topic, one.sub_topic, one.id)),
            cursors=services().cursors,
            subject=f"slots {scope}",
            cursor=query.cursor,
            limit=query.limit,
            key=lambda one: (one.topic, one.sub_topic, one.id),
        )
        return page_body("slots", map(slot_body, page), after)

    @app.get("/v1/users/<user_id>/events")
    def events(user_id: str) -> dict[str, Any]:
        scope, query = scope_of(app, user_id), query_of(app, PageQuery)
        page, after = paged(
            services().reader.events(scope),
            cursors=services().cursors,
            subject=f"events {scope}",
            cursor=query.cursor,
            limit=query.limit,
            key=lambda one: (to_text(one.created_at), one.id),
        )
        wanted = {one.id for one in page}
        gists = [one for one in services().reader.gists(scope) if one.event_id in wanted]
        bodies = (event_body(one, [gist for gist in gists if gist.event_id == one.id]) for one in page)
        return page_body("events", bodies, after)
