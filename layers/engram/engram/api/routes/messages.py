"""/v1/users/{id}, its conversations and messages: where every memory can be traced to."""

from __future__ import annotations

from typing import Any

from engram.api.http import query_of, scope_of
from engram.api.lifecycle_schemas import MessagesQuery, PageQuery, conversation_body, message_body, page_body
from engram.api.paging import paged
from engram.api.resolver import HttpResolver
from engram.bootstrap import services
from engram.domain.clock import to_text
from engram.domain.errors import NotFound
from engram.domain.scope import Scope, check_id
from engram.store.messages import page_of_messages, refs_of_message


def declare(app: HttpResolver) -> None:
    """Declares the routes on `app`."""

    @app.get("/v1/users/<user_id>")
    def user(user_id: str) -> dict[str, Any]:
        return _summary(scope_of(app, user_id))

    @app.get("/v1/users/<user_id>/conversations")
    def conversations(user_id: str) -> dict[str, Any]:
        scope, query = scope_of(app, user_id), query_of(app, PageQuery)
        page, after = paged(
            reversed(services().reader.conversations(scope)),
            cursors=services().cursors,
            subject=f"conversations {scope}",
            cursor=query.cursor,
            limit=query.limit,
            key=lambda one: (to_text(one.started_at), one.conversation_id),
        )
        return page_body("conversations", map(conversation_body, page), after)

    @app.get("/v1/users/<user_id>/conversations/<conversation_id>")
    def conversation(user_id: str, conversation_id: str) -> dict[str, Any]:
        scope = scope_of(app, user_id)
        one = services().reader.conversation(scope, check_id(conversation_id, "conversation_id"))
        if one is None:
            raise NotFound("no such conversation", field="conversation_id")
        return conversation_body(one)

    @app.get("/v1/users/<user_id>/messages")
    def messages(user_id: str) -> dict[str, Any]:
        scope, query = scope_of(app, user_id), query_of(app, MessagesQuery)
        subject = f"messages {scope} {query.conversation_id}"
        start = str(services().cursors.read(subject, query.cursor)) if query.cursor else ""
        page, last = page_of_messages(
            services().reader, scope, conversation_id=query.conversation_id, after=start, limit=query.limit
        )
        return page_body("messages", map(message_body, page), services().cursors.make(subject, last) if last else "")

    @app.get("/v1/users/<user_id>/messages/<message_id>")
    def message(user_id: str, message_id: str) -> dict[str, Any]:
        scope, reader = scope_of(app, user_id), services().reader
        found = reader.messages(scope, refs_of_message(reader, scope, check_id(message_id, "message_id")))
        if not found:
            raise NotFound("no such message", field="message_id")
        return message_body(max(found.values(), key=lambda one: one.created_at))


def _summary(scope: Scope) -> dict[str, Any]:
    reader = services().reader
    state = reader.state(scope)
    if state.user is None:
        raise NotFound("nothing is known of this user", field="user_id")
    return {
        "user_id": scope.user_id,
        "created_at": to_text(state.user.created_at),
        "updated_at": to_text(state.user.updated_at),
        "profile_version": state.user.profile_version,
        "data": dict(state.user.data),
        "counts": {
            "conversations": len(reader.conversations(scope)),
            "slots": len(reader.slots(scope)),
            "events": len(reader.events(scope)),
            "memories": len(reader.memory_items(scope)),
            "pending": len(reader.pending(scope)),
        },
    }
