"""How documents get into an index and out of it: by their own id and version, or, where ids are refused, by search.

Both keep the promise of the port: the highest version stays. Without ids it is kept late (a copy that was written
moments ago cannot be found yet), so searches drop doubles and the table has the last word.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from engram.adapters.opensearch_client import SearchClient, translated
from engram.adapters.opensearch_generations import Generation
from engram.adapters.opensearch_index import id_of, routing_of, source_of
from engram.adapters.opensearch_queries import owned_by
from engram.domain.documents import Document
from engram.domain.errors import EngramError, Throttled, Unavailable
from engram.domain.scope import Scope

_BULK_BYTES = 4 * 1024 * 1024
_FOUND_AT_ONCE = 1_000

Operation = tuple[dict[str, Any], dict[str, Any] | None]
"""One action of a bulk request, and the document that follows it if any."""


class IndexGone(Unavailable):
    """An index that was there is not any more (503): it is made again at the next try."""


class Writes(Protocol):
    """The writing half of the adapter, on one index."""

    def upsert(self, scope: Scope, target: Generation, documents: Sequence[Document]) -> None: ...

    def delete(self, scope: Scope, target: Generation, documents: Mapping[str, int]) -> None: ...

    def delete_all(self, scope: Scope, target: Generation) -> None: ...


@dataclass(frozen=True, slots=True)
class _Copy:
    """One stored copy of a document."""

    id: str
    doc_id: str
    version: int


class VersionedWrites:
    """Ids made of scope and document id, external versions: the index itself refuses what is older.

    Args:
        refresh: makes every write visible at once. For one machine and for tests; it costs the cluster a segment.
    """

    def __init__(self, client: SearchClient, *, refresh: bool = False) -> None:
        self._client = client
        self._refresh = refresh

    def upsert(self, scope: Scope, target: Generation, documents: Sequence[Document]) -> None:
        operations: list[Operation] = [
            (
                {"index": self._address(scope, target, document.doc_id, document.version)},
                source_of(scope, document, encoder=target.encoder, dimension=target.dimension),
            )
            for document in documents
        ]
        _bulk(self._client, operations, refresh=self._refresh)

    def delete(self, scope: Scope, target: Generation, documents: Mapping[str, int]) -> None:
        operations: list[Operation] = [
            ({"delete": self._address(scope, target, doc_id, version)}, None) for doc_id, version in documents.items()
        ]
        _bulk(self._client, operations, refresh=self._refresh)

    def delete_all(self, scope: Scope, target: Generation) -> None:
        """Everything of the scope, what was written a moment ago included.

        Each document at its own version: a delete by query raises it, and a user begun anew with the same ids
        would be refused as outdated for as long as the index remembers.
        """
        left = -1
        while True:
            found = self._found(scope, target)
            if not found:
                return
            if len(found) == left < _FOUND_AT_ONCE:
                raise Unavailable("the search index did not delete everything it was told to; deleting again is safe")
            left = len(found)
            operations: list[Operation] = [
                ({"delete": self._address(scope, target, copy.doc_id, copy.version)}, None) for copy in found
            ]
            _bulk(self._client, operations)

    def _found(self, scope: Scope, target: Generation) -> list[_Copy]:
        """Some of the scope's documents, as of now."""
        body = {
            "query": {"bool": {"filter": owned_by(scope)}},
            "size": _FOUND_AT_ONCE,
            "_source": ["doc_id", "version"],
        }
        with translated():
            self._client().indices.refresh(index=target.index)
            answer = self._client().search(index=target.index, body=body, routing=routing_of(scope))
        return [
            _Copy(row["_id"], row["_source"]["doc_id"], row["_source"]["version"]) for row in answer["hits"]["hits"]
        ]

    def _address(self, scope: Scope, target: Generation, doc_id: str, version: int) -> dict[str, Any]:
        return {
            "_index": target.index,
            "_id": id_of(scope, doc_id),
            "routing": routing_of(scope),
            "version": version,
            "version_type": "external_gte",
        }


