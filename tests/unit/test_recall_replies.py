"""What comes first of a request and its answer: the guide itself, but users tell of themselves in their own words."""

from __future__ import annotations

from pathlib import Path

import pytest

from engram.domain.documents import Document, DocumentKind
from engram.domain.models import Conversation, Message, MessageRef, Role
from engram.recall.candidates import with_answers
from engram.recall.fusion import Ranked
from engram.recall.replies import answers_first, is_request, is_thanks
from engram.recall.verification import Candidate
from tests.builders import Remembering, moment

NOW = moment("07-01 09:00")


def order(query: str, *texts: str) -> list[int]:
    """Places of `texts`, user and assistant in turn, the user's ranked above the answers."""
    roles = (Role.USER, Role.ASSISTANT)
    messages = {
        MessageRef("c", seq): Message(str(seq), "c", "s", seq, roles[seq % 2], text, "", NOW)
        for seq, text in enumerate(texts)
    }
    scores = answers_first({ref: 0.9 if ref.seq % 2 == 0 else 0.4 for ref in messages}, messages, query, query)
    return [ref.seq for ref in sorted(scores, key=lambda ref: (-scores[ref], ref.seq))]


class TestTheAnswerStandsFirst:
    @pytest.mark.parametrize(
        ("query", "asked", "answer"),
        [
            ("上次的宫保鸡丁菜谱", "宫保鸡丁的做法告诉我", "鸡胸肉切丁腌制,花生米炸香,干辣椒爆锅。"),
            ("个税怎么申报来着", "个税汇算怎么操作", "打开个人所得税App,选综合所得年度汇算。"),
            ("the curry recipe from last time", "How do I cook a curry?", "Fry the paste, add coconut milk."),
            ("the headline from last time", "Write a headline about getting up early", "The Early Riser's Edge"),
            ("How much butter goes into it?", "Give me a lasagna recipe", "A béchamel with 60 g butter and flour."),
        ],
    )
    def test_where_the_user_only_asked_for_it(self, query, asked, answer):
        assert order(query, asked, answer) == [1, 0]

    @pytest.mark.parametrize(
        ("query", "told", "answer"),
        [
            ("关于买车你是怎么建议的", "想买车,在汉和Model 3之间纠结", "汉空间大、内饰好,家用偏汉;爱驾驶选Model 3。"),
            ("what did you say about the deposit?", "The landlord wants six weeks' deposit", "Five weeks is the cap."),
            ("What advice did I get on sleep?", "I can't sleep before 2 am", "No screens for an hour before bed."),
        ],
    )
    def test_where_the_query_is_for_what_the_assistant_said(self, query, told, answer):
        assert order(query, told, answer) == [1, 0]

    def test_where_a_thing_is_asked_for_again_that_a_statement_led_to(self):
        told = "杭州攻略改成三天吧,我想加上西溪湿地"
        answer = "杭州三日游攻略(更新版):第一天西湖,第二天灵隐寺,第三天西溪湿地坐摇橹船。"
        assert order("最新版的杭州攻略发我", told, answer) == [1, 0]
        assert order("Give me the Hangzhou guide again", told, answer) == [1, 0]


class TestWhatTheUserToldStaysFirst:
    @pytest.mark.parametrize(
        ("query", "told", "answer"),
        [
            ("我对什么过敏", "我对花生过敏,帮我推荐几个菜", "可以试试清蒸鱼、番茄炒蛋和白灼菜心,都很清淡。"),
            (
                "what am I allergic to?",
                "I'm allergic to peanuts, what can I cook?",
                "Try a risotto with mushrooms and peas.",
            ),
            ("会员卡号多少", "请记一下会员卡号是88213377", "会员卡号我已经帮你记下了"),
            ("What's my wifi password?", "My wifi password is sunny2024, please keep it", "Got it."),
            (
                "What's my dog's name?",
                "My dog is called Biscuit",
                "Biscuit is a lovely name! Beagles need a lot of exercise.",
            ),
        ],
    )
    def test_where_the_query_is_about_the_user(self, query, told, answer):
        assert order(query, told, answer) == [0, 1]

    def test_where_the_answer_is_a_word_of_thanks(self):
        assert order("发我会议地址", "会议地址改到了浦东的世纪大道100号,整理一下", "好的。") == [0, 1]

    def test_where_another_person_answers(self):
        messages = {
            MessageRef("c", seq): Message(str(seq), "c", "s", seq, Role.USER, text, "", NOW)
            for seq, text in enumerate(("What did you cook?", "I cooked a curry with coconut milk."))
        }
        scores = {MessageRef("c", 0): 0.9, MessageRef("c", 1): 0.4}
        assert answers_first(scores, messages, "what did Anna cook?", "Anna cook") == scores


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ("帮我列一下装修预算", True),
        ("灵隐寺需要提前预约吗", True),
        ("Can you make me a travel guide?", True),
        ("Thanks! What should I eat in Hangzhou?", False),
        ("我对花生过敏,帮我推荐几个菜", False),
    ],
)
def test_a_request_asks_and_tells_nothing(text: str, alone: bool) -> None:
    assert is_request(text, alone=False)
    assert is_request(text) is alone


