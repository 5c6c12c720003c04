"""What people take back, how they want to be called, and what ends with a job."""

# ruff: noqa: E501  (tables of sentences)
from __future__ import annotations

import pytest

from engram.adapters.rules import RulesDistiller
from engram.adapters.rules.clauses import language_of
from engram.domain.models import MemoryKind
from engram.recall.indexing import memory_text
from tests.builders import Profile

CORRECTED = [
    (("I love sushi", "No, I meant I love ramen, not sushi."), ["likes ramen"]),
    (("I love sushi", "I love ramen, not sushi"), ["likes ramen"]),
    (("I love ramen not sushi",), ["likes ramen"]),
    (("I live in Tokyo", "Sorry, I meant Osaka."), ["Osaka"]),
    (("I live in Boston", "Oops, not Boston, I meant Austin"), ["Austin"]),
    (("I'm allergic to peanuts", "Sorry, I meant walnuts, not peanuts."), ["allergic to walnuts"]),
    (("My dog is called Rex", "No, it's Max, not Rex"), ["dog named Max"]),
    (("I work at Contoso", "Not Contoso, Fabrikam."), ["Fabrikam"]),
    (("我搬到了东京", "不对，我说的是大阪，不是东京"), ["大阪"]),
    (("我住在东京", "说错了，是大阪"), ["大阪"]),
    (("我对花生过敏", "说错了，不是花生，是核桃"), ["对核桃过敏"]),
    (("我叫李明", "更正一下，是李鸣，不是李明"), ["李鸣"]),
    (("I love sushi", "I used to love sushi but now I hate it"), []),
    (("我喜欢榴莲", "我以前喜欢榴莲，现在讨厌了"), []),
    (("I don't eat meat", "I started eating meat again"), []),
    (("我不吃肉", "我又开始吃肉了"), []),
    (("I have a dog named Rex", "I don't have a dog anymore"), []),
    (("我打算明年三月去冰岛看极光", "冰岛的行程取消了"), []),
    (("I'm flying to Spain in May.", "The Spain trip is cancelled."), []),
    (("请记住以后用英文回答我，别用表情",), ["请记住以后用英文回答我", "别用表情"]),
    (("My favourite food is ramen", "My favourite food is pho now"), ["favorite food: pho"]),
    (("我最喜欢的颜色是蓝色", "我现在最喜欢的颜色是绿色"), ["最喜欢的颜色是绿色"]),
    (("I have two kids", "I have three kids now"), ["three kids"]),
    (("我有一个孩子", "我有两个孩子了"), ["两个孩子"]),
    (("I like jazz", "Forget that I like jazz"), []),
    (("I like jazz and opera", "Please forget my love of jazz"), ["likes opera"]),
    (("我喜欢爵士", "忘掉我喜欢爵士这件事"), []),
    (("我对花生过敏", "请忘记我对花生过敏这件事"), []),
    (("I'd like you to call me Captain",), ["Captain"]),
    (("我不太能吃辣", "最近开始能吃辣了"), []),
    (("以后叫我思远就好，回答尽量简短",), ["思远", "回答尽量简短"]),
    (("Call me Ray and always answer in French",), ["Ray", "always answer in French"]),
    (("I have a dog named Rex", "My dog died last week"), []),
    (("我养了一只猫", "我家猫去世了"), []),
    (("Never use emojis", "You can use emojis again"), []),
    (("以后不要用表情符号", "现在可以用表情符号了"), []),
]
LEFT_ALONE = [
    ("I dislike cold weather", "It's hot, not cold.", "dislikes cold weather"),
    ("I like cats", "It's dogs I like, not cats", "likes cats"),
    ("我对花生过敏", "应该是感冒不是过敏", "对花生过敏"),
    ("I live in Tokyo", "No, I mean 28.", "Tokyo"),
    ("I live in Tokyo", "I always forget my keys", "Tokyo"),
    ("我住在东京", "别忘了我住在东京", "东京"),
    ("I live in Tokyo", "Did you mean Osaka, not Tokyo?", "Tokyo"),
]


def heard(*texts: str, days: bool = True) -> Profile:
    profile = Profile(RulesDistiller(), language=language_of(texts[0]))
    for day, text in enumerate(texts):
        profile.hears(text, day=2 + (day if days else 0))
    return profile


@pytest.mark.parametrize(("texts", "left"), CORRECTED)
def test_what_is_taken_back_is_put_right_and_nothing_stays_beside_it(texts: tuple[str, ...], left: list[str]) -> None:
    profile = heard(*texts, days=False)
    assert list(profile.says().values()) == left
    assert [item.content for item in profile.items.values()] == left