class FoundWrites:
    """For collections that give ids themselves and know no delete by query (OpenSearch Serverless, vector search).

    What was written within the last seconds is not found yet. A caller that must be sure (a deletion with a receipt)
    asks `count` and deletes again until it is 0.
    """

    def __init__(self, client: SearchClient) -> None:
        self._client = client

    def upsert(self, scope: Scope, target: Generation, documents: Sequence[Document]) -> None:
        copies = self._copies(scope, target, [document.doc_id for document in documents])
        operations: list[Operation] = []
        for document in documents:
            present = copies.get(document.doc_id, [])
            if any(copy.version > document.version for copy in present):
                continue
            source = source_of(scope, document, encoder=target.encoder, dimension=target.dimension)
            operations.append(({"index": {"_index": target.index}}, source))
            operations += [_deletion(target, copy) for copy in present]
        _bulk(self._client, operations)

    def delete(self, scope: Scope, target: Generation, documents: Mapping[str, int]) -> None:
        copies = self._copies(scope, target, list(documents))
        stale = [one for doc_id, present in copies.items() for one in present if one.version <= documents[doc_id]]
        _bulk(self._client, [_deletion(target, copy) for copy in stale])

    def delete_all(self, scope: Scope, target: Generation) -> None:
        copies = list(self._found(target, owned_by(scope)))
        _bulk(self._client, [_deletion(target, copy) for copy in copies])

    def _copies(self, scope: Scope, target: Generation, doc_ids: Sequence[str]) -> dict[str, list[_Copy]]:
        copies: dict[str, list[_Copy]] = {}
        for first in range(0, len(doc_ids), _FOUND_AT_ONCE):
            wanted = {"terms": {"doc_id": list(doc_ids[first : first + _FOUND_AT_ONCE])}}
            for copy in self._found(target, [*owned_by(scope), wanted]):
                copies.setdefault(copy.doc_id, []).append(copy)
        return copies

    def _found(self, target: Generation, conditions: Sequence[Mapping[str, Any]]) -> Iterator[_Copy]:
        """All copies that meet the conditions, read in pages before any is deleted."""
        after: list[Any] | None = None
        while True:
            body: dict[str, Any] = {
                "query": {"bool": {"filter": list(conditions)}},
                "size": _FOUND_AT_ONCE,
                "_source": ["doc_id", "version"],
                "sort": [{"doc_id": "asc"}, {"version": "asc"}],
            }
            if after is not None:
                body["search_after"] = after
            with translated():
                rows = self._client().search(index=target.index, body=body)["hits"]["hits"]
            yield from (_Copy(row["_id"], row["_source"]["doc_id"], row["_source"]["version"]) for row in rows)
            if len(rows) < _FOUND_AT_ONCE:
                return
            after = rows[-1]["sort"]


def _deletion(target: Generation, copy: _Copy) -> Operation:
    return {"delete": {"_index": target.index, "_id": copy.id}}, None


def _bulk(client: SearchClient, operations: Sequence[Operation], *, refresh: bool = False) -> None:
    """Sends the operations in requests of a few megabytes.

    Raises:
        Throttled, Unavailable: some were not done; all may be sent again.
        EngramError: the index cannot keep one of the documents.
    """
    options = {"refresh": "true"} if refresh else {}
    for body in _bodies(operations):
        with translated():
            answer = client().bulk(body=body, **options)
        if answer["errors"]:
            _check(next(iter(item.values())) for item in answer["items"])


def _bodies(operations: Sequence[Operation]) -> Iterator[str]:
    lines: list[str] = []
    size = 0
    for action, source in operations:
        text = "\n".join(
            json.dumps(part, ensure_ascii=False, separators=(",", ":")) for part in (action, source) if part is not None
        )
        size += len(text.encode()) + 1
        if lines and size > _BULK_BYTES:
            yield "\n".join(lines) + "\n"
            lines, size = [], len(text.encode()) + 1
        lines.append(text)
    if lines:
        yield "\n".join(lines) + "\n"


def _check(items: Iterable[Mapping[str, Any]]) -> None:
    """A conflict means that something newer is there, and a delete of nothing is done already."""
    for item in items:
        status, error = item["status"], item.get("error")
        if error is None or status == 409:
            continue
        kind = str(error.get("type", "")) if isinstance(error, Mapping) else ""
        if kind == "index_not_found_exception":
            raise IndexGone("the search index has gone; it is made again")
        if status == 429:
            raise Throttled("the search index asks for fewer requests")
        if status >= 500:
            raise Unavailable(f"the search index could not keep a document ({status})")
        raise EngramError(f"the search index refused a document ({kind})")
