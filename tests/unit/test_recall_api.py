"""Recall and the catalogue over HTTP: what the caller sends, what comes back, and what is refused by name."""

import json

import pytest

from tests.embedded import Embedded

ASK, GUIDE = "帮我出一个杭州旅游攻略。", "杭州旅游攻略：西湖、灵隐寺、龙井村。" * 10
QUERY = "上次我们聊天杭州游玩攻略再给我一下"
RECALL, RESOLVE = "POST /v1/memory/recall", "POST /v1/memory/resolve"


@pytest.fixture
def stack(tmp_path):
    return Embedded(tmp_path)


@pytest.fixture
def travelled(stack):
    stack.say(ASK, session="trip", ids=["m-1"])
    return stack


def recall(stack, **body):
    return stack.call("recall", RECALL, body={"query": QUERY, "user_id": "u1", "session_id": "now", **body})


class TestRecall:
    def test_answers_with_evidence_and_how_it_was_understood(self, travelled):
        answer = recall(travelled)
        assert answer.status == 200
        body = answer.json
        assert body["support_status"] == "SUPPORTED"
        assert body["execution_status"] == "COMPLETE"
        [evidence] = body["evidence"]
        assert (evidence["text"], evidence["message_id"], evidence["role"]) == (ASK, "m-1", "user")
        assert evidence["time"].endswith("Z")
        assert {"version", "hash", "score", "conversation_id"} <= evidence.keys()
        [reference] = body["conversation_refs"]
        assert reference["session_id"] == "trip"
        assert reference["entities"] == [{"id": "E001", "name": "杭州", "type": "city"}]
        assert [one["id"] for one in reference["topics"]] == ["TRAVEL_GUIDE"]
        assert reference["matched"] == ["entity", "topic", "time"]
        assert reference["evidence_ids"] == [evidence["evidence_id"]]
        assert body["query_id"] != body["bundle_id"]
        assert {"state", "resolve", "verify", "total"} <= body["timings"].keys()

    def test_shows_each_mention_with_its_words_and_candidates(self, travelled):
        resolution = recall(travelled).json["resolution"]
        [place] = resolution["entities"]
        assert (place["text"], place["status"], place["id"], place["found_by"]) == ("杭州", "LINKED", "E001", "alias")
        assert QUERY[slice(*place["span"])] == "杭州"
        assert place["candidates"][0]["score"] >= 0.9
        assert resolution["temporal"]["intent"] == "PREVIOUS_RELATED"
        assert resolution["temporal"]["cue"] == "上次"
        assert resolution["source_type"] == "CONVERSATION"
        assert resolution["normalised_query"] == QUERY

    def test_a_range_is_answered_in_absolute_times_of_the_callers_zone(self, stack):
        body = {"query": "上周聊的杭州", "now": "2026-07-01T09:00:00+08:00", "timezone": "Asia/Shanghai"}
        temporal = recall(stack, **body).json["resolution"]["temporal"]
        assert temporal["start"] == "2026-06-22T00:00:00+08:00"
        assert temporal["end"] == "2026-06-29T00:00:00+08:00"

    def test_resolve_answers_the_same_resolution_alone(self, travelled):
        body = {"query": QUERY, "user_id": "u1", "session_id": "now"}
        assert travelled.call("recall", RESOLVE, body=body).json == recall(travelled).json["resolution"]

    def test_of_an_unknown_user_is_empty_and_well_formed(self, stack):
        body = recall(stack, user_id="nobody").json
        assert body["support_status"] == "EMPTY"
        assert (body["evidence"], body["items"], body["conversation_refs"]) == ([], [], [])

    def test_of_another_business_is_forbidden_whether_or_not_it_exists(self, travelled):
        travelled.say("secret", business="other", user="u1")
        refusals = [recall(travelled, business_id=name) for name in ("other", "no-such")]
        assert [one.status for one in refusals] == [403, 403]
        assert refusals[0].json == refusals[1].json
        assert recall(travelled, business_id="acme").status == 200
        assert (
            travelled.call("recall", RECALL, body={"query": QUERY, "user_id": "u1"}, business="b").json[
                "support_status"
            ]
            == "EMPTY"
        )

    def test_explains_when_asked(self, travelled):
        assert "explain" not in recall(travelled).json
        explained = recall(travelled, explain=True, query="杭州旅游攻略").json
        assert explained["explain"]["trace"]
        assert explained["explain"]["dropped"] == {}
        assert explained["evidence"][0]["parts"]

    def test_needs_a_key_that_may_read(self, travelled):
        body = {"query": QUERY, "user_id": "u1"}
        assert travelled.call("recall", RECALL, body=body, scopes="write admin").status == 403
        assert travelled.call("recall", RECALL, body=body, scopes="read").status == 200

    @pytest.mark.parametrize(("field", "value"), [
        ("query", ""), ("query", "   "), ("query", None), ("query", 7), ("query", "x" * 20_001),
        ("user_id", ""), ("user_id", "*"), ("user_id", None), ("user_id", "u\u0000"), ("user_id", " u1"),
        ("session_id", ""), ("session_id", "x" * 129), ("session_id", 5),
        ("limit", 0), ("limit", 101), ("limit", "20"), ("limit", 2.5), ("limit", True), ("limit", None),
        ("now", "yesterday"), ("now", "2026-07-01T09:00:00"), ("now", 1_780_000_000), ("now", "0001-01-01T00:00:00Z"),
        ("timezone", "Mars/Olympus"), ("timezone", "../../etc/passwd"), ("timezone", ""), ("timezone", "a\u0000"),
        ("kinds", ["message", "dream"]), ("kinds", "message"), ("explain", "yes"), ("surprise", 1),
        ("recent_messages", [{"role": "user"}]), ("recent_messages", [{"role": "boss", "content": "x"}]),
        ("recent_messages", [{"role": "user", "content": "x", "extra": 1}]), ("recent_messages", ["x"]),
        ("recent_messages", [{"role": "user", "content": "x"}] * 51), ("business_id", 7),
    ])  # fmt: skip
    def test_refuses_what_it_cannot_act_on_and_names_it(self, stack, field, value):
        answer = recall(stack, **{field: value})
        assert answer.status == 400
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert field in answer.json["field"]
        assert not any(word in answer.text for word in ("Traceback", "RecentMessageBody", "RecallBody"))

    @pytest.mark.parametrize(
        "query", ["\ud800", "a\udfff b", "\x00", "😀" * 50, "x" * 10_000, "?", "{}", "{x.__class__}"]
    )
    def test_any_text_is_a_question(self, travelled, query):
        answer = recall(travelled, query=query, recent_messages=[{"role": "user", "content": query}])
        assert answer.status == 200
        json.loads(answer.text.encode("utf-8"))

    @pytest.mark.parametrize("body", ["", "{", "[]", "null", '"x"', "[" * 5_000, '{"query": NaN}'])
    def test_a_body_that_is_no_object_is_refused(self, stack, body):
        answer = stack.call("recall", RECALL, body=body)
        assert answer.status == 400
        assert "RecallBody" not in answer.text

    def test_takes_kinds_apart(self, stack):
        stack.say("我对花生过敏，住在东京，是后端工程师。", session="me")
        only = {kind: recall(stack, query="我对什么过敏", kinds=[kind]).json for kind in ("message", "memory", "event")}
        assert only["message"]["items"] == []
        assert only["memory"]["evidence"] == []
        assert all(one["kind"] == "memory" for one in only["memory"]["items"])
        assert all(one["kind"] == "gist" for one in only["event"]["items"])

    def test_an_item_quotes_the_words_it_stands_on(self, stack):
        said = "我对花生过敏，住在东京，是后端工程师。"
        stack.say(said, session="me")
        items = recall(stack, query="花生过敏").json["items"]
        assert any(one["kind"] == "memory" for one in items)
        for item in items:
            assert item["evidence"]
            for source in item["evidence"]:
                assert said[slice(*source["span"])] == source["text"]


