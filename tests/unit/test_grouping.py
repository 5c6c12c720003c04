"""Grouping: which messages make one conversation."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from engram.domain.models import Conversation
from engram.ingestion.grouping import place

NOON = datetime(2026, 7, 1, 12, tzinfo=UTC)
GAP = timedelta(minutes=30)


def placed(times, *, present=None, gap=GAP):
    return place(times, session_id="s1", present=present, gap=gap, new_id=lambda number: f"new-{number}")


def talk(start=NOON, end=NOON, messages=2):
    return Conversation("old", "s1", started_at=start, ended_at=end, next_seq=messages, version=4)


def test_a_message_within_half_an_hour_goes_on_with_the_conversation():
    placement = placed([NOON + timedelta(minutes=29)], present=talk())
    assert placement.places == (("old", 2),)
    assert placement.continued[0].next_seq == 3
    assert placement.continued[0].version == 5


def test_half_an_hour_of_silence_begins_a_new_conversation():
    placement = placed([NOON + timedelta(minutes=30)], present=talk())
    assert placement.places == (("new-0", 0),)
    assert placement.continued == ()


def test_a_long_silence_inside_one_request_splits_it():
    placement = placed([NOON, NOON + timedelta(minutes=5), NOON + timedelta(hours=2)])
    assert placement.places == (("new-0", 0), ("new-0", 1), ("new-1", 0))
    assert [one.conversation_id for one in placement.opened] == ["new-0", "new-1"]


def test_a_back_dated_message_does_not_join_the_present_conversation():
    assert placed([NOON - timedelta(days=3)], present=talk()).places == (("new-0", 0),)


def test_a_conversation_that_the_caller_names_is_never_split():
    placement = placed([NOON + timedelta(days=1), NOON + timedelta(days=9)], present=talk(), gap=None)
    assert placement.places == (("old", 2), ("old", 3))


@given(st.lists(st.integers(-10_000, 10_000), min_size=1, max_size=40), st.booleans())
def test_every_message_has_its_own_place_and_conversations_span_their_messages(minutes, continues):
    times = [NOON + timedelta(minutes=one) for one in minutes]
    placement = placed(times, present=talk() if continues else None)
    assert len(set(placement.places)) == len(times)
    spans = {one.conversation_id: one for one in (*placement.opened, *placement.continued)}
    for at, (identifier, seq) in zip(times, placement.places, strict=True):
        assert spans[identifier].started_at <= at <= spans[identifier].ended_at
        assert seq < spans[identifier].next_seq


@given(st.lists(st.integers(0, 400 * 24 * 60), min_size=1, max_size=80), st.integers(1, 20))
def test_no_more_conversations_are_opened_than_fit_and_the_longest_silences_part_them(minutes, most):
    times = [NOON + timedelta(minutes=one) for one in sorted(minutes)]
    placement = place(times, session_id="s1", present=None, gap=GAP, new_id=str, most=most)
    assert 1 <= len(placement.opened) <= most
    assert len(placement.places) == len(times)
    pairs = list(pairwise(times))
    starts = [seq == 0 for _, seq in placement.places][1:]
    parted = [later - earlier for (earlier, later), new in zip(pairs, starts, strict=True) if new]
    joined = [later - earlier for (earlier, later), new in zip(pairs, starts, strict=True) if not new]
    assert min(parted, default=timedelta.max) >= max(joined, default=timedelta(0))
