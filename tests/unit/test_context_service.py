"""The context: what is in a block, and what happens when a part of it cannot be had."""

from __future__ import annotations

import threading
import time

import pytest

from engram.context.events import last_user_turns
from engram.context.request import ChatTurn
from engram.domain.errors import ModelFailure, Unavailable
from engram.text.tokens import count_tokens
from tests.context_household import CHATS, Household, Searching


@pytest.fixture
def home(tmp_path):
    return Household(tmp_path)


def test_a_brand_new_user_gets_an_empty_well_formed_block(home):
    block = home.ask()
    assert block.text.startswith("---\n# Memory")
    assert (block.tokens_profile, block.tokens_events, block.degraded, block.dropped) == (0, 0, (), ())


def test_the_counts_of_the_answer_are_those_of_the_text(home):
    home.write(slots=[home.slot("engineer"), home.slot("旅游", sub_topic="hobby")], gists=[home.gist("dinner")])
    block = home.ask()
    assert count_tokens(block.text) == block.tokens_total
    assert block.tokens_total > block.tokens_profile + block.tokens_events > 0


@pytest.mark.parametrize(
    ("broken", "lost", "there", "gone"),
    [("gists", "events", "engineer", "dinner"), ("slots", "profile", "dinner", "engineer")],
)
def test_if_one_line_fails_the_other_is_served_and_the_lost_one_named(home, broken, lost, there, gone):
    home.write(slots=[home.slot("engineer")], gists=[home.gist("dinner")])
    home.reader.broken = {broken}
    block = home.ask()
    assert block.degraded == (lost,)
    assert there in block.text
    assert gone not in block.text
    home.reader.broken = set()
    assert home.ask().degraded == (), "what was read in part must not have filled the cache"


def test_if_the_table_is_gone_the_block_is_empty_and_says_so(home):
    home.write(slots=[home.slot("engineer")])
    home.reader.broken = {"state"}
    block = home.ask()
    assert block.degraded == ("profile", "events")
    assert block.text.startswith("---\n")


def test_the_table_may_be_gone_as_long_as_the_cache_answers(home):
    home.write(slots=[home.slot("engineer")])
    home.ask()
    home.reader.broken = {"state", "slots", "gists"}
    assert "engineer" in home.ask().text


def test_topics_are_preferred_limited_and_whitelisted_in_that_order(home):
    slots = [
        home.slot(f"v{n}", topic=topic, sub_topic=f"s{n}")
        for n, topic in enumerate(["work", "work", "health", "interest"])
    ]
    home.write(slots=slots)

    def shown(**fields):
        return [line.split(": ")[1] for line in home.ask(**fields).text.splitlines() if line.startswith("- ")]

    assert shown() == ["v3", "v2", "v1", "v0"]
    assert shown(prefer_topics=("Work", "health")) == ["v1", "v0", "v2", "v3"]
    assert shown(only_topics=(" WORK ",)) == ["v1", "v0"]
    assert shown(max_subtopic_size=1) == ["v3", "v2", "v1"]
    assert shown(max_subtopic_size=1, topic_limits={"Work": 2, "health": 0}) == ["v3", "v1", "v0"]
    reasons = {(one.id, one.reason) for one in home.ask(only_topics=("work",), max_subtopic_size=1).dropped}
    assert reasons == {("s-v3", "not_in_only_topics"), ("s-v2", "not_in_only_topics"), ("s-v0", "topic_limit")}


def test_the_time_range_counts_from_when_it_happened(home):
    home.write(gists=[home.gist("yesterday", 1), home.gist("last year", 400), home.gist("tomorrow", -1)])
    text = home.ask().text
    assert "last year" not in text
    assert text.index("tomorrow") < text.index("yesterday")
    assert "last year" in home.ask(time_range_in_days=500).text
    assert "yesterday" not in home.ask(time_range_in_days=0).text


def test_lines_of_events_without_a_summary_are_left_out_on_demand(home):
    home.write(gists=[home.gist("told"), home.gist("bare", summarised=False)])
    assert "bare" in home.ask().text
    text = home.ask(require_event_summary=True).text
    assert "told" in text
    assert "bare" not in text


