"""Deletions and the export of a user. A deletion is hidden when the 202 is sent; its operation ends as a receipt."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.event_handler import Response

from engram.api.http import App, query_of, scope_of, to_json
from engram.api.lifecycle_schemas import ExportQuery, deletion_body
from engram.api.resolver import HttpResolver
from engram.bootstrap import services
from engram.domain.errors import InvalidInput, NotFound
from engram.domain.scope import Scope, check_id
from engram.lifecycle.targets import TargetKind

NDJSON = "application/x-ndjson"
NEXT_CURSOR = "Engram-Next-Cursor"
_MISTAKES = ("null", "undefined", "None", "nil", "NaN")
"""What an empty variable looks like in a URL. Such an id deletes nobody unless somebody really has it."""

_PARTS = {
    "conversations": TargetKind.CONVERSATION,
    "messages": TargetKind.MESSAGE,
    "memories": TargetKind.MEMORY,
    "slots": TargetKind.SLOT,
    "events": TargetKind.EVENT,
}


def declare(app: HttpResolver) -> None:
    """Declares the routes on `app`."""

    @app.delete("/v1/users")
    def delete_nobody() -> Response[str]:
        raise InvalidInput("user_id must name one user", field="user_id")

    @app.delete("/v1/users/<user_id>")
    def delete_user(user_id: str) -> Response[str]:
        return _deleted(scope_of(app, user_id), TargetKind.USER, user_id)

    for segment, kind in _PARTS.items():
        _declare_deletion(app, segment, kind)

    @app.get("/v1/users/<user_id>/export")
    def export(user_id: str) -> Response[str]:
        return _export(app, scope_of(app, user_id))


def _declare_deletion(app: HttpResolver, segment: str, kind: TargetKind) -> None:
    parameter = f"{kind.value}_id"

    @app.delete(f"/v1/users/<user_id>/{segment}/<{parameter}>")
    def delete_part(user_id: str, **identifiers: str) -> Response[str]:
        return _deleted(scope_of(app, user_id), kind, check_id(identifiers[parameter], parameter))


def _deleted(scope: Scope, kind: TargetKind, identifier: str) -> Response[str]:
    try:
        deletion = services().deletion.delete(scope, kind, identifier)
    except NotFound:
        if scope.user_id in _MISTAKES:
            raise InvalidInput("user_id must name one user", field="user_id") from None
        raise
    return Response(status_code=202, content_type="application/json", body=to_json(deletion_body(deletion)))


def _export(app: App, scope: Scope) -> Response[str]:
    """One page of lines. A page that is not the last ends with a line that names the next, as the header does."""
    cursors, subject = services().cursors, f"export {scope}"
    given = query_of(app, ExportQuery).cursor
    page = services().exports.page(scope, cursors.read(subject, given) if given else None)
    lines: list[dict[str, Any]] = list(page.lines)
    headers: dict[str, str | list[str]] = {}
    if page.after is not None:
        cursor = cursors.make(subject, page.after)
        lines.append({"type": "next", "cursor": cursor})
        headers[NEXT_CURSOR] = cursor
    body = "".join(to_json(line) + "\n" for line in lines)
    return Response(status_code=200, content_type=NDJSON, body=body, headers=headers)
