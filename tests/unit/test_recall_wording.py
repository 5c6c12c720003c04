"""Which conversation is meant where words decide: the one that holds them, that names it, or that is the newest."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram.recall.bundle import RecallBundle, SupportStatus
from engram.recall.present import asks_present, without_present
from engram.recall.request import RecentMessage
from engram.recall.wording import as_full, names_it, naming_words
from engram.resolve.models import TemporalIntent
from tests.builders import Remembering, moment

NOW = moment("07-01 09:00")


@pytest.fixture
def memory(tmp_path: Path) -> Remembering:
    return Remembering(tmp_path)


def sessions(bundle: RecallBundle) -> list[str]:
    return [one.session_id for one in bundle.conversation_refs]


class TestTheConversationThatHoldsTheWords:
    def test_is_meant_rather_than_a_newer_one_that_holds_fewer(self, memory):
        memory.say(
            "autumn", "03-05 10:00", "Write a poem about autumn for my grandma", "Golden leaves drift past grandma."
        )
        memory.say(
            "sea", "05-05 10:00", "Write a poem about the sea", "The poem of the sea repeats its silver sentence."
        )
        assert sessions(memory.recall("the poem you wrote for my grandma", now=NOW))[0] == "autumn"
        assert sessions(memory.recall("the poem from last time", now=NOW)) == ["sea"]

    def test_is_counted_back_to_only_among_those_that_hold_them(self, memory):
        memory.say("first", "02-10 10:00", "红烧肉的菜谱", "红烧肉:五花肉焯水,冰糖炒糖色,小火炖一小时。")
        memory.say("chicken", "03-15 10:00", "宫保鸡丁的菜谱", "宫保鸡丁:鸡胸肉切丁,花生米炸香。")
        memory.say("second", "05-08 10:00", "少糖的红烧肉菜谱", "少糖红烧肉:冰糖减到10克,加两片山楂。")
        assert sessions(memory.recall("上上次的红烧肉菜谱", now=NOW)) == ["first"]

    def test_that_is_linked_to_nothing_is_found_by_all_of_its_words(self, memory):
        memory.say("old", "03-12 10:00", "Help me with a kitchen renovation budget", "Kitchen: cabinets 6000.")
        memory.say("new", "05-25 10:00", "Raise the kitchen budget to 18500", "Kitchen budget: cabinets 6500.")
        assert sessions(memory.recall("What was our first kitchen budget?", now=NOW))[0] == "old"

    def test_is_no_guide_where_the_user_only_tells_of_having_been_there(self, memory):
        memory.say("guide", "05-20 10:00", "帮我做杭州的旅游攻略", "杭州两日游攻略:第一天西湖,第二天灵隐寺。")
        memory.say("back", "06-10 10:00", "我从杭州玩回来了,西湖人太多,腿都走断了", "辛苦了!下次可以选工作日去。")
        assert sessions(memory.recall("上次我们聊天杭州游玩攻略再给我一下", now=NOW)) == ["guide"]
        assert sessions(memory.recall("上次聊杭州", now=NOW)) == ["back"]

    def test_that_tells_of_one_thing_in_other_words_is_its_first_or_newest(self, memory):
        memory.say("low", "02-02 10:00", "My doctor put me on metformin, 500 mg twice a day", "Take it with meals.")
        memory.say("high", "05-05 10:00", "The doctor raised my metformin to 850 mg", "Watch for stomach trouble.")
        assert sessions(memory.recall("How much metformin do I take now?", now=NOW))[0] == "high"
        assert sessions(memory.recall("What was my metformin dose at the beginning?", now=NOW))[0] == "low"

    @pytest.mark.parametrize(
        "query",
        ["when we last talked about kites, what did you say about the site?", "上次聊风筝的时候你说要去哪个场地"],
    )
    def test_is_named_by_what_was_talked_about_not_by_what_is_asked_of_it(self, memory, query):
        memory.say("site", "03-03 10:00", "Which site for kites? 风筝去哪个场地放", "By the lake, 湖边场地。")
        memory.say("gear", "05-03 10:00", "What do kites need? 风筝要带什么", "Line and gloves, 线和手套。")
        assert sessions(memory.recall(query, now=NOW))[0] == "gear"

    @pytest.mark.parametrize(
        ("text", "named"),
        [
            ("减糖 标题", {"减糖", "标题"}),
            ("喝咖啡", {"咖啡"}),
            ("车", {"车"}),
            ("poem grandma", {"poem", "grandma"}),
            ("", set()),
        ],
    )
    def test_is_named_by_words_and_by_what_no_dictionary_holds(self, text, named):
        assert set(naming_words(text)) == named

    def test_share_of_words_is_compared_with_the_fullest(self):
        assert as_full({"a": 1.0, "b": 0.75, "c": 0.5}, {"a", "b", "c"}) == {"a", "b"}
        assert as_full({}, {"a"}) == {"a"}


class TestANameThatNobodySaid:
    @pytest.fixture
    def guides(self, memory: Remembering) -> Remembering:
        memory.say("hangzhou", "03-05 10:00", "帮我做杭州的旅游攻略", "杭州两日游攻略:第一天西湖,第二天灵隐寺。")
        memory.say("suzhou", "04-05 10:00", "Write me a Suzhou travel guide", "Suzhou: Pingjiang Road and Tiger Hill.")
        return memory

    @pytest.mark.parametrize("query", ["上次聊的莫干镇攻略", "the Zwettlburg travel guide from last time"])
    def test_is_not_answered_with_another_one(self, guides, query):
        bundle = guides.recall(query, now=NOW)
        assert (bundle.support_status, sessions(bundle)) == (SupportStatus.UNSUPPORTED, [])

    def test_but_one_letter_of_it_may_be_wrong(self, guides):
        guides.say(
            "zwettl", "05-05 10:00", "Write me a Zwettlburg travel guide", "Zwettlburg: the abbey and the brewery."
        )
        assert sessions(guides.recall("the Zwetlburg travel guide from last time", now=NOW)) == ["zwettl"]

    @pytest.mark.parametrize(
        ("name", "text", "same"),
        [
            ("edinburgh", "a weekend in edinburg", True),
            ("edinburgh", "a weekend in ediburgh", True),
            ("edinburgh", "a weekend in edinbugrh", True),
            ("edinburgh", "a weekend in edinbXrgh".casefold(), True),
            ("edinburgh", "a weekend in duisburg", False),
            ("suzhou", "the quzhou guide", False),
            ("anna", "annie came", False),
            ("扬州", "杭州的攻略", False),
        ],
    )
    def test_only_names_of_some_length_may_be_misspelt(self, name, text, same):
        assert names_it(name, text) is same


class TestWhatHoldsNow:
    @pytest.mark.parametrize(
        ("query", "newest"),
        [
            ("Am I still vegetarian?", "meat"),
            ("我现在还喝咖啡吗", "tea"),
            ("Do I still make the trip to Rome?", "called off"),
        ],
    )
    def test_is_the_newest_word_on_it(self, memory, query, newest):
        memory.say("veg", "02-14 10:00", "I've become vegetarian, vegetarian food only from now on.")
        memory.say("meat", "05-22 10:00", "I'm no longer vegetarian, I eat meat again since my doctor told me to.")
        memory.say("coffee", "02-02 10:00", "我每天都喝两杯美式咖啡,提神")
        memory.say("tea", "05-29 10:00", "我把咖啡戒了,不喝咖啡了,以后只喝茶")
        memory.say("rome", "03-02 10:00", "I plan a trip to Rome, four days in Rome, for my trip in May.")
        memory.say("called off", "04-20 10:00", "The trip to Rome is off, my sister is getting married.")
        assert sessions(memory.recall(query, now=NOW))[0] == newest

    @pytest.mark.parametrize("query", ["do I still smoke?", "我还住在北京吗", "where do I live now", "目前的预算"])
    def test_is_asked_for_by_words_of_now(self, query):
        assert asks_present(query)

    @pytest.mark.parametrize("query", ["还有什么好吃的吗", "还可以改吗", "do you know my name?", "我住在哪里"])
    def test_is_not_asked_for_by_what_sounds_like_them(self, query):
        assert not asks_present(query)

    def test_words_of_now_are_not_searched_for_in_a_short_question(self):
        assert without_present("launch now") == "launch"
        assert without_present("now") == "now"
        assert (
            without_present("now launch budget testing marketing notes") == "now launch budget testing marketing notes"
        )


class TestWhatWordsSayOfTime:
    @pytest.mark.parametrize(
        ("query", "intent"),
        [
            ("灯笼项目的所有讨论", TemporalIntent.ALL_HISTORY),
            ("all discussions of the lantern project", TemporalIntent.ALL_HISTORY),
            ("Everything about lanterns we've discussed", TemporalIntent.ALL_HISTORY),
            ("What did I most recently say about lanterns?", TemporalIntent.LATEST),
            ("everything costs more, what did we discuss about lanterns last time?", TemporalIntent.PREVIOUS_RELATED),
        ],
    )
    def test_all_and_most_recently(self, memory, query, intent):
        assert memory.recall(query, now=NOW).resolution.temporal.intent is intent


class TestADayIsAskedFor:
    @pytest.mark.parametrize("query", ["5月10号我去了哪里", "Where did I go on May 10?", "What happened on May 10?"])
    def test_without_a_subject_by_words_that_only_say_that_something_was(self, memory, query):
        memory.say("eye", "05-10 10:00", "我今天去看了眼科,近视450度", "注意用眼卫生。")
        memory.say("go", "05-20 10:00", "Where do I go for dumplings? What happened to the old shop?", "It moved.")
        assert sessions(memory.recall(query, now=NOW)) == ["eye"]


class TestGoingFurtherBack:
    @pytest.fixture
    def talks(self, memory: Remembering) -> Remembering:
        for month, subject in enumerate(("lanterns", "kites", "puppets", "drums"), start=2):
            memory.say(
                subject, f"0{month}-01 10:00", f"Tell me how {subject} are made", f"{subject} take paper and glue."
            )
        return memory

    def test_from_a_last_time_about_anything(self, talks):
        said = (RecentMessage("user", "What did we talk about last time?"), RecentMessage("assistant", "Drums."))
        assert sessions(talks.recall("and the one before?", now=NOW, recent_messages=said)) == ["puppets"]

    def test_again_and_again(self, talks):
        said = (
            RecentMessage("user", "What did we talk about last time?"),
            RecentMessage("assistant", "Drums."),
            RecentMessage("user", "and the one before?"),
            RecentMessage("assistant", "Puppets."),
        )
        assert sessions(talks.recall("and the time before that?", now=NOW, recent_messages=said)) == ["kites"]
