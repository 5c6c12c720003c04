"""POST JSON, get JSON, within bounds: time in all, bytes, two attempts. urllib3 comes with botocore: no further client.

A server that answers one byte a second would outlive any socket timeout, so the whole answer has a deadline.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engram.domain.errors import ModelFailure, Throttled, Unavailable

if TYPE_CHECKING:
    from urllib3 import BaseHTTPResponse, PoolManager

MAX_ANSWER_BYTES = 16_000_000
_CHUNK = 65_536
_ATTEMPTS = 2
_MAX_PAUSE = 2.0


class Refused(Exception):
    """The server understood and refuses (400, 404 of a feature, 422, 501); asking otherwise may help."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds. `read` is between two pieces of an answer, `total` for one attempt."""

    connect: float = 3.0
    read: float = 60.0
    total: float = 90.0


class JsonClient:
    """Calls one server.

    Args:
        base_url: with or without the `/v1` at its end.
        api_key: asked for at each call, so that a rotated key is used; "" sends none.
        limits: how long to wait.
        sleep: injected, so that tests do not wait.
    """

    def __init__(
        self,
        *,
        base_url: str,
        api_key: Callable[[], str],
        limits: Limits = Limits(),
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        trimmed = base_url.rstrip("/")
        self._base = trimmed if trimmed.rsplit("/", 1)[-1].startswith("v") else f"{trimmed}/v1"
        self._api_key = api_key
        self._limits = limits
        self._sleep = sleep
        self._pool: PoolManager | None = None
        self._lock = threading.Lock()

    def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        """The answer's JSON object.

        Raises:
            Refused: asking otherwise may help.
            Throttled: 429 twice.
            Unavailable: no answer in time, 5xx twice, or our key is not accepted.
            ModelFailure: an answer that is no JSON object, or too long.
        """
        for attempt in range(_ATTEMPTS):
            last = attempt == _ATTEMPTS - 1
            try:
                return self._once(path, body)
            except Throttled as throttled:
                if last:
                    raise
                self._sleep(min(_MAX_PAUSE, getattr(throttled, "retry_after", None) or 0.5))
            except _Fault as fault:
                if last:
                    raise Unavailable(f"the model server failed ({fault})") from None
                self._sleep(0.2)
        raise AssertionError("unreachable")

    def _once(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        from urllib3 import Timeout
        from urllib3.exceptions import HTTPError, NewConnectionError

        headers = {"content-type": "application/json", "accept": "application/json"}
        key = self._api_key()
        if key:
            headers["authorization"] = f"Bearer {key}"
        deadline = time.monotonic() + self._limits.total
        try:
            response = self._client().request(
                "POST",
                f"{self._base}/{path}",
                body=json.dumps(body).encode(),
                headers=headers,
                timeout=Timeout(connect=self._limits.connect, read=self._limits.read),
                retries=False,
                redirect=False,
                preload_content=False,
            )
        except NewConnectionError:
            raise _Fault("no connection") from None
        except HTTPError as error:
            raise Unavailable(f"the model server does not answer ({type(error).__name__})") from None
        try:
            return self._read(response, deadline)
        except HTTPError as error:
            raise Unavailable(f"the model server broke off ({type(error).__name__})") from None
        finally:
            response.release_conn()

    def _read(self, response: BaseHTTPResponse, deadline: float) -> dict[str, Any]:
        status = response.status
        if status == 429:
            throttled = Throttled("the model server asks for fewer requests")
            throttled.retry_after = _seconds(response.headers.get("retry-after", ""))  # type: ignore[attr-defined]
            response.close()
            raise throttled
        if status in (400, 404, 405, 415, 422, 501):
            response.close()
            raise Refused(str(status))
        if status in (401, 403):
            response.close()
            raise Unavailable(f"the model server does not accept our key ({status})")
        if status == 413:
            response.close()
            raise ModelFailure("the model server finds the request too large")
        if status != 200:
            response.close()
            raise _Fault(str(status))
        return _object(self._bytes(response, deadline))

    def _bytes(self, response: BaseHTTPResponse, deadline: float) -> bytes:
        pieces = bytearray()
        while piece := response.read1(_CHUNK, decode_content=True):
            pieces += piece
            if len(pieces) > MAX_ANSWER_BYTES:
                response.close()
                raise ModelFailure("the model server's answer is too long")
            if time.monotonic() > deadline:
                response.close()
                raise Unavailable("the model server does not finish its answer")
        return bytes(pieces)

    def _client(self) -> PoolManager:
        if self._pool is None:
            with self._lock:
                if self._pool is None:
                    from urllib3 import PoolManager

                    self._pool = PoolManager(num_pools=2, maxsize=8)
        return self._pool


class _Fault(Exception):
    """Worth a second attempt."""


def _seconds(text: str) -> float | None:
    try:
        return max(0.0, float(text))
    except ValueError:
        return None


def _object(raw: bytes) -> dict[str, Any]:
    try:
        found = json.loads(raw)
    except (ValueError, RecursionError):
        raise ModelFailure("the model server's answer is not JSON") from None
    if not isinstance(found, dict):
        raise ModelFailure("the model server's answer is not a JSON object")
    return found
