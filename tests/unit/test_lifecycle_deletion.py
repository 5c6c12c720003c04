"""Deletion: hidden when the 202 is there, gone when the receipt says so, and nothing brings it back."""

import sqlite3
from pathlib import Path

import pytest

from engram.domain.errors import NotFound, Unavailable
from engram.domain.models import OperationStatus
from engram.lifecycle.targets import TargetKind
from tests.embedded import Embedded

HAZELNUTS = "I can't eat hazelnuts."


@pytest.fixture
def stack(tmp_path):
    return Embedded(tmp_path)


def delete(stack, kind, identifier, user="u1", *, drain=True):
    deletion = stack.services.deletion.delete(stack.scope(user), kind, identifier)
    if drain:
        stack.drain()
    return deletion.operation.operation_id


def receipt(stack, operation_id, user="u1"):
    operation = stack.services.operations.get(stack.scope(user), operation_id)
    assert operation.status is OperationStatus.SUCCEEDED
    return operation.result


def traces(stack, word):
    """Keys of rows, and names of blob files, that hold the word in any form."""
    folder = Path(stack.services.settings.data_dir)
    rows = sqlite3.connect(folder / "engram.sqlite").execute("select pk, sk, body, blob from items")
    found = [(pk, sk) for pk, sk, body, blob in rows if word in f"{pk}{sk}{body}" or word.encode() in blob]
    return found + [
        str(file) for file in (folder / "blobs").rglob("*") if file.is_file() and word.encode() in file.read_bytes()
    ]


def rows_of(stack, partition):
    database = sqlite3.connect(Path(stack.services.settings.data_dir) / "engram.sqlite")
    return dict(database.execute("select sk, body from items where pk = ?", (partition,)).fetchall())


def contents(stack, user="u1"):
    reader, scope = stack.services.reader, stack.scope(user)
    rows = (*reader.slots(scope), *reader.gists(scope), *reader.memory_items(scope, include_closed=True))
    summaries = [one.summary for one in reader.events(scope)]
    return [row.content for row in rows] + summaries + [one.title for one in reader.conversations(scope)]


def context_of(stack, user="u1"):
    return stack.call("context", "GET /api/v1/users/context/<user_id>", user_id=user).text


def recalled(stack, query, user="u1"):
    return stack.call(
        "recall", "POST /v1/memory/recall", body={"query": query, "user_id": user, "session_id": "now"}
    ).text


