"""Passwords for ElastiCache made from IAM credentials: signed for 15 minutes, needed only when a connection opens.

Source: ElastiCache user guide, "Authenticating with IAM": a presigned `connect` request without its scheme.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from engram.adapters.sigv4 import AwsCredentials, presigned_query
from engram.domain.clock import Clock, system_clock

_LIFETIME = timedelta(minutes=15)
_REFRESH_BEFORE = timedelta(minutes=2)


class IamTokens:
    """Credential provider for redis-py (`get_credentials`).

    Args:
        user: the ElastiCache user, IAM enabled.
        cache: name of the cache (`cache_name_of` reads it from an endpoint), not its endpoint.
        serverless: whether it is a serverless cache; its name is signed with another type.
        credentials: returns the present credentials of the role.
    """

    def __init__(
        self,
        user: str,
        cache: str,
        *,
        region: str,
        credentials: Callable[[], AwsCredentials],
        serverless: bool = True,
        clock: Clock = system_clock,
    ) -> None:
        self._user = user
        self._cache = cache
        self._region = region
        self._credentials = credentials
        self._serverless = serverless
        self._clock = clock
        self._token = ""
        self._valid_until: datetime | None = None
        self._lock = threading.Lock()

    @classmethod
    def for_url(cls, url: str, *, user: str, region: str, credentials: Callable[[], AwsCredentials]) -> IamTokens:
        """Tokens for the cache whose endpoint stands in `url`."""
        cache, serverless = cache_name_of(urlsplit(url).hostname or "")
        return cls(user, cache, region=region, credentials=credentials, serverless=serverless)

    def get_credentials(self) -> tuple[str, str]:
        """User and token; the token is made anew two minutes before it expires."""
        with self._lock:
            now = self._clock()
            if self._valid_until is None or now >= self._valid_until - _REFRESH_BEFORE:
                self._token = self._sign(now)
                self._valid_until = now + _LIFETIME
            return self._user, self._token

    def forget(self) -> None:
        """Makes the next call sign again: the server has refused the present token."""
        with self._lock:
            self._valid_until = None

    def _sign(self, now: datetime) -> str:
        parameters = {"Action": "connect", "User": self._user}
        if self._serverless:
            parameters["ResourceType"] = "ServerlessCache"
        query = presigned_query(
            self._cache,
            parameters,
            service="elasticache",
            region=self._region,
            credentials=self._credentials(),
            now=now,
            expires_seconds=int(_LIFETIME.total_seconds()),
        )
        return f"{self._cache}/?{query}"


def cache_name_of(host: str) -> tuple[str, bool]:
    """Name of the cache behind an ElastiCache endpoint, and whether it is serverless.

    `NAME-ab12cd.serverless.REGION.cache.amazonaws.com`, or `master.NAME.ab12cd.REGION…`, `clustercfg.NAME…`
    """
    labels = host.split(".")
    if "serverless" in labels:
        return labels[0].rpartition("-")[0] or labels[0], True
    if labels[0] in ("master", "replica", "clustercfg") and len(labels) > 1:
        return labels[1], False
    return labels[0], False
