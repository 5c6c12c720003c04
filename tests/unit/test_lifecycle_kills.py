"""A worker killed anywhere: the next delivery ends in the state that there would have been without the kill."""

import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from engram.domain.models import OperationStatus
from engram.lifecycle.targets import TargetKind
from tests.embedded import Embedded


class Killed(BaseException):
    """The process is gone: nothing catches it."""


class Killing:
    """A table whose n-th write is the last thing that its process does: before it, or just after it."""

    def __init__(self, table, *, at, after):
        self._table, self._left, self._after = table, at, after

    def __getattr__(self, name):
        return getattr(self._table, name)

    def transact(self, writes):
        self._dying(self._table.transact, writes)

    def write(self, puts=(), deletes=()):
        self._dying(self._table.write, puts, deletes)

    def _dying(self, write, *arguments):
        self._left -= 1
        if self._left == 0 and not self._after:
            raise Killed
        write(*arguments)
        if self._left == 0:
            raise Killed


def state(stack, *, but=("O#", "T#", "B#")):
    """Every row of users, without the times and versions in which two right ways may differ."""
    database = sqlite3.connect(Path(stack.services.settings.data_dir) / "engram.sqlite")
    rows = database.execute("select pk, sk from items where sk not like 'VECLOG%'")
    return sorted((pk, sk) for pk, sk in rows if not pk.startswith(but))


def told(stack):
    stack.say("I like durian.", ids=["m1"], session="a", conversation_id="a")
    stack.say("I like tea.", "I live in Oslo.", ids=["m2", "m3"], session="b", conversation_id="b")
    stack.say("A pomelo. " * 40_000, ids=["m4"], session="c", conversation_id="c", flush=False)


def deleted(stack, kind, identifier):
    return stack.services.deletion.delete(stack.scope(), kind, identifier).operation.operation_id


TARGETS = [
    (TargetKind.USER, "u1"),
    (TargetKind.CONVERSATION, "c"),
    (TargetKind.MESSAGE, "m1"),
    (TargetKind.MESSAGE, "m2"),
]


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(("kind", "identifier"), TARGETS)
def test_a_purge_killed_at_any_write_ends_like_one_that_was_not(tmp_path, kind, identifier, after):
    whole = Embedded(tmp_path / "whole")
    told(whole)
    deleted(whole, kind, identifier)
    whole.drain()
    expected = state(whole)
    prepared = Embedded(tmp_path / "prepared")
    told(prepared)
    operation_id = deleted(prepared, kind, identifier)
    prepared.services.table.close()
    for at in range(1, 200):
        shutil.copytree(tmp_path / "prepared", tmp_path / f"{at}")
        if not _killed(tmp_path / f"{at}", operation_id, at=at, after=after):
            assert at > 3
            return
        revived = Embedded(tmp_path / f"{at}")
        revived.clock.go_on(3_600)
        revived.services.sweep.run()
        revived.drain()
        operation = revived.services.operations.get(revived.scope(), operation_id)
        assert operation.status is OperationStatus.SUCCEEDED
        assert state(revived) == expected
        assert operation.result["before"] is not None
        assert set(operation.result["after"].values()) == {0}
        assert not revived.services.reader.tombstones(revived.scope()).purging
    raise AssertionError("never came to the end")


def _killed(folder, operation_id, *, at, after):
    """Whether the worker was killed before it was done."""
    dying = Embedded(folder)
    table = dying.services.table
    dying.services.__dict__["table"] = Killing(table, at=at, after=after)
    try:
        dying.services.extractor.work(dying.scope(), operation_id, last_attempt=False)
    except Killed:
        return True
    finally:
        table.close()
    return False


def test_a_cache_that_does_not_answer_keeps_the_receipt_waiting(tmp_path):
    stack = Embedded(tmp_path)
    told(stack)
    cache = stack.services.cache
    forget, cache.forget = cache.forget, lambda scope, *, epoch: False
    operation_id = deleted(stack, TargetKind.MESSAGE, "m1")
    stack.drain()
    assert stack.services.operations.get(stack.scope(), operation_id).status is OperationStatus.RUNNING
    cache.forget = forget
    stack.clock.go_on(3_600)
    stack.services.sweep.run()
    stack.drain()
    assert stack.services.operations.get(stack.scope(), operation_id).status is OperationStatus.SUCCEEDED


def test_every_message_delivered_twice_changes_nothing(tmp_path):
    stack = Embedded(tmp_path)
    told(stack)
    operation_id = deleted(stack, TargetKind.MESSAGE, "m2")
    for _ in range(2):
        stack.services.queue.send(stack.scope(), operation_id)
    stack.drain()
    once = state(stack)
    stack.services.queue.send(stack.scope(), operation_id)
    stack.drain()
    assert state(stack) == once


def test_a_purge_that_takes_longer_than_a_delivery_goes_on_with_the_next(tmp_path):
    stack = Embedded(tmp_path)
    for number in range(30):
        stack.say(f"number {number}", session=f"s{number}", drain=False)
    stack.drain()
    stack.services._purge._delivery_ms = 0.0
    operation_id = deleted(stack, TargetKind.USER, "u1")
    assert stack.drain() > 1
    receipt = stack.services.operations.get(stack.scope(), operation_id)
    assert receipt.status is OperationStatus.SUCCEEDED
    assert receipt.result["before"]["messages"] == 30
    assert replace(receipt, result=None).attempts == 0
