"""A change of the taxonomy or of the model: what was made of the messages is made anew, what people wrote stays."""

import pytest

from engram.domain.models import OperationKind, OperationStatus
from tests.embedded import Embedded
from tests.unit.test_lifecycle_kills import Killed, Killing

OPERATION = "GET /v1/memory/operations/<operation_id>"
STRICT = """
language: en
profile_strict_mode: true
overwrite_user_profiles:
  - topic: basic_info
    sub_topics: [city]
"""


@pytest.fixture
def stack(tmp_path):
    stack = Embedded(tmp_path)
    stack.say("I'm allergic to peanuts.", "I live in Tokyo.", session="a", ids=["m1", "m2"])
    stack.clock.go_on(86_400)
    stack.say("I like durian and tea.", "I moved to Osaka.", session="b", ids=["m3", "m4"])
    return stack


def reprocess(stack, status=202, **body):
    answer = stack.call("ingestion", "POST /v1/maintenance/reprocess", body=body)
    assert answer.status == status
    if status == 202:
        stack.drain()
        return stack.call("ingestion", OPERATION, operation_id=answer.json["operation_id"]).json
    return answer.json


def known(stack):
    reader, scope = stack.services.reader, stack.scope()
    slots = sorted((one.topic, one.sub_topic, one.content) for one in reader.slots(scope))
    items = sorted((one.content, one.valid_until) for one in reader.memory_items(scope, include_closed=True))
    gists = sorted(one.content for one in reader.gists(scope))
    return slots, [content for content, _ in items], gists


def test_with_nothing_changed_gives_what_there_was(stack):
    before = known(stack)
    done = reprocess(stack, what="taxonomy", user_id="u1")
    assert done["status"] == "SUCCEEDED"
    assert known(stack) == before
    assert stack.services.rows_index.count(stack.scope()) == 4 + len(before[2]) + 4


def test_a_narrower_taxonomy_leaves_only_what_it_has(stack):
    stack.call("management", "POST /api/v1/project/profile_config", body={"profile_config": STRICT})
    done = reprocess(stack, what="taxonomy")
    assert (done["status"], done["result"]) == ("SUCCEEDED", {"users": 1, "ended": 1, "failed": 0})
    [slot] = stack.services.reader.slots(stack.scope())
    assert (slot.topic, slot.sub_topic, slot.content) == ("basic_info", "city", "Osaka")


def test_what_a_person_corrected_stays(stack):
    [item] = [one for one in stack.services.reader.memory_items(stack.scope()) if "durian" in one.content]
    stack.call(
        "management",
        "PATCH /v1/users/<user_id>/memories/<memory_id>",
        user_id="u1",
        memory_id=item.id,
        body={"content": "likes durian cake"},
    )
    reprocess(stack, what="taxonomy")
    assert "likes durian cake" in {one.content for one in stack.services.reader.memory_items(stack.scope())}


def test_a_catalogue_is_read_again_for_everybody_or_nobody(stack):
    assert reprocess(stack)["status"] == "SUCCEEDED"
    assert reprocess(stack, 400, user_id="u1")["field"] == "user_id"
    assert reprocess(stack, 400, what="weather")["field"] == "what"


@pytest.mark.parametrize("at", range(1, 8))
def test_killed_at_a_write_it_ends_as_if_it_had_not_been(stack, at):
    before = known(stack)
    operation = stack.services.everybody.begin(
        stack.scope(),
        OperationKind.REPROCESS,
        request_id="r",
        arguments={"what": "taxonomy"},
    )
    dying = Embedded(stack.services._folder, clock=stack.clock)
    dying.services.__dict__["table"] = Killing(dying.services.table, at=at, after=True)
    with pytest.raises(Killed):
        dying.services.extractor.work(stack.scope(), operation.operation_id, last_attempt=False)
    stack.drain()
    assert stack.services.operations.get(stack.scope(), operation.operation_id).status is OperationStatus.SUCCEEDED
    assert known(stack) == before
