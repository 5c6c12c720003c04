"""Memobase's blobs and buffers, as a client would use them."""

from __future__ import annotations

import pytest

from tests.http_calls import USER


def test_blobs_of_every_kind_come_back_as_they_went_in(calls, user):
    blobs = {
        "chat": {
            "messages": [
                {"role": "user", "content": "Hi, I'm Gus", "alias": "gus", "created_at": "2025/01/02 some day"},
                {"role": "assistant", "content": "Hello!", "alias": None, "created_at": None},
            ]
        },
        "doc": {"content": "a document"},
        "summary": {"summary": "likes tea"},
        "code": {"content": "print(1)", "language": "python"},
        "image": {"url": "https://example.com/a.png", "base64": "aGVsbG8="},
        "transcript": {
            "transcripts": [
                {
                    "content": "hello",
                    "start_timestamp_in_seconds": 1.5,
                    "end_time_timestamp_in_seconds": 2.0,
                    "speaker": "Ann",
                }
            ]
        },
    }
    for kind, data in blobs.items():
        body = {"blob_type": kind, "fields": {"1": "fool"}, "blob_data": data}
        blob = calls.ok("POST", "/blobs/insert/{user_id}", user_id=USER, body=body)["id"]
        found = calls.ok("GET", "/blobs/{user_id}/{blob_id}", user_id=USER, blob_id=blob)
        assert (found["blob_type"], found["blob_data"], found["fields"]) == (kind, data, {"1": "fool"})


def test_a_blob_that_repeats_its_own_columns_is_taken_as_the_typescript_client_sends_it(calls, user):
    data = {"type": "doc", "content": "test", "fields": {"a": 1}, "created_at": "2025-01-01T00:00:00Z"}
    body = {"blob_type": "doc", "fields": {"a": 1}, "blob_data": data}
    blob = calls.ok("POST", "/blobs/insert/{user_id}", user_id=USER, body=body)["id"]
    found = calls.ok("GET", "/blobs/{user_id}/{blob_id}", user_id=USER, blob_id=blob)
    assert (found["blob_data"], found["fields"]) == ({"content": "test"}, {"a": 1})


def test_blobs_are_listed_by_kind_page_by_page_and_deleted(calls, user, clock):
    body = {"blob_type": "doc", "fields": None, "blob_data": {"content": "test"}}
    made = []
    for _ in range(4):
        clock.go_on(1)
        made.append(calls.ok("POST", "/blobs/insert/{user_id}", user_id=USER, body=body)["id"])

    def ids(query=""):
        return calls.ok("GET", "/users/blobs/{user_id}/{blob_type}", user_id=USER, blob_type="doc", query=query)["ids"]

    assert ids() == made
    assert ids("page=1&page_size=3") == made[3:]
    calls.ok("DELETE", "/blobs/{user_id}/{blob_id}", user_id=USER, blob_id=made[0])
    assert ids() == made[1:]
    assert calls.refused("GET", "/blobs/{user_id}/{blob_id}", user_id=USER, blob_id=made[0])[0] == 404
    assert calls.ok("GET", "/users/blobs/{user_id}/{blob_type}", user_id=USER, blob_type="chat")["ids"] == []


@pytest.mark.parametrize(
    "body",
    [
        {"blob_type": "video", "blob_data": {}},
        {"blob_type": "doc", "blob_data": {"content": ""}},
        {"blob_type": "doc", "blob_data": {"text": "x"}},
        {"blob_type": "chat", "blob_data": {"messages": []}},
        {"blob_type": "chat", "blob_data": {"messages": [{"role": "robot", "content": "x"}]}},
        {"blob_type": "image", "blob_data": {}},
        {"blob_type": "image", "blob_data": {"base64": "%%%"}},
        {"blob_data": {"content": "x"}},
    ],
)
def test_blobs_that_cannot_be_kept_are_refused(calls, user, body):
    assert calls.refused("POST", "/blobs/insert/{user_id}", user_id=USER, body=body)[0] in (400, 413, 422)


def test_nothing_buffered_is_nothing_to_flush(calls, user):
    route = "/users/buffer/{user_id}/{buffer_type}"
    assert calls.ok("POST", route, user_id=USER, buffer_type="chat", query="wait_process=True") == []


def test_an_inserted_blob_waits_in_the_buffer(calls, user):
    body = {"blob_type": "doc", "fields": None, "blob_data": {"content": "test"}}
    blob = calls.ok("POST", "/blobs/insert/{user_id}", user_id=USER, body=body)["id"]
    route = "/users/buffer/capacity/{user_id}/{buffer_type}"
    assert calls.ok("GET", route, user_id=USER, buffer_type="doc", query="status=idle") == {"ids": [blob]}
    assert calls.ok("GET", route, user_id=USER, buffer_type="doc", query="status=done") == {"ids": []}
    assert calls.refused("GET", route, user_id=USER, buffer_type="doc", query="status=x")[0] == 400
    assert calls.refused("GET", route, user_id=USER, buffer_type="film")[0] == 400
