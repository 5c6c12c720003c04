"""What may be asked of the context: names, defaults, ranges, and refusals that name the parameter."""

from __future__ import annotations

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.context.request import ContextRequest, from_json, from_query
from engram.domain.errors import InvalidInput


def test_the_defaults_are_memobases():
    request = from_query({})
    assert (request.max_token_size, request.profile_event_ratio) == (1000, 0.6)
    assert (request.event_similarity_threshold, request.time_range_in_days) == (0.2, 180)
    assert request.full_profile_and_only_search_event
    assert not request.fill_window_with_events
    assert request.customize_context_prompt is None
    assert from_json({}) == request == ContextRequest()


def test_every_parameter_can_be_given_in_a_query_and_in_a_body():
    chats = [{"role": "user", "content": "hi", "alias": "x"}]
    query = {
        "max_token_size": ["1", "500"],
        "prefer_topics": ["a", "b"],
        "only_topics": ["c"],
        "max_subtopic_size": ["3"],
        "topic_limits_json": ['{"a": 1}'],
        "profile_event_ratio": ["0.5"],
        "chats_str": [json.dumps(chats)],
        "event_similarity_threshold": ["-0.5"],
        "time_range_in_days": ["7"],
        "customize_context_prompt": ["{profile_section}"],
        "full_profile_and_only_search_event": ["False"],
        "fill_window_with_events": ["1"],
        "require_event_summary": ["true"],
    }
    body = {
        "max_token_size": 500,
        "prefer_topics": ["a", "b"],
        "only_topics": ["c"],
        "max_subtopic_size": 3,
        "topic_limits": {"a": 1},
        "profile_event_ratio": 0.5,
        "chats": chats,
        "event_similarity_threshold": -0.5,
        "time_range_in_days": 7,
        "customize_context_prompt": "{profile_section}",
        "full_profile_and_only_search_event": False,
        "fill_window_with_events": True,
        "require_event_summary": True,
    }
    assert from_query(query) == from_json(body)
    assert from_json({**body, "chats": None}).chats == ()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_token_size", "-1"),
        ("max_token_size", "1e3"),
        ("max_token_size", ""),
        ("max_token_size", "٣"),
        ("max_token_size", "9" * 5000),
        ("profile_event_ratio", "nan"),
        ("profile_event_ratio", "1.01"),
        ("profile_event_ratio", "-0.1"),
        ("profile_event_ratio", "inf"),
        ("event_similarity_threshold", "2"),
        ("event_similarity_threshold", "x"),
        ("time_range_in_days", "-1"),
        ("time_range_in_days", "99999999"),
        ("max_subtopic_size", "-2"),
        ("topic_limits_json", "{"),
        ("topic_limits_json", "[]"),
        ("topic_limits_json", '{"a": -1}'),
        ("topic_limits_json", '{"a": "b"}'),
        ("topic_limits_json", '{"a": true}'),
        ("topic_limits_json", '{"a": NaN}'),
        ("chats_str", "[{]"),
        ("chats_str", "{}"),
        ("chats_str", '[{"role": "robot", "content": "x"}]'),
        ("chats_str", '[{"role": "user"}]'),
        ("chats_str", '["x"]'),
        ("chats_str", "[" * 100_000),
        ("customize_context_prompt", "x" * 30_000),
        ("fill_window_with_events", "maybe"),
        ("prefer_topics", "x" * 300),
        ("only_topics", ""),
        ("only_topics", "  "),
    ],
)
def test_a_bad_value_is_refused_by_the_name_of_its_parameter(name, value):
    with pytest.raises(InvalidInput) as refusal:
        from_query({name: [value]})
    assert refusal.value.field == name
    assert name in str(refusal.value)
    assert value not in str(refusal.value) or len(value) < 3


@pytest.mark.parametrize("name", ["max_tokens", "Max_token_size", "chats", "x\n"])
def test_an_unknown_parameter_is_refused_by_name(name):
    with pytest.raises(InvalidInput, match="unknown parameter"):
        from_query({name: ["1"]})


@pytest.mark.parametrize("body", [[], "x", None, 1])
def test_a_body_that_is_no_object_is_refused(body):
    with pytest.raises(InvalidInput, match="body"):
        from_json(body)


def test_the_description_names_exactly_what_is_decoded_with_the_same_defaults():
    from engram.api.context_schemas import ContextBody, ContextQuery
    from engram.context.request import _JSON, _QUERY

    assert set(ContextQuery.model_fields) == set(_QUERY)
    assert set(ContextBody.model_fields) == set(_JSON)
    described = ContextBody().model_dump(exclude_none=True)
    assert from_json(described) == ContextRequest()
    assert from_json({name: value for name, value in described.items() if value != []}) == ContextRequest()


names = st.sampled_from(
    [
        "max_token_size",
        "profile_event_ratio",
        "chats_str",
        "chats",
        "topic_limits",
        "only_topics",
        "customize_context_prompt",
        "require_event_summary",
    ]
)
values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)


@given(st.dictionaries(names, values, max_size=3))
def test_no_body_does_worse_than_a_named_refusal(body):
    with suppress(InvalidInput):
        from_json(body)
