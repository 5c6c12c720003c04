"""Tombstones: what is deleted is hidden before it is gone."""

from engram.domain.models import Evidence, MessageRef
from engram.domain.visibility import Tombstones


def evidence(conversation, seq):
    return Evidence("m", conversation, seq, 1, "hash", 0, 1)


def test_a_deleted_message_hides_itself_and_everything_that_rests_on_it():
    hidden = Tombstones().hiding(messages=[MessageRef("c1", 3)])
    assert not hidden.shows_message(MessageRef("c1", 3))
    assert hidden.shows_message(MessageRef("c1", 30))
    assert not hidden.shows_derived("slot", "s", [evidence("c1", 2), evidence("c1", 3)])
    assert hidden.shows_derived("slot", "s", [evidence("c1", 2)])


def test_a_deleted_conversation_hides_its_messages():
    hidden = Tombstones().hiding(conversations=["c1"])
    assert not hidden.shows_message(MessageRef("c1", 0))
    assert hidden.shows_message(MessageRef("c10", 0))


def test_a_deleted_user_hides_what_was_written_before_and_not_what_comes_after():
    hidden = Tombstones(epoch=4).hiding(everything=True)
    assert not hidden.shows_row(4)
    assert hidden.shows_row(5)


def test_a_purge_lifts_the_tombstones_and_raises_the_epoch_since_rows_show_again():
    hidden = Tombstones().hiding(messages=[MessageRef("c1", 3)], rows=["slot:x"])
    after = hidden.purged(messages=[MessageRef("c1", 3)], rows=["slot:x"])
    assert (hidden.epoch, after.epoch) == (1, 2)
    assert after.shows_message(MessageRef("c1", 3))
    assert after.shows_derived("slot", "x", [])


def test_a_row_hidden_by_name_stays_hidden_whatever_it_rests_on():
    assert not Tombstones().hiding(rows=["memory:x"]).shows_derived("memory", "x", [])
    assert Tombstones().hiding(rows=["memory:x"]).shows_derived("slot", "x", [])


def test_every_deletion_raises_the_epoch():
    once = Tombstones().hiding(rows=["slot:a"])
    twice = once.hiding(conversations=["c"])
    assert (once.epoch, twice.epoch) == (1, 2)
