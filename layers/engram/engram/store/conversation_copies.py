"""A process's copies of users' conversation lists, so that a recall need not read hundreds of rows to pick one.

A copy is current while the version of the user's search rows is the one it was made under and nothing is pending:
a conversation changes with the index stage, which first raises that version, then ends with the pending mark gone.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from datetime import datetime, timedelta
from typing import NamedTuple

from engram.domain.models import Conversation
from engram.domain.scope import Scope

MAX_CONVERSATIONS = 50_000
"""Over all users of a process: some 50 MB."""

MAX_AGE = timedelta(minutes=1)
"""Bounds what a writer that follows another order of steps could leave behind."""


class Version(NamedTuple):
    """What must not have changed: search rows, and deletions."""

    generation: str
    rows: int
    tombstones: int


class _Copy(NamedTuple):
    version: Version
    made_at: datetime
    conversations: tuple[Conversation, ...]


class ConversationCopies:
    """Copies by scope, the least recently used dropped first. Shared between threads."""

    def __init__(self, *, maximum: int = MAX_CONVERSATIONS) -> None:
        self._maximum = maximum
        self._copies: OrderedDict[Scope, _Copy] = OrderedDict()
        self._held = 0
        self._lock = threading.Lock()

    def get(self, scope: Scope, version: Version, now: datetime) -> tuple[Conversation, ...] | None:
        """The conversations as of `version`, if there is a copy of that."""
        with self._lock:
            copy = self._copies.get(scope)
            if copy is None or copy.version != version or now - copy.made_at > MAX_AGE:
                return None
            self._copies.move_to_end(scope)
            return copy.conversations

    def put(self, scope: Scope, version: Version, now: datetime, conversations: tuple[Conversation, ...]) -> None:
        """Keeps a copy. `conversations` were read after `version`, and after nothing was pending."""
        with self._lock:
            self._drop(scope)
            self._copies[scope] = _Copy(version, now, conversations)
            self._held += len(conversations)
            while self._held > self._maximum and len(self._copies) > 1:
                self._drop(next(iter(self._copies)))

    def _drop(self, scope: Scope) -> None:
        copy = self._copies.pop(scope, None)
        if copy is not None:
            self._held -= len(copy.conversations)
