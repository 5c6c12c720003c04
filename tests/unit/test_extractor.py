"""The extractor: killed anywhere, delivered twice, given a model that misbehaves, it ends in one right state."""

import json
import sqlite3
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from engram.domain.errors import ModelFailure, Unavailable
from engram.domain.models import OperationStatus
from engram.extraction.models import Citation, Distillation, GistDraft, SlotAction, SlotChange
from engram.lifecycle.targets import TargetKind
from tests.embedded import Embedded


class Killed(BaseException):
    """The process is gone: nothing catches it."""


class Dying:
    """A table whose n-th write is the last thing that its process does: before it, or just after it."""

    def __init__(self, table, at, *, after):
        self._table, self.left, self._after = table, at, after

    def __getattr__(self, name):
        return getattr(self._table, name)

    def transact(self, writes):
        self._one(self._table.transact, writes)

    def write(self, puts=(), deletes=()):
        self._one(self._table.write, puts, deletes)

    def _one(self, write, *arguments):
        self.left -= 1
        if self.left < 0:
            write(*arguments)
            return
        if self.left == 0 and not self._after:
            raise Killed
        write(*arguments)
        if self.left == 0:
            raise Killed


class CountingModel:
    """A distiller that bills every call, and answers what its script says (the last entry again and again)."""

    id = "counting@1"

    def __init__(self, *script):
        self.calls, self._script = 0, script

    def distil(self, request):
        answer = self._script[min(self.calls, len(self._script) - 1)]
        self.calls += 1
        if isinstance(answer, Exception):
            raise answer
        first = request.messages[0]
        cited = (Citation(first.message_id, first.content),)
        slot = SlotChange(SlotAction.ADD, "basic_info", "city", "Oslo", cited)
        gist = GistDraft("moved to Oslo", first.created_at, cited)
        return Distillation(slots=(slot,), gists=(gist,), summary="moved", tokens_in=100, tokens_out=20)


def rows(stack):
    """Every row but meters, which are told when there is time, and the log of search rows."""
    database = sqlite3.connect(Path(stack.services.settings.data_dir) / "engram.sqlite")
    found = database.execute("select pk, sk, body from items where sk != 'VECHEAD' and sk not like 'VECLOG%'")
    return {(pk, sk): _steady(json.loads(body)) for pk, sk, body in found if not sk.startswith("METER#")}


def _steady(body):
    return {name: value for name, value in body.items() if name not in ("version", "attempts", "profile_version")}


def stack_with(folder, model):
    stack = Embedded(folder)
    stack.services.__dict__["distiller"] = model
    return stack


def reopened(stack, model):
    """The installation after its process died: a new one on the same folder, whose queue is empty."""
    again = stack_with(Path(stack.services.settings.data_dir), model)
    again.clock.now = stack.clock.now
    again.services.sweep.resume()
    return again


def heard(folder, model, *, dies_at=0, after=False):
    stack = stack_with(folder, model)
    stack.say("I live in Oslo.", flush=False)
    accepted = stack.say("I love tea.", request_id="second", drain=False)
    writes = Dying(stack.services.table, dies_at, after=after)
    if dies_at:
        dying = stack_with(folder, model)
        dying.services.__dict__["table"] = writes
        with suppress(Killed):
            dying.services.extractor.work(dying.scope(), accepted.operation_id, last_attempt=False)
        writes.left = 0
        stack = reopened(stack, model)
    stack.drain()
    return stack, writes


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("dies_at", range(1, 12))
def test_a_worker_killed_at_any_write_ends_like_one_that_was_not(tmp_path, dies_at, after):
    undisturbed, _ = heard(tmp_path / "a", CountingModel(None))
    model = CountingModel(None)
    killed, _ = heard(tmp_path / "b", model, dies_at=dies_at, after=after)
    assert rows(killed) == rows(undisturbed)
    between_answer_and_note = not after and model.calls == 2
    assert model.calls == 1 or between_answer_and_note
    assert killed.services.operations.find("acme", _last(killed)).status is OperationStatus.SUCCEEDED


def _last(stack):
    return next(iter(stack.services.reader.rows(stack.scope(), "REQ#second"))).body["operation_id"]


def test_a_delivery_after_the_end_bills_nothing_and_changes_nothing(tmp_path):
    model = CountingModel(None)
    stack, _ = heard(tmp_path, model)
    before = rows(stack)
    for _ in range(3):
        stack.services.extractor.work(stack.scope(), _last(stack), last_attempt=False)
    assert rows(stack) == before
    assert model.calls == 1


def test_an_answer_that_cannot_be_used_fails_the_operation_and_keeps_the_messages(tmp_path):
    stack = stack_with(tmp_path, CountingModel(ModelFailure("not JSON after one repair")))
    accepted = stack.say(*[f"line {number}" for number in range(6)])
    operation = stack.services.operations.find("acme", accepted.operation_id)
    assert (operation.status, operation.error) == (OperationStatus.FAILED, "MODEL_OUTPUT_INVALID")
    assert len(list(stack.services.reader.all_messages(stack.scope()))) == 6
    assert stack.services.rows_index.count(stack.scope()) == 6


def test_every_operation_whose_messages_could_not_be_distilled_says_so(tmp_path):
    stack = stack_with(tmp_path, CountingModel(ModelFailure("not JSON")))
    first = stack.say("I live in Oslo.", flush=False)
    stack.say("I love tea.")
    assert stack.services.operations.find("acme", first.operation_id).status is OperationStatus.FAILED


