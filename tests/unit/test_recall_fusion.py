"""Ranking and relevance: what a person would expect to stand first, whichever legs answered."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram.domain.documents import Document, DocumentKind, Hit, SearchResult
from engram.domain.errors import InvalidInput
from engram.domain.models import MentionStatus
from engram.recall.doubt import is_personal
from engram.recall.features import (
    QueryFeatures,
    asks,
    date_fit,
    features_of,
    is_cjk,
    tells_when,
    wants_assistant,
)
from engram.recall.fusion import Ranked, crosses_languages, rank
from engram.recall.recipes import recipe
from engram.recall.relevance import coverage
from engram.resolve.models import Mention, Resolution, SourceType, Temporal, TemporalIntent
from engram.text.analysis import terms_of

START = datetime(2026, 3, 1, 9, tzinfo=UTC)
RECIPE = recipe()


def turn(seq: int, text: str = "We had noodles for lunch today", **changes: Any) -> Document:
    document = Document(
        doc_id=f"m:c:{seq}",
        kind=DocumentKind.MESSAGE,
        version=1,
        occurred_at=START + timedelta(minutes=seq),
        text=text,
        conversation_id="c",
        session_id="s",
        seq=seq,
        role="user",
    )
    return replace(document, **changes)


def result(**legs: list[tuple[Document, float]]) -> SearchResult:
    hits = {name: tuple(Hit(document, score) for document, score in pairs) for name, pairs in legs.items()}
    return SearchResult(hits)


def order(ranked: tuple[Ranked, ...]) -> list[str]:
    return [one.document.doc_id for one in ranked]


def understood(query: str, **fields: Any) -> Resolution:
    plain = Resolution(query, query, "en", (), (), Temporal(TemporalIntent.NONE), SourceType.ANY, search_text=query)
    return replace(plain, **fields)


def top(found: SearchResult, query: QueryFeatures) -> float:
    return max(one.relevance for one in rank(found, query, RECIPE))


def test_nothing_found_is_an_empty_ranking() -> None:
    assert rank(SearchResult({}), QueryFeatures("tea"), RECIPE) == ()
    assert rank(result(lexical=[], vector=[]), QueryFeatures("tea"), RECIPE) == ()


@pytest.mark.parametrize("leg", ["lexical", "vector"])
def test_one_leg_alone_orders_by_its_scores(leg: str) -> None:
    far = [turn(0), turn(10), turn(20)]
    found = result(**{leg: [(far[1], 0.9), (far[2], 0.5), (far[0], 0.1)]})
    assert order(rank(found, QueryFeatures("noodles"), RECIPE)) == ["m:c:10", "m:c:20", "m:c:0"]


def test_what_both_legs_find_stands_before_what_one_finds() -> None:
    both, words, meaning = turn(0), turn(10), turn(20)
    found = result(lexical=[(words, 5.0), (both, 4.5)], vector=[(meaning, 0.8), (both, 0.75), (words, 0.1)])
    assert order(rank(found, QueryFeatures("noodles"), RECIPE))[0] == "m:c:0"


def test_the_parts_of_a_score_add_up_to_it() -> None:
    said = [turn(seq, speaker="Ann", role=role) for seq, role in enumerate(["user", "assistant"] * 3)]
    found = result(lexical=[(one, 6.0 - one.seq) for one in said], vector=[(one, 0.1 * one.seq) for one in said])
    query = QueryFeatures("lunch", asked="When did Ann have lunch?", start=START, end=START + timedelta(days=1))
    for one in rank(found, query, RECIPE):
        assert sum(one.parts.values()) == pytest.approx(one.score)


def test_what_the_named_person_said_stands_first() -> None:
    found = result(lexical=[(turn(0, speaker="Ben"), 3.0), (turn(10, speaker="Ann"), 2.8)])
    assert order(rank(found, QueryFeatures("Ann lunch", asked="What did Ann have for lunch?"), RECIPE))[0] == "m:c:10"
    assert order(rank(found, QueryFeatures("lunch"), RECIPE))[0] == "m:c:0"


def test_a_named_person_is_a_boost_and_no_filter() -> None:
    found = result(lexical=[(turn(0, speaker="Ben"), 3.0), (turn(10, speaker="Ann"), 0.5)])
    assert order(rank(found, QueryFeatures("Ann lunch", asked="What did Ann have for lunch?"), RECIPE))[0] == "m:c:0"


def test_what_was_said_on_the_named_day_stands_first() -> None:
    other, named = turn(0), turn(10, occurred_at=START + timedelta(days=40))
    day = START + timedelta(days=40)
    query = QueryFeatures("lunch", start=day - timedelta(hours=9), end=day + timedelta(hours=15))
    assert order(rank(result(lexical=[(other, 3.0), (named, 2.2)]), query, RECIPE))[0] == "m:c:10"


def test_an_answer_stands_before_the_question_it_answers() -> None:
    question, answer = turn(0, "Did you have noodles for lunch?"), turn(1, "Noodles for lunch, as I always have")
    found = result(lexical=[(question, 3.0), (answer, 2.9)])
    assert order(rank(found, QueryFeatures("noodles lunch"), RECIPE))[0] == "m:c:1"


def test_the_user_is_favoured_where_an_assistant_speaks_too() -> None:
    long, short = turn(1, role="assistant"), turn(20)
    found = result(lexical=[(long, 3.0), (short, 2.4)], vector=[(long, 0.6), (short, 0.5), (turn(40), 0.1)])
    assert order(rank(found, QueryFeatures("noodles"), RECIPE))[0] == "m:c:20"


def test_the_assistant_is_not_held_back_when_its_own_words_are_asked_for() -> None:
    long, short = turn(1, role="assistant"), turn(20)
    found = result(lexical=[(long, 3.0), (short, 2.4)], vector=[(long, 0.6), (short, 0.5), (turn(40), 0.1)])
    query = QueryFeatures("noodles", asked="Which noodles did you recommend to me?")
    assert order(rank(found, query, RECIPE))[0] == "m:c:1"


def test_of_two_equal_turns_the_newer_stands_first() -> None:
    found = result(lexical=[(turn(0), 2.0), (turn(50), 2.0)])
    assert order(rank(found, QueryFeatures("noodles"), RECIPE)) == ["m:c:50", "m:c:0"]


def test_an_index_with_single_turns_only_still_knows_neighbours() -> None:
    alone, first, second = turn(0), turn(10), turn(11)
    found = result(lexical=[(alone, 2.0), (first, 1.9), (second, 1.9)])
    parts = {one.document.doc_id: one.parts for one in rank(found, QueryFeatures("noodles"), RECIPE)}
    assert parts["m:c:11"]["lexical_window"] > parts["m:c:0"]["lexical_window"]
    assert parts["m:c:11"]["lexical_context"] > parts["m:c:10"]["lexical_context"]


def test_a_question_in_another_language_is_answered_by_meaning() -> None:
    english = [turn(seq * 10, f"We walked along the river, part {seq}") for seq in range(8)]
    found = result(lexical=[(english[7], 9.0)], vector=[(one, 0.5 - one.seq / 1000) for one in english])
    query = QueryFeatures("我们在哪里散步")
    assert crosses_languages(found, query, RECIPE)
    ranked = rank(found, query, RECIPE)
    assert order(ranked)[0] == "m:c:0"
    assert ranked[0].relevance >= RECIPE.floor
    assert not crosses_languages(found, QueryFeatures("where did we walk"), RECIPE)


def test_an_unrelated_question_stays_below_the_floor() -> None:
    said = [turn(0), turn(10, "My sister plays the violin")]
    found = result(lexical=[], vector=[(said[0], 0.18), (said[1], 0.12)])
    ranked = rank(found, QueryFeatures("boiling point mercury"), RECIPE)
    assert max(one.relevance for one in ranked) < RECIPE.floor


def test_a_question_about_the_world_needs_more_than_one_about_oneself() -> None:
    said = turn(0, "I'm vegetarian, I live in Berlin and I work as a nurse")
    found = result(lexical=[], vector=[(said, 0.38)])
    assert top(found, features_of(understood("where am I registered to vote"))) >= RECIPE.floor
    for world in ("what is the capital city by population", "how do I register a trademark", "帮我写一首诗"):
        assert top(found, features_of(understood(world))) < RECIPE.floor


def test_a_question_of_earlier_talk_or_of_a_speaker_is_personal() -> None:
    said = turn(0, "The cello lessons are on Monday", speaker="Ann Lee")
    found = result(lexical=[], vector=[(said, 0.38)])
    assert top(found, features_of(understood("when does Ann play"))) >= RECIPE.floor
    for told in ("在4月28号你给我推荐了一个软件，它的名字是？", "what did you tell me on April 28"):
        assert is_personal(understood(told))
    for world in ("给我推荐一部电影", "tell me a joke"):
        assert not is_personal(understood(world))
    earlier = understood("what was settled last time", temporal=Temporal(TemporalIntent.PREVIOUS_RELATED))
    assert top(found, features_of(earlier)) >= RECIPE.floor


def test_a_thing_that_is_named_and_occurs_nowhere_speaks_against_an_answer() -> None:
    said = turn(0, "I speak Portuguese with my family")
    found = result(lexical=[], vector=[(said, 0.41)])
    brazil = Mention("Brazil", 28, 34, MentionStatus.LINKED, id="E9", name="Brazil")
    asked = features_of(understood("which language is spoken in Brazil", entities=(brazil,)))
    assert top(found, asked) < RECIPE.floor
    for known in (
        turn(0, "I went to Brazil"),
        turn(0, "去年去了巴西", entity_ids=("E9",)),
        turn(0, "Take a raincoat", speaker="Brazil"),
    ):
        assert top(result(lexical=[], vector=[(known, 0.41)]), asked) >= RECIPE.floor
    told = result(lexical=[], vector=[(turn(0, "I flew to Rio", speaker="Ann"), 0.34)])
    assert top(told, features_of(understood("when did Ann leave for Brazil", entities=(brazil,)))) >= RECIPE.floor


def test_a_message_that_holds_the_words_of_the_question_is_above_the_floor() -> None:
    said = turn(0, "My sister plays the violin")
    for found in (result(lexical=[(said, 3.0)]), result(lexical=[(said, 3.0)], vector=[(said, 0.35)])):
        (one,) = rank(found, QueryFeatures("sister violin"), RECIPE)
        assert one.relevance >= RECIPE.floor


def test_relevance_does_not_depend_on_what_else_was_found() -> None:
    said, better = turn(0, "My sister plays the violin"), turn(10, "My sister plays the violin in an orchestra")
    query = QueryFeatures("sister violin orchestra")
    alone = rank(result(lexical=[(said, 3.0)], vector=[(said, 0.3)]), query, RECIPE)
    both = rank(result(lexical=[(better, 5.0), (said, 3.0)], vector=[(better, 0.6), (said, 0.3)]), query, RECIPE)
    assert {one.document.doc_id: one.relevance for one in both}["m:c:0"] == alone[0].relevance


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(0, 30), st.floats(0.01, 20), st.floats(-1, 1)), max_size=25, unique_by=lambda t: t[0]
    )
)
def test_the_order_of_hits_and_legs_changes_nothing(rows: list[tuple[int, float, float]]) -> None:
    lexical = sorted(((turn(seq), score) for seq, score, _ in rows), key=lambda pair: -pair[1])
    vector = sorted(((turn(seq), cosine) for seq, _, cosine in rows), key=lambda pair: -pair[1])
    query = QueryFeatures("noodles lunch")
    first = rank(result(lexical=lexical, vector=vector), query, RECIPE)
    second = rank(result(vector=vector[::-1], lexical=lexical[::-1]), query, RECIPE)
    assert order(first) == order(second)
    assert len(first) == len(rows)
    assert all(0 <= one.relevance <= 1 for one in first)


def test_coverage_counts_the_turn_and_the_one_before_it() -> None:
    answer = turn(1, "At eight", previous="When does the train to Kyoto leave?")
    assert coverage(frozenset(terms_of("train Kyoto")), answer) == 1.0
    assert coverage(frozenset(terms_of("bus Osaka")), answer) == 0.0
    assert coverage(frozenset(), answer) == 0.0


def test_a_day_is_told_of_afterwards_and_never_before() -> None:
    query = QueryFeatures("x", start=START, end=START + timedelta(days=1))
    fits = [
        date_fit(turn(0, occurred_at=START + timedelta(days=day)), query, afterwards=0.9) for day in (-1, 0, 2, 9, 30)
    ]
    assert fits[0] == 0.0
    assert fits[1] == 1.0
    assert 0.9 > fits[2] > fits[3] > fits[4] == 0.0
    assert date_fit(turn(0), QueryFeatures("x"), afterwards=0.9) == 0.0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Do you have pets?", True),
        ("你养宠物吗？", True),
        ("Really? [shares a dog]", True),
        ("Really? No.", False),
        ("", False),
    ],
)
def test_a_turn_that_ends_in_a_question_asks(text: str, expected: bool) -> None:
    assert asks(turn(0, text)) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [("上次聊的杭州", True), ("Caroline's 猫", False), ("hello", False), ("", False), ("买MacBook的建议", True)],
)
def test_ideographs_weigh_as_much_as_four_letters(text: str, expected: bool) -> None:
    assert is_cjk(text) is expected


def test_expressions_of_time_are_told_from_other_words() -> None:
    assert tells_when(turn(0, "We met last Friday"))
    assert tells_when(turn(0, "上周五见的"))
    assert not tells_when(turn(0, "We met at the station"))


@pytest.mark.parametrize(
    "asked", ["What did you suggest for dinner?", "你给我推荐过哪些画家？", "your advice, what was it that you gave"]
)
def test_questions_about_the_assistant_are_known(asked: str) -> None:
    assert wants_assistant(asked)
    assert not wants_assistant("What did I say about dinner?")


def test_a_recipe_is_found_by_name_and_version() -> None:
    assert recipe("default", 1) == RECIPE
    for name, version in (("nobody", None), ("default", 99)):
        with pytest.raises(InvalidInput):
            recipe(name, version)


def resolved(intent: TemporalIntent, **temporal: Any) -> Resolution:
    asked = "what did we settle last time about camping?"
    meant = Temporal(intent, **temporal)
    return Resolution(asked, asked, "en", (), (), meant, SourceType.ANY, search_text="settle camping")


def test_a_question_is_embedded_whole_unless_a_cue_would_be_looked_for() -> None:
    assert features_of(resolved(TemporalIntent.NONE)).meaning.startswith("what did we settle")
    assert features_of(resolved(TemporalIntent.PREVIOUS_RELATED)).meaning == "settle camping"


def test_only_a_named_period_is_a_period() -> None:
    named = features_of(resolved(TemporalIntent.TIME_RANGE, start=START))
    assert (named.start, named.end, named.text) == (START, None, "settle camping")
    assert features_of(resolved(TemporalIntent.LATEST, start=START)).start is None


def test_a_day_mentioned_in_passing_in_a_page_is_not_the_day_asked_about() -> None:
    short = resolved(TemporalIntent.TIME_RANGE, start=START)
    assert features_of(short).start == START
    assert features_of(replace(short, query="On Monday I was so tired that I slept. " * 10)).start is None
    assert features_of(replace(short, query="周一我太累了就睡着了。" * 10)).start is None
