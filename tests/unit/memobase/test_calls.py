"""Memobase's calls about users, profiles, events and projects, as a client would make them."""

from __future__ import annotations

import json
import uuid

import pytest

from engram.domain.scope import Scope
from tests.http_calls import OTHER, USER

ROW = {"content": "engineer at Contoso", "attributes": {"topic": "Work", "sub_topic": "job Title"}}


def import_events(calls, *tips, tags=()):
    events = [
        {"id": str(uuid.uuid4()), "event_data": {"event_tip": tip, "event_tags": list(tags) or None}} for tip in tips
    ]
    data = calls.ok("POST", "/users/import/{user_id}", user_id=USER, body={"events": events})
    assert data == {"refused": []}
    return [event["id"] for event in events]


def test_the_health_check_answers(calls):
    assert calls.raw("GET", "/healthcheck") == (200, {"data": None, "errno": 0, "errmsg": ""})


def test_a_user_is_created_with_the_given_id_and_read_back(calls, user):
    assert user == USER
    found = calls.ok("GET", "/users/{user_id}", user_id=USER)
    assert (found["id"], found["data"]) == (USER, {"plan": "pro"})


def test_a_user_without_an_id_gets_a_uuid_of_version_4(calls):
    made = calls.ok("POST", "/users", body={"data": None, "id": None})["id"]
    assert uuid.UUID(made).version == 4


def test_the_data_of_a_user_is_replaced(calls, user):
    assert calls.ok("PUT", "/users/{user_id}", user_id=USER, body={"data": {"test": 111}}) == {"id": USER}
    assert calls.ok("GET", "/users/{user_id}", user_id=USER)["data"] == {"test": 111}


def test_the_data_of_a_user_may_come_bare_as_the_go_client_sends_it(calls, user):
    calls.ok("PUT", "/users/{user_id}", user_id=USER, body={"test": 111, "more": {"a": 1}})
    assert calls.ok("GET", "/users/{user_id}", user_id=USER)["data"] == {"test": 111, "more": {"a": 1}}


def test_a_second_user_of_one_id_is_a_conflict(calls, user):
    assert calls.refused("POST", "/users", body={"id": USER})[0] == 409


def test_a_deleted_user_is_gone_at_once_with_all_it_had(calls, user, services):
    calls.ok("POST", "/users/profile/{user_id}", user_id=USER, body=ROW)
    calls.ok("DELETE", "/users/{user_id}", user_id=USER)
    assert calls.refused("GET", "/users/{user_id}", user_id=USER)[0] == 404
    assert calls.ok("GET", "/users/profile/{user_id}", user_id=USER) == {"profiles": []}
    assert calls.refused("DELETE", "/users/{user_id}", user_id=USER)[0] == 404


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_an_unknown_user_is_errno_404_over_http_200(calls, method):
    body = {"data": {}} if method == "PUT" else None
    assert calls.refused(method, "/users/{user_id}", user_id=OTHER, body=body)[0] == 404


@pytest.mark.parametrize(
    "name",
    [
        "u1",
        "*",
        "",
        "2F1B6F0E-5C58-4A4E-9A4E-3C8F0F6F8B11",
        USER + " ",
        USER.replace("-", ""),
        "2f1b6f0e-5c58-1a4e-9a4e-3c8f0f6f8b11",
    ],
)
def test_ids_that_are_not_uuids_of_version_4_or_5_are_refused_by_name(calls, name):
    errno, message = calls.refused("GET", "/users/profile/{user_id}", user_id=name)
    assert errno == 400
    assert "user_id" in message


def test_one_business_never_sees_anothers_users(calls, user):
    assert calls.refused("GET", "/users/{user_id}", user_id=USER, business="rival")[0] == 404
    assert calls.ok("GET", "/project/users", business="rival") == {"users": [], "count": 0}


def test_users_are_listed_by_their_counts_and_searched_by_id(calls, user, clock):
    clock.go_on(60)
    calls.ok("POST", "/users", body={"id": OTHER})
    calls.ok("POST", "/users/profile/{user_id}", user_id=USER, body=ROW)
    by_count = calls.ok("GET", "/project/users", query="order_by=profile_count&order_desc=True")
    assert [(one["id"], one["profile_count"]) for one in by_count["users"]] == [(USER, 1), (OTHER, 0)]
    assert by_count["users"][0]["additional_fields"] == {"plan": "pro"}
    assert calls.ok("GET", "/project/users", query="order_by=profile_count&order_desc=False")["users"][0]["id"] == OTHER
    assert calls.ok("GET", "/project/users", query="search=3f1b")["count"] == 1
    page = calls.ok("GET", "/project/users", query="limit=1&offset=1&order_by=profile_count")
    assert ([one["id"] for one in page["users"]], page["count"]) == ([OTHER], 2)


