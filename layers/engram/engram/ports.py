"""The Protocols that the services stand on. Each has one contract suite in `tests/contract`, run on every adapter.

Adapters raise `Throttled` or `Unavailable` for what may pass, and nothing of their client libraries' own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from engram.domain.documents import Document, SearchQuery, SearchResult
from engram.domain.scope import Scope
from engram.domain.table import Item, Key, Page, Write
from engram.extraction.models import Distillation, DistillationRequest


class Table(Protocol):
    """One ordered key-value table. Every read is strongly consistent, except `query_index`."""

    def get(self, key: Key) -> Item | None:
        """The item, or None if there is none or it has expired."""

    def batch_get(self, keys: Sequence[Key]) -> dict[Key, Item]:
        """Those that exist. Any number of keys: chunks and unprocessed keys are the adapter's business."""

    def query(
        self,
        pk: str,
        *,
        start: str = "",
        end: str | None = None,
        forward: bool = True,
        limit: int | None = None,
        cursor: Key | None = None,
    ) -> Page:
        """Items of one partition with `start <= sk < end`, in order of sk's UTF-8 bytes (reversed unless `forward`).

        `limit` bounds the items of this page; the service may end a page earlier. Go on with `cursor`.
        """

    def query_index(
        self, pk: str, *, start: str = "", end: str | None = None, limit: int | None = None, cursor: Key | None = None
    ) -> Page:
        """Items whose index key has this pk and `start <= index.sk < end`, ascending. May lag behind writes.

        `cursor` here is the last item's own key; adapters remember what else they need from it.
        """

    def write(self, puts: Sequence[Item] = (), deletes: Sequence[Key] = ()) -> None:
        """Unconditional, in batches, not atomic as a whole; complete when it returns."""

    def transact(self, writes: Sequence[Write]) -> None:
        """All or none, at most 100 writes on distinct keys.

        Raises:
            ConditionFailed: `index` of the first write whose condition did not hold; nothing was written.
            Throttled: contention or throughput; nothing was written.
            TooLarge: over a limit of `store.limits`.
        """


class SearchIndex(Protocol):
    """A projection of one user's documents. May lag, be empty or be gone: recall verifies every hit."""

    name: str

    def upsert(self, scope: Scope, documents: Sequence[Document]) -> None:
        """Keeps the highest version of each document; an older one is ignored without error."""

    def delete(self, scope: Scope, documents: Mapping[str, int]) -> None:
        """Removes doc_id up to and including the given version."""

    def delete_all(self, scope: Scope) -> None:
        """Removes every document of the scope, and of no other."""

    def count(self, scope: Scope) -> int:
        """Documents of the scope: for receipts."""

    def promote(self) -> None:
        """Lets documents of the present encoder answer searches, for every user at once.

        To be called when everybody has been rebuilt after a change of encoder: until then the encoder that was
        there before goes on answering. Nothing to do where each user's documents are searched by their own encoder.
        """

    def search(self, scope: Scope, query: SearchQuery) -> SearchResult:
        """Hits of each leg, filtered before the top k are taken. A leg that fails is named, not raised."""


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """A hot profile as bytes, with what orders it: first the deletion epoch, then the profile version."""

    epoch: int
    version: int
    payload: bytes


class ProfileCache(Protocol):
    """Hot profiles. Every failure is a miss: no method raises. Writers answer whether the cache has answered.

    A writer that gets False must try again later: an entry it meant to replace or remove may still be served.
    """

    def get(self, scope: Scope) -> CacheEntry | None: ...

    def put(self, scope: Scope, entry: CacheEntry) -> bool:
        """Compare-and-set: kept only if no entry or tombstone of a higher (epoch, version) is there."""

    def forget(self, scope: Scope, *, epoch: int) -> bool:
        """Removes the entry and leaves a tombstone: until it expires nothing of an epoch below `epoch` is kept."""


Purpose = Literal["document", "query"]


class Embedder(Protocol):
    """Texts to unit vectors.

    Attributes:
        id: `model@dimension`, stored with each vector.
    """

    id: str
    dimension: int

    def embed(self, texts: Sequence[str], purpose: Purpose) -> list[bytes]:
        """One little-endian float32 vector of unit length per text; b"" for a text with nothing in it.

        Raises:
            Unavailable: the model does not answer (retryable).
        """


class Distiller(Protocol):
    """Messages to slots, gists, memory items and mentions.

    Attributes:
        id: model and prompt version, stored with what it made.
    """

    id: str

    def distil(self, request: DistillationRequest) -> Distillation:
        """Raises ModelFailure (unusable answer, after one repair) or Unavailable (may pass)."""


class ProfileFilter(Protocol):
    """Chooses what of a profile bears on the present conversation, by one call of a model."""

    def choose(self, chats: Sequence[tuple[str, str]], slots: Mapping[str, str]) -> frozenset[str]:
        """Ids of the relevant slots.

        Args:
            chats: (role, content), oldest first.
            slots: id to its line `- topic::sub_topic: content`.

        Raises:
            ModelFailure: unusable answer.
            Unavailable: may pass.
        """


class CandidateChooser(Protocol):
    """Decides between things a mention may denote, by one call of a model. It cannot bring in anything new."""

    def choose(self, text: str, mention: str, candidates: Mapping[str, str]) -> str | None:
        """One id of `candidates`, or None if the text does not decide.

        Args:
            text: what surrounds the mention.
            candidates: id to its name and description.

        Raises:
            ModelFailure: unusable answer.
            Unavailable: may pass.
        """


class WorkQueue(Protocol):
    """First in, first out per group; at least once."""

    def send(self, scope: Scope, operation_id: str) -> None:
        """Enqueues `{business, user, operation}` in the scope's group. Raises Unavailable."""


class BlobStore(Protocol):
    """Texts too large for an item, by scope and name."""

    def put(self, scope: Scope, name: str, data: bytes) -> None: ...

    def get(self, scope: Scope, name: str) -> bytes | None: ...

    def delete(self, scope: Scope, names: Sequence[str]) -> None: ...

    def names(self, scope: Scope) -> list[str]:
        """All names of the scope: for receipts and purges."""


class Meter(Protocol):
    """Counts what is billed: model tokens, embeddings, requests."""

    def add(self, scope: Scope, at: datetime, amounts: Mapping[str, int]) -> None:
        """Counted for good when this returns."""

    def count(self, scope: Scope, amounts: Mapping[str, int]) -> None:
        """Counted today, within seconds: for what happens too often for a write each."""