@pytest.mark.parametrize(
    ("text", "thanks"),
    [
        ("谢谢!", True),
        ("OK great, thanks a lot", True),
        ("好的,明白了", True),
        ("Great idea", False),
        ("好吃的店", False),
        ("😀", True),
    ],
)
def test_a_word_of_thanks_is_found_only_by_what_stands_before_it(text: str, thanks: bool) -> None:
    assert is_thanks(text) is thanks


@pytest.mark.parametrize(
    "text",
    [
        "医生给我开了二甲双胍",
        "我把猫送给我表姐了",
        "王芳推荐我去学瑜伽",
        "他帮我搬过家",
        "我的狗叫豆豆",
        "I moved to Madrid.",
        "",
        "……",
    ],
)
def test_what_only_tells_is_no_request(text: str) -> None:
    assert not is_request(text, alone=False)


@pytest.mark.parametrize(
    ("query", "said"),
    [("上次的灯笼做法再给我一下", "竹条弯成圈"), ("灯笼要用几根竹条", "竹条弯成圈")],
)
def test_recall_answers_with_what_was_asked_for(tmp_path: Path, query: str, said: str) -> None:
    memory = Remembering(tmp_path)
    memory.say(
        "lantern", "03-01 10:00", "教我灯笼的做法", "竹条弯成圈,灯笼骨架用八根竹条,外面糊宣纸。", "谢谢", "不客气"
    )
    memory.say("other", "04-01 10:00", "帮我写请假条", "尊敬的领导,因家中有事,特请假一天。")
    assert memory.recall(query, now=NOW).evidence[0].text.startswith(said)


def ranking(*turns: tuple[str, str, str]) -> tuple[Candidate, ...]:
    """Candidates of turns of one conversation each: its name and seq ("a1"), who spoke, and the text; best first."""
    return tuple(
        Candidate(
            MessageRef(turn[0], int(turn[1:])),
            1 - place / 100,
            Ranked(
                Document(
                    turn, DocumentKind.MESSAGE, 1, NOW, text, conversation_id=turn[0], seq=int(turn[1:]), role=role
                ),
                1.0,
                1.0,
                {},
            ),
        )
        for place, (turn, role, text) in enumerate(turns)
    )


class TestAnAnswerIsReadWithItsRequest:
    conversations = tuple(Conversation(name, name, NOW, NOW, 2) for name in "abc")

    def places(self, *turns: tuple[str, str, str]) -> list[str]:
        found = with_answers(ranking(*turns), self.conversations)
        return [f"{one.ref.conversation_id}{one.ref.seq}" for one in found]

    def test_however_far_below_it_stands(self):
        asked, told = ("a0", "user", "Give me a recipe"), ("b0", "user", "My recipe went well")
        assert self.places(asked, told, ("c0", "user", "Cake."), ("a1", "assistant", "Flour.")) == [
            "a0",
            "a1",
            "b0",
            "c0",
        ]

    def test_also_where_no_leg_has_found_it(self):
        assert self.places(("a0", "user", "Give me a recipe"), ("b1", "assistant", "Flour.")) == ["a0", "a1", "b1"]

    def test_but_not_what_another_person_said_next(self):
        talk = (("a0", "user", "What did you cook?"), ("b0", "user", "Soup."), ("a1", "user", "Curry."))
        assert self.places(*talk) == ["a0", "b0", "a1"]
        assert self.places(*talk, ("c1", "assistant", "Nice!")) == ["a0", "b0", "a1", "c1"]

    def test_nor_what_is_beyond_the_end_of_the_conversation(self):
        assert self.places(("a1", "user", "And a drink?"), ("b1", "assistant", "Wine.")) == ["a1", "b1"]
