"""From a message's id to where it stands. Ids are the callers', so a look-up reads the user's messages once."""

from __future__ import annotations

from engram.domain.models import MessageRef
from engram.domain.scope import Scope
from engram.store import keys
from engram.store.reader import Reader


def refs_of_message(reader: Reader, scope: Scope, message_id: str) -> tuple[MessageRef, ...]:
    """Where messages of this id stand, hidden ones included: those of one user, a page at a time."""
    return tuple(
        MessageRef(str(item.body["conversation_id"]), int(item.body["seq"]))
        for item in reader.rows(scope, keys.MESSAGES)
        if item.body["message_id"] == message_id
    )