class TestAUser:
    def test_is_counted_and_gone_to_the_last_row(self, stack):
        for number in range(37):
            stack.say(f"I own grinder no. {number}", session=f"s{number}")
        before = rows_of(stack, "U#acme#u1")
        done = receipt(stack, delete(stack, TargetKind.USER, "u1"))
        assert done["before"]["messages"] == 37
        assert done["before"]["operations"] == 37
        assert sum(sk.startswith("VEC#") for sk in before) == done["before"]["search_rows"] >= 37
        assert set(done["after"].values()) == {0}
        assert rows_of(stack, "U#acme#u1") == {}
        assert stack.services.cache.get(stack.scope()) is None
        assert traces(stack, "grinder") == []

    def test_takes_nobody_else_along(self, stack):
        stack.say("mine is crimson")
        stack.say("mine is blue", user="u10")
        stack.say("mine is green", user="u1", business="beta")
        others = rows_of(stack, "U#acme#u10"), rows_of(stack, "U#beta#u1")
        delete(stack, TargetKind.USER, "u1")
        assert (rows_of(stack, "U#acme#u10"), rows_of(stack, "U#beta#u1")) == others
        assert traces(stack, "crimson") == []

    @pytest.mark.parametrize("user", ["*", "null", "undefined", " u1", "~business", "%"])
    def test_is_not_deleted_by_a_wildcard_or_a_mistake(self, stack, user):
        stack.say("still here")
        assert stack.call("management", "DELETE /v1/users/<user_id>", user_id=user).status == 400
        assert stack.call("management", "DELETE /v1/users").status == 400
        assert len(stack.services.reader.conversations(stack.scope())) == 1

    def test_is_hidden_before_anything_is_purged(self, stack):
        stack.say(HAZELNUTS)
        assert "hazelnuts" in context_of(stack)
        delete(stack, TargetKind.USER, "u1", drain=False)
        assert contents(stack) == []
        assert "hazelnuts" not in context_of(stack)
        assert "hazelnuts" not in recalled(stack, "what can I not eat?")

    def test_asked_for_twice_is_one_deletion_and_then_nobody(self, stack):
        stack.say("hello")
        first = delete(stack, TargetKind.USER, "u1", drain=False)
        assert delete(stack, TargetKind.USER, "u1") == first
        with pytest.raises(NotFound):
            stack.services.deletion.delete(stack.scope(), TargetKind.USER, "u1")

    def test_can_come_back_as_somebody_new(self, stack):
        stack.say(HAZELNUTS, request_id="r1")
        delete(stack, TargetKind.USER, "u1")
        stack.say("I live in Oslo.", request_id="r1")
        assert "Oslo" in context_of(stack)
        assert "hazelnuts" not in context_of(stack)

    def test_takes_nothing_new_while_it_is_being_purged(self, stack):
        stack.say("hello")
        delete(stack, TargetKind.USER, "u1", drain=False)
        stack.services.ingestion._pause = lambda seconds: None
        with pytest.raises(Unavailable) as refused:
            stack.say("again", drain=False)
        assert refused.value.code == "USER_BEING_ERASED"
        stack.drain()
        stack.say("again")
        assert [one.content for one in stack.services.reader.all_messages(stack.scope())] == ["again"]

    def test_deleted_while_one_of_its_messages_is_being_purged_is_purged_at_the_first_delivery(self, stack):
        stack.say("I like durian.", "I like tea.", ids=["m1", "m2"])
        delete(stack, TargetKind.MESSAGE, "m1", drain=False)
        deletion = delete(stack, TargetKind.USER, "u1", drain=False)
        assert stack.drain() == 2
        assert set(receipt(stack, deletion)["after"].values()) == {0}

    def test_leaves_no_meter_and_no_flush_behind(self, stack):
        stack.say("hello")
        delete(stack, TargetKind.USER, "u1")
        context_of(stack)
        stack.services.meter.flush()
        with pytest.raises(NotFound):
            stack.services.ingestion.flush(stack.scope(), request_id="late")
        assert rows_of(stack, "U#acme#u1") == {}

    def test_is_not_brought_back_by_work_that_was_under_way(self, stack):
        stack.say("I live in Oslo.", drain=False)
        delete(stack, TargetKind.USER, "u1")
        stack.services.sweep.run()
        stack.clock.go_on(3_600)
        stack.services.sweep.run()
        stack.drain()
        assert rows_of(stack, "U#acme#u1") == {}
        assert traces(stack, "Oslo") == []


