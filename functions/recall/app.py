"""POST /v1/memory/recall: find what the user refers to, with evidence. POST /v1/memory/resolve: only understand it."""

from typing import Any

from engram.access.scopes import KeyScope, needs
from engram.api.http import body_of, entrypoint, resolver, scope_of
from engram.api.recall_schemas import RecallBody, bundle_body, resolution_body
from engram.bootstrap import services

app = resolver()


@app.post("/v1/memory/recall")
@needs(KeyScope.READ)
def recall() -> dict[str, Any]:
    body = body_of(app, RecallBody)
    scope = scope_of(app, body.user_id, business_id=body.business_id)
    return bundle_body(services().recall.recall(scope, body.to_request()))


@app.post("/v1/memory/resolve")
@needs(KeyScope.READ)
def resolve() -> dict[str, Any]:
    body = body_of(app, RecallBody)
    scope = scope_of(app, body.user_id, business_id=body.business_id)
    return resolution_body(services().recall.resolve(scope, body.to_request()))


handler = entrypoint(app)
