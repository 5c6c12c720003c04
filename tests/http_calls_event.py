"""One event of the HTTP API, as the gateway would make it."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlencode


def event_of(method: str, route: str, *, business: str = "acme", query: Any = "", body: Any = None, **ids: str) -> Any:
    """An event of payload format 2.0. `query` is a raw query string, or pairs to be encoded."""
    path = route.format(**ids)
    event = {
        "version": "2.0",
        "routeKey": f"{method} {route}",
        "rawPath": path,
        "rawQueryString": query if isinstance(query, str) else urlencode(query, doseq=True),
        "headers": {},
        "pathParameters": ids,
        "requestContext": {
            "http": {"method": method, "path": path},
            "requestId": "r",
            "authorizer": {"lambda": {"business_id": business, "scopes": "read write admin"}},
        },
        "isBase64Encoded": False,
    }
    return event if body is None else {**event, "body": body if isinstance(body, str) else json.dumps(body)}
