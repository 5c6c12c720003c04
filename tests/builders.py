"""What tests are made of: small builders with defaults, so that a test shows only what it is about."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


class MovableClock:
    """A clock that stands still until it is told to go on."""

    def __init__(self, now: datetime = datetime(2026, 7, 1, 9, 0, tzinfo=UTC)) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def go_on(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)

    def unix(self) -> int:
        return int(self.now.timestamp())
