"""Cursors: where a list goes on, signed, so that a caller can neither read another list with one nor make one up."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
from collections.abc import Callable
from typing import Any

from engram.domain.errors import InvalidInput

_PROOF_BYTES = 16


class Cursors:
    """Makes and reads cursors.

    Args:
        pepper: key of the signature.
    """

    def __init__(self, pepper: Callable[[], bytes]) -> None:
        self._pepper = pepper

    def make(self, subject: str, position: Any) -> str:
        """A cursor of the list `subject` (which list, of whom, under which filters). `position` is JSON."""
        text = json.dumps(position, separators=(",", ":")).encode()
        return base64.urlsafe_b64encode(self._proof(subject, text) + text).decode().rstrip("=")

    def read(self, subject: str, cursor: str) -> Any:
        """The position in a cursor of this very list.

        Raises:
            InvalidInput: not a cursor of ours, or of another list.
        """
        refusal = InvalidInput("cursor is not one that this list gave", field="cursor")
        try:
            data = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True)
        except (binascii.Error, ValueError):
            raise refusal from None
        proof, text = data[:_PROOF_BYTES], data[_PROOF_BYTES:]
        if not hmac.compare_digest(proof, self._proof(subject, text)):
            raise refusal
        return json.loads(text)

    def _proof(self, subject: str, text: bytes) -> bytes:
        key = hmac.new(self._pepper(), b"cursor:", hashlib.sha256).digest()
        return hmac.new(key, subject.encode("utf-8", "surrogatepass") + b"\0" + text, hashlib.sha256).digest()[
            :_PROOF_BYTES
        ]
