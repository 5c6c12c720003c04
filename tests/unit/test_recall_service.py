"""Recall on one installation: what a user refers to comes back to the letter, or not at all."""

from dataclasses import replace
from datetime import timedelta

import pytest

from engram.domain.clock import Stopwatch
from engram.domain.documents import DocumentKind, SearchResult
from engram.domain.errors import Unavailable
from engram.domain.models import MessageRef
from engram.domain.scope import Scope
from engram.recall.bundle import ExecutionStatus, SupportStatus
from engram.recall.request import RecentMessage
from engram.resolve.models import TemporalIntent
from engram.store.commits import message_item
from tests.builders import Remembering, moment

GUIDE = "杭州旅游攻略：第一天游西湖和断桥，第二天去灵隐寺和龙井村，晚上在河坊街吃东坡肉。" * 5
ASK_GUIDE = "帮我出一个杭州旅游攻略。"
FLAGSHIP = "上次我们聊天杭州游玩攻略再给我一下"


@pytest.fixture
def memory(tmp_path):
    return Remembering(tmp_path)


@pytest.fixture
def travelled(memory):
    """A guide, then other talk in other sessions."""
    memory.say("trip", "06-01 10:00", ASK_GUIDE, GUIDE)
    memory.say("me", "06-02 10:00", "我对花生过敏，住在东京，是后端工程师。", "记住了。")
    memory.say("code", "06-03 10:00", "How do I reverse a list in Python?", "Use reversed() or a slice.")
    return memory


def texts(bundle):
    return [one.text for one in bundle.evidence]


class TestTheGuideOfLastTime:
    def test_comes_back_to_the_letter_from_the_earlier_conversation(self, travelled):
        bundle = travelled.recall(FLAGSHIP)
        assert texts(bundle)[0] == GUIDE
        assert set(texts(bundle)) == {GUIDE, ASK_GUIDE}
        assert bundle.resolution.temporal.intent is TemporalIntent.PREVIOUS_RELATED
        assert bundle.resolution.entity_ids == ("E001",)
        assert bundle.resolution.topic_ids == ("TRAVEL_GUIDE",)
        assert (bundle.support_status, bundle.execution_status) == (SupportStatus.SUPPORTED, ExecutionStatus.COMPLETE)
        [reference] = bundle.conversation_refs
        assert (reference.session_id, reference.matched) == ("trip", ("entity", "topic", "time"))
        assert reference.evidence_ids == tuple(one.evidence_id for one in bundle.evidence)

    def test_is_empty_before_anything_was_said(self, memory):
        bundle = memory.recall(FLAGSHIP)
        assert bundle.support_status is SupportStatus.EMPTY
        assert (bundle.evidence, bundle.items, bundle.conversation_refs) == ((), (), ())

    def test_is_there_before_it_is_indexed(self, memory):
        memory.say("trip", "06-01 10:00", ASK_GUIDE, GUIDE, index=False)
        bundle = memory.recall(FLAGSHIP)
        assert texts(bundle)[0] == GUIDE
        assert bundle.freshness.pending_messages == 2

    def test_is_of_the_city_that_was_asked_for(self, travelled):
        travelled.say("other", "06-05 10:00", "给我一份成都旅游攻略", "成都旅游攻略：宽窄巷子、武侯祠。")
        assert texts(travelled.recall(FLAGSHIP))[0] == GUIDE
        assert texts(travelled.recall("上次的苏州旅游攻略再发我")) == []
        assert travelled.recall("上次的苏州旅游攻略再发我").support_status is SupportStatus.UNSUPPORTED

    def test_is_the_newest_of_several(self, travelled):
        newer = "杭州旅游攻略第二版：先去西溪湿地。"
        travelled.say("again", "06-10 10:00", "再给我一份杭州旅游攻略", newer)
        assert newer in texts(travelled.recall(FLAGSHIP))
        assert GUIDE not in texts(travelled.recall(FLAGSHIP))
        assert GUIDE in texts(travelled.recall("上上次聊的杭州旅游攻略"))

    def test_is_not_what_is_being_said_right_now(self, travelled):
        travelled.clock.now = moment("07-01 09:00")
        travelled.say("asking", "07-01 08:58", FLAGSHIP)
        bundle = travelled.recall(FLAGSHIP)
        assert set(texts(bundle)) == {GUIDE, ASK_GUIDE}

    def test_is_found_in_an_endless_session_too(self, travelled):
        bundle = travelled.recall(FLAGSHIP, session_id="trip")
        assert texts(bundle)[0] == GUIDE

    def test_is_nobody_elses(self, travelled):
        for stranger in (Scope("acme", "u10"), Scope("acme", "U1"), Scope("other", "u1")):
            bundle = travelled.recall(FLAGSHIP, scope=stranger)
            assert (bundle.support_status, bundle.evidence) == (SupportStatus.EMPTY, ())

    def test_needs_no_index_at_all(self, travelled):
        travelled.services.rows_index.delete_all(travelled.scope)
        bundle = travelled.recall(FLAGSHIP)
        assert texts(bundle)[0] == GUIDE


