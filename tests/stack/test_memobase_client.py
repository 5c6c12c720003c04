"""Memobase's published client, sync and async, over every call it has, against the running service."""

from __future__ import annotations

import asyncio
import inspect
import time
import uuid
from collections.abc import Iterator

import httpx
import pytest
from memobase import AsyncMemoBaseClient, MemoBaseClient
from memobase.core.blob import BlobType, ChatBlob, CodeBlob, DocBlob, ImageBlob, SummaryBlob, TranscriptBlob
from memobase.error import ServerError

from tests.services import RunningService

GREETING = [
    {"role": "user", "content": "Hello, my name is Gus and I live in Lisbon."},
    {"role": "assistant", "content": "Nice to meet you, Gus!"},
]
FACTS = [{"role": "user", "content": "我对花生过敏，住在东京，是后端工程师。"}]


class Waits:
    """The async client with the sync one's manners, so that one suite runs on both."""

    def __init__(self, inner, loop):
        self._inner, self._loop = inner, loop

    def __getattr__(self, name):
        found = getattr(self._inner, name)
        if not inspect.iscoroutinefunction(found):
            return found

        def call(*arguments, **named):
            result = self._loop.run_until_complete(found(*arguments, **named))
            return Waits(result, self._loop) if hasattr(result, "project_client") else result

        return call


@pytest.fixture(params=["sync", "async"])
def memobase(request: pytest.FixtureRequest, service: RunningService) -> Iterator[MemoBaseClient]:
    if request.param == "sync":
        yield MemoBaseClient(project_url=service.url, api_key=service.api_key)
        return
    loop = asyncio.new_event_loop()
    client = AsyncMemoBaseClient(project_url=service.url, api_key=service.api_key)
    yield Waits(client, loop)
    loop.run_until_complete(client.close())
    loop.close()


@pytest.fixture
def person(memobase):
    return memobase.get_user(memobase.add_user({"plan": "pro"}))


@pytest.fixture
def default_config(memobase):
    yield
    memobase.update_config("")


def names(rows):
    return {(row.topic, row.sub_topic) for row in rows}


def test_every_public_call_of_the_client_is_in_this_suite():
    """A new release of the client with a new call fails here."""
    client = {name for name, _ in inspect.getmembers(MemoBaseClient, inspect.isfunction) if not name.startswith("_")}
    user = {name for name, _ in inspect.getmembers(type(_bare_user()), inspect.isfunction) if not name.startswith("_")}
    source = inspect.getsource(inspect.getmodule(test_every_public_call_of_the_client_is_in_this_suite))
    assert [name for name in sorted(client | user) if f".{name}(" not in source] == []


def _bare_user():
    return MemoBaseClient(project_url="http://127.0.0.1:1", api_key="x").get_user("x", no_get=True)


def test_the_service_answers_a_ping(memobase):
    assert memobase.ping()


def test_a_configuration_comes_back_to_the_letter(memobase, default_config):
    text = "\nlanguage: zh\n"
    assert memobase.update_config(text)
    assert memobase.get_config() == text


def test_a_mistaken_configuration_is_refused_with_its_line(memobase, default_config):
    with pytest.raises(ServerError, match="line 2"):
        memobase.update_config("language: en\nfoo: 1")


def test_users_are_created_read_changed_listed_and_deleted(memobase):
    user_id = memobase.add_user()
    assert memobase.get_user(user_id).fields["data"] is None
    assert memobase.update_user(user_id, {"test": 111}) == user_id
    assert memobase.get_user(user_id).fields["data"] == {"test": 111}
    (listed,) = memobase.get_all_users(search=user_id, order_by="profile_count", limit=5)
    assert (listed["id"], listed["profile_count"], listed["event_count"]) == (user_id, 0, 0)
    assert memobase.delete_user(user_id)
    with pytest.raises(ServerError):
        memobase.get_user(user_id)
    fresh = str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{time.time()}"))
    assert memobase.get_or_create_user(fresh).user_id == fresh
    assert memobase.get_or_create_user(fresh).user_id == fresh


def test_a_document_can_be_kept_read_and_deleted(person):
    blob = DocBlob(content="test", fields={"1": "fool"})
    ids = [person.insert(blob) for _ in range(4)]
    assert person.get(ids[0]).content == "test"
    assert person.get(ids[0]).fields == {"1": "fool"}
    assert set(person.get_all(BlobType.doc)) == set(ids)
    assert person.delete(ids[3])
    with pytest.raises(ServerError):
        person.get(ids[3])
    assert set(person.get_all(BlobType.doc)) == set(ids[:3])


@pytest.mark.parametrize(
    "blob",
    [
        SummaryBlob(summary="The user likes jazz"),
        CodeBlob(content="print(1)", language="python"),
        ImageBlob(url="https://example.com/a.png"),
        TranscriptBlob(transcripts=[{"content": "hello", "start_timestamp_in_seconds": 0}]),
        ChatBlob(messages=GREETING),
    ],
    ids=lambda blob: str(blob.type),
)
def test_every_kind_of_blob_is_taken_and_listed(person, blob):
    made = person.insert(blob)
    assert person.get_all(blob.type) == [made]


def test_after_insert_and_a_flush_that_nobody_waits_for_the_event_is_there(person):
    person.insert(ChatBlob(messages=GREETING))
    assert person.flush(sync=False)
    (event,) = person.event()
    assert event.event_data.event_tip
    assert "Gus" in {row.content for row in person.profile()} | {event.event_data.event_tip} or "Gus" in str(event)


