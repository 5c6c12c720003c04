"""A client of OpenSearch with bounded waits, signed requests where AWS wants them, and its errors as ours."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from engram.domain.errors import EngramError, Throttled, Unavailable

CONNECT_SECONDS = 1.0
_PART = "the search index"


class SearchClient:
    """An opensearch-py client that is made at its first use, once, from any thread.

    Args:
        url: of the domain, the collection or the node; may hold a user and a password.
        service: `es` or `aoss` to sign requests for AWS, "" for none.
        region: of the signature.
        credentials: botocore credentials; by default those of the environment the function runs in.
        timeout_seconds: for one answer, where a call gives no other.
    """

    def __init__(
        self,
        url: str,
        *,
        service: str = "",
        region: str = "",
        credentials: Callable[[], Any] | None = None,
        timeout_seconds: float = 10.0,
    ) -> None:
        self._url = url
        self._service = service
        self._region = region
        self._credentials = credentials or _own_credentials
        self._timeout = timeout_seconds
        self._client: Any = None
        self._lock = threading.Lock()

    def __call__(self) -> Any:
        if self._client is None:
            with self._lock:
                if self._client is None:
                    self._client = self._make()
        return self._client

    def _make(self) -> Any:
        from opensearchpy import OpenSearch, Urllib3AWSV4SignerAuth, Urllib3HttpConnection

        # The client's own logger prints whole requests where somebody turns it up.
        logging.getLogger("opensearch").setLevel(logging.ERROR)
        options: dict[str, Any] = {}
        if self._service:
            credentials = self._credentials()
            if credentials is None:
                raise Unavailable(f"{_PART} needs AWS credentials, and there are none")
            options["http_auth"] = Urllib3AWSV4SignerAuth(credentials, self._region, self._service)
        return OpenSearch(
            hosts=[self._url],
            connection_class=Urllib3HttpConnection,
            timeout=self._timeout,
            max_retries=1,
            retry_on_timeout=False,
            retry_on_status=(502, 504),
            pool_maxsize=16,
            ssl_show_warn=False,
            **options,
        )


def _own_credentials() -> Any:
    import boto3

    return boto3.Session().get_credentials()


def within(seconds: float) -> Any:
    """Timeout of one request: little to connect, `seconds` to answer."""
    import urllib3

    return urllib3.Timeout(connect=min(CONNECT_SECONDS, seconds), read=seconds)


@contextmanager
def translated() -> Iterator[None]:
    """opensearch-py's errors as ours, without their texts: those quote documents and queries.

    Raises:
        Throttled: it asks us to slow down.
        Unavailable: no answer in time, no connection, not let in, or a fault on its side.
        EngramError: it refused the request itself, which is a fault of ours.
    """
    from opensearchpy.exceptions import OpenSearchException, TransportError

    try:
        yield
    except TransportError as error:
        raise _ours(error.status_code) from None
    except OpenSearchException as error:
        raise Unavailable(f"{_PART} does not answer ({type(error).__name__})") from None


def _ours(status: Any) -> EngramError:
    if status == 429:
        return Throttled(f"{_PART} asks for fewer requests")
    if isinstance(status, int) and 400 <= status < 500 and status not in (401, 403, 404, 408):
        return EngramError(f"{_PART} refused a request ({status})")
    return Unavailable(f"{_PART} cannot serve us now ({status})")