class TestWhatTheTableSaysLast:
    def change(self, memory, seq, **fields):
        ref = MessageRef(memory.recall(FLAGSHIP).conversation_refs[0].conversation_id, seq)
        message = memory.services.reader.messages(memory.scope, [ref])[ref]
        memory.services.table.write(puts=[message_item(memory.scope, replace(message, **fields), 0, None)])

    def test_a_message_hidden_after_it_was_indexed_is_not_shown(self, travelled):
        self.change(travelled, 1, hidden=True, version=2)
        assert texts(travelled.recall(FLAGSHIP)) == [ASK_GUIDE]
        assert GUIDE not in texts(travelled.recall("西湖 断桥 灵隐寺"))

    def test_a_text_that_is_not_the_one_that_was_hashed_is_not_evidence(self, travelled):
        self.change(travelled, 1, content="forged")
        assert texts(travelled.recall(FLAGSHIP)) == [ASK_GUIDE]

    def test_a_hit_of_an_older_version_is_dropped_and_counted(self, travelled):
        self.change(travelled, 1, version=2)
        bundle = travelled.recall("龙井村 河坊街", explain=True)
        assert GUIDE not in texts(bundle)
        assert bundle.explain["dropped"] == {"version": 1}

    def test_when_all_of_the_newest_conversation_is_gone_the_one_before_it_answers(self, travelled):
        travelled.say("again", "06-10 10:00", "再给我一份杭州旅游攻略", "杭州旅游攻略第二版")
        newest = travelled.recall(FLAGSHIP).conversation_refs[0].conversation_id
        for seq in (0, 1):
            ref = MessageRef(newest, seq)
            message = travelled.services.reader.messages(travelled.scope, [ref])[ref]
            row = message_item(travelled.scope, replace(message, hidden=True, version=2), 0, None)
            travelled.services.table.write(puts=[row])
        bundle = travelled.recall(FLAGSHIP)
        assert texts(bundle)[0] == GUIDE
        assert [one.session_id for one in bundle.conversation_refs] == ["trip"]


class TestTheLatest:
    LATEST = "what is the latest version of the deploy script?"

    @pytest.fixture
    def versions(self, memory):
        memory.say("old", "06-01 10:00", "The newest version of the deploy script is v3.")
        memory.say("here", "07-01 08:55", "The newest version of the deploy script is v4 now.")
        memory.clock.now = moment("07-01 09:00")
        return memory

    def test_may_have_been_said_just_now(self, versions):
        bundle = versions.recall(self.LATEST, session_id="here")
        assert "v4" in texts(bundle)[0]

    def test_talk_about_it_is_earlier_talk(self, versions):
        bundle = versions.recall("when did we last talk about the deploy script?", session_id="here")
        assert [one.session_id for one in bundle.conversation_refs] == ["old"]


