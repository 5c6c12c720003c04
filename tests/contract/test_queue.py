"""What every WorkQueue keeps to, the queue in this process and SQS: order per user, at least once, dead letters."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import pytest

from engram.adapters.local_queue import LocalQueue
from engram.adapters.sqs import SqsQueue
from engram.domain.errors import InvalidInput, Unavailable
from engram.domain.scope import Scope
from engram.domain.work import parse_work, work_message
from engram.ports import WorkQueue
from tests.contract.conftest import REGION, client
from tests.servers import free_port, ministack_binary

ANN, BOB = Scope("shop", "ann"), Scope("shop", "bob")


@dataclass(frozen=True)
class Delivery:
    operation_id: str
    scope: Scope
    receipt: str
    receive_count: int


class Consumer(Protocol):
    """The receiving side, which on AWS is Lambda's."""

    def receive(self) -> list[Delivery]: ...
    def done(self, delivery: Delivery) -> None: ...
    def wait_for_redelivery(self, delivery: Delivery) -> None: ...
    def dead(self) -> list[str]: ...


def delivery_of(body: str, receipt: str, receive_count: int) -> Delivery:
    work = parse_work(body)
    return Delivery(work.operation_id, work.scope, receipt, receive_count)


class LocalConsumer:
    def __init__(self, queue: LocalQueue) -> None:
        self._queue = queue

    def receive(self) -> list[Delivery]:
        self._queue.wait(1.0)
        return [delivery_of(one.body, one.receipt, one.receive_count) for one in self._queue.receive(10)]

    def done(self, delivery: Delivery) -> None:
        self._queue.done(delivery.receipt)

    def wait_for_redelivery(self, delivery: Delivery) -> None:
        self._queue.failed(delivery.receipt)

    def dead(self) -> list[str]:
        return [parse_work(one.body).operation_id for one in self._queue.dead_letters()]


class SqsConsumer:
    def __init__(self, sqs: Any, url: str, dead_url: str) -> None:
        self._sqs, self._url, self._dead_url = sqs, url, dead_url

    def receive(self) -> list[Delivery]:
        answer = self._sqs.receive_message(
            QueueUrl=self._url, MaxNumberOfMessages=10, AttributeNames=["All"], WaitTimeSeconds=2
        )
        return [
            delivery_of(one["Body"], one["ReceiptHandle"], int(one["Attributes"]["ApproximateReceiveCount"]))
            for one in answer.get("Messages", [])
        ]

    def done(self, delivery: Delivery) -> None:
        self._sqs.delete_message(QueueUrl=self._url, ReceiptHandle=delivery.receipt)

    def wait_for_redelivery(self, delivery: Delivery) -> None:
        self._sqs.change_message_visibility(QueueUrl=self._url, ReceiptHandle=delivery.receipt, VisibilityTimeout=0)

    def dead(self) -> list[str]:
        self._sqs.receive_message(QueueUrl=self._url, WaitTimeSeconds=1)
        answer = self._sqs.receive_message(QueueUrl=self._dead_url, MaxNumberOfMessages=10, WaitTimeSeconds=1)
        return [parse_work(one["Body"]).operation_id for one in answer.get("Messages", [])]


@pytest.fixture(params=["local", "sqs"])
def sides(request: pytest.FixtureRequest) -> Iterator[tuple[WorkQueue, Consumer]]:
    """Sender and receiver of one empty queue that gives up on a message after two deliveries."""
    if request.param == "local":
        queue = LocalQueue(max_receives=2, backoff_seconds=0.05)
        yield queue, LocalConsumer(queue)
        return
    url, dead_url = request.getfixturevalue("redriving_queue")
    sqs = client("sqs", request.getfixturevalue("aws"))
    yield SqsQueue(url, client=sqs), SqsConsumer(sqs(), url, dead_url)


def drain(consumer: Consumer, count: int) -> list[Delivery]:
    """Receives and acknowledges until `count` operations were seen or five seconds have gone."""
    seen: list[Delivery] = []
    end = time.monotonic() + 5
    while len(seen) < count and time.monotonic() < end:
        for delivery in consumer.receive():
            seen.append(delivery)
            consumer.done(delivery)
    return seen


