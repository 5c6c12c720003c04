"""Values to items and back. msgspec does the work: typed, strict about types, quick enough for a read path."""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from engram.domain.table import Item

T = TypeVar("T")


def encode(value: object) -> dict[str, Any]:
    """A dataclass of `domain` as a JSON-serialisable dict. Times become ISO 8601 with `Z`."""
    body: dict[str, Any] = msgspec.to_builtins(value)
    return body


def decode(item: Item, kind: type[T]) -> T:
    """The value in an item's body; fields the class does not have are passed over (an older or newer writer's)."""
    return msgspec.convert(item.body, kind)
