"""Chinese names of people: told apart from words by what is said with, to or of them."""

from __future__ import annotations

import pytest

from engram.resolve.people import people_in


def people(text: str) -> list[str]:
    return sorted({text[first:last] for first, last in people_in(text)})


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("赵敏的生日礼物买什么好", "赵敏"),
        ("跟林志豪的会议记录", "林志豪"),
        ("刘洋上次说的", "刘洋"),
        ("张伟民发来的合同", "张伟民"),
        ("上次给周婷挑的生日礼物", "周婷"),
        ("我跟刘洋讨论过预算", "刘洋"),
        ("小陈的工作周报交了没", "小陈"),
        ("刘医生开的药要吃多久", "刘医生"),
    ],
)
def test_somebody_spoken_with_or_of_is_named(text: str, name: str) -> None:
    assert people(text) == [name]


@pytest.mark.parametrize(
    "text",
    [
        "高兴的是他来了",
        "马上说",
        "金秋的婚礼",
        "任务的文件",
        "方便的话告诉我",
        "黄金的报价",
        "文件发给我",
        "小时候的电话",
        "老师说的方案",
        "安静地说",
    ],
)
def test_words_that_begin_like_a_surname_are_nobody(text: str) -> None:
    assert people(text) == []
