"""The edge of every HTTP function: routing, who is asking, decoding, and the one place where an error becomes HTTP."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qsl

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.event_handler.exceptions import NotFoundError
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter

from engram.api.resolver import SCOPE, HttpResolver
from engram.domain.errors import EngramError, Forbidden, InvalidInput, NotFound, RateLimited, TooLarge, Unauthenticated
from engram.domain.scope import Scope, check_user_id
from engram.observability import annotate, failure

if TYPE_CHECKING:  # 0.2 s of import: a read that needs no model goes without
    from pydantic import BaseModel, ValidationError

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]
Model = TypeVar("Model", bound="BaseModel")
App = APIGatewayHttpResolver | APIGatewayHttpRouter

MAX_BODY_BYTES = 5_500_000
"""A Lambda takes 6 MB a call, event and all; a larger body would be refused by the service without a word of ours."""

_METERED = {
    "/v1/memory/recall": "recalls",
    "/api/v1/users/context/<user_id>": "contexts",
    "/v1/memory/ingestions": "ingestions",
}
"""Paths whose requests are counted under a name of their own as well."""

PROBLEM = "application/problem+json"

_NO_OBJECT = frozenset({"model_type", "model_attributes_type", "dict_type"})
"""Pydantic's names of the complaint that something is no JSON object."""


def resolver() -> APIGatewayHttpResolver:
    """A router of API Gateway 2.0 events whose errors are `application/problem+json` (RFC 9457)."""
    app = HttpResolver(serializer=to_json, admit=_admit, counted=_counted)

    @app.exception_handler(EngramError)
    def known(error: EngramError) -> Response[str]:
        return problem(error)

    @app.not_found
    def nothing_here(_: NotFoundError) -> Response[str]:
        return problem(NotFound("no such path and method", code="ROUTE_NOT_FOUND"))

    return app


def entrypoint(app: APIGatewayHttpResolver) -> Handler:
    """The Lambda handler of `app`: logging context, and the outermost except.

    What nobody foresaw is logged by its type and place, without its message (it may hold user text), and
    answered as a 500 that says nothing of it.
    """

    def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
        annotate(event)
        try:
            return app.resolve(event, context)
        except Exception as error:  # noqa: BLE001 - the outermost edge
            failure(error)
            unknown = EngramError("something went wrong on our side")
            return {
                "statusCode": unknown.status,
                "headers": {"Content-Type": PROBLEM},
                "body": to_json(problem_body(unknown)),
                "isBase64Encoded": False,
            }

    return handler


def to_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def problem(error: EngramError) -> Response[str]:
    """`error` as an HTTP answer."""
    headers: dict[str, str | list[str]] = {}
    if isinstance(error, RateLimited):
        headers["Retry-After"] = str(error.retry_after)
    return Response(status_code=error.status, content_type=PROBLEM, body=to_json(problem_body(error)), headers=headers)


def problem_body(error: EngramError) -> dict[str, Any]:
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": error.code.replace("_", " ").capitalize(),
        "status": error.status,
        "code": error.code,
        "detail": str(error),
    }
    if error.field:
        body["field"] = error.field
    return body


def invalid_input(error: ValidationError) -> InvalidInput:
    """The first of pydantic's complaints in our words: the field and the rule, never the value."""
    first = error.errors(include_url=False, include_context=False, include_input=False)[0]
    path = ".".join(str(part) for part in first["loc"]) or "body"
    if first["type"] == "extra_forbidden":
        return InvalidInput(f"unknown parameter {printable(path)}", field=printable(path))
    # Pydantic's own words name our class.
    rule = "must be an object" if first["type"] in _NO_OBJECT else first["msg"]
    return InvalidInput(f"{printable(path)}: {rule}", field=printable(path))


def printable(name: str) -> str:
    """A caller's parameter name, short and plain enough to be repeated to it."""
    return "".join(char if char.isprintable() else "?" for char in name[:64])


def claims(app: App) -> Mapping[str, Any]:
    """What the authorizer said of this caller: `business_id` and `scopes`."""
    authorizer = app.current_event.raw_event.get("requestContext", {}).get("authorizer", {})
    found: Mapping[str, Any] = authorizer.get("lambda") or {}
    return found


