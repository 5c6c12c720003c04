"""Gists by likeness to the present conversation: embed its last user turns, search, verify against the table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, tzinfo
from typing import TYPE_CHECKING

from engram.context.hot import HotGist, hot_gist
from engram.context.request import ChatTurn
from engram.domain.documents import DocumentFilter, DocumentKind, Hit, SearchQuery
from engram.domain.errors import Unavailable
from engram.domain.scope import Scope
from engram.ports import Embedder, SearchIndex

if TYPE_CHECKING:  # a hit reads no row
    from engram.store.reader import Reader

QUERY_TURNS = 3
QUERY_CHARACTERS = 2_000
GIST_PREFIX = "g:"
VECTOR_LEG = "vector"


class EventSearch:
    """Finds gists. Every hit is looked up in the user's rows before it is shown: an index may lag a deletion.

    Args:
        embedder: None where no encoder is configured: then nothing can be searched.
        indexes: the first that answers in time is believed.
        deadline_ms: for the search leg of each.
    """

    def __init__(
        self,
        *,
        embedder: Embedder | None,
        indexes: Sequence[SearchIndex],
        reader: Callable[[], Reader],
        zone: tzinfo,
        deadline_ms: float,
    ) -> None:
        self._embedder = embedder
        self._indexes = indexes
        self._reader = reader
        self._zone = zone
        self._deadline_ms = deadline_ms

    def nearest(
        self,
        scope: Scope,
        chats: Sequence[ChatTurn],
        *,
        known: Sequence[HotGist],
        since: datetime,
        threshold: float,
        limit: int,
    ) -> list[HotGist] | None:
        """Gists above `threshold` (cosine) that happened since then, nearest first, at most `limit`.

        None if the chats hold nothing to search by: no user turn, or none with a word in it.

        Args:
            known: gists already read from the user's rows: these need no second look.

        Raises:
            Unavailable: the encoder or the index does not answer.
        """
        hits = self.hits(scope, last_user_turns(chats), since=since, threshold=threshold, limit=limit)
        if hits is None:
            return None
        found = {gist.id: gist for gist in known}
        unknown = [hit for hit in hits if _gist_id(hit) not in found]
        if unknown:
            wanted = [(hit.document.occurred_at, _gist_id(hit)) for hit in unknown]
            rows = self._reader().gists_at(scope, wanted)
            found.update((row.id, hot_gist(row, self._zone)) for row in rows if not row.overtaken)
        return [found[_gist_id(hit)] for hit in hits if _gist_id(hit) in found]

    def hits(self, scope: Scope, text: str, *, since: datetime, threshold: float, limit: int) -> list[Hit] | None:
        """Hits of kind gist above the threshold, nearest first, not verified. None for a text with nothing in it.

        Raises:
            Unavailable: no encoder, or it or the index does not answer.
        """
        if not text.strip():
            return None
        if self._embedder is None:
            raise Unavailable("no encoder is configured")
        vector = self._embedder.embed([text], "query")[0]
        if not vector:
            return None
        query = SearchQuery(
            vector=vector,
            encoder=self._embedder.id,
            where=DocumentFilter(kinds=(DocumentKind.GIST,), start=since),
            limit=limit,
            deadline_ms=self._deadline_ms,
        )
        return [hit for hit in self._found(scope, query) if hit.score > threshold][:limit]

    def _found(self, scope: Scope, query: SearchQuery) -> Sequence[Hit]:
        for index in self._indexes:
            result = index.search(scope, query)
            if VECTOR_LEG not in result.missing:
                return result.legs.get(VECTOR_LEG, ())
        raise Unavailable("no search index answers")


def last_user_turns(chats: Sequence[ChatTurn]) -> str:
    """The last user turns, oldest first; the end is kept where they are too long, because it is the newest."""
    turns = [turn.content for turn in chats if turn.role == "user"][-QUERY_TURNS:]
    text = "\n".join(turns)[-QUERY_CHARACTERS:]
    return text.encode("utf-8", "replace").decode()


def _gist_id(hit: Hit) -> str:
    return hit.document.doc_id.removeprefix(GIST_PREFIX)
