"""What people see and do over HTTP: memory items with their history, messages they can be traced to, operations."""

import pytest

from engram import bootstrap
from tests.embedded import Embedded, function_module

USER = "/v1/users/<user_id>"
MEMORIES, MEMORY = f"{USER}/memories", f"{USER}/memories/<memory_id>"


@pytest.fixture
def stack(tmp_path):
    return Embedded(tmp_path)


@pytest.fixture
def told(stack):
    stack.say("I'm allergic to peanuts.", "I live in Tokyo.", "I like durian and tea.", ids=["m1", "m2", "m3"])
    return stack


def get(stack, route, status=200, **arguments):
    answer = stack.call("management", f"GET {route}", user_id="u1", **arguments)
    assert answer.status == status
    return answer.json


def memories(stack, **query):
    return get(stack, MEMORIES, query=query)["memories"]


def edit(stack, memory_id, status=200, **body):
    answer = stack.call("management", f"PATCH {MEMORY}", user_id="u1", memory_id=memory_id, body=body)
    assert answer.status == status
    return answer.json


def the(stack, word):
    [found] = [one for one in memories(stack) if word in one["content"]]
    return found


class TestMemories:
    def test_every_memory_quotes_a_message_that_can_be_read(self, told):
        for memory in memories(told):
            for evidence in memory["evidence"]:
                message = get(told, f"{USER}/messages/<message_id>", message_id=evidence["message_id"])
                assert message["content"][evidence["start"] : evidence["end"]].strip()
                assert message["content_hash"] == evidence["content_hash"]

    def test_are_filtered_by_kind_and_topic(self, told):
        assert {one["kind"] for one in memories(told, kind="preference")} == {"preference"}
        [city] = memories(told, topic="Basic_Info")
        assert city["content"] == "Tokyo"

    @pytest.mark.parametrize(
        "query", [{"kind": "secret"}, {"limit": 0}, {"limit": 201}, {"tpic": "x"}, {"cursor": "AAAA"}]
    )
    def test_a_filter_that_is_not_known_is_refused_by_name(self, told, query):
        refused = get(told, MEMORIES, 400, query=query)
        assert refused["field"] == next(iter(query))

    def test_come_in_pages_that_miss_none_and_repeat_none(self, told):
        seen, cursor = [], None
        while True:
            page = get(told, MEMORIES, query={"limit": 1, **({"cursor": cursor} if cursor else {})})
            seen += [one["memory_id"] for one in page["memories"]]
            cursor = page["next_cursor"]
            if cursor is None:
                break
        assert seen == [one["memory_id"] for one in memories(told)]
        assert len(seen) == 4

    def test_a_cursor_is_good_for_its_own_list_only(self, told):
        told.say("I like tea and durian.", user="u2")
        cursor = get(told, MEMORIES, query={"limit": 1})["next_cursor"]
        for query, user in (({"cursor": cursor, "kind": "preference"}, "u1"), ({"cursor": cursor}, "u2")):
            answer = told.call("management", f"GET {MEMORIES}", user_id=user, query=query)
            assert (answer.status, answer.json["field"]) == (400, "cursor")

    def test_a_person_s_correction_is_a_new_version_and_the_profile_says_it(self, told):
        city = the(told, "Tokyo")
        edited = edit(told, city["memory_id"], content="Kyoto")
        assert (edited["content"], edited["edited"], edited["version"]) == ("Kyoto", True, 2)
        assert [one["content"] for one in edited["history"]] == ["Tokyo"]
        assert edited["history"][0]["valid_until"] is not None
        assert edited["evidence"] == city["evidence"]
        slots = get(told, f"{USER}/slots")["slots"]
        assert [one["content"] for one in slots if one["topic"] == "basic_info"] == ["Kyoto"]
        assert "Kyoto" in told.call("context", "GET /api/v1/users/context/<user_id>", user_id="u1").text

    def test_a_correction_outlives_what_is_only_said_again(self, told):
        edit(told, the(told, "durian")["memory_id"], content="likes durian cake")
        told.say("By the way, I like tea.", session="s2")
        assert the(told, "durian cake")["edited"]

    def test_a_correction_ends_when_the_user_contradicts_it(self, told):
        edit(told, the(told, "Tokyo")["memory_id"], content="Kyoto")
        told.clock.go_on(86_400)
        told.say("I moved to Osaka.", session="s2")
        assert [one["content"] for one in memories(told, topic="basic_info")] == ["Osaka"]

    def test_the_same_correction_twice_is_one_version(self, told):
        memory_id = the(told, "Tokyo")["memory_id"]
        edit(told, memory_id, content="Kyoto")
        assert edit(told, memory_id, content="Kyoto")["version"] == 2

    def test_an_ended_memory_is_history(self, told):
        memory_id = the(told, "Tokyo")["memory_id"]
        edit(told, memory_id, ended_at="2026-07-01T09:00:00+00:00")
        assert "Tokyo" not in {one["content"] for one in memories(told)}
        assert "Tokyo" in {one["content"] for one in memories(told, include_closed="true")}

    @pytest.mark.parametrize(
        ("body", "field"),
        [
            ({}, "body"),
            ({"content": ""}, "content"),
            ({"content": "x" * 2_001}, "content"),
            ({"content": "\ud800"}, "content"),
            ({"kind": "secret"}, "kind"),
            ({"ended_at": "2026-07-01T09:00:00"}, "ended_at"),
            ({"version": 7}, "version"),
            ({"topic": "x" * 129}, "topic"),
        ],
    )
    def test_what_cannot_be_kept_is_refused_by_name(self, told, body, field):
        status = 422 if body.get("content") == "\ud800" else 400
        assert edit(told, the(told, "Tokyo")["memory_id"], status, **body)["field"] == field

    def test_somebody_else_s_memory_is_not_found(self, told):
        memory_id = the(told, "Tokyo")["memory_id"]
        for user, business in (("u2", "acme"), ("u1", "beta")):
            for method, body in (("GET", None), ("PATCH", {"content": "x"}), ("DELETE", None)):
                answer = told.call(
                    "management", f"{method} {MEMORY}", user_id=user, memory_id=memory_id, business=business, body=body
                )
                assert answer.status == 404
        assert the(told, "Tokyo")


