"""Which conversation is meant: the rules of time and conditions, without any store."""

import struct
from datetime import timedelta
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram.domain.models import Conversation, MentionStatus, Message, MessageRef, Role
from engram.recall import verification
from engram.recall.asking import is_message
from engram.recall.carrying import carried_over
from engram.recall.conditions import Tier, conditions_of, tier_of
from engram.recall.leaning import leaning_on_conversations
from engram.recall.searching import NearTurn
from engram.recall.selection import by_conditions, by_relevance, choose, decided, means_one
from engram.recall.timeline import Moment, current_conversation, eligible, recent, with_pending
from engram.recall.within import coverage, scores_within, units_of
from engram.resolve.models import (
    Candidate,
    Mention,
    Resolution,
    SourceType,
    Subjects,
    Temporal,
    TemporalIntent,
)
from engram.text.normalise import fold
from tests.builders import moment

NOW = moment("07-01 09:00")
ASKING = Moment(NOW, True, "asking", "")


def talk(name, at, *, entities=(), topics=(), candidates=(), session="s", minutes=5, **fields):
    start = moment(at)
    return Conversation(
        conversation_id=name,
        session_id=session,
        started_at=start,
        ended_at=start + timedelta(minutes=minutes),
        next_seq=2,
        entity_ids=tuple(entities),
        topic_ids=tuple(topics),
        candidate_ids=tuple(candidates),
        **fields,
    )


def linked(text, identifier, kind="city"):
    return Mention(text, 0, len(text), MentionStatus.LINKED, identifier, text, kind, "alias")


def ambiguous(text, *ids, kind="thing"):
    candidates = tuple(Candidate(one, one, kind, Decimal("0.5")) for one in ids)
    return Mention(text, 0, len(text), MentionStatus.AMBIGUOUS, candidates=candidates)


def unknown(text):
    return Mention(text, 0, len(text), MentionStatus.UNRESOLVED, found_by="unknown")


def asked(query="", *, entities=(), topics=(), intent=TemporalIntent.PREVIOUS_RELATED, words="", **temporal):
    text = " ".join((*(one.text for one in (*entities, *topics)), words)).strip()
    return Resolution(
        query=query or text,
        normalised=fold(query or text),
        language="en",
        entities=tuple(entities),
        topics=tuple(topics),
        temporal=Temporal(intent, **{"cue": "last time", **temporal}),
        source_type=SourceType.ANY,
        search_text=text,
    )


def types(identifier):
    return "city" if identifier.startswith("city") else ""


def chosen(conversations, resolution, at=ASKING):
    conditions = conditions_of(resolution, fold)
    allowed = eligible(conversations, resolution.temporal, at)
    found = by_conditions(allowed, conditions, types)
    return [
        one.conversation_id for one in choose(found.conversations, resolution.temporal, conditions, at).conversations
    ]


HANGZHOU = linked("Hangzhou", "city:1")
GUIDE = linked("guide", "TRAVEL_GUIDE", "")


