"""Ids that follow from what they name, so that doing the same work twice names the same rows."""

from __future__ import annotations

import hashlib
import uuid

_NAMESPACE = uuid.UUID("6f1c2a52-7d0b-5c58-9a4e-3c8f0f6f8b11")


def derived_id(*parts: str | int) -> str:
    """uuid5 of `parts`: a redelivered operation writes the rows that it wrote before."""
    return str(uuid.uuid5(_NAMESPACE, "\x1f".join(str(part) for part in parts)))


def content_hash(text: str) -> str:
    """First 128 bits of SHA-256 of the text, hexadecimal. Proves that evidence is still what was said."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]