@pytest.mark.parametrize("query", ["order_by=name", "limit=0", "offset=-1", "foo=1"])
def test_impossible_listings_are_refused_by_name(calls, query):
    assert query.split("=")[0] in calls.refused("GET", "/project/users", query=query)[1]


def test_a_profile_row_is_added_with_unified_names_updated_and_deleted(calls, user):
    row = calls.ok("POST", "/users/profile/{user_id}", user_id=USER, body=ROW)["id"]
    (found,) = calls.ok("GET", "/users/profile/{user_id}", user_id=USER)["profiles"]
    assert found["attributes"] == {"topic": "work", "sub_topic": "job_title"}
    change = {"content": "baker", "attributes": {"topic": "work", "sub_topic": "title"}}
    calls.ok("PUT", "/users/profile/{user_id}/{profile_id}", user_id=USER, profile_id=row, body=change)
    (found,) = calls.ok("GET", "/users/profile/{user_id}", user_id=USER)["profiles"]
    assert (found["id"], found["content"], found["attributes"]["sub_topic"]) == (row, "baker", "title")
    calls.ok("DELETE", "/users/profile/{user_id}/{profile_id}", user_id=USER, profile_id=row)
    assert calls.ok("GET", "/users/profile/{user_id}", user_id=USER) == {"profiles": []}
    errno, _ = calls.refused("DELETE", "/users/profile/{user_id}/{profile_id}", user_id=USER, profile_id=row)
    assert errno == 404


def test_an_update_without_attributes_keeps_the_topic(calls, user):
    row = calls.ok("POST", "/users/profile/{user_id}", user_id=USER, body=ROW)["id"]
    body = {"content": "baker", "attributes": None}
    calls.ok("PUT", "/users/profile/{user_id}/{profile_id}", user_id=USER, profile_id=row, body=body)
    (found,) = calls.ok("GET", "/users/profile/{user_id}", user_id=USER)["profiles"]
    assert (found["content"], found["attributes"]["topic"]) == ("baker", "work")


def test_the_same_row_twice_is_one_row(calls, user):
    first = calls.ok("POST", "/users/profile/{user_id}", user_id=USER, body=ROW)["id"]
    assert calls.ok("POST", "/users/profile/{user_id}", user_id=USER, body=ROW)["id"] == first


@pytest.mark.parametrize(
    "body",
    [
        {"content": "x"},
        {"content": " ", "attributes": ROW["attributes"]},
        {"attributes": ROW["attributes"]},
        {**ROW, "more": 1},
        {"content": "x", "attributes": {"topic": "a"}},
        "[]",
        "{",
    ],
)
def test_profile_rows_that_cannot_be_kept_are_refused(calls, user, body):
    assert calls.refused("POST", "/users/profile/{user_id}", user_id=USER, body=body)[0] in (400, 422)


def test_profile_filters_work_together(calls, user, clock):
    for topic, sub, content in [("work", "title", "a"), ("work", "company", "b"), ("Interest", "books", "c" * 500)]:
        clock.go_on(1)
        body = {"content": content, "attributes": {"topic": topic, "sub_topic": sub}}
        calls.ok("POST", "/users/profile/{user_id}", user_id=USER, body=body)

    def subs(query):
        found = calls.ok("GET", "/users/profile/{user_id}", user_id=USER, query=query)["profiles"]
        return [one["attributes"]["sub_topic"] for one in found]

    assert subs("") == ["books", "company", "title"]
    assert subs("prefer_topics=work&&prefer_topics=interest") == ["company", "title", "books"]
    assert subs("only_topics=WORK") == ["company", "title"]
    assert subs("max_subtopic_size=1") == ["books", "company"]
    assert subs([("max_subtopic_size", 1), ("topic_limits_json", json.dumps({"work": 2}))]) == [
        "books",
        "company",
        "title",
    ]
    assert subs([("max_subtopic_size", 1), ("topic_limits", json.dumps({"work": 2}))]) == ["books", "company", "title"]
    assert subs("topk=2") == ["books", "company"]
    assert subs("max_token_size=40") == ["company", "title"]


