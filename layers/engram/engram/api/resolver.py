"""An HTTP resolver that may serve several requests at once and takes path parameters as the gateway decoded them.

Powertools keeps the present event on a class that all resolvers share, which is right where one process serves
one request. On one machine many threads share the process, and there it would answer one user with another's data.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver
from aws_lambda_powertools.event_handler.api_gateway import ResponseBuilder, Route
from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2

from engram.access.scopes import check_scope, needed_by
from engram.domain.errors import Forbidden, RateLimited
from engram.domain.scope import Scope

SCOPE = "scope"
"""What a request's context calls the user that the request is about."""

_PARAMETER = re.compile(r"<(\w+)>")
_VERB = re.compile(r"(?<=\}):\w+")


def route_key(method: str, path: str) -> str:
    """How the gateway spells a declared route: `<id>` becomes `{id}`, and a verb after it (`<id>:retry`) is left out.

    A gateway's path parameter is a whole segment, so the verb arrives as the end of the parameter's value.
    """
    gateway_path = _VERB.sub("", _PARAMETER.sub(r"{\1}", path))
    return f"{method} {gateway_path}"


class HttpResolver(APIGatewayHttpResolver):
    """Routes by the gateway's own decision (`routeKey`), which also costs one look-up instead of a regex per route.

    Ids are what the gateway decoded: any character that an id may hold arrives whole, a slash or `#` included.
    """

    def __init__(
        self,
        *,
        admit: Callable[[str], None] | None = None,
        counted: Callable[[Scope, str], None] | None = None,
        **options: Any,
    ) -> None:
        """`admit` raises RateLimited for a business over its quota; `counted` is told of each request about a user."""
        self._admit = admit
        self._counted = counted
        self._present = threading.local()
        self._by_key: dict[str, list[Route]] | None = None
        super().__init__(**options)

    @property
    def current_event(self) -> APIGatewayProxyEventV2:  # type: ignore[override]
        event: APIGatewayProxyEventV2 = self._present.event
        return event

    @property
    def lambda_context(self) -> Any:  # type: ignore[override]
        return self._present.lambda_context

    @property
    def context(self) -> dict[str, Any]:
        """What middlewares hand on within one request."""
        if not hasattr(self._present, "context"):
            self._present.context = {}
        held: dict[str, Any] = self._present.context
        return held

    @context.setter
    def context(self, value: dict[str, Any]) -> None:
        self._present.context = value

    def resolve(self, event: Any, context: Any) -> dict[str, Any]:
        """The gateway's answer to one event of payload format 2.0."""
        self._present.event = self._to_proxy_event(event)
        self._present.lambda_context = context
        try:
            return self._build_response(self._resolve())
        finally:
            self._count()
            self.context.clear()

    def _resolve(self) -> ResponseBuilder[Any]:
        event = self.current_event.raw_event
        if self._by_key is None:
            self._by_key = self._routes_by_key()
        http = event["requestContext"]["http"]
        declared = event.get("routeKey", "").partition(" ")[2]
        parameters = event.get("pathParameters") or {}
        for route in self._by_key.get(f"{http['method']} {declared}", ()):
            arguments = _arguments(route.path, parameters)
            if arguments is not None:
                self.context.update(_route=route, _path=event["rawPath"])
                return self._call_route(route, arguments)
        return super()._resolve()

    def _call_route(self, route: Route, route_arguments: dict[str, str]) -> ResponseBuilder[Any]:
        """Every way to a route leads here, so no route can be reached without its scope."""
        return self._refused(route) or super()._call_route(route, route_arguments)

    def _count(self) -> None:
        """One request more of the user that it was about, if it was about one."""
        scope = self.context.get(SCOPE)
        if scope is not None and self._counted is not None:
            self._counted(scope, self.context["_route"].path)

    def _refused(self, route: Route) -> ResponseBuilder[Any] | None:
        """The answer to a key over its business's quota or without the scope that `route` needs; None to go on.

        A route that the template opens to everybody comes without an authorizer's word, and asks for no key.
        """
        claims = self.current_event.raw_event["requestContext"].get("authorizer", {}).get("lambda")
        if claims is None:
            return None
        try:
            if self._admit is not None:
                self._admit(str(claims.get("business_id", "")))
            check_scope(str(claims.get("scopes", "")).split(), needed_by(route.func, route.method))
        except (Forbidden, RateLimited) as error:
            answer: ResponseBuilder[Any] | None = self._call_exception_handler(error, route)
            return answer
        return None

    @property
    def declared_routes(self) -> tuple[Route, ...]:
        """Every route declared here."""
        return (*self._static_routes, *self._dynamic_routes)

    def _routes_by_key(self) -> dict[str, list[Route]]:
        by_key: dict[str, list[Route]] = {}
        for route in self.declared_routes:
            by_key.setdefault(route_key(route.method, route.path), []).append(route)
        for routes in by_key.values():  # `<id>:retry` before `<id>`
            routes.sort(key=lambda route: -len(route.path))
        return by_key


def _arguments(path: str, parameters: dict[str, str]) -> dict[str, str] | None:
    """The declared parameters with their values; None if a verb is declared and the value does not end in it."""
    found: dict[str, str] = {}
    for match in _PARAMETER.finditer(path):
        value = parameters.get(match[1])
        verb = re.match(r":\w+", path[match.end() :])
        if value is None or (verb and not value.endswith(verb[0])):
            return None
        found[match[1]] = value.removesuffix(verb[0]) if verb else value
    return found
