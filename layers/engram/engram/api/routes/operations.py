"""/v1/memory/operations and /v1/maintenance: how asynchronous work stands, and work that an operator asks for."""

from __future__ import annotations

from typing import Any

from aws_lambda_powertools.event_handler import Response

from engram.access.scopes import KeyScope, needs
from engram.api.http import body_of, business_of, scope_of, to_json
from engram.api.ingestion_schemas import operation_body
from engram.api.lifecycle_schemas import RebuildBody, ReprocessBody
from engram.api.resolver import HttpResolver
from engram.bootstrap import services
from engram.domain.clock import random_id
from engram.domain.errors import InvalidInput, NotFound
from engram.domain.models import Operation, OperationKind
from engram.domain.scope import Scope


def declare(app: HttpResolver) -> None:
    """Declares the routes on `app`."""

    @app.get("/v1/memory/operations/<operation_id>")
    def show(operation_id: str) -> dict[str, Any]:
        return operation_body(found(services().operations.find(business_of(app), operation_id)))

    @app.post("/v1/memory/operations/<operation_id>:retry")
    def retry(operation_id: str) -> Response[str]:
        return accepted(found(services().ingestion.retry(business_of(app), operation_id)))

    @app.post("/v1/maintenance/reindex")
    @needs(KeyScope.ADMIN)
    def reindex() -> Response[str]:
        body = body_of(app, RebuildBody)
        return accepted(_begin(app, OperationKind.REINDEX, body, {}))

    @app.post("/v1/maintenance/reprocess")
    @needs(KeyScope.ADMIN)
    def reprocess() -> Response[str]:
        body = body_of(app, ReprocessBody)
        if body.what == "taxonomy":
            return accepted(_begin(app, OperationKind.REPROCESS, body, {"what": body.what}))
        if body.user_id is not None:
            raise InvalidInput("a catalogue is read again for the whole business", field="user_id")
        return accepted(_begin(app, OperationKind.REPROCESS, body, {"changed_ids": None, "after": ""}))


def found(operation: Operation | None) -> Operation:
    """Raises NotFound: the same for an operation that does not exist and for another business's."""
    if operation is None:
        raise NotFound("no such operation", field="operation_id")
    return operation


def accepted(operation: Operation) -> Response[str]:
    return Response(status_code=202, content_type="application/json", body=to_json(operation_body(operation)))


def _begin(app: HttpResolver, kind: OperationKind, body: RebuildBody, arguments: dict[str, Any]) -> Operation:
    whole = body.user_id is None
    scope = Scope.of_business(business_of(app)) if whole else scope_of(app, body.user_id)
    request_id = body.request_id or random_id()
    return services().everybody.begin(scope, kind, request_id=request_id, arguments=arguments)