class TestWhatWasSaid:
    def test_messages_come_in_pages_in_the_order_of_their_conversation(self, told):
        first = get(told, f"{USER}/messages", query={"limit": 2})
        rest = get(told, f"{USER}/messages", query={"limit": 2, "cursor": first["next_cursor"]})
        assert [one["message_id"] for one in first["messages"] + rest["messages"]] == ["m1", "m2", "m3"]
        assert rest["next_cursor"] is None

    def test_a_user_nobody_has_heard_of_is_not_found(self, told):
        assert told.call("management", f"GET {USER}", user_id="u2").status == 404
        assert get(told, USER)["counts"]["conversations"] == 1

    def test_slots_and_events_show_their_evidence(self, told):
        assert all(one["evidence"] for one in get(told, f"{USER}/slots")["slots"])
        [event] = get(told, f"{USER}/events")["events"]
        assert all(one["evidence"] for one in event["gists"])


class TestScopesOfKeys:
    @pytest.mark.parametrize(
        ("function", "route", "scope"),
        [
            ("management", f"GET {MEMORIES}", "read"),
            ("management", f"DELETE {USER}", "write"),
            ("management", f"GET {USER}/export", "read"),
            ("ingestion", "POST /v1/memory/imports", "write"),
            ("ingestion", "POST /v1/maintenance/reindex", "admin"),
            ("ingestion", "POST /v1/maintenance/reprocess", "admin"),
        ],
    )
    def test_a_route_needs_its_scope_and_no_other_serves(self, told, function, route, scope):
        others = " ".join({"read", "write", "admin"} - {scope})
        parameters = {"user_id": "u1"} if "<user_id>" in route else {}
        refused = told.call(function, route, scopes=others, **parameters)
        assert (refused.status, refused.json["code"]) == (403, "SCOPE_MISSING")
        assert len(memories(told)) == 4


