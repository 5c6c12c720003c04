"""Whose data a call is about. Scope is the first argument of every store, index and cache method.

Ids are compared byte for byte and refused rather than repaired: a trimmed or case-folded id on one path
and not on the other is how one user's memories end up with another.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from engram.domain.errors import InvalidInput

MAX_ID_CHARACTERS = 128
RESERVED_PREFIX = "~"
_BUSINESS = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?\Z")
_REFUSED = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_WILDCARDS = frozenset({"*", "%", "_all"})


def check_id(value: object, field: str, *, maximum: int = MAX_ID_CHARACTERS) -> str:
    """`value` unchanged if it can serve as an id.

    Raises:
        InvalidInput: not a string, empty, longer than `maximum` characters, padded with white space,
            a wildcard, or holding control characters, non-characters or lone surrogates.
    """
    if not isinstance(value, str) or not value:
        raise InvalidInput(f"{field} must be a non-empty string", field=field)
    if len(value) > maximum:
        raise InvalidInput(f"{field} must be at most {maximum} characters", field=field)
    if value != value.strip():
        raise InvalidInput(f"{field} must not start or end with white space", field=field)
    if value in _WILDCARDS:
        raise InvalidInput(f"{field} must name one {field.removesuffix('_id')}, not a wildcard", field=field)
    if _REFUSED.search(value):
        raise InvalidInput(f"{field} must not hold control characters or lone surrogates", field=field)
    return value


def check_business_id(value: object) -> str:
    """A business id: 1 to 40 of a-z, 0-9 and inner hyphens, so that it can stand inside an API key.

    Raises:
        InvalidInput: anything else.
    """
    if not isinstance(value, str) or not _BUSINESS.match(value):
        raise InvalidInput("business_id must be 1 to 40 characters of a-z, 0-9 and inner hyphens", field="business_id")
    return value


@dataclass(frozen=True, slots=True)
class Scope:
    """One user of one business."""

    business_id: str
    user_id: str

    def __post_init__(self) -> None:
        check_business_id(self.business_id)
        check_id(self.user_id, "user_id")

    @classmethod
    def of_business(cls, business_id: str) -> Scope:
        """Where work of a whole business (an import, a re-processing) is queued and kept."""
        return cls(business_id, RESERVED_PREFIX + "business")

    @property
    def is_business(self) -> bool:
        return self.user_id.startswith(RESERVED_PREFIX)


def check_user_id(value: object, field: str = "user_id") -> str:
    """A user id as a caller may give it: `check_id`, and not one of our own names.

    Raises:
        InvalidInput: anything else.
    """
    user_id = check_id(value, field)
    if user_id.startswith(RESERVED_PREFIX):
        raise InvalidInput(f"{field} must not start with {RESERVED_PREFIX}", field=field)
    return user_id
