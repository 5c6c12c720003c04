"""The store and the services that read: context, recall, catalogue."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from engram.bootstrap.adapters import Adapters
from engram.bootstrap.parts import part

if TYPE_CHECKING:
    from engram.adapters.chat import ChatModel
    from engram.catalogue.resolvers import Resolvers
    from engram.context.events import EventSearch
    from engram.context.profiles import HotProfiles
    from engram.context.service import ContextService
    from engram.ports import Embedder, ProfileFilter
    from engram.recall.choosing import Choices
    from engram.recall.deadline import QueryEmbeddings
    from engram.recall.service import RecallService
    from engram.settings import ChooserName, DistillerName
    from engram.store.businesses import BusinessConfigs
    from engram.store.catalogue import CatalogueRows
    from engram.store.commits import Commits
    from engram.store.meter import TableMeter
    from engram.store.operations import Operations
    from engram.store.reader import Reader
    from engram.store.unprojected import UnprojectedProfiles

FILTER_SECONDS = 8.0
"""What the profile filter's model may take: a caller asked for it and knows its price."""


class Reading(Adapters):
    """What a read function uses."""

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
        """On the distiller's model; None with rules, which choose nothing."""
        settings = self.settings
        chat = self._chat(settings.distiller, settings.distiller_model, seconds=FILTER_SECONDS)
        if chat is None:
            return None
        from engram.adapters.chat import ChatProfileFilter

        return ChatProfileFilter(chat)

    @part
    def _choices(self) -> Choices | None:
        """Who decides what an ambiguous mention of a query means; nobody unless it is set."""
        settings = self.settings
        chat = self._chat(settings.chooser, settings.chooser_model, seconds=settings.deadline_ms / 1000)
        if chat is None:
            return None
        from engram.adapters.chat import ChatChooser
        from engram.recall.choosing import Choices

        return Choices(chooser=ChatChooser(chat), deadline_ms=float(settings.deadline_ms))

    def _chat(self, adapter: DistillerName | ChooserName, model: str, *, seconds: float) -> ChatModel | None:
        """A model for a choice that a read waits for: two attempts of `seconds` at most; None where none is set."""
        if adapter == "bedrock":
            from engram.adapters.aws import LazyClient
            from engram.adapters.bedrock import BedrockChat

            client = LazyClient(
                "bedrock-runtime",
                region=self.settings.region,
                endpoint_url=self.settings.endpoint_url,
                connect_timeout=min(1.0, seconds),
                read_timeout=seconds,
                attempts=2,
            )
            return BedrockChat(client=client, model=model)
        if adapter == "openai_compatible":
            from engram.adapters.json_http import Limits
            from engram.adapters.openai_compatible import OpenAICompatibleChat

            return OpenAICompatibleChat(
                base_url=self.settings.model_base_url,
                api_key=self._model_key,
                model=model,
                limits=Limits(connect=min(1.0, seconds), read=seconds, total=seconds),
            )
        return None

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
            choices=self._choices,
            rules=RecallRules(
                timezone=self.settings.timezone,
                conversation_gap=timedelta(seconds=self.settings.conversation_gap_seconds),
                index_lag=REMOTE_INDEX_LAG if remote else timedelta(),
            ),
        )
