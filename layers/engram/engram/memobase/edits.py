"""Changes of a profile by a person: read, change, commit on condition, again if somebody came between."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass

from engram.context.profiles import HotProfiles
from engram.domain.errors import ConditionFailed, NotFound, Throttled
from engram.domain.models import Event, Gist, ProfileSlot, User
from engram.domain.scope import Scope
from engram.domain.table import Key
from engram.store.commits import Commits, ProfileCommit
from engram.store.reader import Profile, Reader

_TRIES = 12


@dataclass(frozen=True, slots=True)
class Edit:
    """Rows to put and keys to delete, as one commit."""

    slots: tuple[ProfileSlot, ...] = ()
    events: tuple[Event, ...] = ()
    gists: tuple[Gist, ...] = ()
    deleted: tuple[Key, ...] = ()

    @property
    def nothing(self) -> bool:
        return not (self.slots or self.events or self.gists or self.deleted)


class Edits:
    """Commits edits and writes the hot profile through, so that the next read of whoever edited sees it."""

    def __init__(
        self,
        *,
        reader: Reader,
        commits: Commits,
        hot: HotProfiles,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._reader = reader
        self._commits = commits
        self._hot = hot
        self._pause = pause

    def apply(self, scope: Scope, change: Callable[[Profile], Edit]) -> User:
        """Commits what `change` makes of the profile as it is; asked anew if the profile changed meanwhile.

        Raises:
            NotFound: no such user, or what `change` raises.
            Throttled: contended.
        """
        for attempt in range(_TRIES):
            profile = self._reader.profile(scope, gists=1)
            if profile.user is None:
                raise NotFound("no such user", field="user_id")
            edit = change(profile)
            if edit.nothing:
                return profile.user
            commit = ProfileCommit(
                expected=profile.user,
                tombstones=profile.tombstones,
                slots=edit.slots,
                events=edit.events,
                gists=edit.gists,
                deleted=edit.deleted,
            )
            try:
                user = self._commits.profile(scope, commit)
            except ConditionFailed:
                self._pause(random.uniform(0, 0.005 * 2 ** min(attempt, 5)))
                continue
            self._hot.write_through(scope)
            return user
        raise Throttled("the profile is contended")
