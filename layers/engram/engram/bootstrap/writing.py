"""The services that write: ingestion, the extractor and its jobs, lifecycle, Memobase's calls."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from engram.bootstrap.parts import part
from engram.bootstrap.reading import Reading
from engram.domain.models import OperationKind

if TYPE_CHECKING:
    from engram.catalogue.reevaluation import Reevaluation
    from engram.catalogue.service import CatalogueService
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
    from engram.lifecycle.import_bodies import ImportBodies
    from engram.lifecycle.imports import ImportService
    from engram.lifecycle.memories import MemoryService
    from engram.lifecycle.purge import Purge
    from engram.lifecycle.rebuild import Rebuild
    from engram.lifecycle.sweep import Sweep
    from engram.memobase.service import Memobase


class Writing(Reading):
    """What changes something, on top of what reads."""

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

    @part
    def deletion(self) -> DeletionService:
        from engram.bootstrap.lifecycle import deletion_of

        return deletion_of(self)

    @part
    def census(self) -> CensusTaker:
        from engram.bootstrap.lifecycle import census_of

        return census_of(self)

    @part
    def memories(self) -> MemoryService:
        from engram.bootstrap.lifecycle import memories_of

        return memories_of(self)

    @part
    def exports(self) -> ExportService:
        from engram.bootstrap.lifecycle import exports_of

        return exports_of(self)

    @part
    def imports(self) -> ImportService:
        from engram.bootstrap.lifecycle import imports_of

        return imports_of(self)

    @part
    def import_bodies(self) -> ImportBodies:
        from engram.lifecycle.import_bodies import ImportBodies
        from engram.store.children import Children

        return ImportBodies(
            table=self.table,
            blobs=self.blobs,
            operations=self.operations,
            children=Children(self.table),
            clock=self.clock,
        )

    @part
    def rebuild(self) -> Rebuild:
        from engram.bootstrap.lifecycle import rebuild_of

        return rebuild_of(self)

    @part
    def everybody(self) -> Everybody:
        from engram.bootstrap.lifecycle import everybody_of

        return everybody_of(self)

    def _reprocess(self, scope: Scope, operation: Operation) -> Operation:
        """By the present taxonomy, or by the present catalogue."""
        from engram.bootstrap.lifecycle import redistillation_of
        from engram.lifecycle.redistilling import TAXONOMY

        if operation.arguments.get("what") == TAXONOMY:
            return redistillation_of(self, self._distil_stage).run(scope, operation)
        return self._reevaluation.run(scope, operation)

    @part
    def _purge(self) -> Purge:
        from engram.bootstrap.lifecycle import purge_of

        return purge_of(self)

    @part
    def sweep(self) -> Sweep:
        from engram.lifecycle.sweep import Sweep

        return Sweep(
            table=self.table,
            reader=self.reader,
            operations=self.operations,
            ingestion=self.ingestion,
            repair=lambda: self.hot_profiles.repair() + self.rebuild.repair() + self.import_bodies.repair(),
            clock=self.clock,
            stale_after=timedelta(seconds=self.settings.sweep_after_seconds),
            idle=timedelta(seconds=self.settings.buffer_flush_interval),
        )

    @part
    def memobase(self) -> Memobase:
        """What Memobase's published clients call."""
        from engram.bootstrap.memobase import memobase_of

        return memobase_of(self)
