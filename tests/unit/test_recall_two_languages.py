"""Recall of what was said last, for people who write two languages and count their conversations."""

from __future__ import annotations

import pytest

from engram.recall.bundle import SupportStatus
from tests.builders import Remembering, moment

NOW = moment("06-15 10:00")


@pytest.fixture
def memory(tmp_path) -> Remembering:
    return Remembering(tmp_path)


@pytest.mark.parametrize(
    ("query", "said", "newer", "meant"),
    [
        ("the last recipe you gave me", ("Give me a recipe.", "Chickpea curry."), ("打印机坏了", "换墨盒。"), "curry"),
        ("last time my cat was sick", ("My cat vomited.", "No food today."), ("周末去露营要带什么？", "帐篷。"), "cat"),
        ("上次推荐的电影有哪些", ("推荐几部科幻电影", "《流浪地球》。"), ("Plan a party", "Book a room."), "流浪地球"),
        ("What book did you recommend last time?", ("Recommend a novel.", "Try Middlemarch."),
         ("Book me a table at Nobu.", "Done."), "Middlemarch"),
    ],
)  # fmt: skip
def test_a_newer_talk_of_something_else_is_not_meant(memory, query, said, newer, meant):
    memory.say("asked", "05-29 10:00", *said)
    memory.say("newer", "06-13 10:00", *newer)
    bundle = memory.recall(query, now=NOW)
    assert {one.session_id for one in bundle.conversation_refs} == {"asked"}
    assert any(meant in one.text for one in bundle.evidence)


def test_all_talks_of_a_thing_are_those_of_it(memory):
    memory.say("one", "02-01 10:00", "我最近失眠怎么办", "睡前不看手机。")
    memory.say("guitar", "03-01 10:00", "How do I tune a guitar?", "E A D G B E.")
    memory.say("two", "04-01 10:00", "还是失眠，要吃药吗", "先看医生。")
    bundle = memory.recall("我们聊过的所有失眠", now=NOW)
    assert {one.session_id for one in bundle.conversation_refs} == {"one", "two"}


def test_what_was_said_in_a_month_is_not_answered_from_another(memory):
    memory.say("feb", "02-01 10:00", "My cat needs surgery, how do I prepare?", "Fast her for eight hours.")
    asked = "In {} what did you say about my cat surgery?"
    assert memory.recall(asked.format("April"), now=NOW).support_status is SupportStatus.UNSUPPORTED
    assert "Fast her" in repr(memory.recall(asked.format("February"), now=NOW).evidence)


@pytest.mark.parametrize(
    ("query", "sessions"),
    [
        ("最近三次对话聊了什么", ["gym", "cat", "loan"]),
        ("最近两次聊天", ["gym", "cat"]),
        ("the last two conversations", ["gym", "cat"]),
        ("my last three chats", ["gym", "cat", "loan"]),
    ],
)
def test_as_many_of_the_newest_conversations_as_are_asked_for(memory, query, sessions):
    memory.say("guitar", "01-01 10:00", "我想学吉他", "先练基本和弦。")
    memory.say("loan", "03-01 10:00", "帮我看看房贷", "等额本息更稳。")
    memory.say("cat", "04-01 10:00", "猫绝育要多少钱", "五百到一千。")
    memory.say("gym", "05-01 10:00", "给我一份健身计划", "一周三练。")
    assert sorted(one.session_id for one in memory.recall(query, now=NOW).conversation_refs) == sorted(sessions)
