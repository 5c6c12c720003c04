"""What an import line can be, after it was parsed: messages to accept, or a row to put back as it was."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from engram.domain.models import Event, Gist, MemoryItem, ProfileSlot
from engram.domain.scope import Scope
from engram.ingestion.models import IngestionRequest

Row = ProfileSlot | Event | Gist | MemoryItem


@dataclass(frozen=True, slots=True)
class MessagesLine:
    """Messages of one session.

    Attributes:
        exported: the line comes from an export: messages that are there already are passed over.
    """

    scope: Scope
    request: IngestionRequest
    exported: bool = False


@dataclass(frozen=True, slots=True)
class UserLine:
    scope: Scope
    created_at: datetime | None = None
    data: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RowLine:
    """A slot, event, gist or memory item. `closed` for an earlier version of a memory item."""

    scope: Scope
    row: Row
    closed: bool = False


@dataclass(frozen=True, slots=True)
class NextLine:
    """Where an export's page named the next one: nothing to do."""


ImportLine = MessagesLine | UserLine | RowLine | NextLine

ParseLine = Callable[[str, bytes], ImportLine]
"""Business id and one line to what it says. Raises EngramError, without a word of the line in it."""