CATALOG = "/v1/catalog"


class TestCatalogue:
    def put(self, stack, identifier="p1", kind="entities", **body):
        route = f"PUT {CATALOG}/{kind}/<identifier>"
        return stack.call("management", route, body=body, identifier=identifier)

    def test_what_is_put_can_be_got_listed_and_deleted(self, stack):
        answer = self.put(stack, name="Morgan Studio", type="company", aliases=["MS"])
        assert answer.status == 200
        assert answer.json["origin"] == "business"
        got = stack.call("management", f"GET {CATALOG}/entities/<identifier>", identifier="p1").json
        assert got["aliases"] == [{"text": "MS", "language": "", "source": "api", "editor": "k"}]
        listed = stack.call("management", f"GET {CATALOG}/entities", query={"origin": "business"}).json
        assert [one["id"] for one in listed["entities"]] == ["p1"]
        assert stack.call("management", f"DELETE {CATALOG}/entities/<identifier>", identifier="p1").status == 200
        assert stack.call("management", f"GET {CATALOG}/entities/<identifier>", identifier="p1").status == 404

    def test_a_list_goes_on_after_the_last_id(self, stack):
        query, seen = {"limit": 20}, []
        while True:
            page = stack.call("management", f"GET {CATALOG}/topics", query=query).json
            seen += [one["id"] for one in page["topics"]]
            if page["after"] is None:
                break
            query = {"limit": 20, "after": page["after"]}
        assert len(seen) == len(set(seen)) == page["total"] == 46

    def test_a_changed_name_changes_how_the_next_query_is_read(self, stack):
        self.put(stack, name="摩根工作室", type="company", aliases=["MS"])
        body = {"query": "上次聊的MS", "user_id": "u1"}
        assert stack.call("recall", RESOLVE, body=body).json["entities"][0]["id"] == "p1"
        route = f"DELETE {CATALOG}/entities/<identifier>/aliases/<alias>"
        assert stack.call("management", route, identifier="p1", alias="MS").status == 200
        assert [one["id"] for one in stack.call("recall", RESOLVE, body=body).json["entities"]] in ([], [None])

    def test_removing_an_alias_reads_again_what_it_had_linked(self, stack):
        self.put(stack, name="摩根工作室", type="company", aliases=["MS"])
        stack.say("明天和MS开会", session="meeting")
        about = {"query": "上次聊的摩根工作室", "user_id": "u1", "session_id": "now"}
        assert stack.call("recall", RECALL, body=about).json["evidence"]
        route = f"DELETE {CATALOG}/entities/<identifier>/aliases/<alias>"
        operation = stack.call("management", route, identifier="p1", alias="MS").json["operation_id"]
        stack.drain()
        assert stack.services.operations.find("acme", operation).result == {"users": 1, "conversations": 1}
        assert stack.call("recall", RECALL, body=about).json["evidence"] == []

    def test_a_new_alias_links_what_was_said_before_it_was_known(self, stack):
        stack.say("明天去摩根大厦开会", session="meeting")
        about = {"query": "上次聊的MTower", "user_id": "u1", "session_id": "now"}
        assert stack.call("recall", RECALL, body=about).json["evidence"] == []
        self.put(stack, name="摩根大厦", type="building", aliases=["MTower"])
        stack.drain()
        assert stack.call("recall", RECALL, body=about).json["evidence"][0]["text"] == "明天去摩根大厦开会"

    def test_unknown_names_are_counted_until_somebody_promotes_them(self, stack):
        for user in ("u1", "u2"):
            stack.say("Met Zorblax Quorn in Hangzhou yesterday.", user=user)
        counted = stack.call("management", f"GET {CATALOG}/unresolved").json
        [quorn] = [one for one in counted["unresolved"] if "zorblax" in one["name"].lower()]
        assert (quorn["count"], quorn["users"], counted["truncated"]) == (2, 2, False)
        self.put(stack, name="Zorblax Quorn", type="person")
        stack.drain()
        left = stack.call("management", f"GET {CATALOG}/unresolved").json["unresolved"]
        assert not any("zorblax" in one["name"].lower() for one in left)

    def test_an_import_can_be_tried_first_and_refuses_what_contradicts_itself(self, stack):
        rows = [{"id": "p1", "canonical": "Morgan Studio", "type": "company", "aliases": {"en": ["MS"]}}]
        tried = stack.call("management", f"POST {CATALOG}/import", body={"entities": rows}, query={"dry_run": "true"})
        assert (tried.json["applied"], tried.json["entities"]["added"]) == (False, 1)
        assert stack.call("management", f"POST {CATALOG}/import", body={"entities": rows}).json["applied"]
        refused = stack.call("management", f"POST {CATALOG}/import", body={"entities": rows * 2})
        assert refused.status == 409
        assert refused.json["conflicts"][0]["kind"] == "duplicate_id"
        meant = stack.call("management", f"GET {CATALOG}/aliases", query={"name": "ms"}).json
        assert [one["id"] for one in meant["targets"]] == ["p1"]
        assert stack.call("management", f"DELETE {CATALOG}").status == 200
        assert stack.call("management", f"GET {CATALOG}/entities/<identifier>", identifier="p1").status == 404

    def test_editing_needs_a_key_that_may_administer(self, stack):
        route = f"PUT {CATALOG}/entities/<identifier>"
        body = {"name": "x", "type": "y"}
        assert stack.call("management", route, body=body, identifier="p1", scopes="read write").status == 403
        assert stack.call("management", f"GET {CATALOG}/topics", scopes="read").status == 200

    @pytest.mark.parametrize(("query", "field"), [
        ({"limit": 0}, "limit"), ({"limit": "many"}, "limit"), ({"surprise": 1}, "surprise"),
        ({"origin": "moon"}, "origin"),
    ])  # fmt: skip
    def test_a_list_refuses_parameters_it_does_not_have(self, stack, query, field):
        answer = stack.call("management", f"GET {CATALOG}/topics", query=query)
        assert (answer.status, answer.json["field"]) == (400, field)

    def test_a_body_about_another_id_than_the_path_is_refused(self, stack):
        assert self.put(stack, id="p2", name="x", type="y").status == 400
        assert self.put(stack, identifier="a#b/c", name="x", type="y").status == 200
        assert stack.call("management", f"GET {CATALOG}/entities/<identifier>", identifier="a#b/c").status == 200
