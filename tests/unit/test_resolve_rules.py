"""The rules of the resolver that hold for every catalogue, text and moment."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from engram.domain.errors import Unavailable
from engram.domain.models import MentionStatus, Message, Role
from engram.resolve.catalogue import Catalogue
from engram.resolve.decision import decide, decimal_score, shares
from engram.resolve.definitions import AliasDefinition, EntityDefinition, TopicDefinition, TopicRules
from engram.resolve.models import Candidate, ResolveContext, SourceType, TemporalIntent
from engram.resolve.resolver import Resolver
from engram.resolve.shipped import default_catalogue, entities_from, heads_from, topics_from
from engram.resolve.similarity import LOCAL_CALIBRATION, fit
from engram.resolve.temporal import read_temporal

NOW = ResolveContext(datetime(2025, 9, 17, 7, 30, tzinfo=UTC), "Asia/Shanghai")


def candidates(*scores: str) -> list[Candidate]:
    return [Candidate(f"c{at}", f"c{at}", "thing", Decimal(score)) for at, score in enumerate(scores)]


def entity(identifier: str, name: str, kind: str, *aliases: str, hints: tuple[str, ...] = ()) -> EntityDefinition:
    return EntityDefinition(identifier, name, kind, tuple(AliasDefinition(alias) for alias in aliases), hints)


def message(role: Role, content: str) -> Message:
    return Message("m", "c", "s", 0, role, content, "h", NOW.now)


@pytest.fixture(scope="module")
def resolver() -> Resolver:
    return Resolver(default_catalogue())


@pytest.mark.parametrize(
    ("scores", "accepted"),
    [
        (("0.91", "0.86"), False),
        (("0.91", "0.80"), True),
        (("0.90", "0.80"), True),
        (("0.899", "0.10"), False),
        (("0.90",), True),
        ((), False),
    ],
)
def test_a_candidate_is_linked_from_090_and_a_lead_of_010_in_decimal(scores: tuple[str, ...], accepted: bool) -> None:
    best = decide(candidates(*scores))
    assert (best is not None) is accepted
    if best is not None:
        assert best.id == "c0"


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_the_decision_does_not_depend_on_the_order_of_candidates(scores: list[float]) -> None:
    made = [Candidate(f"c{at}", "", "", decimal_score(score)) for at, score in enumerate(scores)]
    assert decide(made) == decide(list(reversed(made)))


@given(st.lists(st.floats(-20, 20), min_size=1, max_size=6))
def test_shares_of_evidence_sum_to_one(weights: list[float]) -> None:
    assert sum(shares(weights)) == pytest.approx(1)


def test_an_ambiguous_name_keeps_all_its_candidates_and_links_none() -> None:
    catalogue = Catalogue(
        entities=[entity("1", "Morgan Studio", "company", "MS"), entity("2", "multi-site plan", "project", "MS")]
    )
    found = Resolver(catalogue).resolve("what about MS", NOW)
    assert found.entity_ids == ()
    assert {candidate.id for candidate in found.entities[0].candidates} == {"1", "2"}


def test_removing_an_alias_unlinks_later_text() -> None:
    before = Catalogue(entities=[entity("1", "Morgan Studio", "company", "MoSt")])
    after = before.overlaid(entities=[entity("1", "Morgan Studio", "company")])
    assert Resolver(before).resolve("call MoSt", NOW).entity_ids == ("1",)
    assert Resolver(after).resolve("call MoSt", NOW).entity_ids == ()


def test_recent_messages_decide_an_ambiguous_name_only_when_they_name_one(resolver: Resolver) -> None:
    def jordan(*recent: str) -> tuple[str, ...]:
        context = ResolveContext(NOW.now, NOW.timezone, recent)
        return resolver.resolve("anything on Jordan?", context).entity_ids

    assert jordan() == ()
    assert jordan("The weather is nice.") == ()
    assert jordan("Jordan Lee is coming to dinner.") == ("E134",)


def test_the_flagship_question_is_understood_without_any_model(resolver: Resolver) -> None:
    found = resolver.resolve("上次我们聊天杭州游玩攻略再给我一下", NOW)
    assert found.entity_ids == ("E001",)
    assert found.topic_ids == ("TRAVEL_GUIDE",)
    assert found.temporal.intent is TemporalIntent.PREVIOUS_RELATED
    assert found.source_type is SourceType.CONVERSATION
    assert found.search_text == "杭州游玩攻略"


@pytest.mark.parametrize(
    ("query", "nth"),
    [("上次聊的", 1), ("上上次聊的", 2), ("上上上次聊的", 3), ("the time before last", 2), ("last time", 1)],
)
def test_the_nth_previous_is_counted(query: str, nth: int) -> None:
    assert read_temporal(query, NOW).nth == nth


def test_cues_and_filler_are_not_searched_for_but_names_are(resolver: Resolver) -> None:
    found = resolver.resolve("What did we say about Kyoto last week?", NOW)
    assert found.search_text == "Kyoto"


class Encoder:
    id = "axes@2"
    dimension = 2

    def __init__(self, table: Mapping[str, tuple[float, float]]) -> None:
        self.table = table

    def embed(self, texts: Sequence[str], purpose: str) -> list[bytes]:
        return [struct.pack("<2f", *self.table[text]) if text in self.table else b"" for text in texts]


class Broken(Encoder):
    def embed(self, texts: Sequence[str], purpose: str) -> list[bytes]:
        raise Unavailable("asleep")


BEES = TopicDefinition("BEES", {"en": "beekeeping"})
CHESS = TopicDefinition("CHESS", {"en": "chess openings"})
AXES = {"beekeeping": (1.0, 0.0), "chess openings": (0.0, 1.0), "apiary winter feeding": (0.995, 0.0999)}


def test_a_phrase_near_one_topic_in_meaning_is_that_topic_and_without_the_encoder_it_is_none() -> None:
    catalogue = Catalogue(topics=[BEES, CHESS])
    query = "apiary winter feeding"
    assert Resolver(catalogue, Encoder(AXES)).resolve(query, NOW).topic_ids == ("BEES",)
    assert Resolver(catalogue, Broken(AXES)).resolve(query, NOW).topic_ids == ()
    assert Resolver(catalogue).resolve(query, NOW).topic_ids == ()


def test_a_phrase_between_two_topics_is_neither() -> None:
    between = {**AXES, "something of both": (0.7071, 0.7071)}
    found = Resolver(Catalogue(topics=[BEES, CHESS]), Encoder(between)).resolve("something of both", NOW)
    assert found.topic_ids == ()


def test_the_type_of_the_entity_decides_an_ambiguous_word(resolver: Resolver) -> None:
    assert resolver.resolve("上次的厦门攻略", NOW).topic_ids == ("TRAVEL_GUIDE",)
    assert resolver.resolve("上次的原神攻略", NOW).topic_ids == ("GAME_GUIDE",)
    undecided = resolver.resolve("上次那个攻略", NOW).topics[0]
    assert undecided.status is MentionStatus.AMBIGUOUS
    assert {candidate.id for candidate in undecided.candidates} == {"TRAVEL_GUIDE", "GAME_GUIDE"}


def test_mentions_quote_the_original_text_to_the_letter(resolver: Resolver) -> None:
    query = "上次聊的　ＫＹＯＴＯ 和臺北的旅遊攻略"
    found = resolver.resolve(query, NOW)
    assert [mention.text for mention in found.entities] == ["ＫＹＯＴＯ", "臺北"]
    assert all(query[mention.start : mention.end] == mention.text for mention in (*found.entities, *found.topics))


@settings(max_examples=150, deadline=None)
@given(st.text(st.characters(codec=None), max_size=60), st.sampled_from(["UTC", "Asia/Shanghai", "No/Where", ""]))
def test_any_text_at_all_is_resolved_and_can_be_written_as_utf8(query: str, zone: str) -> None:
    found = Resolver(default_catalogue()).resolve(query, ResolveContext(NOW.now, zone))
    found.search_text.encode("utf-8")
    found.normalised.encode("utf-8")
    assert all(query[m.start : m.end] == m.text for m in (*found.entities, *found.topics))


@settings(max_examples=150, deadline=None)
@given(st.text("上下前后本周月日年天个晚号点半一二十0159去今明到至 last week ago to since May/-:", max_size=24))
@example("前0月")
@example("the past 0 days")
def test_a_range_never_ends_before_it_begins(query: str) -> None:
    found = read_temporal(query, NOW)
    if found.start is not None and found.end is not None:
        assert found.start < found.end


@pytest.mark.parametrize("query", ["\ud800", "\x00", "a" * 10_000, "杭" * 10_000, "😀" * 50, "(" * 500, "9999年前", ""])
def test_hostile_texts_are_survived(resolver: Resolver, query: str) -> None:
    assert resolver.resolve(query, NOW).query == query


def test_the_trace_says_why_and_holds_no_word_of_the_text(resolver: Resolver) -> None:
    found = resolver.resolve("上次聊的秘密杭州 Zanzibarium 攻略", NOW)
    trace = " ".join(found.trace)
    assert "alias" in trace
    assert not any(word in trace for word in ("秘密", "杭州", "攻略", "Zanzibarium"))


def test_names_that_are_syntax_are_names() -> None:
    odd = ["type", '"} OR 1', "a*b(c", "<place>", "\\d+", "a&b|c"]
    catalogue = Catalogue(entities=[entity(str(at), name, "project") for at, name in enumerate(odd)])
    found = Resolver(catalogue).resolve('see a*b(c and "} OR 1 today', NOW)
    assert set(found.entity_ids) == {"1", "2"}


def test_cues_of_a_topic_that_are_syntax_do_not_break_it() -> None:
    odd = TopicDefinition("T", {"en": "thing"}, rules=TopicRules(cues=("", "&", "|", "<x>", "a&", "*", "((")))
    assert Resolver(Catalogue(topics=[odd])).resolve("a thing ((", NOW).topic_ids == ("T",)


def test_a_conversation_is_about_what_the_user_says_and_what_the_answer_begins_with(resolver: Resolver) -> None:
    answer = "杭州三日游攻略：第一天游览西湖。" + "沿途商店很多。" * 60 + "有人从上海坐车来。"
    about = resolver.subjects(
        [message(Role.USER, "帮我出一个杭州旅游攻略，问问小王"), message(Role.ASSISTANT, answer)], NOW
    )
    assert about.topic_ids == ("TRAVEL_GUIDE",)
    assert about.entity_ids == ("E001", "E070")
    assert set(about.candidate_ids) == {"E127", "E128"}


def test_tool_and_system_messages_do_not_say_what_a_conversation_is_about(resolver: Resolver) -> None:
    about = resolver.subjects([message(Role.TOOL, "杭州旅游攻略"), message(Role.SYSTEM, "Kyoto")], NOW)
    assert about.entity_ids == about.topic_ids == ()


def test_catalogue_files_load_as_they_are_with_their_ids() -> None:
    topics = topics_from({"topics": [{"id": "X", "name": {"en": "x"}, "aliases": {"zh": ["某"]}}]})
    entities = entities_from(
        {
            "entities": [
                {"id": "E1", "canonical": "Apple", "type": "company"},
                {"id": "E2", "canonical": "apple tree", "type": "food"},
            ],
            "ambiguous_aliases": {"apple": ["Apple", "apple tree"]},
        }
    )
    heads = heads_from({"ambiguous_heads": {"plan": ["X"]}})
    catalogue = Catalogue(topics=topics, entities=entities, ambiguous_heads=heads)
    assert catalogue.ids_of("APPLE") == ("E1", "E2")
    assert catalogue.topics["X"].aliases[0].source == "import"


def test_two_definitions_with_one_id_are_refused() -> None:
    with pytest.raises(ValueError, match="share an id"):
        Catalogue(entities=[entity("1", "a", "x"), entity("1", "b", "x")])


def test_the_version_of_a_catalogue_changes_with_any_alias() -> None:
    one = Catalogue(entities=[entity("1", "a", "x")])
    two = Catalogue(entities=[entity("1", "a", "x", "b")])
    assert one.version != two.version


def test_shipped_places_do_not_repeat_what_the_catalogue_has(resolver: Resolver) -> None:
    catalogue = resolver.catalogue
    assert catalogue.ids_of("杭州") == ("E001",)
    assert catalogue.ids_of("Hangzhou") == ("E001",)
    assert all(identifier.startswith(("E", "geo:")) for identifier in catalogue.entities)
    assert len(catalogue.entities) > 350


def test_calibration_is_refitted_from_examples() -> None:
    examples = [(0.9, 0.3, True), (0.85, 0.4, True), (0.6, 0.58, False), (0.5, 0.45, False)] * 10
    a, b, c = fit(examples)
    refitted = type(LOCAL_CALIBRATION)("e", "v", a, b, c)
    assert refitted.probability(0.9, 0.3) > 0.9 > 0.1 > refitted.probability(0.5, 0.48)


def test_all_words_of_a_topic_in_any_order_mean_it_and_some_of_them_do_not() -> None:
    catalogue = Catalogue(
        topics=[
            TopicDefinition("OBSERVING", {"en": "comet observing"}),
            TopicDefinition("CHESS", {"en": "chess clubs"}),
        ]
    )
    resolver = Resolver(catalogue)
    assert resolver.resolve("when I observed that comet", NOW).topics[0].found_by == "keyword"
    assert resolver.resolve("when I observed that bird", NOW).topic_ids == ()