def test_a_redrive_after_the_repair_succeeds_without_duplicates(tmp_path):
    stack = stack_with(tmp_path, CountingModel(ModelFailure("not JSON"), None))
    first = stack.say("I live in Oslo.", flush=False)
    second = stack.say("I love tea.")
    stack.services.ingestion.retry("acme", second.operation_id)
    stack.drain()
    for one in (first, second):
        assert stack.services.operations.find("acme", one.operation_id).status is OperationStatus.SUCCEEDED
    assert [slot.content for slot in stack.services.reader.slots(stack.scope())] == ["Oslo"]
    assert stack.services.rows_index.count(stack.scope()) == 2 + 1 + 1


def test_a_model_that_is_away_is_asked_again_by_the_queue(tmp_path):
    model = CountingModel(Unavailable("away"), Unavailable("away"), None)
    stack = stack_with(tmp_path, model)
    accepted = stack.say("I live in Oslo.")
    assert stack.services.operations.find("acme", accepted.operation_id).status is OperationStatus.SUCCEEDED
    assert model.calls == 3


def test_a_model_that_stays_away_ends_in_the_dead_letters_and_can_be_redriven(tmp_path):
    model = CountingModel(*[Unavailable("away")] * 5, None)
    stack = stack_with(tmp_path, model)
    accepted = stack.say("I live in Oslo.")
    failed = stack.services.operations.find("acme", accepted.operation_id)
    assert (failed.status, failed.error, failed.retryable) == (OperationStatus.FAILED, "UNAVAILABLE", True)
    assert stack.services.local_queue.dead_letters
    stack.services.ingestion.retry("acme", accepted.operation_id)
    stack.drain()
    assert stack.services.operations.find("acme", accepted.operation_id).status is OperationStatus.SUCCEEDED


def test_a_full_buffer_is_distilled_without_being_asked(tmp_path):
    stack = stack_with(tmp_path, CountingModel(None))
    stack.say("tea " * 600, flush=False)
    assert not stack.services.reader.slots(stack.scope())
    stack.say("tea " * 600, flush=False)
    assert [slot.content for slot in stack.services.reader.slots(stack.scope())] == ["Oslo"]


def test_an_idle_buffer_is_distilled_by_the_sweep(tmp_path):
    stack = stack_with(tmp_path, CountingModel(None))
    stack.say("I live in Oslo.", flush=False)
    idle = stack.services.settings.buffer_flush_interval
    stack.clock.go_on(idle - 1)
    stack.services.sweep.run()
    stack.drain()
    assert not stack.services.reader.slots(stack.scope())
    stack.clock.go_on(2)
    stack.services.sweep.run()
    stack.drain()
    assert [slot.content for slot in stack.services.reader.slots(stack.scope())] == ["Oslo"]


def test_two_flushes_at_once_distil_once(tmp_path):
    model = CountingModel(None)
    stack = stack_with(tmp_path, model)
    stack.say("I live in Oslo.", flush=False)
    for number in range(2):
        stack.services.ingestion.flush(stack.scope(), request_id=f"flush-{number}")
    stack.drain()
    assert model.calls == 1
    assert len(stack.services.reader.events(stack.scope())) == 1


def test_the_sweep_sends_what_the_queue_lost_and_leaves_fresh_work_alone(tmp_path):
    stack = stack_with(tmp_path, CountingModel(None))
    accepted = stack.say("I live in Oslo.", drain=False)
    lost = reopened_without_resume(stack)
    assert lost.services.sweep.run().resent == 0
    lost.clock.now = stack.clock.now + timedelta(seconds=stack.services.settings.sweep_after_seconds + 1)
    assert lost.services.sweep.run().resent == 1
    lost.drain()
    assert lost.services.operations.find("acme", accepted.operation_id).status is OperationStatus.SUCCEEDED


def reopened_without_resume(stack):
    again = stack_with(Path(stack.services.settings.data_dir), CountingModel(None))
    again.clock.now = stack.clock.now
    return again


def test_a_person_edit_at_the_same_moment_is_merged_not_lost(tmp_path):
    stack = stack_with(tmp_path, CountingModel(None))
    stack.say("hello", flush=False)
    accepted = stack.say("I live in Oslo.", drain=False)
    commits = stack.services.commits
    profile, raced = commits.profile, []

    def race(scope, commit):
        if not raced:
            raced.append(True)
            profile(
                scope,
                replace(commit, slots=(), events=(), gists=(), memories=(), operation=None, other=(), done_buffers=()),
            )
        return profile(scope, commit)

    commits.profile = race
    stack.drain()
    assert stack.services.operations.find("acme", accepted.operation_id).status is OperationStatus.SUCCEEDED
    assert stack.services.reader.user(stack.scope()).profile_version == 2
    assert stack.services.distiller.calls == 1


class Listening(CountingModel):
    """A model that remembers which messages it was shown."""

    def __init__(self, *script):
        super().__init__(*script)
        self.heard = []

    def distil(self, request):
        self.heard.append([message.message_id for message in request.messages])
        return super().distil(request)


def test_a_message_deleted_between_two_parts_makes_no_other_be_skipped_or_repeated(tmp_path):
    model = Listening(None, Unavailable("away"), None)
    stack = stack_with(tmp_path, model)
    long = "tea and cake " * 1_200
    accepted = stack.say(long, long, long, ids=["m1", "m2", "m3"], drain=False)
    with pytest.raises(Unavailable):
        stack.services.extractor.work(stack.scope(), accepted.operation_id, last_attempt=False)
    stack.services.deletion.delete(stack.scope(), TargetKind.MESSAGE, "m1")
    stack.services.extractor.work(stack.scope(), accepted.operation_id, last_attempt=False)
    assert model.heard == [["m1"], ["m2"], ["m2"], ["m3"]]
