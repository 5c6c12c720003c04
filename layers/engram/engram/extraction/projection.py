"""Projections: search rows, the remote index and the hot profile follow the truth. Any of them can be rebuilt.

Search rows stand in the user's own partition of the table and are always written. A remote index is a copy of
them; a cache is a copy of the profile. Losing either costs time, never an answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from engram.context.profiles import HotProfiles
from engram.domain.documents import Document
from engram.domain.errors import Unavailable
from engram.domain.scope import Scope
from engram.observability import log
from engram.ports import SearchIndex
from engram.store.lagging import LaggingSearch

_SAYS_SOMETHING = re.compile(r"\w")
"""An encoder gives no vector for a text with nothing in it."""


class Projector:
    """Writes what is derived from a user's rows.

    Attributes:
        remote: whether an index outside the table has to be fed.
    """

    def __init__(
        self,
        *,
        rows: SearchIndex,
        index: SearchIndex | None,
        hot: HotProfiles,
        lagging: LaggingSearch,
        embeds: bool,
    ) -> None:
        self._rows = rows
        self._index = index
        self._hot = hot
        self._lagging = lagging
        self._embeds = embeds
        self.remote = index is not None

    def write_rows(self, scope: Scope, documents: Sequence[Document]) -> None:
        """Keeps the rows; a user with vectors missing is noted, to be rebuilt. Raises Throttled or Unavailable."""
        self._rows.upsert(scope, documents)
        if not self.complete(documents):
            self._lagging.note(scope)

    def promote(self) -> None:
        """After a change of encoder and a rebuild of everybody: the new vectors answer. Raises Unavailable."""
        for index in (self._rows, self._index):
            if index is not None:
                index.promote()

    def complete(self, documents: Sequence[Document]) -> bool:
        """Whether every document has the vector that it should have."""
        return not self._embeds or all(one.vector or not _SAYS_SOMETHING.search(one.text) for one in documents)

    def project(self, scope: Scope, documents: Sequence[Document]) -> None:
        """Feeds the remote index, if there is one. If it does not take them, the user is noted, to be rebuilt.

        Raises:
            Throttled, Unavailable: the table does not answer either.
        """
        if self._index is None or not documents:
            return
        try:
            self._index.upsert(scope, documents)
        except Unavailable as error:
            log("not projected", count=len(documents), code=error.code)
            self._lagging.note(scope)

    def caught_up(self, scope: Scope) -> None:
        """Every document has been written anew, complete."""
        self._lagging.clear(scope)

    def replace(self, scope: Scope, documents: Sequence[Document]) -> None:
        """Writes documents anew that keep their version: what they were derived from changed, not what they say."""
        if not documents:
            return
        self._rows.upsert(scope, documents)
        if self._index is not None:
            self._index.delete(scope, {one.doc_id: one.version for one in documents})
            self._index.upsert(scope, documents)

    def withdraw(self, scope: Scope, documents: Mapping[str, int]) -> None:
        """Removes documents everywhere."""
        if not documents:
            return
        self._rows.delete(scope, documents)
        if self._index is not None:
            self._index.delete(scope, documents)

    def withdraw_all(self, scope: Scope) -> None:
        self._rows.delete_all(scope)
        if self._index is not None:
            self._index.delete_all(scope)

    def counts(self, scope: Scope) -> dict[str, int]:
        """Documents per index: for receipts."""
        found = {"search_rows": self._rows.count(scope)}
        if self._index is not None:
            found[self._index.name] = self._index.count(scope)
        return found

    def refresh_profile(self, scope: Scope) -> None:
        """Writes the hot profile through to the cache. A cache that fails is a miss, not an error."""
        self._hot.write_through(scope)

    def forget_profile(self, scope: Scope, *, epoch: int) -> bool:
        """Drops the hot profile; nothing of an older epoch is accepted by the cache after this.

        False if the cache did not answer: it has to be told again.
        """
        return self._hot.forget(scope, epoch=epoch)
