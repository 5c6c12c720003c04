"""Hot profiles from the cache, from the table when the cache has none, and into the cache after every change.

A fill can come late but never wins: entries carry the deletion epoch and the version of what they were made from, and
the cache keeps the higher. A profile that changed while it was read is read again, so no entry is half old.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import tzinfo
from typing import TYPE_CHECKING, TypeVar

from engram.context.hot import KEPT_GISTS, HotProfile, decode_hot, hot_profile
from engram.domain.errors import Unavailable
from engram.domain.models import Gist, ProfileSlot, User
from engram.domain.scope import Scope
from engram.ports import CacheEntry, ProfileCache
from engram.profile.rules import ProfileRules, RulesOf

if TYPE_CHECKING:  # a hit reads no row
    from engram.store.reader import Reader, UserState
    from engram.store.unprojected import UnprojectedProfiles

PROFILE = "profile"
EVENTS = "events"

_TRIES = 8
_DECODED_KEPT = 256
_DISTRUSTED_KEPT = 10_000

Rows = TypeVar("Rows")


@dataclass(frozen=True, slots=True)
class LoadedProfile:
    """A hot profile, and which of its lines could not be read (`profile`, `events`)."""

    profile: HotProfile | None
    lost: tuple[str, ...] = ()


class HotProfiles:
    """The only way to and from the profile cache.

    Args:
        cache: None where none is configured: then every read is one of the table.
        reader: gives the table's reader when it is needed: a hit needs none.
        rules_of: the business's rules, strongly read.
        unprojected: where users are noted whose profile the cache did not take.
        zone: in which gists are dated.
    """

    def __init__(
        self,
        *,
        cache: ProfileCache | None,
        reader: Callable[[], Reader],
        rules_of: RulesOf,
        unprojected: Callable[[], UnprojectedProfiles],
        zone: tzinfo,
    ) -> None:
        self._cache = cache
        self._reader = reader
        self._rules_of = rules_of
        self._unprojected = unprojected
        self._zone = zone
        self._decoded: OrderedDict[Scope, tuple[bytes, HotProfile]] = OrderedDict()
        self._at_least: dict[Scope, tuple[int, int]] = {}
        """What this process could not tell the cache: an older entry is not believed."""
        self._lock = threading.Lock()
        self._pool: ThreadPoolExecutor | None = None

    def get(self, scope: Scope) -> LoadedProfile:
        """The user's hot profile. One cache round trip on a hit; otherwise the table answers and fills the cache."""
        entry = self._cache.get(scope) if self._cache is not None else None
        if entry is not None and (entry.epoch, entry.version) < self._at_least.get(scope, (0, 0)):
            entry = None
        found = self._decode(scope, entry) if entry is not None else None
        return LoadedProfile(found) if found is not None else self._load(scope)

    def write_through(self, scope: Scope) -> bool:
        """Puts the profile as it is now into the cache; whether the cache has answered.

        A cache that fails is a miss, not an error: the user is noted, and `repair` tries again.

        Raises:
            Unavailable: the table does not answer.
        """
        if self._cache is None:
            return True
        found = self._read(scope)
        if found is None:
            return True
        entry = found.entry()
        if self._cache.put(scope, entry):
            self._at_least.pop(scope, None)
            return True
        self._distrust(scope, entry.epoch, entry.version)
        self._unprojected().note(scope)
        return False

    def note(self, scope: Scope) -> None:
        """Leaves a user to `repair`. Raises Unavailable."""
        if self._cache is not None:
            self._unprojected().note(scope)

    def repair(self, limit: int = 500) -> int:
        """Writes through again what the cache did not take; how many it has taken now.

        Raises:
            Unavailable: the table does not answer.
        """
        if self._cache is None:
            return 0
        repaired = 0
        for scope in self._unprojected().some(limit):
            if not self.write_through(scope):
                return repaired
            self._unprojected().clear(scope)
            repaired += 1
        return repaired

    def forget(self, scope: Scope, *, epoch: int) -> bool:
        """Drops the entry; the cache takes nothing of an older epoch after this. False if it did not answer."""
        return self._cache is None or self._cache.forget(scope, epoch=epoch)

    def _distrust(self, scope: Scope, epoch: int, version: int) -> None:
        with self._lock:
            self._at_least[scope] = (epoch, version)
            while len(self._at_least) > _DISTRUSTED_KEPT:
                del self._at_least[next(iter(self._at_least))]

    def _decode(self, scope: Scope, entry: CacheEntry) -> HotProfile | None:
        with self._lock:
            payload, known = self._decoded.get(scope, (b"", None))
            if known is not None and payload == entry.payload:
                self._decoded.move_to_end(scope)
                return known
        found = decode_hot(entry.payload)
        if found is not None:
            with self._lock:
                self._decoded[scope] = (entry.payload, found)
                while len(self._decoded) > _DECODED_KEPT:
                    self._decoded.popitem(last=False)
        return found

    def _read(self, scope: Scope) -> HotProfile | None:
        """Both lines or an error, for the write path."""
        loaded = self._assembled(scope)
        if loaded.lost:
            raise Unavailable("the table does not answer")
        return loaded.profile

    def _load(self, scope: Scope) -> LoadedProfile:
        try:
            loaded = self._assembled(scope)
        except Unavailable:
            return LoadedProfile(None, (PROFILE, EVENTS))
        if self._cache is not None and loaded.profile is not None and not loaded.lost:
            self._cache.put(scope, loaded.profile.entry())
        return loaded

    def _assembled(self, scope: Scope) -> LoadedProfile:
        """Slots and gists read side by side, again if a commit came between. Raises Unavailable."""
        reader = self._reader()
        state = reader.state(scope)
        for _ in range(_TRIES):
            if state.user is None:
                return LoadedProfile(None)
            rules = self._rules_of(scope.business_id)
            slots, gists = self._both(reader, scope)
            loaded = self._combined(state.user, slots, gists, rules)
            after = reader.state(scope)
            if _same(state, after):
                return loaded
            state = after
        raise Unavailable("the profile changes faster than it can be read")

    def _both(self, reader: Reader, scope: Scope) -> tuple[tuple[ProfileSlot, ...] | None, tuple[Gist, ...] | None]:
        later = self._beside(lambda: reader.gists(scope, limit=KEPT_GISTS))
        slots = _or_none(lambda: reader.slots(scope))
        return slots, _or_none(later.result)

    def _combined(
        self,
        user: User | None,
        slots: tuple[ProfileSlot, ...] | None,
        gists: tuple[Gist, ...] | None,
        rules: ProfileRules,
    ) -> LoadedProfile:
        if user is None:
            return LoadedProfile(None)
        lost = tuple(name for name, rows in ((PROFILE, slots), (EVENTS, gists)) if rows is None)
        return LoadedProfile(
            hot_profile(user, slots=slots or (), gists=gists or (), rules=rules, zone=self._zone), lost
        )

    def _beside(self, read: Callable[[], Rows]) -> Future[Rows]:
        with self._lock:
            if self._pool is None:
                self._pool = ThreadPoolExecutor(8, thread_name_prefix="hot-profile")
        return self._pool.submit(read)


def _or_none(read: Callable[[], Rows]) -> Rows | None:
    try:
        return read()
    except Unavailable:
        return None


def _same(before: UserState, after: UserState) -> bool:
    if before.user is None or after.user is None:
        return False
    versions = (before.user.profile_version, before.tombstones.version)
    return versions == (after.user.profile_version, after.tombstones.version)
