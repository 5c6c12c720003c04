"""WorkQueue in this process, with the rules of a FIFO queue: order per group, at least once, a dead-letter list.

It forgets everything when the process ends, on purpose: the queue is a projection of the operations in the
table, and the sweep sends again whatever is not finished.
"""

from __future__ import annotations

import heapq
import threading
import time
import uuid
from collections import OrderedDict, deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from engram.domain.scope import Scope
from engram.domain.work import work_group, work_message
from engram.store.limits import check_queue_message


@dataclass(frozen=True, slots=True)
class LocalMessage:
    """One delivery.

    Attributes:
        receipt: names this delivery; `done` and `failed` take it.
        receive_count: deliveries so far, this one included.
        sent_at: unix milliseconds.
        sequence: grows with each message sent.
    """

    group: str
    body: str
    receipt: str
    receive_count: int
    message_id: str
    sent_at: int
    sequence: int


@dataclass(slots=True)
class _Group:
    """Messages of one group, oldest first, and those of them that are being worked on."""

    waiting: deque[LocalMessage]
    in_flight: dict[str, LocalMessage]
    visible_at: float = 0.0
    listed: bool = False


class LocalQueue:
    """Send side and receive side in one object, for any number of threads.

    A group is handed out to one batch at a time, and again only when every message of that batch is done or failed:
    so the next message of a user never overtakes one that is still being worked on.

    Args:
        max_receives: deliveries of one message before it is put among the dead.
        visibility_seconds: after this a delivery that was neither done nor failed counts as failed.
        backoff_seconds: wait before the second delivery; doubles with each, up to `max_backoff_seconds`.
        monotonic: seconds, for waits.
    """

    def __init__(
        self,
        *,
        max_receives: int = 5,
        visibility_seconds: float = 360.0,
        backoff_seconds: float = 0.5,
        max_backoff_seconds: float = 60.0,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._max_receives = max_receives
        self._visibility = visibility_seconds
        self._backoff = backoff_seconds
        self._max_backoff = max_backoff_seconds
        self._monotonic = monotonic
        self._groups: dict[str, _Group] = {}
        self._ready: deque[str] = deque()
        self._delayed: list[tuple[float, str]] = []
        self._deliveries: OrderedDict[str, tuple[str, float]] = OrderedDict()
        self._dead: list[LocalMessage] = []
        self._sequence = 0
        self._changed = threading.Condition()

    def send(self, scope: Scope, operation_id: str) -> None:
        """Enqueues the operation in its user's group."""
        group, body = work_group(scope), work_message(scope, operation_id)
        check_queue_message(group, body)
        with self._changed:
            self._enqueue(group, body)
            self._changed.notify()

    def receive(self, max_messages: int = 10) -> list[LocalMessage]:
        """Up to `max_messages`, at once and possibly none; whole runs of groups that nobody else is working on."""
        with self._changed:
            self._wake_up()
            batch: list[LocalMessage] = []
            while self._ready and len(batch) < max_messages:
                batch += self._take(self._ready.popleft(), max_messages - len(batch))
            return batch

    def done(self, receipt: str) -> None:
        """The message of this delivery is worked off. A receipt that is no longer valid is ignored."""
        with self._changed:
            group_id, message = self._settle(receipt)
            if message is not None:
                self._release(group_id)

    def failed(self, receipt: str) -> None:
        """The message of this delivery is to come again after a pause, or to be put among the dead."""
        with self._changed:
            self._fail(receipt)

    def wait(self, timeout: float) -> bool:
        """Whether there is something to receive, waiting up to `timeout` seconds for it."""
        end = self._monotonic() + timeout
        with self._changed:
            while True:
                self._wake_up()
                now = self._monotonic()
                if self._ready:
                    return True
                if now >= end:
                    return False
                self._changed.wait(min(end, self._next_event(end)) - now)

    def dead_letters(self) -> list[LocalMessage]:
        """Messages that were delivered `max_receives` times and never done."""
        with self._changed:
            return list(self._dead)

    def redrive(self) -> int:
        """Sends the dead letters again, oldest first; returns how many."""
        with self._changed:
            dead, self._dead = self._dead, []
            for message in dead:
                self._enqueue(message.group, message.body)
            self._changed.notify_all()
            return len(dead)

    def depth(self) -> int:
        """Messages not yet done, those being worked on included."""
        with self._changed:
            return sum(len(group.waiting) + len(group.in_flight) for group in self._groups.values())

    def _enqueue(self, group_id: str, body: str) -> None:
        self._sequence += 1
        sent_at = int(time.time() * 1000)
        message = LocalMessage(group_id, body, "", 0, str(uuid.uuid4()), sent_at, self._sequence)
        group = self._groups.setdefault(group_id, _Group(deque(), {}))
        group.waiting.append(message)
        self._release(group_id)

    def _take(self, group_id: str, room: int) -> list[LocalMessage]:
        group = self._groups[group_id]
        group.listed = False
        expires = self._monotonic() + self._visibility
        taken: list[LocalMessage] = []
        while group.waiting and len(taken) < room:
            message = group.waiting.popleft()
            receipt = str(uuid.uuid4())
            delivery = replace(message, receipt=receipt, receive_count=message.receive_count + 1)
            group.in_flight[receipt] = delivery
            self._deliveries[receipt] = (group_id, expires)
            taken.append(delivery)
        return taken

    def _settle(self, receipt: str) -> tuple[str, LocalMessage | None]:
        group_id, _ = self._deliveries.pop(receipt, ("", 0.0))
        return group_id, self._groups[group_id].in_flight.pop(receipt) if group_id else None

    def _fail(self, receipt: str) -> None:
        group_id, message = self._settle(receipt)
        if message is None:
            return
        group = self._groups[group_id]
        if message.receive_count >= self._max_receives:
            self._dead.append(message)
        else:
            group.waiting = deque(sorted((message, *group.waiting), key=lambda waiting: waiting.sequence))
            pause = min(self._backoff * 2 ** (message.receive_count - 1), self._max_backoff)
            group.visible_at = max(group.visible_at, self._monotonic() + pause)
        self._release(group_id)

    def _release(self, group_id: str) -> None:
        """Lists the group for delivery if it has something to deliver and nobody works on it."""
        group = self._groups[group_id]
        if group.in_flight or group.listed:
            return
        if not group.waiting:
            del self._groups[group_id]
            return
        group.listed = True
        if group.visible_at > self._monotonic():
            heapq.heappush(self._delayed, (group.visible_at, group_id))
        else:
            self._ready.append(group_id)
        self._changed.notify()

    def _wake_up(self) -> None:
        """Lists groups whose pause is over, and takes back deliveries that nobody answered for."""
        now = self._monotonic()
        while self._delayed and self._delayed[0][0] <= now:
            self._ready.append(heapq.heappop(self._delayed)[1])
        while self._deliveries:
            receipt, (_, expires) = next(iter(self._deliveries.items()))
            if expires > now:
                break
            self._fail(receipt)

    def _next_event(self, latest: float) -> float:
        """When something becomes receivable by the passing of time alone, `latest` at most."""
        due = [self._delayed[0][0]] if self._delayed else []
        if self._deliveries:
            due.append(next(iter(self._deliveries.values()))[1])
        return min(due, default=latest)