class TestLastTime:
    def test_is_the_newest_conversation_that_meets_all_conditions(self):
        talks = [
            talk("old", "01-05 10:00", entities=["city:1"], topics=["TRAVEL_GUIDE"]),
            talk("newer", "03-05 10:00", entities=["city:1"], topics=["TRAVEL_GUIDE"]),
            talk("weather", "06-01 10:00", entities=["city:1"]),
            talk("elsewhere", "06-02 10:00", entities=["city:2"], topics=["TRAVEL_GUIDE"]),
        ]
        assert chosen(talks, asked(entities=[HANGZHOU], topics=[GUIDE])) == ["newer"]

    def test_is_not_the_conversation_in_which_it_is_asked(self):
        talks = [talk("before", "06-01 10:00", entities=["city:1"]), talk("now", "07-01 08:50", entities=["city:1"])]
        here = Moment(NOW, True, "s", "now")
        assert chosen(talks, asked(entities=[HANGZHOU]), here) == ["before"]

    def test_is_not_a_conversation_dated_in_the_future(self):
        talks = [
            talk("before", "06-01 10:00", entities=["city:1"]),
            talk("tomorrow", "07-02 10:00", entities=["city:1"]),
        ]
        assert chosen(talks, asked(entities=[HANGZHOU])) == ["before"]

    def test_counts_back_when_asked_for_the_time_before_last(self):
        talks = [talk(name, f"0{month}-01 10:00", entities=["city:1"]) for month, name in enumerate("abc", start=1)]
        assert chosen(talks, asked(entities=[HANGZHOU], nth=2)) == ["b"]
        assert chosen(talks, asked(entities=[HANGZHOU], nth=3)) == ["a"]
        assert chosen(talks, asked(entities=[HANGZHOU], nth=4)) == []

    def test_is_never_about_another_city_than_the_one_named(self):
        talks = [talk("chengdu", "06-02 10:00", entities=["city:2"], topics=["TRAVEL_GUIDE"])]
        assert chosen(talks, asked(entities=[HANGZHOU], topics=[GUIDE])) == []

    def test_needs_every_place_that_is_named_before_it_takes_one_of_them(self):
        suzhou = linked("Suzhou", "city:2")
        talks = [
            talk("both", "01-01 10:00", entities=["city:1", "city:2"]),
            talk("one", "06-01 10:00", entities=["city:1"]),
        ]
        assert chosen(talks, asked(entities=[HANGZHOU, suzhou])) == ["both"]
        assert chosen(talks[1:], asked(entities=[HANGZHOU, suzhou])) == ["one"]

    def test_of_an_ambiguous_name_is_one_conversation_for_each_thing_it_may_mean(self):
        talks = [
            talk("snake", "01-01 10:00", entities=["snake"]),
            talk("language", "02-01 10:00", entities=["language"]),
            talk("language again", "03-01 10:00", entities=["language"]),
        ]
        assert chosen(talks, asked(entities=[ambiguous("Python", "language", "snake")])) == ["language again", "snake"]
        assert chosen(talks[1:], asked(entities=[ambiguous("Python", "language", "snake")])) == ["language again"]


class TestOtherTimes:
    def test_the_first_time_is_the_oldest(self):
        talks = [talk("a", "01-01 10:00", entities=["city:1"]), talk("b", "02-01 10:00", entities=["city:1"])]
        assert chosen(talks, asked(entities=[HANGZHOU], intent=TemporalIntent.EARLIEST)) == ["a"]

    def test_everything_is_listed_in_the_order_of_time(self):
        talks = [talk(name, f"0{month}-01 10:00", entities=["city:1"]) for month, name in enumerate("cab", start=1)]
        assert chosen(talks, asked(entities=[HANGZHOU], intent=TemporalIntent.ALL_HISTORY)) == ["c", "a", "b"]

    def test_lately_is_the_last_weeks_and_older_only_when_there_is_nothing_newer(self):
        talks = [talk("winter", "01-01 10:00", entities=["city:1"]), talk("june", "06-20 10:00", entities=["city:1"])]
        intent = TemporalIntent.RECENT
        assert chosen(talks, asked(entities=[HANGZHOU], intent=intent)) == ["june"]
        assert chosen(talks[:1], asked(entities=[HANGZHOU], intent=intent)) == ["winter"]

    def test_a_range_takes_what_was_said_in_it_and_its_end_is_not_part_of_it(self):
        talks = [
            talk("before", "05-31 23:00", entities=["city:1"]),
            talk("inside", "06-01 00:00", entities=["city:1"]),
            talk("after", "07-01 00:00", entities=["city:1"]),
        ]
        june = {"start": moment("06-01 00:00"), "end": moment("07-01 00:00"), "axis": "message"}
        resolution = asked(entities=[HANGZHOU], intent=TemporalIntent.TIME_RANGE, **june)
        assert chosen(talks, resolution) == ["inside"]

    def test_this_conversation_is_only_the_present_session(self):
        talks = [talk("here", "07-01 08:50", session="asking"), talk("there", "07-01 08:55", session="other")]
        allowed = eligible(talks, Temporal(TemporalIntent.CURRENT_SESSION), ASKING)
        assert [one.conversation_id for one in allowed] == ["here"]


