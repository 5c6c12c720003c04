"""What a queue carries: which operation of whose, and the group that keeps one user's work in order.

Written once, because the sender, both queues and the extractor must spell it the same way.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

from engram.domain.errors import InvalidInput
from engram.domain.scope import Scope


@dataclass(frozen=True, slots=True)
class Work:
    """One operation to be worked on."""

    scope: Scope
    operation_id: str


def work_group(scope: Scope) -> str:
    """Message group of a user: 64 hexadecimal digits, since a group id takes neither every character nor every length.

    The business id cannot hold the separator, so two scopes never share a text.
    """
    return hashlib.sha256(f"{scope.business_id}\x1f{scope.user_id}".encode()).hexdigest()


def work_message(scope: Scope, operation_id: str) -> str:
    """The body of a queue message: ASCII JSON, since SQS refuses control characters and lone surrogates."""
    body = {"business_id": scope.business_id, "user_id": scope.user_id, "operation_id": operation_id}
    return json.dumps(body, separators=(",", ":"))


def parse_work(body: str) -> Work:
    """The inverse of `work_message`.

    Raises:
        InvalidInput: not a body that `work_message` made; receiving it again will not help.
    """
    try:
        fields = json.loads(body)
        business_id, user_id, operation_id = fields["business_id"], fields["user_id"], fields["operation_id"]
    except (ValueError, TypeError, KeyError):
        raise InvalidInput("the queue message does not name an operation") from None
    if not isinstance(operation_id, str) or not operation_id:
        raise InvalidInput("the queue message does not name an operation")
    return Work(Scope(business_id, user_id), operation_id)
