"""From settings to services. The only module that knows adapters; each part is made when it is first asked for.

Imports stand inside the properties on purpose: a function loads what it uses, and a read that the cache answers
never loads boto3, numpy or a tokenizer.
"""

from __future__ import annotations

import os
import threading
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from zoneinfo import ZoneInfo

from engram.domain.clock import Clock, system_clock
from engram.domain.models import OperationKind
from engram.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from engram.access.api_keys import ApiKeys
    from engram.access.quota import Quota
    from engram.adapters.aws import LazyClient
    from engram.adapters.chat import ChatModel
    from engram.adapters.local_queue import LocalQueue
    from engram.adapters.partition_index import PartitionIndex
    from engram.adapters.sigv4 import AwsCredentials
    from engram.api.cursors import Cursors
    from engram.catalogue.reevaluation import Reevaluation
    from engram.catalogue.resolvers import Resolvers
    from engram.catalogue.service import CatalogueService
    from engram.context.events import EventSearch
    from engram.context.profiles import HotProfiles
    from engram.context.service import ContextService
    from engram.domain.models import Operation
    from engram.domain.scope import Scope
    from engram.extraction.distilling import BusinessRules, DistilStage
    from engram.extraction.indexing import IndexStage
    from engram.extraction.projection import Projector
    from engram.extraction.worker import Extractor
    from engram.ingestion.service import IngestionService
    from engram.lifecycle.census import CensusTaker
    from engram.lifecycle.deletion import DeletionService
    from engram.lifecycle.everybody import Everybody
    from engram.lifecycle.exports import ExportService
    from engram.lifecycle.imports import ImportService
    from engram.lifecycle.memories import MemoryService
    from engram.lifecycle.purge import Purge
    from engram.lifecycle.rebuild import Rebuild
    from engram.lifecycle.sweep import Sweep
    from engram.memobase.service import Memobase
    from engram.ports import BlobStore, Distiller, Embedder, ProfileCache, ProfileFilter, SearchIndex, Table, WorkQueue
    from engram.recall.deadline import QueryEmbeddings
    from engram.recall.service import RecallService
    from engram.store.businesses import BusinessConfigs
    from engram.store.catalogue import CatalogueRows
    from engram.store.commits import Commits
    from engram.store.lagging import LaggingSearch
    from engram.store.meter import TableMeter
    from engram.store.operations import Operations
    from engram.store.reader import Reader
    from engram.store.unprojected import UnprojectedProfiles


T = TypeVar("T")


