"""From a message's id to where it stands. Ids are the callers', so a look-up reads the user's messages once."""

from __future__ import annotations

from engram.domain.models import Message, MessageRef
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


def page_of_messages(
    reader: Reader, scope: Scope, *, conversation_id: str = "", after: str = "", limit: int
) -> tuple[list[Message], str]:
    """Up to `limit` visible messages by conversation and seq, and where to go on ("" at the end).

    Args:
        after: the position that the page before gave.
    """
    prefix = keys.conversation_messages(conversation_id) if conversation_id else keys.MESSAGES
    tombstones = reader.tombstones(scope)
    found: list[Message] = []
    last = ""
    for item in reader.rows(scope, prefix, after=after):
        if len(found) == limit:
            return found, last
        message = reader.visible_message(scope, item, tombstones)
        if message is not None:
            found.append(message)
        last = item.key.sk
    return found, ""
