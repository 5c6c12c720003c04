"""How the lifecycle's services are put together from the other parts. No adapter is named here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engram.lifecycle.affected import Survey
from engram.lifecycle.census import CensusTaker
from engram.lifecycle.deletion import DeletionService
from engram.lifecycle.erasure import Erasure
from engram.lifecycle.everybody import Everybody
from engram.lifecycle.exports import ExportService
from engram.lifecycle.imports import ImportService
from engram.lifecycle.memories import MemoryService
from engram.lifecycle.purge import Purge
from engram.lifecycle.rebuild import Rebuild
from engram.lifecycle.redistilling import Redistillation
from engram.lifecycle.remains import Remains
from engram.lifecycle.restoring import Restoring
from engram.lifecycle.withdrawal import Parts, Withdrawal
from engram.store.children import Children

if TYPE_CHECKING:
    from engram.bootstrap.writing import Writing
    from engram.extraction.distilling import DistilStage


def deletion_of(services: Writing) -> DeletionService:
    return DeletionService(
        table=services.table,
        reader=services.reader,
        operations=services.operations,
        projector=services.projector,
        survey=Survey(table=services.table, reader=services.reader),
        send=services.ingestion.send,
        clock=services.clock,
    )


def purge_of(services: Writing) -> Purge:
    from engram.text.tokens import count_tokens

    parts = Parts(
        table=services.table,
        blobs=services.blobs,
        reader=services.reader,
        commits=services.commits,
        operations=services.operations,
        projector=services.projector,
        survey=Survey(table=services.table, reader=services.reader),
        remains=_remains_of(services),
        count_tokens=count_tokens,
        clock=services.clock,
    )
    return Purge(erasure=_erasure_of(services), withdrawal=Withdrawal(parts), send=services.ingestion.send)


def census_of(services: Writing) -> CensusTaker:
    cache = services.cache
    return CensusTaker(
        table=services.table,
        blobs=services.blobs,
        projector=services.projector,
        cached=lambda scope: cache is not None and cache.get(scope) is not None,
    )


def memories_of(services: Writing) -> MemoryService:
    from engram.text.tokens import count_tokens

    return MemoryService(
        reader=services.reader,
        commits=services.commits,
        projector=services.projector,
        embedder=lambda: services.embedder,
        count_tokens=count_tokens,
        clock=services.clock,
    )


def exports_of(services: Writing) -> ExportService:
    return ExportService(reader=services.reader)


def imports_of(services: Writing) -> ImportService:
    from engram.api.import_lines import parse_line
    from engram.text.tokens import count_tokens

    restoring = Restoring(
        table=services.table,
        reader=services.reader,
        commits=services.commits,
        projector=services.projector,
        embedder=lambda: services.embedder,
        count_tokens=count_tokens,
        clock=services.clock,
    )
    return ImportService(
        bodies=services.import_bodies,
        reader=services.reader,
        operations=services.operations,
        children=Children(services.table),
        ingestion=services.ingestion,
        restoring=restoring,
        parse=parse_line,
        clock=services.clock,
    )


def rebuild_of(services: Writing) -> Rebuild:
    return Rebuild(
        table=services.table,
        reader=services.reader,
        operations=services.operations,
        everybody=services.everybody,
        send=services.ingestion.send,
        projector=services.projector,
        lagging=services.lagging,
        embedder=lambda: services.embedder,
        clock=services.clock,
    )


def everybody_of(services: Writing) -> Everybody:
    return Everybody(
        table=services.table,
        reader=services.reader,
        operations=services.operations,
        children=Children(services.table),
        ingestion=services.ingestion,
        clock=services.clock,
    )


def redistillation_of(services: Writing, distil: DistilStage) -> Redistillation:
    from engram.text.tokens import count_tokens

    return Redistillation(
        table=services.table,
        reader=services.reader,
        commits=services.commits,
        operations=services.operations,
        projector=services.projector,
        distil=distil,
        everybody=services.everybody,
        count_tokens=count_tokens,
        send=services.ingestion.send,
        clock=services.clock,
    )


def _erasure_of(services: Writing) -> Erasure:
    return Erasure(
        table=services.table,
        blobs=services.blobs,
        reader=services.reader,
        operations=services.operations,
        projector=services.projector,
        census=services.census,
        clock=services.clock,
    )


def _remains_of(services: Writing) -> Remains:
    return Remains(
        table=services.table,
        blobs=services.blobs,
        reader=services.reader,
        projector=services.projector,
        embedder=services.embedder,
        subjects_of=services.resolvers.current,
        timezone=services.settings.timezone,
    )
