"""What Memobase's calls have written goes with its user, to the last row and file."""

from __future__ import annotations

from engram.api.queue import queue_entrypoint
from engram.domain.scope import Scope
from engram.store import keys
from infra.local.events import queue_event
from tests.http_calls import USER

SCOPE = Scope("acme", USER)


def work_off(services):
    handler = queue_entrypoint(lambda: services.extractor)
    while batch := services.local_queue.receive(10):
        handler(queue_event(batch, queue="engram", region="local"), None)
        for message in batch:
            services.local_queue.done(message.receipt)


def rows_of(services):
    return [item.key.sk for item in services.table.query(keys.user_partition(SCOPE)).items]


def test_nothing_of_a_deleted_user_is_left_in_table_files_or_cache(calls, user, services):
    image = {"blob_type": "image", "blob_data": {"base64": "aGVsbG8="}}
    chat = {"blob_type": "chat", "blob_data": {"messages": [{"role": "user", "content": "My name is Gus."}]}}
    row = {"content": "engineer", "attributes": {"topic": "work", "sub_topic": "title"}}
    for body in (image, chat):
        calls.ok("POST", "/blobs/insert/{user_id}", user_id=USER, body=body)
    calls.ok("POST", "/users/profile/{user_id}", user_id=USER, body=row)
    calls.ok("POST", "/users/buffer/{user_id}/{buffer_type}", user_id=USER, buffer_type="chat")
    work_off(services)
    assert calls.ok("GET", "/users/event/{user_id}", user_id=USER)["events"]
    assert any(sk.startswith(keys.CLIENT_BLOBS) for sk in rows_of(services))
    assert services.blobs.names(SCOPE)
    calls.ok("DELETE", "/users/{user_id}", user_id=USER)
    work_off(services)
    assert rows_of(services) == []
    assert services.blobs.names(SCOPE) == []
    assert services.cache.get(SCOPE) is None


def test_a_deleted_chat_blob_takes_the_facts_it_supported_with_it(calls, user, services):
    body = {"blob_type": "chat", "blob_data": {"messages": [{"role": "user", "content": "I live in Lisbon."}]}}
    blob = calls.ok("POST", "/blobs/insert/{user_id}", user_id=USER, body=body)["id"]
    calls.ok("POST", "/users/buffer/{user_id}/{buffer_type}", user_id=USER, buffer_type="chat")
    work_off(services)
    assert len(calls.ok("GET", "/users/profile/{user_id}", user_id=USER)["profiles"]) == 1
    calls.ok("DELETE", "/blobs/{user_id}/{blob_id}", user_id=USER, blob_id=blob)
    assert calls.ok("GET", "/users/profile/{user_id}", user_id=USER)["profiles"] == []
    work_off(services)
    assert calls.ok("GET", "/users/profile/{user_id}", user_id=USER)["profiles"] == []
    assert calls.ok("GET", "/users/event/{user_id}", user_id=USER)["events"] == []
