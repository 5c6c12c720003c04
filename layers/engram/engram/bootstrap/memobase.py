"""Memobase's services from the parts of a process. No adapter is named here."""

from __future__ import annotations

from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from engram.domain.clock import random_id
from engram.extraction.indexing import embedded
from engram.memobase.blobs import MemobaseBlobs
from engram.memobase.buffers import MemobaseBuffers
from engram.memobase.edits import Edits
from engram.memobase.events import MemobaseEvents
from engram.memobase.imports import MemobaseImports
from engram.memobase.profiles import MemobaseProfiles
from engram.memobase.projects import MemobaseProjects
from engram.memobase.service import Memobase
from engram.memobase.users import MemobaseUsers
from engram.memobase.waiting import Waiting
from engram.text.tokens import count_tokens

if TYPE_CHECKING:
    from engram.bootstrap.writing import Writing


def memobase_of(parts: Writing) -> Memobase:
    """All of Memobase's calls on the parts of this process."""
    edits = Edits(reader=parts.reader, commits=parts.commits, hot=parts.hot_profiles)
    waiting = Waiting(table=parts.table, operations=parts.operations, clock=parts.clock)
    users = MemobaseUsers(
        table=parts.table, reader=parts.reader, deletions=parts.deletion, clock=parts.clock, new_id=random_id
    )
    profiles = _profiles(parts, edits)
    events = _events(parts, edits)
    return Memobase(
        users=users,
        profiles=profiles,
        events=events,
        blobs=_blobs(parts, waiting),
        buffers=MemobaseBuffers(reader=parts.reader, ingestion=parts.ingestion, waiting=waiting, new_id=random_id),
        projects=MemobaseProjects(
            configs=parts.business_configs,
            hot=parts.hot_profiles,
            meter=parts.meter,
            users_of=users.all,
            clock=parts.clock,
        ),
        imports=MemobaseImports(users=users, profiles=profiles, events=events, edits=edits, clock=parts.clock),
        waiting=waiting,
    )


def _profiles(parts: Writing, edits: Edits) -> MemobaseProfiles:
    return MemobaseProfiles(
        reader=parts.reader,
        edits=edits,
        deletions=parts.deletion,
        rules_of=parts.business_configs.rules,
        profile_filter=parts.profile_filter,
        count_tokens=count_tokens,
        clock=parts.clock,
        new_id=random_id,
    )


def _events(parts: Writing, edits: Edits) -> MemobaseEvents:
    return MemobaseEvents(
        reader=parts.reader,
        edits=edits,
        deletions=parts.deletion,
        search=lambda: parts.event_search,
        projector=parts.projector,
        embed=lambda documents: embedded(documents, parts.embedder),
        count_tokens=count_tokens,
        clock=parts.clock,
        zone=ZoneInfo(parts.settings.timezone),
    )


def _blobs(parts: Writing, waiting: Waiting) -> MemobaseBlobs:
    return MemobaseBlobs(
        table=parts.table,
        blobs=parts.blobs,
        reader=parts.reader,
        operations=parts.operations,
        ingestion=parts.ingestion,
        deletions=parts.deletion,
        waiting=waiting,
        meter=parts.meter,
        clock=parts.clock,
        new_id=random_id,
        zone=ZoneInfo(parts.settings.timezone),
    )
