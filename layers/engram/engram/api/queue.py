"""The edge of the queue: batches of one FIFO group after another, failed records reported one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aws_lambda_powertools.utilities.batch import SqsFifoPartialProcessor, process_partial_response
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

from engram.domain.errors import EngramError, InvalidInput
from engram.domain.work import parse_work
from engram.extraction.worker import Extractor
from engram.observability import failure, log

MAX_RECEIVES = 5
"""Deliveries before the dead-letter queue; the queue's `maxReceiveCount` in the template says the same."""


def queue_entrypoint(
    extractor: Callable[[], Extractor], *, after: Callable[[], None] = lambda: None
) -> Callable[[dict[str, Any], Any], Any]:
    """The Lambda handler of an SQS FIFO event source with `ReportBatchItemFailures`; `after` follows each batch.

    After a failed record the later ones of its group are reported failed too, so that order holds; other groups
    go on.
    """

    def work_on(record: SQSRecord) -> None:
        try:
            work = parse_work(record.body)
        except InvalidInput as error:
            log("not a message of ours", code=error.code)
            return
        last = int(record.attributes.approximate_receive_count) >= MAX_RECEIVES
        try:
            extractor().work(work.scope, work.operation_id, last_attempt=last)
        except EngramError:
            raise
        except Exception as error:  # noqa: BLE001 - the outermost edge
            failure(error, operation_id=work.operation_id)
            extractor().give_up(work.scope, work.operation_id, ends=last)
            raise EngramError("work failed") from None

    def handler(event: dict[str, Any], context: Any) -> Any:
        # One processor a call: it holds the batch, and on one machine two batches run at once.
        processor = SqsFifoPartialProcessor(skip_group_on_error=True)
        processor.raise_on_entire_batch_failure = False
        answer = process_partial_response(event=event, record_handler=work_on, processor=processor, context=context)
        after()
        return answer

    return handler