def test_what_is_sent_arrives_with_its_scope(sides: tuple[WorkQueue, Consumer]) -> None:
    queue, consumer = sides
    odd = Scope("shop", "用户#7 “x” \U0001f600")
    queue.send(odd, "op-1")
    assert [(one.scope, one.operation_id) for one in drain(consumer, 1)] == [(odd, "op-1")]


def test_one_users_operations_arrive_in_the_order_they_were_sent(sides: tuple[WorkQueue, Consumer]) -> None:
    queue, consumer = sides
    for number in range(15):
        queue.send(ANN if number % 3 else BOB, f"op-{number:02}")
    seen = drain(consumer, 15)
    for scope in (ANN, BOB):
        ids = [one.operation_id for one in seen if one.scope == scope]
        assert ids == sorted(ids)
    assert len(seen) == 15


def test_an_operation_that_is_sent_again_arrives_again(sides: tuple[WorkQueue, Consumer]) -> None:
    """The sweep and a person's retry send an operation again on purpose, within SQS's deduplication time."""
    queue, consumer = sides
    queue.send(ANN, "op-1")
    queue.send(ANN, "op-1")
    assert [one.operation_id for one in drain(consumer, 2)] == ["op-1", "op-1"]


def test_nothing_of_a_user_is_handed_out_while_something_of_theirs_is_worked_on(
    sides: tuple[WorkQueue, Consumer],
) -> None:
    queue, consumer = sides
    queue.send(ANN, "op-1")
    (first,) = consumer.receive()
    queue.send(ANN, "op-2")
    queue.send(BOB, "op-3")
    assert [one.operation_id for one in drain(consumer, 1)] == ["op-3"]
    consumer.done(first)
    assert [one.operation_id for one in drain(consumer, 1)] == ["op-2"]


def test_what_fails_comes_again_before_what_was_sent_after_it(sides: tuple[WorkQueue, Consumer]) -> None:
    queue, consumer = sides
    queue.send(ANN, "op-1")
    (first,) = consumer.receive()
    queue.send(ANN, "op-2")
    consumer.wait_for_redelivery(first)
    seen = drain(consumer, 2)
    assert [one.operation_id for one in seen] == ["op-1", "op-2"]
    assert seen[0].receive_count == 2


def test_what_fails_twice_is_put_aside_and_the_rest_goes_on(sides: tuple[WorkQueue, Consumer]) -> None:
    if isinstance(sides[1], SqsConsumer) and ministack_binary() is None:
        pytest.skip("moto does not redrive FIFO queues: install ministack to run this")
    queue, consumer = sides
    queue.send(ANN, "poison")
    for count in (1, 2):
        (poison,) = consumer.receive()
        assert (poison.operation_id, poison.receive_count) == ("poison", count)
        consumer.wait_for_redelivery(poison)
    assert consumer.dead() == ["poison"]
    queue.send(ANN, "op-2")
    assert [one.operation_id for one in drain(consumer, 1)] == ["op-2"]


def test_a_batch_that_is_given_back_comes_again_in_its_order(sides: tuple[WorkQueue, Consumer]) -> None:
    queue, consumer = sides
    for number in range(3):
        queue.send(ANN, f"op-{number}")
    for delivery in reversed(consumer.receive()):
        consumer.wait_for_redelivery(delivery)
    assert [one.operation_id for one in drain(consumer, 3)] == ["op-0", "op-1", "op-2"]


def test_a_body_is_ascii_whatever_the_ids_hold() -> None:
    body = work_message(Scope("shop", "\U0001f600\x85杭".replace("\x85", "")), "op")
    assert body.isascii()
    assert json.loads(body)["user_id"] == "\U0001f600杭"


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        "[]",
        "null",
        "{}",
        '{"business_id":"a","user_id":"b"}',
        '{"business_id":"a","user_id":"b","operation_id":7}',
        '{"business_id":"a","user_id":"*","operation_id":"o"}',
    ],
)
def test_a_body_that_names_no_operation_is_refused(body: str) -> None:
    with pytest.raises(InvalidInput):
        parse_work(body)


