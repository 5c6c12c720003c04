"""The event source mapping and the scheduler of one machine: they call functions when nobody asks over HTTP."""

from __future__ import annotations

import contextlib
import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from infra.local.events import Received, queue_event, schedule_event
from infra.local.functions import FunctionError, LoadedFunction

_STOP_SECONDS = 10.0


class Source(Protocol):
    """A queue as its consumer sees it."""

    def receive(self, max_messages: int = 10) -> Sequence[Received]: ...
    def wait(self, timeout: float) -> bool:
        """Whether something may have arrived, waiting up to `timeout` seconds for it."""

    def done(self, receipt: str) -> None: ...
    def failed(self, receipt: str) -> None:
        """Gives the message back; it comes again after a pause, or is parked after too many times."""


class QueueWorker:
    """Takes batches from a queue and calls its function once per group, honouring the items it reports as failed."""

    def __init__(self, source: Source, function: LoadedFunction, *, region: str, threads: int = 2) -> None:
        self._source = source
        self._function = function
        self._region = region
        self._stopping = threading.Event()
        self._threads = [
            threading.Thread(target=self._run, name=f"queue-{number}", daemon=True) for number in range(threads)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Finishes the batches in hand. What is left stays accepted in the table and is sent again."""
        self._stopping.set()
        for thread in self._threads:
            thread.join(_STOP_SECONDS)

    def _run(self) -> None:
        while not self._stopping.is_set():
            received = self._source.receive(self._function.spec.batch_size)
            if not received:
                self._source.wait(0.5)
                continue
            groups: dict[str, list[Received]] = defaultdict(list)
            for message in received:
                groups[message.group].append(message)
            for messages in groups.values():
                self._deliver(messages)

    def _deliver(self, messages: Sequence[Received]) -> None:
        event = queue_event(messages, queue=self._function.spec.queue, region=self._region)
        try:
            answer = self._function(event) or {}
        except FunctionError:
            failed = {message.message_id for message in messages}
        else:
            failed = {item["itemIdentifier"] for item in answer.get("batchItemFailures", ())}
        for message in messages:
            if message.message_id in failed:
                self._source.failed(message.receipt)
            else:
                self._source.done(message.receipt)


class Scheduler:
    """Calls a function every so many seconds."""

    def __init__(self, call: Callable[[dict[str, Any]], Any], *, seconds: float, region: str) -> None:
        self._call = call
        self._seconds = seconds
        self._region = region
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="schedule", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopping.set()
        self._thread.join(_STOP_SECONDS)

    def _run(self) -> None:
        while not self._stopping.wait(self._seconds):
            with contextlib.suppress(FunctionError):  # said on standard error; the next round tries again
                self._call(schedule_event(self._region))
