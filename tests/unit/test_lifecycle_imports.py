"""Export and import: everything of a user as lines, and the same answers after they were put back elsewhere."""

import json
from datetime import UTC, datetime

import pytest

from engram.domain.errors import Unavailable
from engram.domain.models import OperationStatus
from engram.lifecycle.targets import TargetKind
from engram.store import keys
from tests.embedded import Embedded

EXPORT = "GET /v1/users/<user_id>/export"
OPERATION = "GET /v1/memory/operations/<operation_id>"


@pytest.fixture
def stack(tmp_path):
    return Embedded(tmp_path)


def load(stack, lines, *, business="acme", drain=True, **query):
    text = lines if isinstance(lines, str) else "\n".join(json.dumps(line) for line in lines)
    answer = stack.call("ingestion", "POST /v1/memory/imports", body=text, business=business, query=query)
    assert answer.status == 202, answer.text
    if drain:
        stack.drain()
    return stack.call("ingestion", OPERATION, operation_id=answer.json["operation_id"], business=business).json


def exported(stack, *, user="u1", business="acme", **query):
    return stack.call("management", EXPORT, user_id=user, business=business, query=query)


def line(number, *, user="u1", **fields):
    message = {"role": "user", "content": f"I own grinder no. {number}", "created_at": "2024-03-01T10:00:00+09:00"}
    return {"request_id": f"r{number}", "user_id": user, "session_id": f"s{number}", "messages": [message], **fields}


def told(stack):
    stack.say("I'm allergic to peanuts.", "I live in Tokyo.", session="a", ids=["m1", "m2"])
    stack.say("I like durian.", session="b")
    stack.clock.go_on(86_400)
    stack.say("I don't like durian any more.", "I moved to Osaka.", session="c")
    stack.say("帮我出一个杭州旅游攻略。", session="d", flush=False)


def answers(stack, business):
    context = stack.call("context", "GET /api/v1/users/context/<user_id>", user_id="u1", business=business).json
    body = {"query": "上次我们聊天杭州游玩攻略再给我一下", "user_id": "u1", "session_id": "now"}
    found = stack.call("recall", "POST /v1/memory/recall", body=body, business=business).json
    evidence = [(one["text"], one["time"], one["message_id"], one["score"]) for one in found["evidence"]]
    return context["data"]["context"], found["support_status"], evidence


def comparable(text):
    return sorted(one for one in text.splitlines() if json.loads(one)["type"] != "user")


class TestRoundTrip:
    def test_an_import_elsewhere_gives_the_same_answers(self, stack):
        told(stack)
        done = load(stack, exported(stack).text, business="beta")
        assert (done["status"], done["result"]["failed"]) == ("SUCCEEDED", 0)
        assert answers(stack, "beta") == answers(stack, "acme")
        assert comparable(exported(stack, business="beta").text) == comparable(exported(stack).text)

    def test_on_another_machine_as_well(self, stack, tmp_path):
        told(stack)
        text = exported(stack).text
        other = Embedded(tmp_path / "other", clock=stack.clock)
        load(other, text)
        assert answers(other, "acme") == answers(stack, "acme")

    def test_what_waits_for_distillation_is_distilled_where_it_arrives(self, stack):
        stack.say("I live in Oslo.", flush=False)
        load(stack, exported(stack).text, business="beta")
        stack.services.ingestion.flush(stack.scope(business="beta"), request_id="f")
        stack.drain()
        assert "Oslo" in answers(stack, "beta")[0]

    def test_what_was_distilled_is_not_distilled_again(self, stack):
        told(stack)
        load(stack, exported(stack).text, business="beta")
        events = len(stack.services.reader.events(stack.scope()))
        assert len(stack.services.reader.events(stack.scope(business="beta"))) == events

    def test_twice_is_once(self, stack):
        told(stack)
        text = exported(stack).text
        load(stack, text, business="beta")
        before = comparable(exported(stack, business="beta").text)
        assert load(stack, text, business="beta")["result"]["failed"] == 0
        assert comparable(exported(stack, business="beta").text) == before

    def test_a_later_export_adds_only_what_is_new(self, stack):
        stack.say("one", session="a", conversation_id="a")
        load(stack, exported(stack).text, business="beta")
        stack.say("two", session="a", conversation_id="a")
        load(stack, exported(stack).text, business="beta")
        messages = stack.services.reader.all_messages(stack.scope(business="beta"))
        assert [one.content for one in messages] == ["one", "two"]

    def test_evidence_finds_its_message_where_it_stands_now(self, stack):
        stack.say("never mind", "I live in Tokyo.", ids=["m1", "m2"], conversation_id="a")
        stack.services.deletion.delete(stack.scope(), TargetKind.MESSAGE, "m1")
        stack.drain()
        load(stack, exported(stack).text, business="beta")
        scope = stack.scope(business="beta")
        [slot] = stack.services.reader.slots(scope)
        [evidence] = slot.evidence
        found = stack.services.reader.messages(scope, [evidence.ref])
        assert found[evidence.ref].content[evidence.start : evidence.end] in "I live in Tokyo."

    def test_pages_join_to_the_whole(self, stack):
        for number in range(30):
            stack.say(f"note {number} " + "x" * 500, session=f"s{number}", drain=False, flush=False)
        stack.drain()
        whole = exported(stack).text
        stack.services.exports._page_bytes = 4_000
        pages, cursor = [], None
        while True:
            page = exported(stack, **({"cursor": cursor} if cursor else {}))
            pages.append(page.text)
            cursor = page.headers.get("Engram-Next-Cursor")
            if cursor is None:
                break
        assert len(pages) > 3
        joined = "".join(pages)
        assert [one for one in joined.splitlines() if json.loads(one)["type"] != "next"] == whole.splitlines()
        assert load(stack, joined, business="beta")["result"]["failed"] == 0

    def test_a_user_nobody_knows_has_no_export(self, stack):
        assert exported(stack).status == 404

    def test_nothing_deleted_is_in_it(self, stack):
        told(stack)
        stack.services.deletion.delete(stack.scope(), TargetKind.MESSAGE, "m1")
        assert "peanut" not in exported(stack).text


