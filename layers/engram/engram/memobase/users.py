"""Users as Memobase's clients create, read, list and delete them."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from engram.domain.clock import Clock, NewId
from engram.domain.errors import ConditionFailed, Conflict, InvalidInput, NotFound, Throttled, Unavailable
from engram.domain.models import User
from engram.domain.scope import Scope
from engram.domain.table import Absent, Put, VersionIs
from engram.ingestion.checks import check_json_size
from engram.lifecycle.deletion import DeletionService
from engram.lifecycle.targets import TargetKind
from engram.memobase.ids import new_uuid
from engram.ports import Table
from engram.store import keys
from engram.store.commits import epoch_check, user_item
from engram.store.reader import Reader, UserState, tombstones_of, user_of

MAX_LISTED_USERS = 10_000
"""Users that one listing may look through: ordering by a count has to count for each."""

_TRIES = 8
_PAGE = 200


@dataclass(frozen=True, slots=True)
class UserListing:
    """Which users of a business, in which order. `search` is a part of their id."""

    search: str = ""
    order_by: str = "updated_at"
    descending: bool = True
    limit: int = 10
    offset: int = 0


@dataclass(frozen=True, slots=True)
class ListedUser:
    user: User
    profile_count: int
    event_count: int


class MemobaseUsers:
    """Creates, reads, lists and deletes users."""

    def __init__(
        self,
        *,
        table: Table,
        reader: Reader,
        deletions: DeletionService,
        clock: Clock,
        new_id: NewId,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._table = table
        self._reader = reader
        self._deletions = deletions
        self._clock = clock
        self._new_id = new_id
        self._pause = pause

    def create(self, business_id: str, *, user_id: str | None, data: Mapping[str, Any] | None) -> str:
        """The id of the new user.

        Raises:
            Conflict: there is one of this id.
            Unavailable: its predecessor is still being purged.
        """
        check_json_size(data or {}, "data")
        scope = Scope(business_id, user_id or new_uuid(self._new_id))
        state = self._purged(scope)
        now = self._clock()
        user = User(scope.user_id, created_at=now, updated_at=now, data=data or {})
        item = user_item(scope, user, state.tombstones.epoch)
        try:
            self._table.transact([Put(item, Absent()), epoch_check(scope, state.tombstones)])
        except ConditionFailed:
            raise Conflict("there is a user of this id", field="id") from None
        return scope.user_id

    def _purged(self, scope: Scope) -> UserState:
        """The user's state once nothing of a deleted predecessor is left."""
        for attempt in range(_TRIES):
            state = self._reader.state(scope)
            if not state.tombstones.erasing:
                return state
            self._pause(0.02 * 2**attempt)
        raise Unavailable("the user was deleted and is still being purged", code="USER_BEING_ERASED")

    def get(self, scope: Scope) -> User:
        """Raises NotFound."""
        user = self._reader.user(scope)
        if user is None:
            raise NotFound("no such user", field="user_id")
        return user

    def update(self, scope: Scope, data: Mapping[str, Any] | None) -> str:
        """Replaces the user's data. Raises NotFound or Throttled."""
        check_json_size(data or {}, "data")
        for _ in range(_TRIES):
            state = self._reader.state(scope)
            if state.user is None:
                raise NotFound("no such user", field="user_id")
            changed = replace(state.user, data=data or {}, updated_at=self._clock(), version=state.user.version + 1)
            put = Put(user_item(scope, changed, state.tombstones.epoch), VersionIs(state.user.version))
            try:
                self._table.transact([put, epoch_check(scope, state.tombstones)])
            except ConditionFailed:
                self._pause(random.uniform(0, 0.02))
                continue
            return scope.user_id
        raise Throttled("the user is contended")

    def delete(self, scope: Scope) -> None:
        """Hides everything of the user at once; the purge follows. Raises NotFound."""
        self.get(scope)
        self._deletions.delete(scope, TargetKind.USER, scope.user_id)

    def find(self, business_id: str, listing: UserListing) -> tuple[list[ListedUser], int]:
        """A page of users, and how many there are in all.

        Raises:
            InvalidInput: ordering by a count over more users than can be counted in one call.
        """
        users = [one for one in self.all(business_id) if listing.search in one.user_id]
        page = slice(listing.offset, listing.offset + listing.limit)
        if listing.order_by == "updated_at":
            users.sort(key=lambda one: (one.updated_at, one.user_id), reverse=listing.descending)
            return [self._counted(business_id, one) for one in users[page]], len(users)
        if len(users) > MAX_LISTED_USERS:
            rule = f"counts at most {MAX_LISTED_USERS} users: narrow the search"
            raise InvalidInput(f"order_by {listing.order_by} {rule}", field="order_by")
        counted = [self._counted(business_id, one) for one in users]
        counted.sort(key=lambda one: (getattr(one, listing.order_by), one.user.user_id), reverse=listing.descending)
        return counted[page], len(users)

    def all(self, business_id: str) -> Iterator[User]:
        """Every user of the business that is not deleted, by id."""
        start = ""
        while True:
            page = self._table.query_index(keys.users_of(business_id), start=start, limit=_PAGE)
            found = [keys.user_of_listing(item.index.sk) for item in page.items if item.index]
            yield from self._present([Scope(business_id, user_id) for user_id in found])
            last = page.items[-1].index if page.items else None
            if page.cursor is None or last is None:
                return
            start = last.sk + "\0"

    def _present(self, scopes: list[Scope]) -> Iterator[User]:
        """Those that are there now: the index may lag behind a deletion. One batch get."""
        wanted = [key for scope in scopes for key in (keys.user(scope), keys.tombstones(scope))]
        rows = self._table.batch_get(wanted) if wanted else {}
        for scope in scopes:
            user = user_of(rows.get(keys.user(scope)), tombstones_of(rows.get(keys.tombstones(scope))))
            if user is not None:
                yield user

    def _counted(self, business_id: str, user: User) -> ListedUser:
        scope = Scope(business_id, user.user_id)
        return ListedUser(user, len(self._reader.slots(scope)), len(self._reader.events(scope)))
