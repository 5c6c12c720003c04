"""What an operator or the clock asks for: the sweep, and the change-over to a new encoder's index."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from engram.bootstrap import services

ACTIONS: dict[str, Callable[[], Any]] = {
    "sweep": lambda: asdict(services().sweep.run()),
    "promote_index": lambda: services().projector.promote(),
}


def handler(event: dict, context: object) -> Any:
    """Runs `event["action"]`; the schedule names none and sweeps."""
    return ACTIONS[event.get("action", "sweep")]()
