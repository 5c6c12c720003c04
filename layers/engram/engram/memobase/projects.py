"""What belongs to a whole business: its profile configuration, and what it has used."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, timedelta

from engram.context.profiles import HotProfiles
from engram.domain.clock import Clock, Stopwatch
from engram.domain.errors import Unavailable
from engram.domain.models import User
from engram.domain.scope import Scope
from engram.memobase.blobs import ACCEPTED_INSERTS, INSERTS
from engram.observability import log
from engram.store.businesses import BusinessConfigs
from engram.store.meter import TableMeter

TOKENS_IN, TOKENS_OUT = "model_tokens_in", "model_tokens_out"
MAX_DAYS = 366
REFRESH_SECONDS = 10.0
"""Time that a change of the configuration may take in refreshing hot profiles. The sweep refreshes the rest."""


class MemobaseProjects:
    """Configuration and usage of a business.

    Args:
        users_of: every user of a business.
    """

    def __init__(
        self,
        *,
        configs: BusinessConfigs,
        hot: HotProfiles,
        meter: TableMeter,
        users_of: Callable[[str], Iterable[User]],
        clock: Clock,
    ) -> None:
        self._configs = configs
        self._hot = hot
        self._meter = meter
        self._users_of = users_of
        self._clock = clock

    def config(self, business_id: str) -> str:
        """The configuration to the letter; "" if none was set."""
        return self._configs.get(business_id).text

    def set_config(self, business_id: str, text: str) -> None:
        """Sets the configuration and makes the hot profiles anew that rest on the old one. Raises YamlMistake."""
        self._configs.put(business_id, text)
        self._refresh(business_id)

    def _refresh(self, business_id: str) -> None:
        """Makes hot profiles anew for a while, and notes the users that are left: the sweep goes on with them."""
        watch = Stopwatch()
        for user in self._users_of(business_id):
            scope = Scope(business_id, user.user_id)
            try:
                if watch.ms() > REFRESH_SECONDS * 1000:
                    self._hot.note(scope)
                else:
                    self._hot.write_through(scope)
            except Unavailable as error:
                log("hot profile not refreshed", business_id=business_id, code=error.code)

    def tokens_this_month(self, business_id: str) -> int:
        """Model tokens in and out since the first of this month (UTC)."""
        now = self._clock().astimezone(UTC)
        days = self._meter.business_days(business_id, start=f"{now:%Y-%m}-01")
        return sum(one.get(TOKENS_IN, 0) + one.get(TOKENS_OUT, 0) for one in days.values())

    def usage(self, business_id: str, last_days: int) -> list[dict[str, int | str]]:
        """One entry a day (UTC), today first."""
        today = self._clock().astimezone(UTC).date()
        wanted = [f"{today - timedelta(days=back):%Y-%m-%d}" for back in range(last_days)]
        days = self._meter.business_days(business_id, start=wanted[-1])
        return [
            {
                "date": day,
                "total_insert": days.get(day, {}).get(INSERTS, 0),
                "total_success_insert": days.get(day, {}).get(ACCEPTED_INSERTS, 0),
                "total_input_token": days.get(day, {}).get(TOKENS_IN, 0),
                "total_output_token": days.get(day, {}).get(TOKENS_OUT, 0),
            }
            for day in wanted
        ]
