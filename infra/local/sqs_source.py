"""The consumer side of an SQS queue, as an event source mapping has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

_POLL_SECONDS = 5
_LONGEST_PAUSE_SECONDS = 60


@dataclass(frozen=True, slots=True)
class SqsMessage:
    """One delivery."""

    group: str
    body: str
    receipt: str
    receive_count: int
    message_id: str
    sent_at: int
    sequence: int


class SqsSource:
    """Receives from `url`. Thread-safe, as boto3 clients are."""

    def __init__(self, url: str, *, client: Any) -> None:
        self._url = url
        self._client = client
        self._deliveries: dict[str, int] = {}

    def receive(self, max_messages: int = 10) -> Sequence[SqsMessage]:
        answer = self._client.receive_message(
            QueueUrl=self._url,
            MaxNumberOfMessages=min(max_messages, 10),
            WaitTimeSeconds=_POLL_SECONDS,
            MessageSystemAttributeNames=["All"],
        )
        messages = [_message(message) for message in answer.get("Messages", ())]
        self._deliveries.update((message.receipt, message.receive_count) for message in messages)
        return messages

    def wait(self, timeout: float) -> bool:
        """Receiving waits by itself."""
        return True

    def done(self, receipt: str) -> None:
        self._deliveries.pop(receipt, None)
        self._client.delete_message(QueueUrl=self._url, ReceiptHandle=receipt)

    def failed(self, receipt: str) -> None:
        """Comes again after a pause that doubles, instead of after the queue's long visibility timeout."""
        pause = min(2 ** self._deliveries.pop(receipt, 1), _LONGEST_PAUSE_SECONDS)
        self._client.change_message_visibility(QueueUrl=self._url, ReceiptHandle=receipt, VisibilityTimeout=pause)


def _message(message: dict[str, Any]) -> SqsMessage:
    attributes = message.get("Attributes", {})
    return SqsMessage(
        group=attributes.get("MessageGroupId", ""),
        body=message["Body"],
        receipt=message["ReceiptHandle"],
        receive_count=int(attributes.get("ApproximateReceiveCount", "1")),
        message_id=message["MessageId"],
        sent_at=int(attributes.get("SentTimestamp", "0")),
        sequence=int(attributes.get("SequenceNumber", "0")),
    )