class TestThePresentConversation:
    gap = timedelta(minutes=30)

    def test_ends_with_a_long_silence_so_that_one_endless_session_still_has_a_last_time(self):
        talks = [talk("a", "07-01 08:00", minutes=5)]
        assert current_conversation(talks, "a", now=moment("07-01 08:20"), gap=self.gap) == "a"
        assert current_conversation(talks, "a", now=moment("07-01 09:00"), gap=self.gap) == ""
        assert current_conversation(talks, "", now=moment("07-01 08:20"), gap=self.gap) == ""

    def test_a_clock_that_is_a_little_ahead_does_not_put_messages_into_the_future(self):
        talks = [talk("a", "07-01 08:58", entities=["city:1"], minutes=4)]
        assert chosen(talks, asked(entities=[HANGZHOU]), Moment(NOW, False, "asking", "")) == ["a"]
        assert chosen(talks, asked(entities=[HANGZHOU]), Moment(NOW, True, "asking", "")) == []

    def test_messages_that_are_not_indexed_yet_count_with_what_they_are_about(self):
        message = Message("m", "a", "s", 2, Role.USER, "Hangzhou", "hash", moment("06-02 10:00"))
        talks = with_pending(
            [talk("a", "06-01 10:00")],
            [message],
            lambda _: Subjects(entity_ids=("city:1",), topic_ids=("TRAVEL_GUIDE",)),
        )
        assert chosen(talks, asked(entities=[HANGZHOU], topics=[GUIDE])) == ["a"]
        assert talks[0].next_seq == 3


class TestConditions:
    def test_a_topic_alone_finds_a_conversation_that_names_no_other_city(self):
        conditions = conditions_of(asked(entities=[HANGZHOU], topics=[GUIDE]), fold)
        assert tier_of(talk("a", "01-01 10:00", topics=["TRAVEL_GUIDE"]), conditions, types) is Tier.TOPIC
        other = talk("b", "01-01 10:00", topics=["TRAVEL_GUIDE"], entities=["city:2"])
        assert tier_of(other, conditions, types) is Tier.NONE

    def test_ids_settle_it_only_when_they_say_everything_that_is_asked(self):
        found = by_conditions(
            [talk("a", "01-01 10:00", entities=["city:1"])], conditions_of(asked(entities=[HANGZHOU]), fold), types
        )
        assert decided(found, conditions_of(asked(entities=[HANGZHOU]), fold))
        assert not decided(found, conditions_of(asked(entities=[HANGZHOU], words="noodle shop"), fold))
        assert not decided(found, conditions_of(asked(entities=[HANGZHOU, unknown("Old Chen")]), fold))

    @pytest.mark.parametrize(
        ("axis", "spans", "asked_for"),
        [("message", ((0, 12),), False), ("event", ((0, 12),), True), ("message", ((20, 30),), True)],
    )
    def test_a_holiday_that_only_says_when_it_was_said_is_no_subject(self, axis, spans, asked_for):
        christmas = linked("Christmas", "E160", "holiday")
        resolution = asked(entities=[christmas], intent=TemporalIntent.TIME_RANGE, axis=axis, spans=spans)
        assert conditions_of(resolution, fold).any is asked_for

    @pytest.mark.parametrize("words", ["what did we settle", "the second point", "结论是什么", "内容"])
    def test_words_about_the_talking_are_no_subject(self, words):
        assert not conditions_of(asked(words=words), fold).any

    def test_about_something_means_above_the_floor_and_not_far_below_the_best(self):
        talks = [talk(name, "01-01 10:00") for name in "abc"]
        about = by_relevance(talks, {"a": 0.9, "b": 0.5, "c": 0.4}, 0.3)
        assert [one.conversation_id for one in about] == ["a", "b"]
        assert by_relevance(talks, {"a": 0.2}, 0.3) == ()

    def test_last_time_means_one_conversation_and_before_does_not(self):
        assert means_one(asked("上次聊的露营", cue="上次"))
        assert means_one(asked("last time we talked about camping", cue="last time"))
        assert not means_one(asked("之前说过的露营", cue="之前"))
        assert means_one(asked("第一次聊露营", intent=TemporalIntent.EARLIEST, cue="第一次"))


