"""Lambda authorizer of the HTTP API: an API key becomes a business and its scopes, or the request ends here."""

from __future__ import annotations

from typing import Any

from engram.access.api_keys import bearer
from engram.bootstrap import services
from engram.domain.errors import EngramError
from engram.observability import failure

DENIED = {"isAuthorized": False}


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """The simple response of payload format 2.0. Anything but a key that holds now is a plain no."""
    text = bearer((event.get("identitySource") or [""])[0])
    try:
        key = services().api_keys.verify(text)
    except EngramError as error:
        failure(error, function="authorizer")
        raise
    if key is None:
        return DENIED
    claims = {"business_id": key.business_id, "scopes": " ".join(key.scopes), "key_id": key.key_id}
    return {"isAuthorized": True, "context": claims}