def test_a_strict_taxonomy_refuses_rows_outside_it_and_hides_those_written_before(calls, user):
    calls.ok("POST", "/users/profile/{user_id}", user_id=USER, body=ROW)
    calls.ok("POST", "/project/profile_config", body={"profile_config": "preset: strict"})
    assert calls.refused("POST", "/users/profile/{user_id}", user_id=USER, body=ROW)[0] == 422
    assert calls.ok("GET", "/users/profile/{user_id}", user_id=USER) == {"profiles": []}
    inside = {"content": "peanuts", "attributes": {"topic": "health", "sub_topic": "allergies"}}
    calls.ok("POST", "/users/profile/{user_id}", user_id=USER, body=inside)
    assert len(calls.ok("GET", "/users/profile/{user_id}", user_id=USER)["profiles"]) == 1


def test_the_configuration_comes_back_to_the_letter(calls):
    assert calls.ok("GET", "/project/profile_config") == {"profile_config": ""}
    text = "\nlanguage: zh   # 注释\n"
    calls.ok("POST", "/project/profile_config", body={"profile_config": text})
    assert calls.ok("GET", "/project/profile_config") == {"profile_config": text}
    assert calls.ok("GET", "/project/profile_config", business="rival") == {"profile_config": ""}


def test_a_mistaken_configuration_is_refused_with_line_and_name_and_changes_nothing(calls):
    calls.ok("POST", "/project/profile_config", body={"profile_config": "language: zh"})
    errno, message = calls.refused(
        "POST", "/project/profile_config", body={"profile_config": "language: en\n\nlangage: zh"}
    )
    assert errno == 400
    assert "line 3" in message
    assert "langage" in message
    assert calls.ok("GET", "/project/profile_config")["profile_config"] == "language: zh"


def test_events_are_listed_updated_and_deleted(calls, user):
    (event,) = import_events(calls, "went to Kyoto\n- bought a kettle", tags=[{"tag": "mood", "value": "happy"}])
    (found,) = calls.ok("GET", "/users/event/{user_id}", user_id=USER)["events"]
    assert found["event_data"]["event_tags"] == [{"tag": "mood", "value": "happy"}]
    assert found["event_data"]["profile_delta"] == []
    calls.ok("PUT", "/users/event/{user_id}/{event_id}", user_id=USER, event_id=event, body={"event_tip": "test"})
    (found,) = calls.ok("GET", "/users/event/{user_id}", user_id=USER)["events"]
    assert found["event_data"]["event_tip"] == "test"
    assert found["event_data"]["event_tags"] == [{"tag": "mood", "value": "happy"}]
    calls.ok("DELETE", "/users/event/{user_id}/{event_id}", user_id=USER, event_id=event)
    assert calls.ok("GET", "/users/event/{user_id}", user_id=USER) == {"events": []}


def test_a_changed_summary_changes_the_lines_of_the_context(calls, user, services):
    (event,) = import_events(calls, "went to Kyoto")
    scope = Scope("acme", USER)
    assert [gist.content for gist in services.reader.gists(scope)] == ["went to Kyoto"]
    calls.ok("PUT", "/users/event/{user_id}/{event_id}", user_id=USER, event_id=event, body={"event_tip": "- a\n- b"})
    assert sorted(gist.content for gist in services.reader.gists(scope)) == ["a", "b"]
    assert [gist.text[-4:] for gist in services.hot_profiles.get(scope).profile.gists] in (
        ["] a\n", "] b\n"],
        ["] b\n", "] a\n"],
    )


def test_events_over_a_token_budget_are_skipped_and_smaller_ones_follow(calls, user, clock):
    import_events(calls, "short")
    clock.go_on(1)
    import_events(calls, "long " * 200)
    found = calls.ok("GET", "/users/event/{user_id}", user_id=USER, query="max_token_size=50")["events"]
    assert [one["event_data"]["event_tip"] for one in found] == ["short"]


