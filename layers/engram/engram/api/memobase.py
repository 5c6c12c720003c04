"""Memobase's envelope: `{data, errno, errmsg}`, HTTP 200 for what the application refuses, 401 and 403 for who asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response

from engram.api.http import business_of, noted, to_json
from engram.domain.errors import EngramError, Forbidden, RateLimited, Unauthenticated
from engram.domain.scope import Scope
from engram.memobase.ids import check_uuid

JSON = "application/json"
MemobaseApp = APIGatewayHttpResolver


@dataclass(frozen=True, slots=True)
class Noted:
    """Data with a sentence for the reader: a success that may lack something."""

    data: Mapping[str, Any]
    note: str = ""


def user_scope(app: MemobaseApp, user_id: str) -> Scope:
    """The scope of a call about one user. Raises InvalidInput unless the id is a UUID of version 4 or 5."""
    return noted(app, Scope(business_of(app), check_uuid(user_id, "user_id")))


def enveloped(route: Callable[..., Any]) -> Callable[..., Response[str]]:
    """A route whose result becomes `data`. Stands below the route decorator.

    What Engram refuses is told as `errno` (the HTTP status our own API would use) and `errmsg`, with HTTP 200:
    published clients read the body only then. Who may not ask, or asks too often, gets the real status.
    """

    @wraps(route)
    def answer(**arguments: Any) -> Response[str]:
        try:
            result = route(**arguments)
            return envelope(result.data, result.note) if isinstance(result, Noted) else envelope(result)
        except (Unauthenticated, Forbidden, RateLimited) as error:
            headers: dict[str, str | list[str]] = {}
            if isinstance(error, RateLimited):
                headers["Retry-After"] = str(error.retry_after)
            return refusal(error, status=error.status, headers=headers)
        except EngramError as error:
            return refusal(error)

    return answer


def envelope(data: Mapping[str, Any] | list[Any] | None, note: str = "") -> Response[str]:
    """Success."""
    return Response(status_code=200, content_type=JSON, body=to_json({"data": data, "errno": 0, "errmsg": note}))


def refusal(
    error: EngramError, *, status: int = 200, headers: dict[str, str | list[str]] | None = None
) -> Response[str]:
    """No data, and why."""
    body = to_json({"data": None, "errno": error.status, "errmsg": str(error)})
    return Response(status_code=status, content_type=JSON, body=body, headers=headers or {})
