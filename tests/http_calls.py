"""Calls of a function's routes as the gateway would make them, in this process."""

from __future__ import annotations

import json
from typing import Any

from engram.api.http import entrypoint, resolver
from engram.api.routes import memobase_blobs, memobase_events, memobase_profiles, memobase_users
from tests.http_calls_event import event_of

USER = "2f1b6f0e-5c58-4a4e-9a4e-3c8f0f6f8b11"
OTHER = "3f1b6f0e-5c58-4a4e-9a4e-3c8f0f6f8b12"


class MemobaseCalls:
    """Memobase's routes of all functions but the context's, called without a network."""

    def __init__(self) -> None:
        app = resolver()
        for routes in (memobase_users, memobase_profiles, memobase_events, memobase_blobs):
            routes.declare(app)
        memobase_blobs.declare_insert(app)
        self._handler = entrypoint(app)

    def raw(self, method: str, route: str, **arguments: Any) -> tuple[int, Any]:
        """HTTP status and envelope."""
        answer = self._handler(event_of(method, f"/api/v1{route}", **arguments), None)
        return answer["statusCode"], json.loads(answer["body"])

    def ok(self, method: str, route: str, **arguments: Any) -> Any:
        """The data of a call that must succeed."""
        status, envelope = self.raw(method, route, **arguments)
        assert (status, envelope["errno"]) == (200, 0), envelope
        return envelope["data"]

    def refused(self, method: str, route: str, **arguments: Any) -> tuple[int, str]:
        """errno and errmsg of a call that must be refused with HTTP 200."""
        status, envelope = self.raw(method, route, **arguments)
        assert status == 200, (status, envelope)
        assert envelope["errno"] != 0
        assert envelope["data"] is None
        return envelope["errno"], envelope["errmsg"]
