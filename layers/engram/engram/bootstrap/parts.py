"""What every part of the services has: settings, a clock, and being made once."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from engram.domain.clock import Clock, system_clock
from engram.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


class part(Generic[T]):  # noqa: N801 - reads as a decorator
    """A property made at its first use, once, from any thread. After that it is a plain attribute.

    functools.cached_property takes no lock since Python 3.12, and two queues are worse than none.
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, services: Parts, owner: type) -> T:
        with services.lock:
            if self._name not in services.__dict__:
                services.__dict__[self._name] = self._make(services)
            made: T = services.__dict__[self._name]
            return made


class Parts:
    """Made lazily, each part once.

    Args:
        clock: the present moment; tests hold it still.
    """

    def __init__(self, settings: Settings, *, clock: Clock = system_clock) -> None:
        self.settings = settings
        self.clock = clock
        self.lock = threading.RLock()
