"""The queue worker and the schedule of one machine."""

from __future__ import annotations

import threading
import time
from types import SimpleNamespace

from engram.adapters.local_queue import LocalQueue
from engram.domain.scope import Scope
from engram.domain.work import parse_work
from infra.local.functions import FunctionError
from infra.local.worker import QueueWorker, Scheduler

ANN, BOB = Scope("acme", "ann"), Scope("acme", "bob")


class Extractor:
    """A function that remembers batches and fails what it is told to fail, once."""

    def __init__(self, *, fail: frozenset[str] = frozenset(), crash: int = 0) -> None:
        self.spec = SimpleNamespace(batch_size=10, queue="WorkQueue", timeout=5.0)
        self.batches: list[list[tuple[str, str]]] = []
        self._fail = set(fail)
        self._crash = crash
        self._lock = threading.Lock()

    def __call__(self, event):
        with self._lock:
            work = [(record, parse_work(record["body"])) for record in event["Records"]]
            self.batches.append([(one.scope.user_id, one.operation_id) for _, one in work])
            if self._crash:
                self._crash -= 1
                raise FunctionError("crashed")
            failed = []
            for record, one in work:
                if one.operation_id in self._fail or failed:
                    self._fail.discard(one.operation_id)
                    failed.append({"itemIdentifier": record["messageId"]})
            return {"batchItemFailures": failed}


def work_off(queue: LocalQueue, extractor: Extractor, *, seconds: float = 10.0) -> None:
    worker = QueueWorker(queue, extractor, region="us-east-1")
    worker.start()
    end = time.monotonic() + seconds
    while queue.depth() and time.monotonic() < end:
        time.sleep(0.01)
    worker.stop()
    assert queue.depth() == 0


def test_a_batch_holds_one_user_and_at_most_ten():
    queue = LocalQueue()
    for number in range(25):
        queue.send(ANN, f"a{number:02}")
    queue.send(BOB, "b")
    extractor = Extractor()
    work_off(queue, extractor)
    assert all(len(batch) <= 10 and len({user for user, _ in batch}) == 1 for batch in extractor.batches)
    anns = [operation for batch in extractor.batches for user, operation in batch if user == "ann"]
    assert anns == sorted(anns)
    assert len(anns) == 25


def test_only_what_is_reported_as_failed_comes_again():
    queue = LocalQueue(backoff_seconds=0.01)
    for name in ("a1", "a2", "a3"):
        queue.send(ANN, name)
    extractor = Extractor(fail=frozenset({"a2"}))
    work_off(queue, extractor)
    seen = [operation for batch in extractor.batches for _, operation in batch]
    assert seen.count("a1") == 1
    assert seen[-2:] == ["a2", "a3"]


def test_a_crash_gives_the_whole_batch_back():
    queue = LocalQueue(backoff_seconds=0.01)
    for name in ("a1", "a2"):
        queue.send(ANN, name)
    extractor = Extractor(crash=1)
    work_off(queue, extractor)
    assert extractor.batches == [[("ann", "a1"), ("ann", "a2")]] * 2


def test_a_record_looks_like_one_of_an_event_source_mapping():
    queue = LocalQueue()
    queue.send(ANN, "a1")
    seen = []
    extractor = Extractor()
    original = Extractor.__call__

    class Spy(Extractor):
        def __call__(self, event):
            seen.append(event)
            return original(self, event)

    spy = Spy()
    work_off(queue, spy)
    (record,) = seen[0]["Records"]
    assert record["eventSource"] == "aws:sqs"
    assert record["eventSourceARN"].startswith("arn:aws:sqs:us-east-1:")
    assert record["attributes"]["ApproximateReceiveCount"] == "1"
    assert record["attributes"]["MessageGroupId"]
    assert extractor.batches == []


def test_the_schedule_calls_again_and_again_and_survives_a_failure():
    calls = []

    def sweep(event):
        calls.append(event["detail-type"])
        raise FunctionError("failed")

    scheduler = Scheduler(sweep, seconds=0.02, region="us-east-1")
    scheduler.start()
    time.sleep(0.2)
    scheduler.stop()
    assert len(calls) >= 3
    stopped_at = len(calls)
    time.sleep(0.06)
    assert len(calls) == stopped_at
