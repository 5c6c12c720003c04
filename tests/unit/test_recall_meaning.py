"""Recall with the encoder of the package: what shares no word is found by its meaning, and what has none is not."""

from __future__ import annotations

import pytest

from engram.domain.scope import Scope
from engram.recall.bundle import RecallBundle, SupportStatus
from engram.recall.request import RecentMessage
from tests.builders import Remembering, moment

NOW = moment("07-01 09:00")
LAST_TIME = "what did we settle last time we talked about camping?"


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Remembering:
    """One for all: loading the encoder takes longer than everything else. Each user has a scope."""
    return Remembering(tmp_path_factory.mktemp("meaning"), embedder="local")


@pytest.fixture
def memory(installation: Remembering, request: pytest.FixtureRequest) -> Remembering:
    """A user of this test's own."""
    installation.scope = Scope("acme", f"user-{abs(hash(request.node.nodeid))}")
    return installation


@pytest.fixture
def english(memory: Remembering) -> Remembering:
    memory.say(
        "jan", "01-10 10:00", "Camping camping: camping gear, camping site, camping food.", "Camping is camping."
    )
    memory.say("feb", "02-03 10:00", "My tax return is due, I need the form from the office.")
    memory.say("apr", "04-05 10:00", "About camping: we settled on the lake site and the gas stove.", "Good plan.")
    memory.say("jun", "06-08 10:00", "For the tent trip we settled that Tom brings the cooler.", "Sounds good.")
    memory.say("later", "06-20 10:00", "I need a new keyboard for work, maybe a mechanical one.")
    memory.say("tomorrow", "07-02 10:00", "Camping: tomorrow's camping note.")
    return memory


@pytest.fixture
def chinese(memory: Remembering) -> Remembering:
    memory.say("jan", "01-10 10:00", "聊聊露营吧,露营装备,露营地点,露营食物,露营炉。", "露营很有趣,露营加油。")
    memory.say("feb", "02-03 10:00", "我的报税表快到期了,要去办公室拿表格。")
    memory.say("apr", "04-05 10:00", "关于露营:我们定了湖边营地,带上煤气炉。", "好的计划。")
    memory.say("jun", "06-08 10:00", "带帐篷那次出行,定了小汤带冰箱。", "好的。")
    memory.say("later", "06-20 10:00", "我工作需要一个新键盘,可能买机械的。")
    memory.say("tomorrow", "07-02 10:00", "露营:明天的露营笔记。")
    return memory


def sessions(bundle: RecallBundle) -> list[str]:
    return [one.session_id for one in bundle.conversation_refs]


def after(query: str) -> tuple[RecentMessage, ...]:
    return (RecentMessage("user", query), RecentMessage("assistant", "…"))


class TestTheLastTimeIsTheNewestAboutIt:
    @pytest.mark.parametrize("query", [LAST_TIME, "when did we last talk about camping?", "上次聊露营是什么时候"])
    def test_also_where_it_is_only_called_a_tent_trip(self, english: Remembering, query: str) -> None:
        assert sessions(english.recall(query, now=NOW)) == ["jun"]

    @pytest.mark.parametrize("query", ["上次聊露营是什么时候", "上次我们聊露营定了什么?", LAST_TIME])
    def test_also_where_only_the_tent_is_named_in_chinese(self, chinese: Remembering, query: str) -> None:
        assert sessions(chinese.recall(query, now=NOW)) == ["jun"]

    def test_and_the_time_before_is_the_one_before_it(self, english: Remembering) -> None:
        follow_up = english.recall("and the time before?", now=NOW, recent_messages=after(LAST_TIME))
        assert sessions(follow_up) == ["apr"]

    def test_and_the_time_before_in_chinese(self, chinese: Remembering) -> None:
        recent = after("上次聊露营是什么时候")
        assert sessions(chinese.recall("再上一次呢?", now=NOW, recent_messages=recent)) == ["apr"]

    def test_is_not_of_what_merely_happens_outdoors(self, english: Remembering) -> None:
        english.say("hike", "06-25 10:00", "We went hiking in the mountains and saw a lake")
        assert sessions(english.recall(LAST_TIME, now=NOW)) == ["jun"]


class TestAHandfulOfMessages:
    @pytest.fixture
    def told(self, memory: Remembering) -> Remembering:
        memory.say("a", "06-01 10:00", "My dog is called Biscuit.")
        memory.say("b", "06-02 10:00", "I'm vegetarian, I live in Berlin and I work as a nurse")
        memory.say("c", "06-03 10:00", "I moved my standup to 9:30 because of the time zone, and I love hiking.")
        return memory

    @pytest.mark.parametrize(
        "query",
        [
            "what is the capital of Mongolia",
            "相对论是谁提出的",
            "how long does the moon take to orbit Saturn",
            "how do I bake sourdough bread",
            "write a poem about spring",
            "a\x00b",
        ],
    )
    def test_do_not_answer_what_is_nobodys_memory(self, told: Remembering, query: str) -> None:
        bundle = told.recall(query)
        assert (bundle.support_status, bundle.evidence, bundle.items) == (SupportStatus.UNSUPPORTED, (), ())

    @pytest.mark.parametrize(
        ("query", "said"),
        [
            ("What did I say about standup?", "I moved my standup"),
            ("我的狗叫什么", "My dog is called Biscuit."),
            ("where do I live", "I'm vegetarian"),
            ("what do I do for work", "I'm vegetarian"),
        ],
    )
    def test_answer_what_they_hold_and_nothing_beside_it(self, told: Remembering, query: str, said: str) -> None:
        bundle = told.recall(query)
        assert bundle.support_status is SupportStatus.SUPPORTED
        assert bundle.evidence[0].text.startswith(said)

    def test_a_question_about_one_of_them_leaves_the_others_out(self, told: Remembering) -> None:
        bundle = told.recall("am I a vegetarian?")
        assert [one.text[:14] for one in bundle.evidence] == ["I'm vegetarian"]
