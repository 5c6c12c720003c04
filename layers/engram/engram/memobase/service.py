"""All of Memobase's calls, by what they are about."""

from __future__ import annotations

from dataclasses import dataclass

from engram.memobase.blobs import MemobaseBlobs
from engram.memobase.buffers import MemobaseBuffers
from engram.memobase.events import MemobaseEvents
from engram.memobase.imports import MemobaseImports
from engram.memobase.profiles import MemobaseProfiles
from engram.memobase.projects import MemobaseProjects
from engram.memobase.users import MemobaseUsers
from engram.memobase.waiting import Waiting


@dataclass(frozen=True, slots=True)
class Memobase:
    users: MemobaseUsers
    profiles: MemobaseProfiles
    events: MemobaseEvents
    blobs: MemobaseBlobs
    buffers: MemobaseBuffers
    projects: MemobaseProjects
    imports: MemobaseImports
    waiting: Waiting
