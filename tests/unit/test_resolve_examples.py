"""Topics by example: what an encoder's vector of a whole query adds when no rule and no name decides."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from engram.adapters.local_encoder import LocalEncoder
from engram.domain.errors import Unavailable
from engram.domain.models import MentionStatus
from engram.resolve.catalogue import Catalogue
from engram.resolve.definitions import AliasDefinition, TopicDefinition
from engram.resolve.examples import TopicExamples, shipped_examples
from engram.resolve.models import ResolveContext
from engram.resolve.resolver import Resolver
from engram.resolve.shipped import default_catalogue
from engram.resolve.similarity import TopicSimilarity

DOUBTED = Path(__file__).parents[1] / "data" / "resolver" / "doubted.txt"
NOW = ResolveContext(datetime(2025, 9, 17, tzinfo=UTC))
PARAPHRASE = "what should I eat each day to drop five kilos"


class Counting(LocalEncoder):
    """The local encoder, with an id to choose and a count of the texts of queries."""

    def __init__(self, name: str = "usem3@512") -> None:
        super().__init__()
        self.id = name
        self.asked: list[str] = []

    def embed(self, texts, purpose):
        if purpose == "query":
            self.asked += texts
        return super().embed(texts, purpose)


class Silent:
    id, dimension = "usem3@512", 512

    def embed(self, texts, purpose):
        raise Unavailable("the encoder does not answer")


def topics_of(resolver: Resolver, query: str) -> tuple[tuple[str, str], ...]:
    found = resolver.resolve(query, NOW).topics
    return tuple((one.id, one.found_by) for one in found if one.status is MentionStatus.LINKED)


@pytest.fixture(scope="module")
def resolver() -> Resolver:
    return Resolver(default_catalogue(), LocalEncoder())


@pytest.mark.parametrize(
    ("query", "topic"),
    [
        (PARAPHRASE, "DIET_PLAN"),
        ("upbeat tracks for my morning commute", "MUSIC_RECOMMENDATION"),
        ("which exercises for a stronger back", "FITNESS_PLAN"),
        ("心里老是慌慌的怎么放松", "STRESS_RELIEF"),
        ("二宝总跟哥哥抢玩具", "PARENTING"),
        ("晚上想请客户吃顿好的去哪儿", "RESTAURANT_RECOMMENDATION"),
    ],
)
def test_a_query_that_shares_no_word_with_a_topic_is_linked_by_what_it_means(
    resolver: Resolver, query: str, topic: str
) -> None:
    assert topics_of(Resolver(default_catalogue()), query) == ()
    assert topics_of(resolver, query) == ((topic, "embedding"),)


@pytest.mark.parametrize(
    "query",
    [
        "who painted the Mona Lisa",
        "today is my first day at work",
        "my headphones broke",
        "make this sentence shorter",
        "the train was late again",
        "我刚从超市回来",
        "为什么海水是咸的",
        "帮我把语气改得礼貌一点",
        "小区里的花都开了",
        "他考上了北大",
    ],
)
def test_small_talk_and_near_misses_are_of_no_topic(resolver: Resolver, query: str) -> None:
    assert resolver.resolve(query, NOW).topics == ()


@pytest.mark.parametrize("query", DOUBTED.read_text("utf-8").splitlines())
def test_a_word_of_a_topic_in_another_sense_is_doubted(resolver: Resolver, query: str) -> None:
    assert resolver.resolve(query, NOW).topics == ()


@pytest.mark.parametrize(
    ("query", "topic"),
    [
        ("the walkthrough you gave me before", "GAME_GUIDE"),
        ("上次说的用药", "MEDICATION"),
        ("昨天的报错", "DEBUGGING"),
        ("museums in Rome", "TRAVEL_GUIDE"),
    ],
)
def test_a_word_is_believed_where_something_earlier_is_asked_for_or_its_kind_of_thing_is_named(
    query: str, topic: str
) -> None:
    encoder = Counting()
    assert [name for name, _step in topics_of(Resolver(default_catalogue(), encoder), query)] == [topic]
    assert encoder.asked == []


def test_what_a_business_calls_a_topic_itself_is_never_doubted() -> None:
    shipped = default_catalogue().topics["PET_CARE"]
    named = replace(shipped, aliases=(*shipped.aliases, AliasDefinition("浪一浪"), AliasDefinition("zoomies")))
    ruled = replace(named, rules=replace(shipped.rules, cues=(*shipped.rules.cues, "snuggle report")))
    for topic, query in (
        (named, "浪一浪"),
        (named, "zoomies in the office"),
        (ruled, "snuggle report of the board"),
    ):
        resolver = Resolver(Catalogue(topics=[topic]), LocalEncoder())
        assert [name for name, _step in topics_of(resolver, query)] == ["PET_CARE"]


def test_another_topic_may_be_meant_where_words_are_doubted(resolver: Resolver) -> None:
    assert topics_of(Resolver(default_catalogue()), "装潢预算") == (("BUDGETING", "rule"),)
    assert topics_of(resolver, "装潢预算") == (("HOME_RENOVATION", "embedding"),)


def test_an_encoder_that_the_weights_do_not_belong_to_does_not_use_them() -> None:
    assert topics_of(Resolver(default_catalogue(), Counting("another@512")), PARAPHRASE) == ()


def test_no_encoder_and_a_silent_one_leave_the_topic_open() -> None:
    assert topics_of(Resolver(default_catalogue(), Silent()), PARAPHRASE) == ()
    assert topics_of(Resolver(default_catalogue()), PARAPHRASE) == ()


def test_a_query_decided_by_a_name_asks_no_encoder() -> None:
    encoder = Counting()
    assert topics_of(Resolver(default_catalogue(), encoder), "the diet plan you gave me") == (("DIET_PLAN", "alias"),)
    assert encoder.asked == []


def test_a_topic_that_a_business_does_not_have_is_not_offered_and_its_weight_goes_to_no_other() -> None:
    shipped = default_catalogue().topics
    fewer = Catalogue(topics=[topic for topic_id, topic in shipped.items() if topic_id != "DIET_PLAN"])
    assert topics_of(Resolver(fewer, LocalEncoder()), PARAPHRASE) == ()


def test_a_topic_of_a_business_that_is_nearest_by_name_is_not_overruled_by_examples_of_others() -> None:
    shipped = default_catalogue().topics
    own = TopicDefinition("KILO_DROPPERS", {"en": "eat to drop kilos"})
    resolver = Resolver(Catalogue(topics=[*shipped.values(), own]), LocalEncoder())
    assert not {"DIET_PLAN"} & {topic_id for topic_id, _ in topics_of(resolver, PARAPHRASE)}


def test_a_topic_that_is_ruled_out_is_not_linked_by_example() -> None:
    similar = TopicSimilarity(default_catalogue(), LocalEncoder())
    phrase = "eat each day drop five kilos"
    assert similar(phrase, whole=PARAPHRASE)[0].id == "DIET_PLAN"
    others = similar(phrase, frozenset(("DIET_PLAN",)), whole=PARAPHRASE)
    assert "DIET_PLAN" not in {one.id for one in others}
    assert all(one.score < 0.9 for one in others)


def test_a_long_text_is_not_compared_with_examples() -> None:
    encoder = Counting()
    similar = TopicSimilarity(default_catalogue(), encoder)
    similar("drop five kilos", whole="and so on " * 30 + PARAPHRASE)
    assert encoder.asked == ["drop five kilos"]


def test_the_shipped_weights_are_for_the_shipped_topics_and_their_probabilities_leave_room_for_none() -> None:
    examples = shipped_examples()
    assert set(examples.topics) == set(default_catalogue().topics)
    assert examples.weights.shape == (513, len(examples.topics) + 1)
    weighed = TopicExamples("e", ("A", "B"), np.array([[2.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 1.0]]))
    found = weighed.probabilities(np.array([1.0, 0.0], dtype="<f4").tobytes())
    assert found["A"] > found["B"]
    assert 0.5 < sum(found.values()) < 1
