"""What holds a name's letters or a topic's words and means neither; and that the names themselves are still found."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from engram.adapters.local_encoder import LocalEncoder
from engram.domain.models import MentionStatus
from engram.resolve.catalogue import names_of
from engram.resolve.lexicon import read_json
from engram.resolve.models import Mention, ResolveContext
from engram.resolve.resolver import Resolver
from engram.resolve.shipped import default_catalogue, entities_from, topics_from
from engram.text.language import has_han

NEAR_MISSES = Path(__file__).parents[1] / "data" / "resolver" / "near_misses.txt"
NOW = ResolveContext(datetime(2025, 9, 17, 7, 30, tzinfo=UTC))


@pytest.fixture(scope="module")
def plain() -> Resolver:
    return Resolver(default_catalogue())


@pytest.fixture(scope="module")
def resolver() -> Resolver:
    return Resolver(default_catalogue(), LocalEncoder())


def linked(mentions: tuple[Mention, ...]) -> list[str]:
    return [mention.id for mention in mentions if mention.status is MentionStatus.LINKED]


@pytest.mark.parametrize("query", NEAR_MISSES.read_text("utf-8").splitlines())
def test_a_near_miss_links_nothing_with_and_without_an_encoder(resolver: Resolver, plain: Resolver, query: str) -> None:
    for one in (resolver, plain):
        found = one.resolve(query, NOW)
        assert linked(found.entities) == []
        assert linked(found.topics) == []


def spoken_of(name: str) -> tuple[str, ...]:
    if has_han(name):
        return f"上次聊的{name}", f"之前说过{name}的事", f"关于{name}我都说过什么"
    return f"what did I say about {name}", f"上次聊的{name}"


def entity_names() -> Iterator[tuple[str, tuple[str, ...]]]:
    """Every name of the shipped entities with the ids that it may mean; notes in brackets are no part of a name."""
    meant: dict[str, set[str]] = {}
    written: dict[str, str] = {}
    for entity in entities_from(read_json("entities.json")):
        for name in names_of(entity):
            if "（" not in name:
                meant.setdefault(name.lower(), set()).add(entity.id)
                written.setdefault(name.lower(), name)
    yield from ((written[key], tuple(sorted(ids))) for key, ids in meant.items())


@pytest.mark.parametrize(("name", "ids"), list(entity_names()), ids=lambda value: str(value))
def test_a_name_spoken_of_is_linked_or_kept_open_when_it_means_several(
    plain: Resolver, name: str, ids: tuple[str, ...]
) -> None:
    for query in spoken_of(name):
        (mention,) = plain.resolve(query, NOW).entities
        if len(ids) == 1:
            assert (mention.status, mention.id) == (MentionStatus.LINKED, ids[0])
        else:
            assert mention.status is MentionStatus.AMBIGUOUS
            assert {candidate.id for candidate in mention.candidates} == set(ids)


def topic_phrases() -> Iterator[tuple[str, str]]:
    for topic in topics_from(read_json("topics.json")):
        for name in (*topic.names.values(), *(alias.text for alias in topic.aliases)):
            queries = (f"上次聊的{name}", f"最新的{name}") if has_han(name) else (f"the {name} from last time",)
            yield from ((query, topic.id) for query in queries)


@pytest.mark.parametrize(("query", "topic"), list(topic_phrases()))
def test_a_topic_is_found_by_each_of_its_names(plain: Resolver, query: str, topic: str) -> None:
    assert linked(plain.resolve(query, NOW).topics) == [topic]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("Java vs Python", ["Java", "Python"]),
        ("Paris invited me to her birthday party", ["Paris Miller"]),
        ("what did Jordan tell me", ["Jordan Lee"]),
        ("a week in Turkey", ["土耳其"]),
        ("learn Swift in a month", ["Swift"]),
        ("Swift's new album", ["Taylor Swift"]),
        ("亚马逊热带雨林", ["亚马逊河"]),
        ("小米和红豆一起煮", ["小米（粮食）"]),
        ("apples from Washington", ["苹果（水果）", "华盛顿州"]),
        ("把简历改成英文版", ["英语"]),
        ("speak better French", ["法语"]),
        ("王磊磊不是王磊", ["王磊"]),
        ("我妈妈做饭", ["妈妈"]),
    ],
)
def test_the_words_around_a_name_decide_what_it_means(plain: Resolver, query: str, names: list[str]) -> None:
    found = plain.resolve(query, NOW).entities
    assert [mention.name for mention in found if mention.status is MentionStatus.LINKED] == names


@pytest.mark.parametrize(
    ("query", "topic"),
    [
        ("租房可以抵扣吗", "TAX_FILING"),
        ("申请新加坡的签证要准备什么", "VISA_APPLICATION"),
        ("lease or finance a new vehicle", "CAR_BUYING"),
        ("should I list hobbies for recruiters", "RESUME"),
        ("上次聊的塞舌尔岛攻略", "TRAVEL_GUIDE"),
        ("the model training from last time", "MACHINE_LEARNING"),
    ],
)
def test_of_two_topics_with_words_in_a_query_the_one_it_is_about_is_linked(
    resolver: Resolver, query: str, topic: str
) -> None:
    assert linked(resolver.resolve(query, NOW).topics) == [topic]


@pytest.mark.parametrize(
    "query",
    ["我计划明年买房", "公司计划裁员", "推荐信用卡", "朋友推荐我来的", "plan ahead", "training my replacement at work"],
)
def test_a_word_that_topics_share_is_no_topic_as_a_verb(plain: Resolver, query: str) -> None:
    assert plain.resolve(query, NOW).topics == ()


@pytest.mark.parametrize(
    "query", ["我的训练", "推荐呢", "那份报告", "还有别的推荐吗", "some recommendations please", "our trip"]
)
def test_a_word_that_topics_share_keeps_them_all_as_a_noun(plain: Resolver, query: str) -> None:
    (mention,) = plain.resolve(query, NOW).topics
    assert mention.status is MentionStatus.AMBIGUOUS
    assert len(mention.candidates) > 1
