"""What may be written about a user: defaults, a business's own topics, and mistakes named by line."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.adapters.sqlite import SqliteTable
from engram.domain.errors import EngramError, InvalidInput
from engram.profile.config import PRESETS, ProfileConfig, default_topics, parse_config, preset, taxonomy_of
from engram.profile.taxonomy import Topic, attribute_unify, read_out, with_topics
from engram.profile.yaml_text import YamlMistake
from engram.store.businesses import BusinessConfigs
from tests.builders import MovableClock

NONE = ProfileConfig()
OWN = """
overwrite_user_profiles:
  - topic: Travel Plans
    description: where to
    sub_topics:
      - visa status
      - name: Budget
        description: per trip
        update_description: the newest counts
        validate_value: false
"""


def names(taxonomy):
    return [topic.name for topic in taxonomy.topics]


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_default_topics_cover_who_somebody_is_and_how_they_live(language):
    topics = default_topics(language)
    assert len(topics) >= 9
    assert all(topic.sub_topics for topic in topics)
    assert len({sub.name for topic in topics for sub in topic.sub_topics}) > 50


def test_both_languages_have_the_same_shape():
    english, chinese = default_topics("en"), default_topics("zh")
    assert [len(topic.sub_topics) for topic in english] == [len(topic.sub_topics) for topic in chinese]


@pytest.mark.parametrize("name", ["  Job Title ", "JOB\tTITLE", "job  title", "job_title"])
def test_names_compare_in_one_form(name):
    assert attribute_unify(name) == "job_title"


@given(st.text())
def test_unifying_twice_changes_nothing_more(name):
    assert attribute_unify(attribute_unify(name)) == attribute_unify(name)


def test_a_business_replaces_the_topics_with_its_own():
    taxonomy = taxonomy_of(NONE, parse_config(OWN))
    assert names(taxonomy) == ["travel_plans"]
    budget = taxonomy.find("travel plans", "BUDGET")
    assert (budget.description, budget.update_description, budget.validate_value) == (
        "per trip",
        "the newest counts",
        False,
    )
    assert taxonomy.validates("travel plans", "visa status")
    assert not taxonomy.validates("travel plans", "budget")


def test_a_business_adds_topics_and_sub_topics_to_the_defaults():
    added = OWN.replace("overwrite", "additional") + "  - topic: WORK\n    sub_topics: [badge number]\n"
    taxonomy = taxonomy_of(NONE, parse_config(added))
    assert names(taxonomy)[-1] == "travel_plans"
    assert taxonomy.find("work", "badge number") is not None
    assert taxonomy.find("work", "title") is not None


def test_the_service_counts_where_the_business_says_nothing():
    service = parse_config("language: zh\nprofile_strict_mode: true\nevent_tags: [{name: Mood}]\n" + OWN)
    taxonomy = taxonomy_of(service, parse_config("profile_validate_mode: false"))
    assert (taxonomy.language, taxonomy.strict, taxonomy.validate) == ("zh", True, False)
    assert [tag.name for tag in taxonomy.event_tags] == ["mood"]
    assert names(taxonomy) == ["travel_plans"]
    assert taxonomy_of(service, parse_config("profile_strict_mode: false\nlanguage: en")).strict is False


def test_defaults_follow_the_language_of_the_business():
    assert "基本信息" in names(taxonomy_of(NONE, parse_config("language: zh")))


def test_an_empty_overwrite_says_nothing():
    assert len(names(taxonomy_of(NONE, parse_config("overwrite_user_profiles: []")))) >= 9


def test_strict_mode_allows_what_is_listed_and_nothing_else():
    taxonomy = taxonomy_of(NONE, parse_config("profile_strict_mode: true\n" + OWN))
    assert taxonomy.allows("Travel plans", "budget")
    assert not taxonomy.allows("travel plans", "weather")
    assert not taxonomy.allows("work", "title")


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_can_be_read_and_begun_with(name):
    taxonomy = taxonomy_of(NONE, parse_config(f"preset: {name}\nlanguage: zh"))
    assert taxonomy.language == "zh"
    assert taxonomy.topics == taxonomy_of(NONE, preset(name), language="en").topics or name == "companion"


def test_the_readout_names_every_topic_with_what_is_said_about_it():
    text = read_out(taxonomy_of(NONE, parse_config(OWN)))
    assert text == "- travel_plans: where to\n  - visa_status\n  - budget: per trip [the newest counts]"


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("language: en\nlangage: zh", 2, "langage"),
        ("language: jp", 1, "language"),
        ("profile_strict_mode: maybe", 1, "profile_strict_mode"),
        ("event_tags:\n  - nam: mood", 2, "nam"),
        (
            "additional_user_profiles:\n  - topic: a\n    sub_topics:\n      - name: b\n        descripton: c",
            5,
            "descripton",
        ),
        ("additional_user_profiles:\n  - topic: a\n  - topic: A", 3, "A"),
        ("additional_user_profiles:\n  - description: a", 2, "topic"),
        ("additional_user_profiles: work", 1, "additional_user_profiles"),
        ("language: en\nlanguage: zh", 2, "language"),
        ("a: [1,\nb: 2", 2, ""),
        ("x: &x [1]\ny: *x", 2, "alias"),
        ("preset: lover", 1, "preset"),
        ("- language: en", 1, "configuration"),
        ("a: 1\n---\nb: 2", 2, "document"),
        ("language: en\n\tx: 1", 2, ""),
        ("event_theme_requirement: !!python/object/apply:os.system [ls]", 1, ""),
    ],
)
def test_a_mistake_is_refused_with_its_line_and_its_name(text, line, word):
    with pytest.raises(YamlMistake) as refusal:
        parse_config(text)
    assert refusal.value.line == line
    assert word in str(refusal.value)


@given(st.text(max_size=60))
def test_no_text_does_worse_than_a_named_mistake(text):
    with suppress(YamlMistake):
        parse_config(text)


@given(st.lists(st.tuples(st.text(max_size=3), st.lists(st.text(max_size=3), max_size=3)), max_size=4))
def test_joining_topics_loses_none_and_doubles_none(raw):
    topics = [Topic(name) for name, _ in raw]
    joined = with_topics(topics, topics)
    assert [one.name for one in joined] == list(dict.fromkeys(attribute_unify(one.name) for one in topics))


@pytest.fixture
def configs(tmp_path):
    table = SqliteTable(tmp_path / "t.sqlite", clock=MovableClock())
    return BusinessConfigs(table=table, service_config="profile_strict_mode: true")


def test_a_change_counts_from_the_next_read_on_and_raises_the_version(configs):
    assert configs.rules("acme").version == 0
    configs.put("acme", OWN)
    rules = configs.rules("acme")
    assert (names(rules.taxonomy), rules.version, rules.taxonomy.strict) == (["travel_plans"], 1, True)
    configs.put("acme", "")
    assert configs.rules("acme").version == 2
    assert len(names(configs.rules("acme").taxonomy)) >= 9


def test_a_refused_change_leaves_the_configuration_as_it_was(configs):
    configs.put("acme", "language: zh")
    with pytest.raises(InvalidInput):
        configs.put("acme", "languag: en")
    assert configs.get("acme").text == "language: zh"


def test_a_mistake_in_the_service_wide_configuration_is_found_at_start(tmp_path):
    table = SqliteTable(tmp_path / "t.sqlite", clock=MovableClock())
    with pytest.raises(EngramError, match="line 1: unknown key lang") as refusal:
        BusinessConfigs(table=table, service_config="lang: en")
    assert (refusal.value.code, refusal.value.status) == ("MISCONFIGURED", 500)