class TestFollowUps:
    before = asked("what did we settle last time about camping", words="camping")

    def carry(self, query, *said, resolution=None, **temporal):
        own = resolution or asked(query, words="", **temporal)
        return carried_over(own, said, lambda text: self.before if "camping" in text else asked(text, words="lunch"))

    def test_the_time_before_goes_on_from_the_last_question(self):
        followed = self.carry("and the time before?", "when did we talk about camping", nth=1)
        assert followed.search_text == "camping"
        assert (followed.temporal.intent, followed.temporal.nth) == (TemporalIntent.PREVIOUS_RELATED, 2)
        again = self.carry("再上一次呢", "when did we talk about camping", nth=1)
        assert again.temporal.nth == 2

    def test_a_question_that_does_not_go_on_takes_nothing_over(self):
        own = self.carry("what did we talk about last time", "when did we talk about camping")
        assert own.search_text == ""

    def test_a_question_with_a_subject_keeps_it(self):
        own = asked("and the budget last time?", words="budget")
        assert self.carry("", "when did we talk about camping", resolution=own).search_text == "budget"

    def test_without_anything_said_before_it_stays_as_it_is(self):
        assert self.carry("and the time before?").search_text == ""


class TestAWholeMessageGoesOnFromConversations:
    a, b, c = (talk(name, f"0{month}-01 10:00") for month, name in enumerate("abc", start=4))

    def order(self, near, *conversations, found=None, **asked_for):
        """`near`: conversation to the turns near in meaning, each a cosine or a cosine and a vector."""
        turns = []
        for name, ones in near.items():
            for seq, one in enumerate(ones):
                cosine, vector = one if isinstance(one, tuple) else (one, ())
                turns.append(NearTurn(MessageRef(name, seq), cosine, struct.pack(f"<{len(vector)}e", *vector)))
        turns.sort(key=lambda turn: -turn.cosine)
        names = [one.conversation_id for one in conversations] if found is None else found
        hits = [verification.Candidate(MessageRef(name, 0), 0.5) for name in names]
        leaning = leaning_on_conversations(hits, turns, conversations, conditions_of(asked(**asked_for), fold))
        assert all(0 <= one.score <= 1 for one in leaning)
        return [one.ref.conversation_id for one in leaning]

    def test_in_which_several_turns_are_near(self):
        assert self.order({"a": [0.6, 0.6, 0.6], "b": [0.62, 0.1, 0.1]}, self.a, self.b) == ["a", "b"]

    def test_that_are_newer_where_they_are_as_near(self):
        assert self.order({"a": [0.5], "b": [0.5]}, self.a, self.b) == ["b", "a"]
        assert self.order({}, self.a, self.b) == ["b", "a"]

    def test_that_share_what_is_named(self):
        shared = talk("a", "05-31 10:00", entities=["city:1"])
        assert self.order({"a": [0.5], "b": [0.5]}, shared, self.b, entities=[HANGZHOU])[0] == "a"

    def test_of_which_no_word_was_found_but_which_are_near(self):
        order = self.order({"a": [0.9, 0.9, 0.9], "b": [0.1]}, self.a, self.b, found=["b"])
        assert order == ["a", "b"]

    def test_that_are_like_the_one_that_is_most_likely_meant(self):
        near = {"c": [(0.9, (1, 0, 0))], "a": [(0.3, (0.9, 0.1, 0))], "b": [(0.3, (0, 0, 1))]}
        assert self.order(near, self.a, self.b, self.c, found=["c"]) == ["c", "a", "b"]
        unlike = {**near, "a": [(0.3, (0, 0, 1))], "b": [(0.3, (0, 0.1, 0.9))]}
        assert self.order(unlike, self.a, self.b, self.c, found=["c"]) == ["c", "b", "a"]

    def test_where_an_index_gives_no_vectors_or_vectors_of_two_lengths(self):
        assert self.order({"c": [0.9], "a": [0.2]}, self.a, self.c) == ["c", "a"]
        assert self.order({"c": [(0.9, (1, 0))], "a": [(0.2, (1, 0, 0))]}, self.a, self.c) == ["c", "a"]

    @settings(deadline=None)
    @given(
        st.dictionaries(
            st.sampled_from("abcd"),
            st.lists(
                st.tuples(st.floats(-1, 1), st.lists(st.floats(-1, 1, width=16), min_size=2, max_size=2)), min_size=1
            ),
        ),
        st.lists(st.sampled_from("abcd")),
    )
    def test_whatever_is_found_every_score_lies_between_nothing_and_one(self, near, found):
        order = self.order({name: [(c, tuple(v)) for c, v in ones] for name, ones in near.items()}, self.a, found=found)
        assert set(order) == set(near) | set(found)


