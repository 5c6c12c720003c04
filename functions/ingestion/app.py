"""Keep what was said, answer 202, think later: ingestions, imports, Memobase's blobs, and how the work stands."""

from engram.api.http import Response, body_of, business_of, entrypoint, query_of, raw_body, resolver, scope_of, to_json
from engram.api.ingestion_schemas import FlushBody, ImportQuery, IngestionBody, accepted_body, operation_body
from engram.api.routes import memobase_blobs, operations
from engram.bootstrap import services
from engram.domain.clock import random_id

app = resolver()
memobase_blobs.declare_insert(app)
memobase_blobs.declare(app)
operations.declare(app)


def accepted(body: dict) -> Response:
    return Response(status_code=202, content_type="application/json", body=to_json(body))


@app.post("/v1/memory/ingestions")
def ingest() -> Response:
    body = body_of(app, IngestionBody)
    scope = scope_of(app, body.user_id, business_id=body.business_id)
    return accepted(accepted_body(services().ingestion.accept(scope, body.to_request())))


@app.post("/v1/memory/flushes")
def flush() -> Response:
    body = body_of(app, FlushBody)
    scope = scope_of(app, body.user_id, business_id=body.business_id)
    return accepted(accepted_body(services().ingestion.flush(scope, request_id=body.request_id or random_id())))


@app.post("/v1/memory/imports")
def import_lines() -> Response:
    query = query_of(app, ImportQuery)
    business, data = business_of(app), raw_body(app)
    begun = services().imports.begin(business, data, request_id=query.request_id or random_id())
    return accepted(operation_body(begun))


handler = entrypoint(app)