def test_with_chats_events_come_by_likeness_to_the_last_user_turns(home):
    kyoto, tea = home.gist("Kyoto trip", 100), home.gist("tea")
    home.write(gists=[kyoto, tea])
    home.search.find(kyoto)
    block = home.ask(chats=(ChatTurn("user", "old"), ChatTurn("assistant", "a"), *CHATS))
    assert home.search.asked == ["old\nshall we go to Kyoto again?"]
    assert "Kyoto trip" in block.text
    assert "tea" not in block.text
    assert home.ask(chats=CHATS, event_similarity_threshold=0.95).tokens_events == 0


@pytest.mark.parametrize("turn", [ChatTurn("assistant", "hi"), ChatTurn("user", " \n ")])
def test_chats_with_nothing_to_search_by_get_the_newest_events(home, turn):
    home.write(gists=[home.gist("tea")])
    block = home.ask(chats=(turn,))
    assert "tea" in block.text
    assert block.degraded == ()


def test_an_event_that_the_index_still_has_and_the_table_not_is_not_shown(home):
    home.write(gists=[home.gist("tea")])
    home.search.find(home.gist("deleted long ago", 5))
    block = home.ask(chats=CHATS)
    assert "deleted" not in block.text
    assert block.degraded == ()


def test_an_older_event_than_the_cache_holds_is_found_in_the_table(home):
    home.write(gists=[home.gist(f"n{n}") for n in range(60)])
    old = home.gist("Kyoto trip", 50)
    home.write(gists=[old])
    home.search.find(old)
    assert "Kyoto trip" in home.ask(chats=CHATS).text


@pytest.mark.parametrize("failure", ["encoder", "index"])
def test_a_failing_search_serves_the_newest_events_and_says_so(home, failure):
    home.write(slots=[home.slot("engineer")], gists=[home.gist("tea")])
    home.search.fails = failure == "encoder"
    home.search.missing = ("vector",) if failure == "index" else ()
    block = home.ask(chats=CHATS)
    assert block.degraded == ("events",)
    assert "tea" in block.text
    assert "engineer" in block.text


def test_another_index_answers_when_the_first_is_asleep(home):
    kyoto = home.gist("Kyoto trip")
    home.write(gists=[kyoto, home.gist("tea")])
    home.search.missing = ("vector",)
    home.more_indexes.append(Searching())
    home.more_indexes[0].find(kyoto)
    block = home.ask(chats=CHATS)
    assert block.degraded == ()
    assert "Kyoto trip" in block.text
    assert "tea" not in block.text


def test_an_encoder_that_hangs_is_waited_for_no_longer_than_allowed(home):
    home.write(gists=[home.gist("tea")])
    home.service._patience_ms = 50
    released = threading.Event()
    home.search.embed = lambda texts, purpose: released.wait(5) and [b""]
    watch = time.perf_counter()
    block = home.ask(chats=CHATS)
    assert time.perf_counter() - watch < 2
    released.set()
    assert block.degraded == ("events",)
    assert "tea" in block.text


class Choosing:
    def __init__(self, answer):
        self.answer = answer

    def choose(self, chats, slots):
        if isinstance(self.answer, Exception):
            raise self.answer
        return frozenset(self.answer)


def test_the_model_filter_keeps_what_bears_on_the_chats(home):
    home.write(slots=[home.slot("engineer"), home.slot("tall", sub_topic="height")])
    home.filter = Choosing(["s-tall"])
    block = home.ask(chats=CHATS, full_profile_and_only_search_event=False)
    assert "engineer" not in block.text
    assert "tall" in block.text
    assert [(one.id, one.reason) for one in block.dropped] == [("s-engineer", "not_relevant")]
    assert "engineer" in home.ask(chats=CHATS).text, "by default the profile is whole"
    assert "engineer" in home.ask(full_profile_and_only_search_event=False).text, (
        "without chats there is nothing to filter by"
    )


@pytest.mark.parametrize("answer", [Unavailable("x"), ModelFailure("x"), None])
def test_a_failing_filter_serves_the_whole_profile_and_says_so(home, answer):
    home.write(slots=[home.slot("engineer")])
    home.filter = Choosing(answer) if answer is not None else None
    block = home.ask(chats=CHATS, full_profile_and_only_search_event=False)
    assert "engineer" in block.text
    assert block.degraded == ("profile_filter",)


def test_the_end_of_a_long_turn_is_what_is_searched_for():
    assert last_user_turns([ChatTurn("user", "x" * 5000 + "end")]).endswith("end")
    assert len(last_user_turns([ChatTurn("user", "x" * 5000)])) == 2000
    assert last_user_turns([ChatTurn("assistant", "x")]) == ""