class TestImport:
    def test_keeps_each_message_s_own_time(self, stack):
        load(stack, [line(1)])
        [message] = stack.services.reader.all_messages(stack.scope())
        assert message.created_at == datetime(2024, 3, 1, 1, 0, tzinfo=UTC)

    def test_a_bad_line_is_named_by_number_and_sinks_no_other(self, stack):
        bad = [
            "{",
            "[]",
            json.dumps(line(2) | {"user_id": "*"}),
            json.dumps(line(3) | {"colour": "red"}),
            json.dumps(line(4) | {"business_id": "other"}),
            json.dumps({"type": "secret"}),
            json.dumps({"type": "slot", "user_id": "u1", "content": 7}),
            json.dumps(line(5) | {"messages": []}),
        ]
        text = "\n".join([json.dumps(line(1)), *bad, "", json.dumps(line(6))])
        done = load(stack, text)
        assert done["status"] == "SUCCEEDED"
        assert (done["result"]["lines"], done["result"]["done"], done["result"]["failed"]) == (10, 2, 8)
        assert [one["line"] for one in done["result"]["failures"]] == [2, 3, 4, 5, 6, 7, 8, 9]
        assert "red" not in json.dumps(done)
        kept = sorted(one.content for one in stack.services.reader.all_messages(stack.scope()))
        assert kept == ["I own grinder no. 1", "I own grinder no. 6"]

    def test_ends_when_what_it_began_has_ended(self, stack):
        done = load(stack, [line(number, user=f"u{number % 5}") for number in range(250)])
        assert done["status"] == "SUCCEEDED"
        assert (done["result"]["done"], done["result"]["operations_ended"]) == (250, 250)
        assert all(not stack.services.reader.pending(stack.scope(f"u{number}")) for number in range(5))
        assert stack.services.blobs.names(stack.scope().of_business("acme")) == []

    def test_goes_on_where_a_delivery_ended(self, stack):
        stack.services.imports._delivery_ms = 0.0
        done = load(stack, [line(number) for number in range(250)])
        assert (done["status"], done["result"]["done"]) == ("SUCCEEDED", 250)

    def test_again_with_its_request_id_is_the_same_import(self, stack):
        first = load(stack, [line(1)], request_id="import-1")
        again = load(stack, [line(1)], request_id="import-1")
        assert again["operation_id"] == first["operation_id"]
        assert len(list(stack.services.reader.all_messages(stack.scope()))) == 1

    def test_does_not_bring_back_a_user_deleted_after_it_was_asked_for(self, stack):
        stack.say("hello")
        begun = load(stack, [line(1), line(2, user="u2")], drain=False)
        stack.clock.go_on(1)
        stack.services.deletion.delete(stack.scope(), TargetKind.USER, "u1")
        stack.drain()
        done = stack.call("ingestion", OPERATION, operation_id=begun["operation_id"]).json
        stack.clock.go_on(3_600)
        stack.services.sweep.run()
        stack.drain()
        done = stack.call("ingestion", OPERATION, operation_id=begun["operation_id"]).json
        assert done["status"] == "SUCCEEDED"
        assert [one["code"] for one in done["result"]["failures"]] == ["GONE"]
        assert stack.services.reader.user(stack.scope()) is None
        assert stack.services.reader.user(stack.scope("u2")) is not None

    def test_a_row_without_its_messages_is_refused(self, stack):
        told(stack)
        rows = [one for one in exported(stack).lines if one["type"] not in ("user", "ingestion")]
        done = load(stack, rows, business="beta")
        assert {one["code"] for one in done["result"]["failures"]} == {"EVIDENCE_MISSING"}
        assert done["result"]["failed"] == len(rows)

    def test_an_older_row_does_not_replace_a_newer_one(self, stack):
        stack.say("I live in Tokyo.")
        text = exported(stack).text
        stack.clock.go_on(86_400)
        stack.say("I moved to Osaka.", session="s2")
        load(stack, text)
        assert [one.content for one in stack.services.reader.slots(stack.scope())] == ["Osaka"]

    @pytest.mark.parametrize("body", ["", "\n\n"])
    def test_without_a_line_is_refused(self, stack, body):
        answer = stack.call("ingestion", "POST /v1/memory/imports", body=body)
        assert (answer.status, answer.json["field"]) == (400, "body")


