"""Users of another server that speaks Memobase's wire format are brought here, once, with their ids and times."""

from __future__ import annotations

import uuid

import pytest
from memobase import MemoBaseClient

from infra import import_memobase
from infra.import_memobase import Importer, MemobaseApi, run
from tests.services import RunningService


@pytest.fixture
def source(embedded: RunningService) -> MemoBaseClient:
    return _client(embedded)


@pytest.fixture
def target(embedded: RunningService) -> MemoBaseClient:
    return _client(embedded)


def _client(service: RunningService) -> MemoBaseClient:
    key = service.run("keys", "create", "--business", f"b{uuid.uuid4().hex[:8]}").stdout.strip()
    return MemoBaseClient(project_url=service.url, api_key=key)


def _populated(source: MemoBaseClient, users: int) -> list[str]:
    made = []
    for number in range(users):
        user_id = source.add_user({"number": number})
        api = MemobaseApi(source.project_url, source.api_key)
        rows = [
            {"id": str(uuid.uuid4()), "content": f"fact {one}", "attributes": {"topic": "work", "sub_topic": f"s{one}"}}
            for one in range(45)
        ]
        event = {
            "id": str(uuid.uuid4()),
            "event_data": {"event_tip": f"went to town {number}", "event_tags": [{"tag": "mood", "value": "good"}]},
            "created_at": "2025-03-01T10:00:00Z",
        }
        api.call("POST", f"/users/import/{user_id}", {"profiles": rows, "events": [event]})
        made.append(user_id)
    return made


def _imported(source: MemoBaseClient, target: MemoBaseClient, folder) -> import_memobase.State:
    return run(source.project_url, source.api_key, target.project_url, target.api_key, folder / "state.json")


def _rows(client: MemoBaseClient, user_id: str):
    user = client.get_user(user_id)
    profile = {(row.id, row.topic, row.sub_topic, row.content, row.updated_at) for row in user.profile(100_000)}
    events = {(event.id, event.event_data.event_tip, event.created_at) for event in user.event()}
    return user.fields["data"], profile, events


def test_every_user_is_the_same_here_as_there(source, target, tmp_path):
    users = _populated(source, 3)
    state = _imported(source, target, tmp_path)
    assert state.refused == []
    assert state.written == {"user": 3, "profile": 135, "event": 3}
    for user_id in users:
        assert _rows(target, user_id) == _rows(source, user_id)


def test_an_import_that_was_cut_short_goes_on_and_doubles_nothing(source, target, tmp_path, monkeypatch):
    users = _populated(source, 3)
    seen, whole = [], Importer.user

    def cut(self, user):
        if len(seen) == 1:
            raise KeyboardInterrupt
        seen.append(user["id"])
        whole(self, user)

    with monkeypatch.context() as patched:
        patched.setattr(Importer, "user", cut)
        with pytest.raises(KeyboardInterrupt):
            _imported(source, target, tmp_path)
    again = []
    monkeypatch.setattr(Importer, "user", lambda self, user: (again.append(user["id"]), whole(self, user)))
    state = _imported(source, target, tmp_path)
    assert sorted(seen + again) == sorted(users)
    assert state.written["profile"] == 135
    for user_id in users:
        assert _rows(target, user_id) == _rows(source, user_id)


def test_what_does_not_fit_is_reported_and_does_not_stop_the_rest(source, target, tmp_path):
    (user_id,) = _populated(source, 1)
    source.get_user(user_id).add_profile("peanuts", "health", "allergies")
    target.update_config("preset: strict")
    state = _imported(source, target, tmp_path)
    assert state.written == {"user": 1, "profile": 1, "event": 1}
    assert len(state.refused) == 45
    assert {one["kind"] for one in state.refused} == {"profile"}
    assert all("strict" in one["reason"] for one in state.refused)
    assert import_memobase.report(state).row_count == 3


def test_a_state_file_of_another_import_is_not_taken(source, target, tmp_path):
    _populated(source, 1)
    _imported(source, target, tmp_path)
    with pytest.raises(SystemExit):
        run("http://127.0.0.1:1", "x", target.project_url, target.api_key, tmp_path / "state.json")
