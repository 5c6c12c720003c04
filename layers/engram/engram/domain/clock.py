"""Time and randomness as arguments, so that a test can hold them still."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]
"""Returns the present moment, aware, in UTC."""

NewId = Callable[[], str]
"""Returns a fresh id, 32 hexadecimal digits."""


def system_clock() -> datetime:
    return datetime.now(UTC)


def random_id() -> str:
    return uuid.uuid4().hex


def to_text(moment: datetime) -> str:
    """ISO 8601 in UTC with microseconds and `Z`: sorts as text in the order of time."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def from_text(text: str) -> datetime:
    """The inverse of `to_text`; also accepts any ISO 8601 with an offset."""
    return datetime.fromisoformat(text)


class Stopwatch:
    """Milliseconds since it was made, for deadlines and timings."""

    __slots__ = ("_start",)

    def __init__(self) -> None:
        self._start = time.perf_counter()

    def ms(self) -> float:
        return (time.perf_counter() - self._start) * 1000