def test_a_queue_that_does_not_answer_is_unavailable() -> None:
    url = f"http://127.0.0.1:{free_port()}"
    queue = SqsQueue(f"{url}/000000000000/none.fifo", client=client("sqs", url))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "test")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "test")
        patch.setenv("AWS_DEFAULT_REGION", REGION)
        with pytest.raises(Unavailable):
            queue.send(ANN, "op")


# Only in this process -----------------------------------------------------------------------------


def test_a_delivery_nobody_answers_for_comes_again() -> None:
    now = [0.0]
    queue = LocalQueue(visibility_seconds=30, backoff_seconds=0, monotonic=lambda: now[0])
    queue.send(ANN, "op-1")
    assert len(queue.receive()) == 1
    now[0] = 29.0
    assert queue.receive() == []
    now[0] = 30.0
    assert [one.receive_count for one in queue.receive()] == [2]


def test_a_late_answer_to_a_delivery_that_came_again_changes_nothing() -> None:
    now = [0.0]
    queue = LocalQueue(visibility_seconds=30, backoff_seconds=0, monotonic=lambda: now[0])
    queue.send(ANN, "op-1")
    (first,) = queue.receive()
    now[0] = 31.0
    (second,) = queue.receive()
    queue.done(first.receipt)
    queue.failed(first.receipt)
    assert queue.depth() == 1
    queue.done(second.receipt)
    assert queue.depth() == 0


def test_pauses_grow_with_each_failure() -> None:
    now = [0.0]
    queue = LocalQueue(max_receives=9, backoff_seconds=1, max_backoff_seconds=4, monotonic=lambda: now[0])
    queue.send(ANN, "op-1")
    pauses = []
    for _ in range(5):
        start = now[0]
        while not (batch := queue.receive()):
            now[0] += 0.5
        pauses.append(now[0] - start)
        queue.failed(batch[0].receipt)
    assert pauses == [0, 1, 2, 4, 4]


def test_dead_letters_can_be_sent_again() -> None:
    queue = LocalQueue(max_receives=1, backoff_seconds=0)
    queue.send(ANN, "op-1")
    queue.failed(queue.receive()[0].receipt)
    assert queue.receive() == []
    assert queue.redrive() == 1
    (again,) = queue.receive()
    assert (parse_work(again.body).operation_id, again.receive_count) == ("op-1", 1)
    assert queue.dead_letters() == []


def test_one_users_flood_does_not_keep_others_waiting() -> None:
    queue = LocalQueue()
    for number in range(100):
        queue.send(ANN, f"a-{number}")
    queue.send(BOB, "b-0")
    first, second = queue.receive(10), queue.receive(10)
    assert {one.group for one in first}.isdisjoint(one.group for one in second)
    assert parse_work(second[0].body).scope == BOB


def test_many_consumers_work_everything_off_once_and_in_order() -> None:
    queue, seen, lock = LocalQueue(), [], threading.Lock()
    scopes = [Scope("shop", f"user-{number}") for number in range(7)]
    for number in range(350):
        queue.send(scopes[number % 7], f"op-{number:03}")

    def consume() -> None:
        while queue.depth():
            for message in queue.receive(3):
                with lock:
                    seen.append(parse_work(message.body))
                queue.done(message.receipt)

    threads = [threading.Thread(target=consume) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert len(seen) == 350
    for scope in scopes:
        ids = [work.operation_id for work in seen if work.scope == scope]
        assert ids == sorted(ids)


def test_waiting_ends_when_something_arrives() -> None:
    queue = LocalQueue()
    assert queue.wait(0.01) is False
    threading.Timer(0.05, lambda: queue.send(ANN, "op-1")).start()
    start = time.monotonic()
    assert queue.wait(5.0) is True
    assert time.monotonic() - start < 2