class TestAMessageIsNoQuestion:
    @pytest.mark.parametrize(
        "text",
        [
            "Hello. I've started listening to the podcasts you gave me on my commute. What should be the next step?",
            "I've sent that list of all that I do at work on a usual day. How do we go on with it now for a new firm?",
            "你好。你推荐的播客我已经在路上开始听了，感觉很有帮助。接下来学习计划应该怎么安排呢？",
        ],
    )
    def test_when_it_tells_something_first(self, text):
        assert self.is_message(text)

    def test_when_it_only_tells_something_however_short(self):
        told = "The reception is back again. All right, I am ready for the second lesson."
        assert self.is_message(told, intent=TemporalIntent.NONE)
        assert not self.is_message("The reception is back. Which lesson is the second?", intent=TemporalIntent.NONE)
        assert not self.is_message("给我看看攻略。就是上次聊的那个，我想再看一遍。")

    @pytest.mark.parametrize(
        "text",
        [
            "what did we settle last time we talked about camping?",
            "Hi! What is my dog called?",
            "On May 4th, I asked you what gift to give my friend. What did you recommend to me?",
            "I was thinking of the summer with the kids. We need plans. What did we settle last time we talked?",
            "上次我们聊天杭州游玩攻略再给我一下",
        ],
    )
    def test_but_a_question_stays_one(self, text):
        assert not self.is_message(text)

    def is_message(self, text, **temporal):
        resolution = asked(text, **temporal)
        return is_message(resolution, conditions_of(resolution, fold))


class TestOrderWithinAConversation:
    def messages(self, *texts):
        roles = (Role.USER, Role.ASSISTANT)
        return [
            Message(str(place), "a", "s", place, roles[place % 2], text, "", NOW) for place, text in enumerate(texts)
        ]

    def order(self, search_text, *texts):
        scores = scores_within(self.messages(*texts), search_text, fold=fold, priors={})
        return [ref.seq for ref in sorted(scores, key=lambda ref: (-scores[ref], ref.seq))]

    def test_the_guide_stands_before_the_request_for_it(self):
        guide = "杭州旅游攻略：第一天西湖，第二天灵隐寺。" * 20
        assert self.order("杭州游玩攻略", "帮我出一个杭州旅游攻略。", guide, "谢谢", "不客气")[:2] == [1, 0]

    def test_what_holds_the_words_stands_before_what_does_not(self):
        texts = ("a plan please", "Day one: lake.", "where to eat noodles", "Try the noodle shop by the bridge.")
        assert self.order("noodle shop", *texts)[:2] == [3, 2]

    @settings(deadline=None)
    @given(st.text(max_size=80), st.lists(st.text(max_size=80), max_size=6))
    def test_any_text_gets_a_score_between_nothing_and_one(self, query, texts):
        scores = scores_within(self.messages(*texts), query, fold=fold, priors={MessageRef("a", 0): 0.5})
        assert all(0 <= score <= 1 for score in scores.values())
        assert 0 <= coverage(units_of(query, fold), query, fold) <= 1


def test_recent_keeps_the_border_soft():
    old = talk("old", "01-01 10:00")
    assert recent([old], ASKING) == (old,)
