"""A small HTTP client of the API, for the played conversation and for scripts of this machine."""

from __future__ import annotations

import http.client
import json
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

_WAIT_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, decoded body and milliseconds from the first byte sent to the last received."""

    status: int
    body: Any
    ms: float


class Unexpected(Exception):
    """The API answered something else than was needed."""


class Client:
    """One kept connection to a service."""

    def __init__(self, url: str, api_key: str, *, timeout: float = 60.0) -> None:
        parts = urlsplit(url)
        connect = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        self._connection = connect(parts.hostname or "", parts.port, timeout=timeout)
        self._headers = {"Authorization": f"Bearer {api_key}", "Content-Type": "application/json"}

    def call(self, method: str, path: str, body: Any = None) -> Answer:
        """One request, whatever the status."""
        content = None if body is None else json.dumps(body).encode()
        start = time.perf_counter()
        self._connection.request(method, path, body=content, headers=self._headers)
        response = self._connection.getresponse()
        data = response.read()
        ms = (time.perf_counter() - start) * 1000
        is_json = "json" in response.headers.get("content-type", "")
        return Answer(response.status, json.loads(data) if is_json and data else data.decode(), ms)

    def ingest(self, request: dict[str, Any]) -> str:
        """Sends messages; the operation id.

        Raises:
            Unexpected: not accepted.
        """
        answer = self.call("POST", "/v1/memory/ingestions", request)
        if answer.status != 202:
            raise Unexpected(f"ingestion answered {answer.status}")
        operation_id: str = answer.body["operation_id"]
        return operation_id

    def wait(self, operation_id: str) -> dict[str, Any]:
        """The operation, once it is final.

        Raises:
            Unexpected: it does not end within a minute, or cannot be read.
        """
        deadline = time.monotonic() + _WAIT_SECONDS
        while time.monotonic() < deadline:
            answer = self.call("GET", f"/v1/memory/operations/{quote(operation_id, safe='')}")
            if answer.status != 200:
                raise Unexpected(f"the operation answered {answer.status}")
            if answer.body["status"] in ("SUCCEEDED", "FAILED"):
                operation: dict[str, Any] = answer.body
                return operation
            time.sleep(0.02)
        raise Unexpected("the operation did not end within a minute")

    def context(self, user_id: str, query: str = "") -> Answer:
        return self.call("GET", f"/api/v1/users/context/{quote(user_id, safe='')}{query}")