class TestRebuild:
    def documents(self, stack):
        snapshot = stack.services.rows_index._rows.snapshot(stack.scope())
        return {row.document.doc_id: (row.document, row.terms) for row in snapshot.rows}

    def rebuilt(self, stack, **body):
        answer = stack.call("ingestion", "POST /v1/maintenance/reindex", body=body)
        assert answer.status == 202
        stack.drain()
        return stack.call("ingestion", OPERATION, operation_id=answer.json["operation_id"]).json

    def test_an_emptied_index_and_cache_are_as_they_were(self, stack):
        told(stack)
        before, told_before = self.documents(stack), answers(stack, "acme")
        stack.services.rows_index.delete_all(stack.scope())
        stack.services.__dict__["cache"]._entries.clear()
        done = self.rebuilt(stack)
        assert (done["status"], done["result"]) == ("SUCCEEDED", {"users": 1, "ended": 1, "failed": 0})
        assert self.documents(stack).keys() == before.keys()
        assert answers(stack, "acme") == told_before

    def test_of_one_user_counts_its_documents_and_takes_out_orphans(self, stack):
        told(stack)
        before = self.documents(stack)
        orphan, _ = next(iter(before.values()))
        from dataclasses import replace

        stack.services.rows_index.upsert(stack.scope(), [replace(orphan, doc_id="g:nobody")])
        done = self.rebuilt(stack, user_id="u1")
        assert done["result"] == {"documents": len(before), "pruned": 1}
        assert self.documents(stack).keys() == before.keys()

    def test_goes_on_where_a_delivery_ended(self, stack):
        for number in range(150):
            stack.say(f"note {number}", session="s", drain=False, flush=False)
        stack.drain()
        stack.services.rows_index.delete_all(stack.scope())
        stack.services.rebuild._delivery_ms = 0.0
        done = self.rebuilt(stack, user_id="u1")
        assert (done["status"], done["result"]["documents"]) == ("SUCCEEDED", 150)
        assert len(self.documents(stack)) == 150

    def test_of_a_business_with_many_users_reaches_each(self, stack):
        for number in range(120):
            stack.say("hello", user=f"user-{number}", drain=False, flush=False)
        stack.drain()
        for number in range(120):
            stack.services.rows_index.delete_all(stack.scope(f"user-{number}"))
        done = self.rebuilt(stack)
        assert done["result"] == {"users": 120, "ended": 120, "failed": 0}
        assert all(stack.services.rows_index.count(stack.scope(f"user-{number}")) == 1 for number in range(120))

    def test_of_nobody_is_not_found(self, stack):
        assert stack.call("ingestion", "POST /v1/maintenance/reindex", body={"user_id": "u2"}).status == 404

    def test_another_encoder_s_vectors_are_replaced(self, stack):
        told(stack)

        class Tiny:
            id = "tiny@2"
            dimension = 2

            def embed(self, texts, purpose):
                import struct

                return [struct.pack("<2f", 1.0, 0.0) if text.strip() else b"" for text in texts]

        stack.services.__dict__["embedder"] = Tiny()
        self.rebuilt(stack, user_id="u1")
        assert {document.encoder for document, _ in self.documents(stack).values()} == {"tiny@2"}