def business_of(app: App) -> str:
    """The caller's business, from its API key and from nowhere else.

    Raises:
        Unauthenticated: the event did not pass the authorizer.
    """
    business = claims(app).get("business_id")
    if not isinstance(business, str) or not business:
        raise Unauthenticated("no authenticated business")
    return business


def scope_of(app: App, user_id: object, *, business_id: str | None = None) -> Scope:
    """The scope of this call. A `business_id` in the request may only repeat the key's own.

    Raises:
        Forbidden: the request names another business. Says the same whether or not that business exists.
        InvalidInput: the user id cannot serve.
    """
    own = business_of(app)
    if business_id is not None and business_id != own:
        raise Forbidden("business_id is not this key's own", field="business_id")
    return noted(app, Scope(own, check_user_id(user_id)))


def noted(app: App, scope: Scope) -> Scope:
    """`scope`, noted as the one that this request is about: it is counted as a request of this user."""
    app.context[SCOPE] = scope
    return scope


def raw_body(app: App) -> bytes:
    """The request's body as it was sent; API Gateway may have encoded it.

    Raises:
        TooLarge: above `MAX_BODY_BYTES`.
        InvalidInput: marked as base64 and not base64.
    """
    event = app.current_event.raw_event
    body = event.get("body") or ""
    if event.get("isBase64Encoded"):
        try:
            data = base64.b64decode(body, validate=True)
        except binascii.Error:
            raise InvalidInput("body is not valid base64", field="body") from None
    else:
        data = body.encode("utf-8", "surrogatepass")
    if len(data) > MAX_BODY_BYTES:
        raise TooLarge(f"body must be at most {MAX_BODY_BYTES} bytes", field="body")
    return data


def json_body(app: App) -> Any:
    """The body as JSON; no body is an empty object. NaN and Infinity are not JSON.

    Raises:
        InvalidInput: not JSON.
    """
    data = raw_body(app)
    if not data.strip():
        return {}
    try:
        return json.loads(data.decode("utf-8", "surrogatepass"), parse_constant=_no_constant)
    except (ValueError, RecursionError):
        raise InvalidInput("body must be JSON", field="body") from None


def body_of(app: App, model: type[Model]) -> Model:
    """The body as `model`.

    Raises:
        InvalidInput: not a JSON object of that shape; names the field.
    """
    return parse(json_body(app), model)


def query_values(app: App) -> dict[str, list[str]]:
    """Every query parameter with all its values, in order.

    Read from the raw query string: the decoded parameters of the event join repeated values by commas, which a value
    may hold itself.
    """
    event = app.current_event.raw_event
    raw = event.get("rawQueryString")
    pairs = parse_qsl(raw, keep_blank_values=True) if raw else (event.get("queryStringParameters") or {}).items()
    values: dict[str, list[str]] = {}
    for name, value in pairs:
        values.setdefault(name, []).append(value)
    return values


def query_of(app: App, model: type[Model]) -> Model:
    """The query parameters as `model`, whose unknown names are refused if it forbids extras.

    A list field takes every repetition of its parameter.
    """
    values: dict[str, Any] = {}
    for name, given in query_values(app).items():
        several = name in model.model_fields and _takes_list(model, name)
        values[name] = given if several else given[-1]
    return parse(values, model)


def parse(value: Any, model: type[Model]) -> Model:
    """`value` as `model`; pydantic's complaint becomes ours."""
    from pydantic import ValidationError

    try:
        return model.model_validate(value)
    except ValidationError as error:
        raise invalid_input(error) from None


def _takes_list(model: type[BaseModel], name: str) -> bool:
    return "list[" in str(model.model_fields[name].annotation)


def _no_constant(name: str) -> Any:
    raise ValueError(name)


def _admit(business_id: str) -> None:
    from engram.bootstrap import services

    services().quota.take(business_id)


def _counted(scope: Scope, path: str) -> None:
    from engram.bootstrap import services

    kind = _METERED.get(path)
    services().meter.count(scope, {"requests": 1, kind: 1} if kind else {"requests": 1})
