"""Names the models that describe a route which decodes by hand, for the API's description and for nothing else.

By name and not by class: the hot path then imports no model.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

Route = TypeVar("Route", bound=Callable[..., Any])
_MODELS = "__engram_described_by__"


def described(**models: str) -> Callable[[Route], Route]:
    """`query` and `body` as `module:Model`. Stands right above the function."""

    def mark(route: Route) -> Route:
        setattr(route, _MODELS, models)
        return route

    return mark


def models_of(route: Callable[..., Any]) -> dict[str, Any]:
    """The models named for `route`."""
    named: dict[str, str] = getattr(route, _MODELS, {})
    pairs = ((place, name.split(":")) for place, name in named.items())
    return {place: getattr(import_module(module), model) for place, (module, model) in pairs}
