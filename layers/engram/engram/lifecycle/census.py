"""What is kept of one user, store by store, counted by enumerating keys: the numbers of a receipt.

A count goes page by page and can be stopped and continued, so that it ends however much there is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from engram.domain.scope import Scope
from engram.domain.table import Item, Key
from engram.extraction.projection import Projector
from engram.ports import BlobStore, Table
from engram.store import keys

_STORES: Mapping[str, str] = {
    "USER": "users",
    "MSG": "messages",
    "CONV": "conversations",
    "SESS": "sessions",
    "PEND": "pending",
    "BUF": "buffers",
    "DRAFT": "drafts",
    "SLOT": "slots",
    "EVENT": "events",
    "GIST": "gists",
    "MEM": "memories",
    "MEMV": "memory_versions",
    "REQ": "requests",
    "OP": "operation_names",
    "METER": "meters",
    "BLOB": "client_blobs",
    "FLUSHING": "flushes",
    "VEC": "search_rows",
    "VECLOG": "search_log",
    "VECHEAD": "search_log",
}
_OTHER = "other"
_ALWAYS = ("operations", "blobs", "index", "cache")

STORES = tuple(dict.fromkeys((*_STORES.values(), _OTHER, *_ALWAYS)))
"""Every name that a receipt of a deleted user counts under."""


@dataclass(slots=True)
class Census:
    """Counts so far.

    Attributes:
        after: sort key of the last row counted.
    """

    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STORES, 0))
    after: str = ""

    def to_arguments(self) -> dict[str, Any]:
        return {"counts": self.counts, "after": self.after}

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, Any] | None) -> Census:
        return cls(dict(arguments["counts"]), str(arguments["after"])) if arguments else cls()


class CensusTaker:
    """Counts on the ports."""

    def __init__(
        self, *, table: Table, blobs: BlobStore, projector: Projector, cached: Callable[[Scope], bool]
    ) -> None:
        self._table = table
        self._blobs = blobs
        self._projector = projector
        self._cached = cached

    def count(self, scope: Scope, census: Census, *, own: str, enough: Callable[[], bool] = lambda: False) -> bool:
        """Counts on from where `census` stands; whether it came to the end.

        Args:
            own: operation that is not counted: the deletion's, which stays as the receipt.
            enough: asked after each page.
        """
        partition = keys.user_partition(scope)
        while True:
            cursor = Key(partition, census.after) if census.after else None
            page = self._table.query(partition, cursor=cursor)
            for item in page.items:
                name = store_of(item.key)
                census.counts[name] += 1
                census.after = item.key.sk
            census.counts["operations"] += len(self.operations_in(scope, page.items, own=own))
            if page.cursor is None:
                break
            if enough():
                return False
        census.counts["blobs"] = len(self._blobs.names(scope))
        census.counts["cache"] = int(self._cached(scope))
        outside = {name: count for name, count in self._projector.counts(scope).items() if name != "search_rows"}
        census.counts["index"] = sum(outside.values())
        return True

    def operations_in(self, scope: Scope, rows: Iterable[Item], *, own: str) -> list[Key]:
        """Keys of the operations that these rows name and that exist."""
        named = dict.fromkeys(
            str(row.body["operation_id"])
            for row in rows
            if row.key.sk.startswith((keys.REQUESTS, keys.USER_OPERATIONS))
        )
        named.pop(own, None)
        return list(self._table.batch_get([keys.operation(scope.business_id, one) for one in named]))


def store_of(key: Key) -> str:
    """The name under which a row of a user's partition is counted."""
    return _STORES.get(key.sk.split(keys.SEPARATOR, 1)[0], _OTHER)