class TestPlainQuestions:
    def test_are_answered_by_what_was_said(self, travelled):
        assert texts(travelled.recall("how to reverse a Python list"))[0].startswith(
            ("How do I reverse", "Use reversed")
        )
        assert "我对花生过敏，住在东京，是后端工程师。" in texts(travelled.recall("花生 过敏"))

    def test_about_something_never_mentioned_are_answered_by_nothing(self, travelled):
        bundle = travelled.recall("What colour is my submarine's periscope?")
        assert (bundle.support_status, bundle.evidence, bundle.conversation_refs) == (SupportStatus.UNSUPPORTED, (), ())

    def test_see_a_message_before_it_is_indexed(self, memory):
        memory.say("train", "06-30 10:00", "train 07:10 Friday, platform 4", index=False)
        bundle = memory.recall("which platform?")
        assert texts(bundle) == ["train 07:10 Friday, platform 4"]
        assert bundle.freshness.index_lag_ms > 0

    def test_do_not_get_themselves_as_an_answer(self, memory):
        memory.say("asking", "07-01 08:59", "which platform?")
        assert memory.recall("which platform?").evidence == ()

    def test_bound_their_evidence(self, memory):
        for day in range(1, 8):
            memory.say(f"s{day}", f"06-0{day} 10:00", *(f"grinder number {day}.{n}" for n in range(10)))
        assert len(memory.recall("grinder", limit=3).evidence) == 3
        scores = [one.score for one in memory.recall("grinder", limit=50).evidence]
        assert len(scores) == 50
        assert scores == sorted(scores, reverse=True)

    @pytest.mark.parametrize("query", [
        "?", "的", "😀😀😀", "\x00", "\ufffd", "a" * 10_000, "攻略" * 5_000, "(((((", '{"match_all": {}}',
        "西湖 " * 2_000, "last time " * 500, "上次" * 1_000, "\u202e\u200b",
    ])  # fmt: skip
    def test_of_any_kind_get_an_answer(self, travelled, query):
        bundle = travelled.recall(query)
        assert bundle.support_status in set(SupportStatus) - {SupportStatus.EMPTY}

    @pytest.mark.parametrize("unit", ["\n", " \t", "上", "呢 ", "帮我", "1", "the time before "])
    def test_of_the_same_thing_ten_thousand_times_take_no_time_to_speak_of(self, travelled, unit):
        travelled.recall("anything")
        watch = Stopwatch()
        travelled.recall("x" + unit * (10_000 // len(unit)) + " 上次")
        assert watch.ms() < 1_500


class TestTime:
    @pytest.fixture
    def camping(self, memory):
        nine = "camping " * 9
        memory.say("jan", "01-10 10:00", f"{nine} let us plan it", "We settled on the lake site.")
        memory.say("apr", "04-10 10:00", "camping again?", "We settled on the forest site.")
        memory.say("jun", "06-10 10:00", "the camping tent trip", "We settled on the sea site.")
        memory.say("food", "06-20 10:00", "a recipe for soup please", "Boil leeks.")
        memory.say("future", "07-02 10:00", "camping tomorrow", "We settled on the moon.")
        return memory

    def sessions(self, bundle):
        return [one.session_id for one in bundle.conversation_refs]

    def test_last_time_is_the_newest_and_not_the_most_alike(self, camping):
        bundle = camping.recall("what did we settle last time we talked about camping?")
        assert self.sessions(bundle) == ["jun"]
        assert "We settled on the sea site." in texts(bundle)

    def test_and_the_time_before_goes_on_from_it(self, camping):
        said = (RecentMessage("user", "what did we settle last time we talked about camping?"),)
        assert self.sessions(camping.recall("and the time before?", recent_messages=said)) == ["apr"]

    def test_everything_about_it_is_listed_by_time(self, camping):
        bundle = camping.recall("list all our conversations about camping")
        assert self.sessions(bundle) == ["jan", "apr", "jun"]
        assert {one.conversation_id for one in bundle.evidence} == {
            one.conversation_id for one in bundle.conversation_refs
        }

    def test_the_first_time_is_the_oldest(self, camping):
        assert self.sessions(camping.recall("the first time we talked about camping"))[0] == "jan"

    def test_a_range_bounds_what_was_said(self, camping):
        bundle = camping.recall("what did we talk about in April?")
        assert self.sessions(bundle) == ["apr"]

    def test_a_moment_in_another_year_moves_all_of_it(self, camping):
        last_year = moment("2025-12-31 09:00")
        assert camping.recall("last time we talked about camping", now=last_year).evidence == ()
        bundle = camping.recall("last time we talked about camping", now=moment("03-01 09:00"))
        assert self.sessions(bundle) == ["jan"]
        next_year = camping.recall("last time we talked about camping", now=moment("2027-03-01 09:00"))
        assert self.sessions(next_year) == ["future"]

    def test_last_time_without_a_subject_is_the_last_conversation(self, camping):
        assert self.sessions(camping.recall("what did we talk about last time?")) == ["food"]
        assert self.sessions(camping.recall("上次我们聊了什么")) == ["food"]

    def test_just_now_is_the_present_session(self, camping):
        camping.say("asking", "07-01 08:55", "my locker is 1234", "Noted.")
        bundle = camping.recall("what locker did I just mention?")
        assert "my locker is 1234" in texts(bundle)
        assert self.sessions(bundle) == ["asking"]


class TestVagueTime:
    @pytest.fixture
    def asked_twice(self, memory):
        memory.say("spring", "03-01 10:00", "给我一份杭州旅游攻略", "先去西湖。")
        memory.say("summer", "06-01 10:00", "再给一份杭州旅游攻略", "先去西溪。")
        memory.say("other", "06-02 10:00", "a recipe for soup please", "Boil leeks.")
        return memory

    def test_before_means_the_newest_and_does_not_hide_the_others(self, asked_twice):
        sessions = [one.session_id for one in asked_twice.recall("之前说过的杭州旅游攻略").conversation_refs]
        assert sessions[0] == "summer"
        assert "spring" in sessions

    def test_last_time_hides_them(self, asked_twice):
        sessions = [one.session_id for one in asked_twice.recall("上次说的杭州旅游攻略").conversation_refs]
        assert sessions == ["summer"]

    def test_a_page_that_says_today_in_passing_is_not_about_today(self, asked_twice):
        page = (
            "Hello, I am back from the market today and very tired, the kids were loud, the tram was late, but I "
            "bought everything on your list and now I want to cook that leek soup recipe, so what comes first?"
        )
        assert "Boil leeks." in texts(asked_twice.recall(page))

    def test_a_new_conversation_is_seen_by_the_very_next_recall(self, asked_twice):
        assert [one.session_id for one in asked_twice.recall("上次说的杭州旅游攻略").conversation_refs] == ["summer"]
        asked_twice.say("newest", "06-20 10:00", "杭州旅游攻略要雨天的", "去博物馆。")
        assert [one.session_id for one in asked_twice.recall("上次说的杭州旅游攻略").conversation_refs] == ["newest"]


class TestItems:
    @pytest.fixture
    def known(self, memory):
        memory.say("me", "06-02 10:00", "我对花生过敏，住在东京，是后端工程师。", "记住了。")
        memory.say("code", "06-03 10:00", "How do I reverse a list in Python?", "Use reversed() or a slice.")
        memory.flush()
        return memory

    def contents(self, bundle):
        return " ".join(one.text for one in bundle.items)

    def test_are_found_by_the_words_in_which_one_asks_for_them(self, known):
        bundle = known.recall("where do I live?")
        assert "东京" in bundle.items[0].text
        assert any("东京" in one.text for one in bundle.evidence)

    def test_quote_the_message_to_the_letter(self, known):
        for item in known.recall("我对什么过敏").items:
            for source in item.evidence:
                assert source.text in "我对花生过敏，住在东京，是后端工程师。"

    def test_all_of_them_answer_what_is_known(self, known):
        assert "花生" in self.contents(known.recall("what do you know about me?"))

    def test_of_a_chosen_conversation_are_only_what_was_learnt_in_it(self, known):
        assert "东京" not in self.contents(known.recall("last time we talked about Python lists"))

    def test_lose_their_place_when_the_message_behind_them_is_hidden(self, known):
        conversation = known.recall("花生过敏").conversation_refs[0].conversation_id
        ref = MessageRef(conversation, 0)
        message = known.services.reader.messages(known.scope, [ref])[ref]
        row = message_item(known.scope, replace(message, hidden=True, version=2), 0, None)
        known.services.table.write(puts=[row])
        bundle = known.recall("我对什么过敏")
        assert "花生" not in self.contents(bundle) + " ".join(texts(bundle))


class TestAmbiguity:
    def test_a_topic_word_that_may_mean_two_things_shows_both(self, memory):
        memory.say("trip", "06-01 10:00", ASK_GUIDE, GUIDE)
        memory.say("game", "06-02 10:00", "给我一份原神游戏攻略", "先开传送点。")
        bundle = memory.recall("上次那个攻略")
        assert bundle.support_status is SupportStatus.AMBIGUOUS
        assert {one.session_id for one in bundle.conversation_refs} == {"trip", "game"}

    def test_and_is_settled_when_only_one_of_them_was_talked_about(self, travelled):
        bundle = travelled.recall("上次那个攻略")
        assert bundle.support_status is SupportStatus.SUPPORTED
        assert texts(bundle)[0] == GUIDE


class FailingIndex:
    """A search service that is down, or has lost a leg."""

    name = "failing"

    def __init__(self, *, missing=None):
        self._missing = missing

    def search(self, scope, query):
        if self._missing is None:
            raise Unavailable("down")
        return SearchResult({}, missing=self._missing)


class StaleIndex:
    """A search service that takes everything and shows none of it yet."""

    name = "stale"

    def upsert(self, scope, documents):
        pass

    def search(self, scope, query):
        return SearchResult({"lexical": ()})


class TestPartsThatAreDown:
    def test_the_search_service_down_is_answered_by_the_rows_in_the_table_and_said(self, travelled):
        bundle = travelled.reopened(remote_index=FailingIndex()).recall("reverse a Python list")
        assert bundle.evidence
        assert bundle.execution_status is ExecutionStatus.DEGRADED
        assert "index" in bundle.missing

    @pytest.mark.parametrize("index", [FailingIndex(), FailingIndex(missing=("lexical",))])
    def test_everything_down_is_no_error(self, travelled, index):
        bundle = travelled.reopened(rows_index=index).recall("where is my umbrella")
        assert (bundle.evidence, bundle.execution_status) == ((), ExecutionStatus.DEGRADED)

    def test_what_a_query_names_is_found_by_name_with_everything_down(self, travelled):
        bundle = travelled.reopened(rows_index=FailingIndex()).recall("杭州")
        assert {one.session_id for one in bundle.evidence} == {"trip"}
        assert bundle.execution_status is ExecutionStatus.DEGRADED

    def test_and_last_times_guide_does_not_need_it(self, travelled):
        bundle = travelled.reopened(rows_index=FailingIndex()).recall(FLAGSHIP, kinds=(DocumentKind.MESSAGE,))
        assert texts(bundle)[0] == GUIDE
        assert bundle.execution_status is ExecutionStatus.COMPLETE

    def test_a_search_service_that_has_not_refreshed_yet_hides_nothing_that_was_just_said(self, travelled):
        lagging = travelled.reopened(remote_index=StaleIndex())
        lagging.say("train", "06-30 10:00", "train 07:10 Friday, platform 4")
        assert texts(lagging.recall("which platform?")) == ["train 07:10 Friday, platform 4"]
        lagging.clock.go_on(3_600)
        assert texts(lagging.recall("which platform?")) == []

    def test_no_encoder_is_named_where_one_was_needed(self, travelled):
        assert travelled.recall("reverse a Python list").missing == ("encoder",)
        assert travelled.recall(FLAGSHIP).missing == ()


def test_a_gap_ends_the_present_conversation(memory):
    memory.say("one", "07-01 08:00", "我想去杭州", "杭州不错")
    memory.clock.now = moment("07-01 08:10")
    assert memory.recall("上次聊的杭州", session_id="one").evidence == ()
    memory.clock.now += timedelta(hours=1)
    assert texts(memory.recall("上次聊的杭州", session_id="one"))