class TestAMessage:
    def test_takes_along_whatever_rests_on_it_alone(self, stack):
        stack.say(HAZELNUTS, "I live in Tokyo.", ids=["m1", "m2"])
        context_of(stack), recalled(stack, "what can I not eat?")
        done = receipt(stack, delete(stack, TargetKind.MESSAGE, "m1"))
        assert done["before"]["messages"] == 1
        assert set(done["after"].values()) == {0}
        assert traces(stack, "azelnut") == []
        assert "Tokyo" in context_of(stack)
        assert "azelnut" not in context_of(stack) + recalled(stack, "what can I not eat?")

    def test_is_hidden_at_once_in_title_and_profile(self, stack):
        stack.say(HAZELNUTS, "I live in Tokyo.", ids=["m1", "m2"])
        context_of(stack)
        delete(stack, TargetKind.MESSAGE, "m1", drain=False)
        assert not any("hazelnuts" in content for content in contents(stack))
        assert "hazelnuts" not in context_of(stack)
        assert "hazelnuts" not in recalled(stack, "what can I not eat?")

    def test_leaves_a_statement_that_was_made_elsewhere_too(self, stack):
        stack.say(HAZELNUTS, ids=["m1"], session="a")
        stack.say(HAZELNUTS, ids=["m2"], session="b")
        delete(stack, TargetKind.MESSAGE, "m1")
        [slot] = stack.services.reader.slots(stack.scope())
        assert "hazelnuts" in slot.content
        assert {one.message_id for one in slot.evidence} == {"m2"}

    def test_leaves_an_earlier_version_that_was_said_elsewhere_too(self, stack):
        stack.say("I live in Tokyo.", ids=["m1"], session="a")
        stack.say("I live in Tokyo.", ids=["m2"], session="b")
        stack.clock.go_on(86_400)
        stack.say("I moved to Osaka.", ids=["m3"], session="c")
        receipt(stack, delete(stack, TargetKind.MESSAGE, "m1"))
        items = stack.services.reader.memory_items(stack.scope(), include_closed=True)
        [closed] = [one for one in items if one.content == "Tokyo"]
        assert closed.valid_until is not None
        assert {one.message_id for one in closed.evidence} == {"m2"}

    def test_takes_its_part_out_of_a_slot_of_several(self, stack):
        stack.say("I like durian.", ids=["m1"], session="a")
        stack.say("I like tea.", ids=["m2"], session="b")
        [slot] = stack.services.reader.slots(stack.scope())
        assert "durian" in slot.content
        assert "tea" in slot.content
        delete(stack, TargetKind.MESSAGE, "m1")
        [slot] = stack.services.reader.slots(stack.scope())
        assert "tea" in slot.content
        assert {one.message_id for one in slot.evidence} == {"m2"}
        assert traces(stack, "durian") == []

    def test_said_again_in_a_later_batch_is_gone_when_both_are(self, stack):
        stack.say("我住在金泽。", "I work at Contoso as an analyst.", ids=["m0", "m1"], session="a")
        stack.say("I was born on 3 May 1990.", "I work at Contoso as an analyst.", ids=["m2", "m3"], session="b")
        delete(stack, TargetKind.MESSAGE, "m1")
        assert any("Contoso" in content for content in contents(stack))
        delete(stack, TargetKind.MESSAGE, "m3")
        assert traces(stack, "Contoso") == []
        assert any("金泽" in content for content in contents(stack))

    def test_in_chinese_as_well(self, stack):
        stack.say("我对花生过敏。", "我住在东京。", ids=["m1", "m2"])
        delete(stack, TargetKind.MESSAGE, "m1")
        assert traces(stack, "花生") == []
        assert any("东京" in one.content for one in stack.services.reader.slots(stack.scope()))

    def test_does_not_come_back_with_its_request(self, stack):
        stack.say(HAZELNUTS, "I live in Tokyo.", ids=["m1", "m2"], request_id="r1")
        operation = stack.say(HAZELNUTS, "I live in Tokyo.", ids=["m1", "m2"], request_id="r1").operation_id
        delete(stack, TargetKind.MESSAGE, "m1")
        again = stack.say(HAZELNUTS, "I live in Tokyo.", ids=["m1", "m2"], request_id="r1")
        stack.services.queue.send(stack.scope(), operation)
        stack.drain()
        assert again.duplicate
        assert traces(stack, "azelnut") == []

    def test_that_waits_for_distillation_is_never_distilled(self, stack):
        stack.say(HAZELNUTS, "I live in Tokyo.", ids=["m1", "m2"], flush=False)
        delete(stack, TargetKind.MESSAGE, "m1")
        stack.services.ingestion.flush(stack.scope(), request_id="f")
        stack.drain()
        assert traces(stack, "azelnut") == []
        assert "Tokyo" in context_of(stack)

    def test_deleted_while_the_model_writes_is_not_in_what_it_wrote(self, stack):
        stack.say(HAZELNUTS, "I live in Tokyo.", ids=["m1", "m2"], flush=False)
        distiller = stack.services.distiller
        asked = []

        class Interrupted:
            id = distiller.id

            def distil(self, request):
                asked.append([one.message_id for one in request.messages])
                answer = distiller.distil(request)
                if len(asked) == 1:
                    delete(stack, TargetKind.MESSAGE, "m1", drain=False)
                return answer

        stack.services._distil_stage._distiller = Interrupted()
        stack.services.ingestion.flush(stack.scope(), request_id="f")
        stack.drain()
        assert asked == [["m1", "m2"], ["m2"]]
        assert traces(stack, "azelnut") == []
        assert "Tokyo" in context_of(stack)

    def test_too_large_for_a_row_leaves_no_blob(self, stack):
        stack.say("A pomelo. " * 40_000, ids=["m1"], flush=False)
        assert stack.services.blobs.names(stack.scope())
        delete(stack, TargetKind.MESSAGE, "m1")
        assert stack.services.blobs.names(stack.scope()) == []
        assert traces(stack, "pomelo") == []

    def test_that_was_the_last_one_ends_its_conversation(self, stack):
        stack.say("only this", ids=["m1"], conversation_id="trip")
        delete(stack, TargetKind.MESSAGE, "m1")
        assert stack.services.reader.conversations(stack.scope()) == ()
        stack.say("begun again", conversation_id="trip")
        assert [one.content for one in stack.services.reader.all_messages(stack.scope())] == ["begun again"]

    def test_nobody_has_is_not_found(self, stack):
        stack.say("hello")
        with pytest.raises(NotFound):
            stack.services.deletion.delete(stack.scope(), TargetKind.MESSAGE, "nope")


