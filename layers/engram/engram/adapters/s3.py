"""BlobStore on S3: texts too large for a table item, under a prefix per user.

The prefix is a hash and the name is in base 64, so that no id becomes a path and no user's text shows in keys.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence

from engram.adapters.aws import LazyClient, error_code, translated
from engram.domain.errors import Unavailable
from engram.domain.scope import Scope
from engram.store.limits import check_blob_name

_PART = "the blob store"
_MAX_DELETES = 1_000


class S3Blobs:
    """Blobs in `bucket`. Encryption and expiry of old versions are the bucket's own configuration."""

    def __init__(self, bucket: str, *, client: LazyClient) -> None:
        self._bucket = bucket
        self._client = client

    def put(self, scope: Scope, name: str, data: bytes) -> None:
        with translated(_PART):
            self._client().put_object(Bucket=self._bucket, Key=_key(scope, name), Body=data)

    def get(self, scope: Scope, name: str) -> bytes | None:
        from botocore.exceptions import ClientError

        with translated(_PART):
            try:
                answer = self._client().get_object(Bucket=self._bucket, Key=_key(scope, name))
                return bytes(answer["Body"].read())
            except ClientError as error:
                if error_code(error) == "NoSuchKey":
                    return None
                raise

    def delete(self, scope: Scope, names: Sequence[str]) -> None:
        """Removes those that exist.

        Raises:
            Unavailable: the service kept some of them; deleting them again is safe.
        """
        keys = [{"Key": _key(scope, name)} for name in names]
        for first in range(0, len(keys), _MAX_DELETES):
            chunk = {"Objects": keys[first : first + _MAX_DELETES], "Quiet": True}
            with translated(_PART):
                answer = self._client().delete_objects(Bucket=self._bucket, Delete=chunk)
            if answer.get("Errors"):
                raise Unavailable(f"{_PART} kept {len(answer['Errors'])} blobs that it was told to delete")

    def names(self, scope: Scope) -> list[str]:
        prefix = _prefix(scope)
        with translated(_PART):
            pages = self._client().get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=prefix)
            keys = [entry["Key"] for page in pages for entry in page.get("Contents", [])]
        return sorted(base64.urlsafe_b64decode(key.removeprefix(prefix)).decode() for key in keys)


def _prefix(scope: Scope) -> str:
    return f"{scope.business_id}/{hashlib.sha256(scope.user_id.encode()).hexdigest()}/"


def _key(scope: Scope, name: str) -> str:
    return _prefix(scope) + base64.urlsafe_b64encode(check_blob_name(name).encode()).decode()
