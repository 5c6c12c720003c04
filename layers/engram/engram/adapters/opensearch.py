"""SearchIndex on OpenSearch: BM25 and k-NN in one request, within one user, for large histories.

A projection and nothing else: it may lag, be asleep or be gone. A search then names the legs that are missing within
its deadline, and recall verifies every hit against the table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from engram.adapters.circuit import CircuitBreaker
from engram.adapters.opensearch_client import SearchClient, translated, within
from engram.adapters.opensearch_generations import Generation, Generations
from engram.adapters.opensearch_index import routing_of
from engram.adapters.opensearch_queries import hits_of, msearch_lines, owned_by, searches_of
from engram.adapters.opensearch_writes import FoundWrites, IndexGone, VersionedWrites, Writes
from engram.domain.documents import Document, Hit, SearchQuery, SearchResult
from engram.domain.errors import EngramError, InvalidInput
from engram.domain.scope import Scope
from engram.ports import Embedder
from engram.settings import Settings


class OpenSearchIndex:
    """Legs `lexical` (the turn), `lexical_context` (with the turn before) and `vector`.

    Args:
        client: makes or returns the client.
        alias: names this installation's indexes in the cluster.
        encoder, dimension: of the vectors that this process writes; "" and 0 without an encoder.
        serverless: for OpenSearch Serverless, which gives ids itself and has no refresh and no delete by query.
        shards: of an index made here. Each user lives on one of them.
        refresh: makes every write visible at once; for one machine and for tests.
        breaker: keeps searches away from a cluster that does not answer.
        behind: whether this index lacks something of a user that it did not take. Such a user is not searched here:
            an answer would look complete and not be.
    """

    name = "opensearch"

    def __init__(
        self,
        *,
        client: SearchClient,
        alias: str,
        encoder: str = "",
        dimension: int = 0,
        serverless: bool = False,
        shards: int = 1,
        refresh: bool = False,
        breaker: CircuitBreaker | None = None,
        behind: Callable[[Scope], bool] = lambda scope: False,
    ) -> None:
        if serverless and refresh:
            raise InvalidInput("OpenSearch Serverless cannot be told to refresh")
        self._client = client
        self._serverless = serverless
        self._breaker = breaker or CircuitBreaker()
        self._behind = behind
        self._generations = Generations(
            client, alias=alias, encoder=encoder, dimension=dimension, serverless=serverless, shards=shards
        )
        self._writes: Writes = FoundWrites(client) if serverless else VersionedWrites(client, refresh=refresh)

    @classmethod
    def from_settings(
        cls, settings: Settings, *, encoder: Embedder | None, behind: Callable[[Scope], bool]
    ) -> OpenSearchIndex:
        """The index that the settings name. Requests are signed wherever it is not a node on this machine."""
        local = settings.stack == "embedded" or settings.search_url.startswith("http://")
        serverless = not local and settings.search_service == "aoss"
        return cls(
            client=SearchClient(
                settings.search_url, service="" if local else settings.search_service, region=settings.region
            ),
            alias=settings.search_index,
            encoder=encoder.id if encoder else "",
            dimension=encoder.dimension if encoder else 0,
            serverless=serverless,
            refresh=local,  # one writer, few documents: there a segment costs less than a second's wait
            behind=behind,
        )

    def upsert(self, scope: Scope, documents: Sequence[Document]) -> None:
        if not documents:
            return
        try:
            self._upsert(scope, documents)
        except IndexGone:
            self._generations.forget()
            self._upsert(scope, documents)

    def delete(self, scope: Scope, documents: Mapping[str, int]) -> None:
        if documents:
            for target in self._generations.all():
                self._writes.delete(scope, target, documents)

    def delete_all(self, scope: Scope) -> None:
        for target in self._generations.all():
            self._writes.delete_all(scope, target)

    def count(self, scope: Scope) -> int:
        """Copies in all indexes. Serverless answers as of some seconds ago."""
        found = 0
        for target in self._generations.all():
            found += self._count(scope, target)
        return found

    def search(self, scope: Scope, query: SearchQuery) -> SearchResult:
        """Hits within `query.deadline_ms`, or the names of the legs that did not answer."""
        wanted = query.legs
        if not wanted:
            return SearchResult({})
        if self._is_behind(scope) or not self._breaker.allows():
            return SearchResult({}, missing=wanted)
        try:
            target = self._generations.serving(seconds=query.deadline_ms / 1000)
            legs = self._legs(scope, query, target) if target is not None else {}
        except EngramError:
            self._breaker.failed()
            return SearchResult({}, missing=wanted)
        self._breaker.succeeded()
        return SearchResult(legs, missing=tuple(leg for leg in wanted if leg not in legs))

    def _is_behind(self, scope: Scope) -> bool:
        try:
            return self._behind(scope)
        except EngramError:  # nobody knows
            return True

    def promote(self) -> None:
        """Lets the index of this encoder answer searches. To be called once it has been filled from the table."""
        self._generations.promote()

    def _upsert(self, scope: Scope, documents: Sequence[Document]) -> None:
        for target in self._generations.written():
            self._writes.upsert(scope, target, documents)

    def _legs(self, scope: Scope, query: SearchQuery, target: Generation) -> dict[str, tuple[Hit, ...]]:
        """Legs that answered completely. Words that analysis leaves nothing of have no hits, and that is an answer."""
        unique = not self._serverless
        bodies = searches_of(scope, query, encoder=target.encoder, dimension=target.dimension, unique=unique)
        legs: dict[str, tuple[Hit, ...]] = {}
        if query.text and "lexical" not in bodies:
            legs["lexical"] = ()
        if not bodies:
            return legs
        lines = msearch_lines(scope, target.index, bodies, routed=unique)
        with translated():
            answer = self._client().msearch(body=lines, request_timeout=within(query.deadline_ms / 1000))
        for leg, response in zip(bodies, answer["responses"], strict=True):
            hits = hits_of(leg, response, limit=query.limit, engine=target.engine)
            if hits is not None:
                legs[leg] = hits
            elif response.get("error", {}).get("type") == "index_not_found_exception":
                self._generations.forget()
        return legs

    def _count(self, scope: Scope, target: Generation) -> int:
        query = {"query": {"bool": {"filter": owned_by(scope)}}}
        routed = {} if self._serverless else {"routing": routing_of(scope)}
        with translated():
            if not self._serverless:
                self._client().indices.refresh(index=target.index)
            return int(self._client().count(index=target.index, body=query, **routed)["count"])
