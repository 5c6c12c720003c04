"""WorkQueue on an SQS FIFO queue: one group per user, so that one user's operations are worked on in order."""

from __future__ import annotations

from engram.adapters.aws import LazyClient, translated
from engram.domain.clock import NewId, random_id
from engram.domain.scope import Scope
from engram.domain.work import work_group, work_message
from engram.store.limits import check_queue_message


class SqsQueue:
    """Sends to the FIFO queue at `url`.

    Args:
        client: makes or returns the low-level client.
        new_id: makes the deduplication id. It is fresh for each send, because an operation that is sent again on
            purpose within SQS's five minutes must arrive; the SDK's own retries keep the id and are deduplicated.
    """

    def __init__(self, url: str, *, client: LazyClient, new_id: NewId = random_id) -> None:
        self._url = url
        self._client = client
        self._new_id = new_id

    def send(self, scope: Scope, operation_id: str) -> None:
        group, body = work_group(scope), work_message(scope, operation_id)
        check_queue_message(group, body)
        with translated("the queue"):
            self._client().send_message(
                QueueUrl=self._url, MessageBody=body, MessageGroupId=group, MessageDeduplicationId=self._new_id()
            )
