"""What the Table port moves: keys, items, the closed set of conditions, pages.

An item's payload is one JSON body and one optional blob. What a condition, an index or an expiry needs to
see stands beside them, so that both adapters decide on the same few fields and nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple


class Key(NamedTuple):
    """Address of an item. Built by `store.keys` and nowhere else."""

    pk: str
    sk: str


class IndexKey(NamedTuple):
    """Address in the sparse index. Built by `store.keys` and nowhere else."""

    pk: str
    sk: str


class IndexCursor(Key):
    """Where a page of the sparse index ended: the last item's own key, and where it stood in the index then.

    Only for going on within one process. A cursor that leaves it should be a sort key, passed as `start`.
    """

    stood_at: IndexKey

    @classmethod
    def of(cls, key: Key, index: IndexKey) -> IndexCursor:
        cursor = cls(*key)
        cursor.stood_at = index
        return cursor


@dataclass(frozen=True, slots=True)
class Item:
    """One row.

    Attributes:
        body: JSON-serialisable; kept as one JSON text, so numbers come back as they went in.
        blob: bytes that do not belong into JSON (an embedding).
        version: what `VersionIs` compares.
        epoch: what `EpochIs` compares.
        expires_at: unix seconds after which no read returns the item; None keeps it.
        index: where the item stands in the sparse index; None leaves it out.
    """

    key: Key
    body: Mapping[str, Any] = field(default_factory=dict)
    blob: bytes = b""
    version: int = 1
    epoch: int = 0
    expires_at: int | None = None
    index: IndexKey | None = None


@dataclass(frozen=True, slots=True)
class Absent:
    """No item stands at the key (an expired one counts as none)."""


@dataclass(frozen=True, slots=True)
class VersionIs:
    """An item stands at the key and its version is `version`."""

    version: int


@dataclass(frozen=True, slots=True)
class EpochIs:
    """The item's epoch is `epoch`; no item at all meets epoch 0."""

    epoch: int


Condition = Absent | VersionIs | EpochIs


@dataclass(frozen=True, slots=True)
class Put:
    item: Item
    condition: Condition | None = None

    @property
    def key(self) -> Key:
        return self.item.key


@dataclass(frozen=True, slots=True)
class Delete:
    key: Key
    condition: Condition | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """Writes nothing; the transaction fails unless the condition holds."""

    key: Key
    condition: Condition


Write = Put | Delete | Check


@dataclass(frozen=True, slots=True)
class Page:
    """Part of a query's answer. `cursor` is the last key read, to go on after; None at the end."""

    items: tuple[Item, ...]
    cursor: Key | None = None