class part(Generic[T]):  # noqa: N801 - reads as a decorator
    """A property made at its first use, once, from any thread. After that it is a plain attribute.

    functools.cached_property takes no lock since Python 3.12, and two queues are worse than none.
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, services: Services, owner: type) -> T:
        with services.lock:
            if self._name not in services.__dict__:
                services.__dict__[self._name] = self._make(services)
            made: T = services.__dict__[self._name]
            return made


class Services:
    """Everything one process needs, made lazily and once.

    Args:
        clock: the present moment; tests hold it still.
    """

    def __init__(self, settings: Settings, *, clock: Clock = system_clock) -> None:
        self.settings = settings
        self.clock = clock
        self.lock = threading.RLock()

    @property
    def embedded(self) -> bool:
        """Whether everything lives on this machine."""
        return self.settings.stack == "embedded"

    @property
    def _folder(self) -> Path:
        folder = Path(self.settings.data_dir)
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _client(self, service: str) -> LazyClient:
        from engram.adapters.aws import LazyClient

        return LazyClient(service, region=self.settings.region, endpoint_url=self.settings.endpoint_url)

    @part
    def _slow_model(self) -> LazyClient:
        """A model takes its time to write; the queue, not this client, tries again."""
        from engram.adapters.aws import LazyClient

        settings = self.settings
        return LazyClient(
            "bedrock-runtime",
            region=settings.region,
            endpoint_url=settings.endpoint_url,
            read_timeout=90.0,
            attempts=2,
        )

    # Ports ------------------------------------------------------------------------------------------

    @part
    def table(self) -> Table:
        if self.embedded:
            from engram.adapters.sqlite import SqliteTable

            return SqliteTable(self._folder / "engram.sqlite", clock=self.clock)
        from engram.adapters.dynamodb import DynamoTable

        return DynamoTable(self.settings.table, client=self._client("dynamodb"), clock=self.clock)

    @part
    def blobs(self) -> BlobStore:
        if self.embedded:
            from engram.adapters.folder import FolderBlobs

            return FolderBlobs(self._folder / "blobs")
        from engram.adapters.s3 import S3Blobs

        return S3Blobs(self.settings.bucket, client=self._client("s3"))

    @part
    def local_queue(self) -> LocalQueue:
        """The embedded stack's queue, whose consumer runs in this process."""
        from engram.adapters.local_queue import LocalQueue

        return LocalQueue()

    @part
    def queue(self) -> WorkQueue:
        if self.embedded:
            return self.local_queue
        from engram.adapters.sqs import SqsQueue

        return SqsQueue(self.settings.queue_url, client=self._client("sqs"))

    @part
    def cache(self) -> ProfileCache | None:
        settings = self.settings
        if settings.cache == "valkey":
            return self._valkey()
        if settings.cache == "memory":
            from engram.adapters.memory_cache import MemoryCache

            return MemoryCache(ttl_seconds=settings.cache_ttl_seconds)
        return None

    def _valkey(self) -> ProfileCache:
        from engram.adapters.valkey import ValkeyCache

        settings = self.settings
        tokens = None
        if settings.cache_iam_user:
            from engram.adapters.elasticache_token import IamTokens

            tokens = IamTokens.for_url(
                settings.cache_url,
                user=settings.cache_iam_user,
                region=settings.region,
                credentials=_role_credentials,
            )
        return ValkeyCache(settings.cache_url, ttl_seconds=settings.cache_ttl_seconds, tokens=tokens)

    @part
    def rows_index(self) -> PartitionIndex:
        """The search rows in the user's own partition: always written, always there to fall back to."""
        from engram.adapters.partition_index import PartitionIndex
        from engram.store.documents import SearchRows

        return PartitionIndex(rows=SearchRows(table=self.table, clock=self.clock))

    @part
    def remote_index(self) -> SearchIndex | None:
        if self.settings.search != "opensearch":
            return None
        from engram.adapters.opensearch import OpenSearchIndex

        return OpenSearchIndex.from_settings(self.settings, encoder=self.embedder)

    @part
    def embedder(self) -> Embedder | None:
        settings = self.settings
        if settings.embedder == "local":
            from engram.adapters.local_encoder import LocalEncoder

            return LocalEncoder(cache=self._folder / "encoder" if self.embedded else None)
        if settings.embedder == "bedrock":
            from engram.adapters.bedrock import BedrockEmbedder

            return BedrockEmbedder(
                client=self._client("bedrock-runtime"),
                model=settings.embedder_model,
                dimension=settings.embedder_dimension,
            )
        if settings.embedder == "openai_compatible":
            from engram.adapters.openai_compatible import OpenAICompatibleEmbedder

            return OpenAICompatibleEmbedder(
                base_url=settings.model_base_url,
                api_key=self._model_key,
                model=settings.embedder_model,
                dimension=settings.embedder_dimension,
            )
        return None

    @part
    def distiller(self) -> Distiller:
        settings = self.settings
        if settings.distiller == "bedrock":
            from engram.adapters.bedrock import BedrockDistiller

            return BedrockDistiller(client=self._slow_model, model=settings.distiller_model)
        if settings.distiller == "openai_compatible":
            from engram.adapters.openai_compatible import OpenAICompatibleDistiller

            return OpenAICompatibleDistiller(
                base_url=settings.model_base_url, api_key=self._model_key, model=settings.distiller_model
            )
        from engram.adapters.rules import RulesDistiller

        return RulesDistiller()

    # Store ------------------------------------------------------------------------------------------

    @part
    def reader(self) -> Reader:
        from engram.store.reader import Reader

        return Reader(table=self.table, blobs=self.blobs)

    @part
    def operations(self) -> Operations:
        from engram.store.operations import Operations

        return Operations(table=self.table, clock=self.clock)

    @part
    def commits(self) -> Commits:
        from engram.store.commits import Commits

        return Commits(table=self.table, operations=self.operations, clock=self.clock)

    @part
    def meter(self) -> TableMeter:
        from engram.store.meter import TableMeter

        return TableMeter(table=lambda: self.table, clock=self.clock)

    # Access -----------------------------------------------------------------------------------------

    @part
    def quota(self) -> Quota:
        from engram.access.quota import Quota

        return Quota(self.settings.requests_per_minute)

    @part
    def cursors(self) -> Cursors:
        from engram.api.cursors import Cursors

        return Cursors(self.pepper)

    @part
    def api_keys(self) -> ApiKeys:
        from engram.access.api_keys import ApiKeys

        return ApiKeys(self.table, pepper=self.pepper, clock=self.clock)

    @part
    def pepper(self) -> Callable[[], bytes]:
        """The key of our HMACs: from Secrets Manager on AWS, from a file of this installation on one machine."""
        if self.settings.pepper_secret:
            secret = self._secret(self.settings.pepper_secret)
            return lambda: secret().encode()
        if self.settings.pepper:
            return self.settings.pepper.encode
        from engram.access.pepper_file import pepper_from

        return pepper_from(self._folder / "pepper")

    @part
    def _model_key(self) -> Callable[[], str]:
        if self.settings.model_api_key_secret:
            return self._secret(self.settings.model_api_key_secret)
        key = self.settings.model_api_key
        return lambda: key

    def _secret(self, secret_id: str) -> Callable[[], str]:
        from engram.adapters.secrets_manager import SecretsManagerSecret

        return SecretsManagerSecret(secret_id, client=self._client("secretsmanager"))

    # Profile and context ----------------------------------------------------------------------------

    @part
    def business_configs(self) -> BusinessConfigs:
        from engram.store.businesses import BusinessConfigs

        return BusinessConfigs(
            table=self.table, service_config=self.settings.profile_config, language=self.settings.language
        )

    @part
    def hot_profiles(self) -> HotProfiles:
        from engram.context.profiles import HotProfiles

        return HotProfiles(
            cache=self.cache,
            reader=lambda: self.reader,
            rules_of=lambda business_id: self.business_configs.rules(business_id),
            unprojected=lambda: self.unprojected_profiles,
            zone=ZoneInfo(self.settings.timezone),
        )

    @part
    def unprojected_profiles(self) -> UnprojectedProfiles:
        from engram.store.unprojected import UnprojectedProfiles

        return UnprojectedProfiles(table=self.table, clock=self.clock)

    @part
    def event_search(self) -> EventSearch:
        from engram.context.events import EventSearch

        return EventSearch(
            embedder=self.embedder,
            indexes=[index for index in (self.remote_index, self.rows_index) if index is not None],
            reader=lambda: self.reader,
            zone=ZoneInfo(self.settings.timezone),
            deadline_ms=self.settings.deadline_ms,
        )

    @part
    def context(self) -> ContextService:
        from engram.context.service import ContextService

        return ContextService(
            profiles=self.hot_profiles,
            search=lambda: self.event_search,
            profile_filter=lambda: self.profile_filter,
            language_of=lambda business_id: self.business_configs.rules(business_id).language,
            clock=self.clock,
            default_language=self.settings.language,
        )

    @part
    def profile_filter(self) -> ProfileFilter | None:
        chat = self._chat()
        if chat is None:
            return None
        from engram.adapters.chat import ChatProfileFilter

        return ChatProfileFilter(chat)

    def _chat(self) -> ChatModel | None:
        """The distiller's model, for choices; None with rules, which choose nothing."""
        settings = self.settings
        if settings.distiller == "bedrock":
            from engram.adapters.bedrock import BedrockChat

            return BedrockChat(client=self._client("bedrock-runtime"), model=settings.distiller_model)
        if settings.distiller == "openai_compatible":
            from engram.adapters.json_http import Limits
            from engram.adapters.openai_compatible import OpenAICompatibleChat

            return OpenAICompatibleChat(
                base_url=settings.model_base_url,
                api_key=self._model_key,
                model=settings.distiller_model,
                limits=Limits(connect=1.0, read=8.0, total=8.0),
            )
        return None

    @part
    def memobase(self) -> Memobase:
        """What Memobase's published clients call."""
        from engram.memobase.wiring import memobase_of

        return memobase_of(self)

    # Recall -----------------------------------------------------------------------------------------

    @part
    def resolvers(self) -> Resolvers:
        from engram.catalogue.resolvers import Resolvers
        from engram.resolve.resolver import Resolver
        from engram.resolve.shipped import default_catalogue

        return Resolvers(
            rows=self._catalogue_rows,
            shipped=default_catalogue,
            make=lambda catalogue: Resolver(catalogue, embedder=self._read_embedder),
        )

    @part
    def _catalogue_rows(self) -> CatalogueRows:
        from engram.store.catalogue import CatalogueRows

        return CatalogueRows(table=self.table, clock=self.clock)

    @part
    def _reevaluation(self) -> Reevaluation:
        from engram.catalogue.reevaluation import Reevaluation
        from engram.domain.clock import random_id

        return Reevaluation(
            table=self.table,
            rows=self._catalogue_rows,
            reader=self.reader,
            resolvers=self.resolvers,
            projector=self.projector,
            operations=self.operations,
            queue=self.queue,
            clock=self.clock,
            new_id=random_id,
            timezone=self.settings.timezone,
        )

    @part
    def catalogue(self) -> CatalogueService:
        from engram.catalogue.service import CatalogueService

        return CatalogueService(rows=self._catalogue_rows, resolvers=self.resolvers, reevaluation=self._reevaluation)

    @part
    def _query_embeddings(self) -> QueryEmbeddings:
        from engram.recall.deadline import QueryEmbeddings

        return QueryEmbeddings(embedder=self.embedder, deadline_ms=float(self.settings.deadline_ms))

    @part
    def _read_embedder(self) -> Embedder | None:
        """The encoder for reads: a query that takes too long is given up."""
        from engram.recall.deadline import GuardedEmbedder

        return GuardedEmbedder(self.embedder, queries=self._query_embeddings) if self.embedder else None

    @part
    def recall(self) -> RecallService:
        from engram.domain.clock import random_id
        from engram.recall.nearness import Nearness
        from engram.recall.recipes import recipe
        from engram.recall.searching import Searcher
        from engram.recall.service import REMOTE_INDEX_LAG, RecallRules, RecallService
        from engram.store.recall_reads import RecallReads

        deadline_ms = float(self.settings.deadline_ms)
        remote = self.remote_index
        searcher = Searcher(
            index=remote or self.rows_index,
            fallback=self.rows_index if remote else None,
            embeddings=self._query_embeddings,
            recipe=recipe(),
            deadline_ms=deadline_ms,
        )
        return RecallService(
            reads=RecallReads(table=self.table, reader=self.reader),
            searcher=searcher,
            nearness=Nearness(embedder=self._read_embedder),
            catalogues=self.resolvers,
            clock=self.clock,
            new_id=random_id,
            rules=RecallRules(
                timezone=self.settings.timezone,
                conversation_gap=timedelta(seconds=self.settings.conversation_gap_seconds),
                index_lag=REMOTE_INDEX_LAG if remote else timedelta(),
            ),
        )

    # Write path -------------------------------------------------------------------------------------

    @part
    def ingestion(self) -> IngestionService:
        from engram.ingestion.service import IngestionService

        return IngestionService(
            table=self.table,
            blobs=self.blobs,
            commits=self.commits,
            operations=self.operations,
            queue=self.queue,
            clock=self.clock,
            gap=timedelta(seconds=self.settings.conversation_gap_seconds),
        )

    @part
    def projector(self) -> Projector:
        from engram.extraction.projection import Projector

        return Projector(
            rows=self.rows_index,
            index=self.remote_index,
            hot=self.hot_profiles,
            lagging=self.lagging,
            embeds=self.settings.embedder != "none",
        )

    @part
    def lagging(self) -> LaggingSearch:
        from engram.store.lagging import LaggingSearch

        return LaggingSearch(table=self.table, clock=self.clock)

    @part
    def _index_stage(self) -> IndexStage:
        from engram.extraction.indexing import IndexStage
        from engram.text.tokens import count_tokens

        return IndexStage(
            reader=self.reader,
            commits=self.commits,
            projector=self.projector,
            embedder=self.embedder,
            subjects_of=self.resolvers.current,
            count_tokens=count_tokens,
            meter=self.meter,
            clock=self.clock,
            idle=timedelta(seconds=self.settings.buffer_flush_interval),
            timezone=self.settings.timezone,
        )

    @part
    def _distil_stage(self) -> DistilStage:
        from engram.extraction.distilling import DistilStage
        from engram.text.tokens import count_tokens

        return DistilStage(
            table=self.table,
            reader=self.reader,
            commits=self.commits,
            operations=self.operations,
            projector=self.projector,
            distiller=self.distiller,
            embedder=self.embedder,
            meter=self.meter,
            rules_of=self._business_rules,
            count_tokens=count_tokens,
            clock=self.clock,
            timezone=self.settings.timezone,
            buffer_tokens=self.settings.buffer_tokens,
        )

    def _business_rules(self, business_id: str) -> BusinessRules:
        from engram.extraction.distilling import BusinessRules

        rules = self.business_configs.rules(business_id)
        topic_ids = tuple(self.resolvers.current(business_id).catalogue.topics)
        return BusinessRules(taxonomy=rules.taxonomy, topic_ids=topic_ids, language=rules.language)

    @part
    def extractor(self) -> Extractor:
        from engram.extraction.worker import Extractor

        return Extractor(
            operations=self.operations,
            index=self._index_stage,
            distil=self._distil_stage,
            jobs={
                OperationKind.DELETION: self._purge.run,
                OperationKind.IMPORT: self.imports.run,
                OperationKind.REINDEX: self.rebuild.run,
                OperationKind.REPROCESS: self._reprocess,
            },
            send=self.ingestion.send,
            clock=self.clock,
        )

    # Lifecycle --------------------------------------------------------------------------------------

    @part
    def deletion(self) -> DeletionService:
        from engram.lifecycle.wiring import deletion_of

        return deletion_of(self)

    @part
    def census(self) -> CensusTaker:
        from engram.lifecycle.wiring import census_of

        return census_of(self)

    @part
    def memories(self) -> MemoryService:
        from engram.lifecycle.wiring import memories_of

        return memories_of(self)

    @part
    def exports(self) -> ExportService:
        from engram.lifecycle.wiring import exports_of

        return exports_of(self)

    @part
    def imports(self) -> ImportService:
        from engram.lifecycle.wiring import imports_of

        return imports_of(self)

    @part
    def rebuild(self) -> Rebuild:
        from engram.lifecycle.wiring import rebuild_of

        return rebuild_of(self)

    @part
    def everybody(self) -> Everybody:
        from engram.lifecycle.wiring import everybody_of

        return everybody_of(self)

    def _reprocess(self, scope: Scope, operation: Operation) -> Operation:
        """By the present taxonomy, or by the present catalogue."""
        from engram.lifecycle.redistilling import TAXONOMY
        from engram.lifecycle.wiring import redistillation_of

        if operation.arguments.get("what") == TAXONOMY:
            return redistillation_of(self, self._distil_stage).run(scope, operation)
        return self._reevaluation.run(scope, operation)

    @part
    def _purge(self) -> Purge:
        from engram.lifecycle.wiring import purge_of

        return purge_of(self)

    @part
    def sweep(self) -> Sweep:
        from engram.lifecycle.sweep import Sweep

        return Sweep(
            table=self.table,
            reader=self.reader,
            operations=self.operations,
            ingestion=self.ingestion,
            repair=lambda: self.hot_profiles.repair() + self.rebuild.repair(),
            clock=self.clock,
            stale_after=timedelta(seconds=self.settings.sweep_after_seconds),
            idle=timedelta(seconds=self.settings.buffer_flush_interval),
        )


def _role_credentials() -> AwsCredentials:
    """Of the function's role: Lambda puts them into the environment for the life of the process."""
    from engram.adapters.sigv4 import AwsCredentials

    return AwsCredentials(
        os.environ["AWS_ACCESS_KEY_ID"], os.environ["AWS_SECRET_ACCESS_KEY"], os.environ.get("AWS_SESSION_TOKEN", "")
    )


_lock = threading.Lock()
_services: Services | None = None


def services() -> Services:
    """The services of this process, from its environment. Parsed at the first call, not at import."""
    global _services
    if _services is None:
        with _lock:
            if _services is None:
                from engram.observability import configure

                configure()
                _services = Services(Settings.parse(os.environ))
    return _services


def use(replacement: Services | None) -> None:
    """Puts other services in place, or none so that the next call parses the environment again."""
    global _services
    with _lock:
        _services = replacement