def test_an_event_is_changed_and_deleted(person):
    person.insert(ChatBlob(messages=GREETING))
    person.flush()
    (event,) = person.event(topk=5, max_token_size=1000, need_summary=True)
    assert person.update_event(event.id, {"event_tip": "test"})
    (event,) = person.event()
    assert event.event_data.event_tip == "test"
    assert person.delete_event(event.id)
    assert person.event() == []


def test_a_flush_that_is_waited_for_is_finished_when_it_answers(person):
    blob = person.insert(ChatBlob(messages=FACTS), sync=True)
    assert person.buffer(BlobType.chat, status="idle") == [blob]
    person.flush(BlobType.chat, sync=True)
    assert person.buffer(BlobType.chat, status="idle") == []
    assert person.buffer(BlobType.chat, status="done") == [blob]
    assert len(person.profile()) >= 3


def test_profile_rows_are_added_changed_filtered_and_deleted(person):
    row = person.add_profile("likes tea", "Interest", "drinks")
    person.add_profile("engineer", "work", "title")
    assert names(person.profile()) == {("interest", "drinks"), ("work", "title")}
    assert person.update_profile(row, "likes green tea", "interest", "hot drinks")
    found = person.profile(
        max_token_size=500,
        prefer_topics=["interest", "work"],
        only_topics=["INTEREST"],
        max_subtopic_size=2,
        topic_limits={"interest": 1},
        chats=[{"role": "user", "content": "tea, please"}],
    )
    assert [(one.sub_topic, one.content) for one in found] == [("hot_drinks", "likes green tea")]
    assert person.profile(need_json=True)["work"]["title"]["content"] == "engineer"
    assert person.delete_profile(row)
    assert names(person.profile()) == {("work", "title")}


def test_events_are_searched_by_meaning_and_by_tags(person, memobase):
    person.insert(ChatBlob(messages=[{"role": "user", "content": "Yesterday I adopted a puppy called Biscuit."}]))
    person.flush(sync=True)
    events = person.search_event("a new dog", topk=3, similarity_threshold=0.1, time_range_in_days=30)
    assert "Biscuit" in events[0].event_data.event_tip
    assert events[0].similarity > 0.1
    (gist, *_) = person.search_event_gist("a new dog", topk=3, similarity_threshold=0.1, time_range_in_days=30)
    assert "Biscuit" in gist.gist_data.content
    assert person.search_event("a new dog", similarity_threshold=0.999) == []
    (event,) = person.event()
    person.update_event(event.id, {"event_tags": [{"tag": "mood", "value": "happy"}, {"tag": "about", "value": "dog"}]})
    if hasattr(person, "search_event_by_tags"):
        assert len(person.search_event_by_tags(tags=["mood", "about"])) == 1
        assert len(person.search_event_by_tags(tag_values={"mood": "happy"}, topk=1)) == 1
        assert person.search_event_by_tags(tags=["mood"], tag_values={"about": "cat"}) == []


def test_the_context_holds_the_profile_and_the_events(person):
    person.insert(ChatBlob(messages=FACTS))
    person.flush(sync=True)
    text = person.context()
    assert "花生" in text
    assert "东京" in text
    assert "工程师" in text


def test_the_context_takes_all_of_its_parameters(person):
    person.add_profile("likes tea", "interest", "drinks")
    text = person.context(
        max_token_size=300,
        prefer_topics=["interest", "work"],
        only_topics=["interest"],
        max_subtopic_size=3,
        topic_limits={"interest": 2},
        profile_event_ratio=0.5,
        require_event_summary=True,
        chats=[{"role": "user", "content": "tea, please?"}, {"role": "assistant", "content": "green"}],
        event_similarity_threshold=0.1,
        customize_context_prompt="{} {x.__class__} {profile_section} / {event_section}",
        time_range_in_days=30,
        full_profile_and_only_search_event=False,
        fill_window_with_events=True,
    )
    assert text == "{} {x.__class__} - interest::drinks: likes tea / "


def test_the_context_follows_the_language_of_the_business_at_once(person, memobase, default_config):
    assert "# Memory" in person.context()
    memobase.update_config("language: zh")
    assert "# 记忆" in person.context()


def test_a_strict_taxonomy_lets_nothing_else_be_written(person, memobase, default_config):
    memobase.update_config("preset: strict")
    person.insert(ChatBlob(messages=FACTS))
    person.flush(sync=True)
    assert names(person.profile()) == {("health", "allergies")}
    with pytest.raises(ServerError):
        person.add_profile("engineer", "work", "title")


def test_usage_counts_what_was_inserted(person, memobase):
    person.insert(DocBlob(content="test"))
    today, *earlier = memobase.get_daily_usage(days=3)
    assert today["total_insert"] >= today["total_success_insert"] >= 1
    assert len(earlier) == 2
    assert memobase.get_usage()["project_token_cost_month"] >= 0


@pytest.mark.parametrize("key", ["sk-demo-wrong", "sk-nobody-x", "nonsense"])
def test_a_wrong_key_is_refused_by_status(service, key):
    stranger = MemoBaseClient(project_url=service.url, api_key=key)
    with pytest.raises(httpx.HTTPStatusError) as refusal:
        stranger.get_config()
    assert refusal.value.response.status_code in (401, 403)
