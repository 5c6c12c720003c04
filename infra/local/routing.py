"""Which route a request takes, as API Gateway decides: literal segments before `{parameters}`, a method before ANY.

The table is compiled once; a look-up walks one dictionary per path segment.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import unquote

from infra.local.template import Route

_PARAMETER = "{}"


@dataclass(slots=True)
class _Node:
    children: dict[str, _Node] = field(default_factory=dict)
    routes: dict[str, tuple[Route, tuple[str, ...]]] = field(default_factory=dict)


class RouteTable:
    """Routes by method and path."""

    def __init__(self, routes: Iterable[Route]) -> None:
        self._root = _Node()
        for route in routes:
            node, names = self._root, []
            for segment in route.path.strip("/").split("/"):
                if segment.startswith("{"):
                    names.append(segment[1:-1])
                    segment = _PARAMETER
                node = node.children.setdefault(segment, _Node())
            if route.method in node.routes:
                raise ValueError(f"template.yaml declares {route.key} twice")
            node.routes[route.method] = (route, tuple(names))

    def match(self, method: str, raw_path: str) -> tuple[Route, dict[str, str]] | None:
        """The route and its decoded parameters; None if nothing matches. `raw_path` is still percent-encoded.

        Matching before decoding keeps an encoded slash inside its segment: the user `a/b` is one segment.
        """
        path = raw_path[1:] if raw_path.startswith("/") else raw_path
        return _walk(self._root, path.split("/"), 0, (), method)


def _walk(
    node: _Node, segments: list[str], at: int, values: tuple[str, ...], method: str
) -> tuple[Route, dict[str, str]] | None:
    if at == len(segments):
        found = node.routes.get(method) or node.routes.get("ANY")
        if found is None:
            return None
        return found[0], {name: unquote(value) for name, value in zip(found[1], values, strict=True)}
    segment = segments[at]
    literal = node.children.get(segment)
    if literal is not None:
        found_literal = _walk(literal, segments, at + 1, values, method)
        if found_literal is not None:
            return found_literal
    parameter = node.children.get(_PARAMETER)
    if parameter is None or not segment:
        return None
    return _walk(parameter, segments, at + 1, (*values, segment), method)