class TestTheEndOfABody:
    """An import that cannot succeed keeps its lines while it may be redriven, and no longer."""

    DAY = 86_400

    def left(self, stack, business="acme"):
        return stack.services.blobs.names(stack.scope().of_business(business))

    def failed(self, stack, *lines):
        """An import whose every delivery fails, up to the last."""
        begun = load(stack, lines or [line(1)], drain=False)
        worker = stack.services.extractor
        parse, stack.services.imports._parse = stack.services.imports._parse, self.down
        scope = stack.scope().of_business("acme")
        with pytest.raises(Unavailable):
            worker.work(scope, begun["operation_id"], last_attempt=True)
        stack.services.imports._parse = parse
        assert stack.services.operations.find("acme", begun["operation_id"]).status is OperationStatus.FAILED
        return begun["operation_id"]

    def down(self, business_id, text):
        raise Unavailable("for good")

    def sweep(self, stack, *, days):
        stack.clock.go_on(days * self.DAY)
        return stack.services.sweep.run()

    def rows(self, stack):
        """Notes of bodies that are kept."""
        return list(stack.services.table.query_index(keys.IMPORT_BODIES).items)

    def test_that_failed_comes_when_it_can_no_longer_be_redriven(self, stack):
        self.failed(stack)
        self.sweep(stack, days=14)
        assert len(self.left(stack)) == 1
        self.sweep(stack, days=2)
        assert (self.left(stack), self.rows(stack)) == ([], [])

    def test_that_failed_late_is_counted_from_then(self, stack):
        begun = load(stack, [line(1)], drain=False)["operation_id"]
        stack.clock.go_on(10 * self.DAY)
        scope = stack.scope().of_business("acme")
        stack.services.imports._parse = self.down
        with pytest.raises(Unavailable):
            stack.services.extractor.work(scope, begun, last_attempt=True)
        self.sweep(stack, days=6)
        assert len(self.left(stack)) == 1
        self.sweep(stack, days=10)
        assert self.left(stack) == []

    def test_that_was_redriven_in_time_is_that_of_a_success(self, stack):
        begun = self.failed(stack)
        stack.clock.go_on(13 * self.DAY)
        stack.services.extractor.work(stack.scope().of_business("acme"), begun, last_attempt=False)
        stack.drain()
        assert stack.services.operations.find("acme", begun).status is OperationStatus.SUCCEEDED
        assert (self.left(stack), self.rows(stack)) == ([], [])

    def test_that_goes_on_is_not_yet(self, stack):
        begun = load(stack, [line(1)], drain=False)["operation_id"]
        self.sweep(stack, days=40)
        assert len(self.left(stack)) == 1
        stack.drain()
        assert stack.services.operations.find("acme", begun).status is OperationStatus.SUCCEEDED
        assert self.left(stack) == []

    def test_that_was_kept_and_never_begun_comes_too(self, stack, monkeypatch):
        def gone(*_arguments):
            raise Unavailable("between the two")

        with monkeypatch.context() as patch:
            patch.setattr(stack.services.operations, "create", gone)
            assert stack.call("ingestion", "POST /v1/memory/imports", body=json.dumps(line(1))).status == 503
        assert len(self.left(stack)) == 1
        self.sweep(stack, days=16)
        assert (self.left(stack), self.rows(stack)) == ([], [])

    def test_takes_nothing_of_another_business(self, stack):
        self.failed(stack)
        load(stack, [line(2)], business="beta", drain=False)
        self.sweep(stack, days=16)
        assert (self.left(stack), len(self.left(stack, "beta"))) == ([], 1)


def test_an_operation_that_failed_can_be_told_from_one_that_runs(stack):
    begun = load(stack, [line(1)], drain=False)
    stack.services.blobs.delete(stack.scope().of_business("acme"), [f"import/{begun['operation_id']}"])
    stack.drain()
    operation = stack.services.operations.find("acme", begun["operation_id"])
    assert (operation.status, operation.error) == (OperationStatus.FAILED, "IMPORT_LOST")
