"""Which indexes there are: one per encoder and layout, and an alias on the one that answers searches.

Writes go to this encoder's own index and, while that is being filled, to the one that still answers. Deletions go
to every index of ours, however old: nothing of a user may stay behind in one that nobody searches any more.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from engram.adapters.opensearch_client import SearchClient, translated, within
from engram.adapters.opensearch_index import index_body, physical_name

_KNOWN_SECONDS = 30.0
"""How long the alias is believed to stay where it is. After a change, searches follow within this."""


@dataclass(frozen=True, slots=True)
class Generation:
    """One index and what its vectors are made of. `dimension` 0 means that it has none."""

    index: str
    encoder: str
    dimension: int
    engine: str


class Generations:
    """The indexes behind one alias.

    Args:
        alias: names this installation in the cluster.
        encoder, dimension: of this process; "" and 0 without an encoder.
        serverless: whether settings of shards are refused.
        shards: of an index that is made here.
        monotonic: seconds.
    """

    def __init__(
        self,
        client: SearchClient,
        *,
        alias: str,
        encoder: str,
        dimension: int,
        serverless: bool,
        shards: int,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._alias = alias
        self._encoder, self._dimension = encoder, dimension
        self._serverless, self._shards = serverless, shards
        self._monotonic = monotonic
        self._own: Generation | None = None
        self._serving: tuple[float, Generation | None] = (float("-inf"), None)
        self._lock = threading.Lock()

    def serving(self, *, seconds: float | None = None) -> Generation | None:
        """The index that the alias points at; None while there is none. A search gives its own `seconds` to wait."""
        asked, generation = self._serving
        if generation is None or self._monotonic() - asked > _KNOWN_SECONDS:
            generation = self._find(self._alias, seconds=seconds).get("")
            self._serving = (self._monotonic(), generation)
        return generation

    def written(self) -> list[Generation]:
        """Indexes that take new documents: this encoder's, made if need be, and the one that answers."""
        own = self._own or self._make_own()
        serving = self.serving()
        return [own] if serving is None or serving == own else [own, serving]

    def all(self) -> list[Generation]:
        """Every index of this alias, asked for anew."""
        found = self._find(f"{self._alias}-*")
        return [generation for name, generation in found.items() if name]

    def promote(self) -> None:
        """Lets this encoder's index answer from now on. To be called when it has been filled from the table."""
        own = self._make_own()
        actions = [
            {"remove": {"index": f"{self._alias}-*", "alias": self._alias, "must_exist": False}},
            {"add": {"index": own.index, "alias": self._alias}},
        ]
        with translated():
            self._client().indices.update_aliases(body={"actions": actions})
        self.forget()

    def forget(self) -> None:
        """Asks anew next time: an index was not where it should have been."""
        self._own = None
        self._serving = (float("-inf"), None)

    def _make_own(self) -> Generation:
        with self._lock:
            name = physical_name(self._alias, self._encoder)
            known = {one.index: one for one in self.all()}
            if name not in known:
                self._create(name)
                known = {one.index: one for one in self.all()}
            if self._find(self._alias).get("") is None:
                with translated():
                    self._client().indices.put_alias(index=name, name=self._alias)
            self._own = known[name]
            return self._own

    def _create(self, name: str) -> None:
        from opensearchpy.exceptions import RequestError

        body = index_body(self._alias, self._encoder, self._dimension, serverless=self._serverless, shards=self._shards)
        with translated():
            try:
                self._client().indices.create(index=name, body=body)
            except RequestError as error:
                if error.error != "resource_already_exists_exception":  # another writer was quicker
                    raise

    def _find(self, pattern: str, *, seconds: float | None = None) -> dict[str, Generation]:
        """Index name to generation; under "" the one that `pattern` names if that is the alias itself."""
        from opensearchpy.exceptions import NotFoundError

        options = {} if seconds is None else {"request_timeout": within(seconds)}
        with translated():
            try:
                answer = self._client().indices.get_mapping(index=pattern, **options)
            except NotFoundError:
                return {}
        found = {name: one for name, row in answer.items() if (one := self._generation(name, row)) is not None}
        if pattern == self._alias and found:
            found[""] = next(iter(found.values()))
        return found

    def _generation(self, name: str, row: Mapping[str, Any]) -> Generation | None:
        """None for an index of somebody else whose name begins like ours."""
        meta = row.get("mappings", {}).get("_meta", {})
        if meta.get("alias") != self._alias:
            return None
        return Generation(name, meta["encoder"], meta["dimension"], meta["engine"])