class TestOperations:
    def test_another_business_s_operation_does_not_exist(self, told):
        operation_id = told.say("hello").operation_id
        for business, status in (("acme", 200), ("beta", 404)):
            for route in (
                "GET /v1/memory/operations/<operation_id>",
                "POST /v1/memory/operations/<operation_id>:retry",
            ):
                answer = told.call("ingestion", route, operation_id=operation_id, business=business)
                assert answer.status == (202 if status == 200 and "retry" in route else status)

    def test_a_failed_operation_can_be_redriven(self, told):
        distiller = told.services._distil_stage._distiller
        from engram.domain.errors import ModelFailure

        class Broken:
            id = "broken"

            def distil(self, request):
                raise ModelFailure("the answer is not JSON")

        told.services._distil_stage._distiller = Broken()
        operation_id = told.say("I work at Contoso.", session="s2").operation_id
        route = "/v1/memory/operations/<operation_id>"
        failed = told.call("ingestion", f"GET {route}", operation_id=operation_id).json
        assert (failed["status"], failed["error"]["code"]) == ("FAILED", "MODEL_OUTPUT_INVALID")
        told.services._distil_stage._distiller = distiller
        assert told.call("ingestion", f"POST {route}:retry", operation_id=operation_id).status == 202
        told.drain()
        assert told.call("ingestion", f"GET {route}", operation_id=operation_id).json["status"] == "SUCCEEDED"
        assert len([one for one in memories(told) if "Contoso" in one["content"]]) == 1


class TestUsage:
    def test_counts_what_was_asked_for_per_user_and_day(self, told):
        memories(told)
        told.clock.go_on(86_400)
        memories(told)
        usage = get(told, f"{USER}/usage")
        assert [one["day"] for one in usage["days"]] == ["2026-07-01", "2026-07-02"]
        assert usage["total"]["messages"] == 3
        assert usage["days"][1]["requests"] == 1
        assert get(told, f"{USER}/usage", query={"start": "2026-07-02"})["total"]["requests"] == 2

    def test_the_business_keeps_its_count_when_a_user_is_deleted(self, told):
        before = told.call("management", "GET /v1/usage").json["total"]["messages"]
        told.call("management", f"DELETE {USER}", user_id="u1")
        told.drain()
        after = told.call("management", "GET /v1/usage").json["total"]["messages"]
        assert before == after == 3
        assert told.call("management", f"GET {USER}/usage", user_id="u1").json["total"] == {}

    def test_a_read_writes_nothing_of_its_own(self, told):
        told.services.meter.flush()
        written = []
        table = told.services.table
        transact = table.transact
        table.transact = lambda writes: written.append(writes) or transact(writes)
        for _ in range(20):
            told.call("context", "GET /api/v1/users/context/<user_id>", user_id="u1")
        assert written == []

    def test_a_day_that_is_none_is_refused(self, told):
        assert get(told, f"{USER}/usage", 400, query={"start": "2026-13-01"})["field"] == "start"


def test_a_business_over_its_quota_is_told_when_to_come_back(tmp_path):
    stack = Embedded(tmp_path, requests_per_minute=3)
    answers = [stack.call("management", "GET /v1/usage") for _ in range(4)]
    assert [one.status for one in answers] == [200, 200, 200, 429]
    assert answers[-1].json["code"] == "RATE_LIMITED"
    assert 1 <= int(answers[-1].headers["Retry-After"]) <= 20
    assert stack.call("management", "GET /v1/usage", business="beta").status == 200


def test_the_maintenance_function_sweeps_unless_it_is_told_otherwise(tmp_path):
    stack = Embedded(tmp_path)
    bootstrap.use(stack.services)
    try:
        handler = function_module("maintenance").handler
        assert handler({}, None) == {"resent": 0, "flushed": 0, "repaired": 0}
        assert handler({"action": "promote_index"}, None) is None
        with pytest.raises(KeyError):
            handler({"action": "drop_everything"}, None)
    finally:
        bootstrap.use(None)
