"""What a key may do: `read`, `write`, `admin`. Each route needs one of them; the key lists the ones it has.

A route says what it needs where it is declared, and most need not: a GET reads, anything else writes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Any, TypeVar

from engram.domain.errors import Forbidden, InvalidInput

Route = TypeVar("Route", bound=Callable[..., Any])

_NEEDS = "__engram_needs__"


class KeyScope(StrEnum):
    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


ALL_SCOPES = tuple(KeyScope)


def needs(scope: KeyScope) -> Callable[[Route], Route]:
    """Marks a route (function or method) whose need its HTTP method does not tell. Stands below the route decorator."""

    def mark(route: Route) -> Route:
        setattr(getattr(route, "__func__", route), _NEEDS, scope)
        return route

    return mark


def needed_by(route: Callable[..., Any], method: str) -> KeyScope:
    """What `route` needs: as marked, else `read` for GET and `write` for any other method."""
    marked: KeyScope | None = getattr(route, _NEEDS, None)
    return marked or (KeyScope.READ if method == "GET" else KeyScope.WRITE)


def check_scope(held: Iterable[str], needed: KeyScope) -> None:
    """Raises Forbidden if `needed` is not among those held. No scope stands for another: a key lists what it may do."""
    if needed.value not in held:
        raise Forbidden(f"this API key lacks the scope {needed.value}", code="SCOPE_MISSING")


def parse_scopes(text: str) -> tuple[KeyScope, ...]:
    """`read,write` as scopes, in their usual order.

    Raises:
        InvalidInput: an unknown scope, or none.
    """
    names = {name.strip() for name in text.split(",") if name.strip()}
    unknown = names - set(KeyScope)
    if unknown or not names:
        raise InvalidInput("scopes must be one or more of read, write, admin", field="scopes")
    return tuple(scope for scope in KeyScope if scope in names)