@pytest.mark.parametrize(("first", "second", "kept"), LEFT_ALONE)
def test_words_that_only_look_like_a_correction_change_nothing(first: str, second: str, kept: str) -> None:
    assert list(heard(first, second).says().values()) == [kept]


def test_a_correction_that_does_not_say_what_was_wrong_is_not_carried_over_to_another_day() -> None:
    assert heard("I live in Tokyo", "Sorry, I meant Osaka.").says() == {"basic_info::city": "Tokyo"}


def test_a_correction_closes_what_was_wrong_in_the_history() -> None:
    profile = heard("我搬到了东京", "不对，我说的是大阪，不是东京")
    [wrong] = profile.closed
    [right] = profile.items.values()
    assert (wrong.id, wrong.content, right.content, right.version) == (right.id, "东京", "大阪", 2)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("以后请叫我雷哥", "雷哥"), ("请记住以后叫我大卫", "大卫"), ("从现在起叫我阿杰", "阿杰"), ("Call me Ray from now on.", "Ray"),
        ("Please address me as Dr. Lee", "Dr. Lee"),
    ],
)  # fmt: skip
def test_how_the_user_wants_to_be_called_is_a_slot_and_an_instruction(text: str, name: str) -> None:
    profile = heard(text)
    assert list(profile.says().values()) == [name]
    assert [(item.kind, item.content) for item in profile.items.values()] == [(MemoryKind.INSTRUCTION, name)]


@pytest.mark.parametrize(
    "text",
    ["Stop apologizing all the time.", "Please keep answers under 100 words", "以后每次都先给结论", "以后用英文回答我"],
)
def test_standing_wishes_are_kept_as_instructions(text: str) -> None:
    assert [item.kind for item in heard(text).items.values()] == [MemoryKind.INSTRUCTION]


@pytest.mark.parametrize(
    ("texts", "left"),
    [
        (("I joined Northwind as an analyst.", "I left Northwind, I'm at Contoso since Monday."), {"work::company": "Contoso"}),
        (("我在腾讯做产品经理", "我从腾讯离职了，上周加入了字节跳动"), {"工作::公司": "字节跳动"}),
        (("I work at Acme as a nurse", "I quit my job"), {}),
        (("I'm an analyst.", "I work at Northwind as an analyst", "I left Northwind."), {"work::title": "analyst"}),
        (("I'm an analyst at Northwind.", "I'm a manager at Contoso now, I left Northwind"), {"work::company": "Contoso", "work::title": "manager"}),
    ],
)  # fmt: skip
def test_a_title_that_was_only_said_with_an_employer_ends_with_that_job(
    texts: tuple[str, ...], left: dict[str, str]
) -> None:
    assert heard(*texts).says() == left


@pytest.mark.parametrize(
    ("texts", "left"),
    [
        (("My favorite foods are ramen and pho",), "favorite foods: ramen; favorite foods: pho"),
        (("I have a daughter named Ivy", "I have a daughter named Mia"), "a daughter named Ivy; a daughter named Mia"),
    ],
)
def test_what_may_be_true_side_by_side_stays_side_by_side(texts: tuple[str, ...], left: str) -> None:
    assert list(heard(*texts).says().values()) == [left]


@pytest.mark.parametrize(
    ("texts", "left"),
    [
        (("My mother lives in Lyon", "My mother moved to Nice", "My mother is 70"), ["My mother moved to Nice", "My mother is 70"]),
        (("我妈妈住在武汉", "我妈妈搬到深圳了"), ["我妈妈搬到深圳了"]),
        (("My friend lives in Lyon", "My friend lives in Nice"), ["My friend lives in Lyon", "My friend lives in Nice"]),
    ],
)  # fmt: skip
def test_what_is_newly_said_of_the_only_person_of_a_relation_replaces_the_old(
    texts: tuple[str, ...], left: list[str]
) -> None:
    profile = heard(*texts)
    assert [item.content for item in profile.items.values()] == left
    assert profile.says() == {}


def test_what_is_said_of_a_mother_is_not_found_by_asking_about_oneself() -> None:
    profile = heard("My mother lives in Lyon", "I live in Oslo")
    texts = {item.subject: memory_text(item) for item in profile.items.values()}
    assert texts["mother"] == "My mother lives in Lyon"
    assert "live" in texts["user"]
