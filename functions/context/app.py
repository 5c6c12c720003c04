"""GET and POST /api/v1/users/context/{user_id}: the block for the system prompt."""

from engram.access.scopes import KeyScope, needs
from engram.api.context_body import context_body
from engram.api.described import described
from engram.api.http import entrypoint, json_body, query_values, resolver, scope_of
from engram.api.memobase import enveloped
from engram.bootstrap import services
from engram.context.request import from_json, from_query

app = resolver()


@app.get("/api/v1/users/context/<user_id>")
@enveloped
@described(query="engram.api.context_schemas:ContextQuery")
def read_context(user_id: str) -> dict:
    """The block of text for the system prompt: who this user is and what happened, within a token budget."""
    scope = scope_of(app, user_id)
    return context_body(services().context.context(scope, from_query(query_values(app))))


@app.post("/api/v1/users/context/<user_id>")
@enveloped
@needs(KeyScope.READ)
@described(body="engram.api.context_schemas:ContextBody")
def ask_for_context(user_id: str) -> dict:
    """The same, with chats where they belong: in a body."""
    scope = scope_of(app, user_id)
    return context_body(services().context.context(scope, from_json(json_body(app))))


handler = entrypoint(app)
