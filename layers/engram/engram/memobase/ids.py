"""Memobase names everything by UUIDs of version 4 or 5, in their usual spelling."""

from __future__ import annotations

import uuid

from engram.domain.clock import NewId
from engram.domain.errors import InvalidInput


def check_uuid(value: object, field: str) -> str:
    """`value` unchanged if it is a UUID of version 4 or 5 as it is usually written.

    Another spelling (upper case, braces, no hyphens) is refused, not repaired: elsewhere ids compare byte for byte,
    and one user must not become two.

    Raises:
        InvalidInput: anything else; names the field.
    """
    if isinstance(value, str) and len(value) == 36:
        try:
            parsed = uuid.UUID(value)
        except ValueError:
            parsed = None
        if parsed is not None and parsed.version in (4, 5) and str(parsed) == value:
            return value
    raise InvalidInput(f"{field} must be a UUID of version 4 or 5, in lower case with hyphens", field=field)


def new_uuid(new_id: NewId) -> str:
    """A fresh id in that spelling."""
    return str(uuid.UUID(new_id(), version=4))
