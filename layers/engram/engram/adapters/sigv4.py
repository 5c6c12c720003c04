"""AWS Signature Version 4 as a query string, without botocore.

A read that the cache answers must not pay for importing botocore just to sign the token that opens the cache.
Source: AWS General Reference, "Create a signed AWS API request"; a test compares it with botocore's own signer.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import quote, urlencode

_ALGORITHM = "AWS4-HMAC-SHA256"
_EMPTY_BODY = hashlib.sha256(b"").hexdigest()


@dataclass(frozen=True, slots=True)
class AwsCredentials:
    """What a signature is made with. `session_token` is empty for long-lived keys."""

    access_key: str
    secret_key: str = field(repr=False)
    session_token: str = field(default="", repr=False)


def presigned_query(
    host: str,
    parameters: Mapping[str, str],
    *,
    service: str,
    region: str,
    credentials: AwsCredentials,
    now: datetime,
    expires_seconds: int,
) -> str:
    """Query string of a signed `GET /` on `host`: `parameters`, the signature's own, and the signature."""
    stamp = now.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")
    credential_scope = f"{stamp[:8]}/{region}/{service}/aws4_request"
    query = dict(parameters) | {
        "X-Amz-Algorithm": _ALGORITHM,
        "X-Amz-Credential": f"{credentials.access_key}/{credential_scope}",
        "X-Amz-Date": stamp,
        "X-Amz-Expires": str(expires_seconds),
        "X-Amz-SignedHeaders": "host",
    }
    if credentials.session_token:
        query["X-Amz-Security-Token"] = credentials.session_token
    canonical_query = urlencode(sorted(query.items()), quote_via=quote, safe="-_.~")
    request = "\n".join(("GET", "/", canonical_query, f"host:{host}", "", "host", _EMPTY_BODY))
    to_sign = "\n".join((_ALGORITHM, stamp, credential_scope, hashlib.sha256(request.encode()).hexdigest()))
    signature = hmac.new(_signing_key(credentials, credential_scope), to_sign.encode(), hashlib.sha256).hexdigest()
    return f"{canonical_query}&X-Amz-Signature={signature}"


def _signing_key(credentials: AwsCredentials, credential_scope: str) -> bytes:
    key = b"AWS4" + credentials.secret_key.encode()
    for part in credential_scope.split("/"):
        key = hmac.new(key, part.encode(), hashlib.sha256).digest()
    return key