class TestAConversation:
    def test_goes_with_its_messages_and_what_they_told(self, stack):
        stack.say(HAZELNUTS, session="a", conversation_id="food")
        stack.say("I live in Tokyo.", session="b", conversation_id="home")
        done = receipt(stack, delete(stack, TargetKind.CONVERSATION, "food"))
        assert set(done["after"].values()) == {0}
        assert traces(stack, "azelnut") == []
        assert [one.conversation_id for one in stack.services.reader.conversations(stack.scope())] == ["home"]
        assert "Tokyo" in context_of(stack)

    @pytest.mark.parametrize("name", ["food:1", "food#1", "food/1", "foo", "food%23"])
    def test_leaves_one_whose_name_only_begins_alike(self, stack, name):
        stack.say(HAZELNUTS, session="a", conversation_id="food")
        stack.say("I live in Tokyo.", session="b", conversation_id=name)
        before = stack.services.rows_index.count(stack.scope())
        done = receipt(stack, delete(stack, TargetKind.CONVERSATION, "food"))
        assert stack.services.rows_index.count(stack.scope()) == before - done["before"]["search_rows"]
        assert [one.content for one in stack.services.reader.all_messages(stack.scope())] == ["I live in Tokyo."]
        assert "I live in Tokyo." in recalled(stack, "Tokyo")

    def test_can_be_begun_anew_under_its_name(self, stack):
        stack.say("first life", session="a", conversation_id="food")
        delete(stack, TargetKind.CONVERSATION, "food")
        stack.say("second life", session="a", conversation_id="food")
        assert [one.content for one in stack.services.reader.all_messages(stack.scope())] == ["second life"]
        delete(stack, TargetKind.CONVERSATION, "food")
        assert traces(stack, " life") == []

    def test_leaves_the_session_free_for_the_next(self, stack):
        stack.say("about food", session="a")
        [one] = stack.services.reader.conversations(stack.scope())
        delete(stack, TargetKind.CONVERSATION, one.conversation_id)
        stack.say("about trains", session="a")
        assert [one.content for one in stack.services.reader.all_messages(stack.scope())] == ["about trains"]


class TestARow:
    def test_a_memory_goes_from_profile_and_history_too(self, stack):
        stack.say("I like durian.", "I like tea.")
        [item] = [one for one in stack.services.reader.memory_items(stack.scope()) if "durian" in one.content]
        done = receipt(stack, delete(stack, TargetKind.MEMORY, item.id))
        assert set(done["after"].values()) == {0}
        assert not any("durian" in one.content for one in stack.services.reader.memory_items(stack.scope()))
        [slot] = stack.services.reader.slots(stack.scope())
        assert "durian" not in slot.content
        assert "tea" in slot.content

    def test_a_slot_goes_from_what_is_recalled_too(self, stack):
        stack.say(HAZELNUTS, "I live in Tokyo.")
        [slot] = [one for one in stack.services.reader.slots(stack.scope()) if "hazelnuts" in one.content]
        delete(stack, TargetKind.SLOT, slot.id)
        assert not any("hazelnuts" in one.content for one in stack.services.reader.memory_items(stack.scope()))
        assert "Tokyo" in context_of(stack)

    def test_an_event_goes_with_its_lines(self, stack):
        stack.say(HAZELNUTS)
        [event] = stack.services.reader.events(stack.scope())
        delete(stack, TargetKind.EVENT, event.id)
        assert stack.services.reader.events(stack.scope()) == ()
        assert stack.services.reader.gists(stack.scope()) == ()
        assert stack.services.reader.slots(stack.scope())