def test_events_without_a_summary_are_left_out_on_demand(calls, user):
    delta = [{"content": "engineer", "attributes": {"topic": "work", "sub_topic": "title"}}]
    body = {"events": [{"id": str(uuid.uuid4()), "event_data": {"profile_delta": delta}}]}
    calls.ok("POST", "/users/import/{user_id}", user_id=USER, body=body)
    assert len(calls.ok("GET", "/users/event/{user_id}", user_id=USER)["events"]) == 1
    assert calls.ok("GET", "/users/event/{user_id}", user_id=USER, query="need_summary=true")["events"] == []


def test_events_are_found_by_tags_and_their_values(calls, user):
    import_events(calls, "a", tags=[{"tag": "mood", "value": "happy"}, {"tag": "topic", "value": "work, travel"}])
    import_events(calls, "b", tags=[{"tag": "Mood", "value": "sad"}])

    def tips(query):
        found = calls.ok("GET", "/users/event_tags/search/{user_id}", user_id=USER, query=query)["events"]
        return {one["event_data"]["event_tip"] for one in found}

    assert tips("tags=mood") == {"a", "b"}
    assert tips("tags=mood,topic") == {"a"}
    assert tips("tag_values=mood=sad") == {"b"}
    assert tips([("tag_values", "topic=work, travel,mood=happy")]) == {"a"}
    assert tips("tags=other") == set()
    assert calls.refused("GET", "/users/event_tags/search/{user_id}", user_id=USER, query="tag_values=x")[0] == 400


def test_a_search_without_an_encoder_says_that_it_cannot(calls, user):
    assert calls.refused("GET", "/users/event/search/{user_id}", user_id=USER, query="query=tea")[0] == 503


@pytest.mark.parametrize(
    "query",
    [
        "query=a&similarity_threshold=2",
        "query=a&similarity_threshold=nan",
        "query=a&topk=-1",
        "query=a&time_range_in_days=-1",
        "topk=1",
        "query=a&foo=b",
    ],
)
def test_impossible_searches_are_refused(calls, user, query):
    assert calls.refused("GET", "/users/event_gist/search/{user_id}", user_id=USER, query=query)[0] == 400


def test_an_import_run_twice_writes_the_same_rows_and_names_what_did_not_fit(calls, user):
    row = {"id": str(uuid.uuid4()), **ROW, "created_at": "2025-01-01T00:00:00Z", "updated_at": "2025-02-01T00:00:00Z"}
    bad = {"id": str(uuid.uuid4()), "content": "  ", "attributes": ROW["attributes"]}
    event = {"id": str(uuid.uuid4()), "event_data": {"event_tip": "- a\n- b"}, "created_at": "2025-03-01T00:00:00Z"}
    old = {"id": str(uuid.uuid4()), "event_data": {"event_tip": "c"}, "created_at": "0001-01-01T00:00:00Z"}
    body = {"data": {"from": "there"}, "profiles": [row, bad], "events": [event, old]}
    for _ in range(2):
        refused = calls.ok("POST", "/users/import/{user_id}", user_id=USER, body=body)["refused"]
        assert [(one["kind"], one["id"]) for one in refused] == [
            ("profile", bad["id"]),
            ("event", old["id"]),
        ]
    (found,) = calls.ok("GET", "/users/profile/{user_id}", user_id=USER)["profiles"]
    assert (found["id"], found["updated_at"][:10]) == (row["id"], "2025-02-01")
    (found,) = calls.ok("GET", "/users/event/{user_id}", user_id=USER)["events"]
    assert (found["id"], found["created_at"][:10]) == (event["id"], "2025-03-01")
    assert calls.ok("GET", "/users/{user_id}", user_id=USER)["data"] == {"from": "there"}


def test_billing_and_usage_add_up_what_the_meter_counted(calls, user, services, clock):
    amounts = {"model_tokens_in": 70, "model_tokens_out": 30, "blob_inserts": 2, "blob_inserts_accepted": 1}
    services.meter.add(Scope("acme", USER), clock.now, amounts)
    assert calls.ok("GET", "/project/billing")["project_token_cost_month"] == 100
    today, yesterday = calls.ok("GET", "/project/usage", query="last_days=2")
    assert today == {
        "date": "2026-07-01",
        "total_insert": 2,
        "total_success_insert": 1,
        "total_input_token": 70,
        "total_output_token": 30,
    }
    assert yesterday["date"] == "2026-06-30"
    assert yesterday["total_insert"] == 0
