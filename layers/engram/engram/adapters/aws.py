"""Clients of AWS services with bounded waits, and their errors as ours.

boto3 takes 0.4 s to import, so nothing here does it before the first call: a read that the cache answers
never pays for it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from engram.domain.errors import EngramError, Throttled, Unavailable

_THROTTLES = frozenset(
    {
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "SlowDown",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
        "TransactionConflictException",
        "TransactionInProgressException",
    }
)
_PASSING = frozenset({"InternalServerError", "InternalFailure", "ServiceUnavailable", "RequestTimeout"})
_session_lock = threading.Lock()


class LazyClient:
    """A boto3 client that is made at its first use, once, from any thread.

    Args:
        service: boto3's name of it.
        region: of the resource.
        endpoint_url: of an emulator; empty for AWS.
        read_timeout: seconds one attempt waits for an answer.
        attempts: in all, with exponential pauses in between (botocore's standard mode).
        validate: whether botocore checks parameters before it sends them.
    """

    def __init__(
        self,
        service: str,
        *,
        region: str,
        endpoint_url: str = "",
        connect_timeout: float = 1.0,
        read_timeout: float = 3.0,
        attempts: int = 3,
        validate: bool = True,
    ) -> None:
        self._service = service
        self._region = region
        self._endpoint_url = endpoint_url
        self._config: dict[str, Any] = {
            "connect_timeout": connect_timeout,
            "read_timeout": read_timeout,
            "retries": {"mode": "standard", "total_max_attempts": attempts},
            "tcp_keepalive": True,
            "max_pool_connections": 32,
            "parameter_validation": validate,
        }
        self._client: Any = None
        self._lock = threading.Lock()

    def __call__(self) -> Any:
        if self._client is None:
            with self._lock:
                if self._client is None:
                    self._client = self._make()
        return self._client

    def _make(self) -> Any:
        import boto3
        from botocore.config import Config

        with _session_lock:  # making a client from the default session is not thread-safe
            return boto3.client(  # type: ignore[call-overload]  # the name is not a literal here
                self._service,
                region_name=self._region,
                endpoint_url=self._endpoint_url or None,
                config=Config(**self._config),
            )


def error_code(error: Exception) -> str:
    """The service's own name of a botocore ClientError."""
    response: dict[str, Any] = getattr(error, "response", {})
    return str(response.get("Error", {}).get("Code", ""))


@contextmanager
def translated(part: str) -> Iterator[None]:
    """Errors of botocore as ours, named after `part`. Their messages are left out: they may quote values.

    Raises:
        Throttled: the service asks us to slow down.
        Unavailable: no answer in time, no connection, no credentials or permission, or a fault on its side.
        EngramError: the service refused the request itself, which is a fault of ours.
    """
    from botocore.exceptions import BotoCoreError, ClientError

    try:
        yield
    except ClientError as error:
        raise _ours(part, error) from None
    except BotoCoreError as error:
        raise Unavailable(f"{part} does not answer ({type(error).__name__})") from None


def _ours(part: str, error: Exception) -> EngramError:
    code = error_code(error)
    response: dict[str, Any] = getattr(error, "response", {})
    status = int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    if code in _THROTTLES:
        return Throttled(f"{part} asks for fewer requests ({code})")
    if code in _PASSING or status >= 500 or status in (401, 403, 404):
        return Unavailable(f"{part} cannot serve us now ({code or status})")
    if code in (
        "ResourceNotFoundException",
        "AccessDeniedException",
        "UnrecognizedClientException",
        "ExpiredTokenException",
    ):
        return Unavailable(f"{part} does not let us in ({code})")
    return EngramError(f"{part} refused the request ({code})")
