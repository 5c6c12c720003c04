"""The service on one machine, from outside: what a person sees who starts, uses, stops, kills and starts it again."""

from __future__ import annotations

import json
import socket
import stat
import subprocess
import time
import uuid
from pathlib import Path

import pytest

from infra.local.client import Client
from infra.local.conversation import ABOUT_ME, ASK_AGAIN, GUIDE, play
from tests.services import RunningService, running


@pytest.fixture(scope="module")
def played(request: pytest.FixtureRequest) -> dict[str, list]:
    """The conversation of `make run`, on each stack once."""
    return {stack: list(play(request.getfixturevalue(stack).client())) for stack in ("embedded", "emulated")}


@pytest.mark.parametrize("stack", ["embedded", "emulated"])
class TestTheConversation:
    def test_a_new_user_has_nothing_to_recall(self, played, stack):
        first = played[stack][0].answer
        assert (first["support_status"], first["evidence"]) == ("EMPTY", [])

    def test_everything_said_is_worked_off(self, played, stack):
        said = [step.answer for step in played[stack] if step.kind == "ingestion"]
        assert [operation["status"] for operation in said] == ["SUCCEEDED"] * 3

    def test_the_guide_comes_back_verbatim(self, played, stack):
        bundle = played[stack][4].answer
        assert bundle["support_status"] == "SUPPORTED"
        assert GUIDE in [evidence["text"] for evidence in bundle["evidence"]]

    def test_the_question_is_understood(self, played, stack):
        resolution = played[stack][4].answer["resolution"]
        assert [mention["name"] for mention in resolution["entities"] if mention["status"] == "LINKED"] == ["杭州"]
        assert "TRAVEL_GUIDE" in [mention.get("id") for mention in resolution["topics"]]
        assert resolution["temporal"]["intent"] == "PREVIOUS_RELATED"

    def test_the_block_says_who_the_user_is(self, played, stack):
        answer = played[stack][5].answer
        assert answer["errno"] == 0
        for fact in ("花生", "东京", "后端工程师"):
            assert fact in answer["data"]["context"]


def test_both_stacks_answer_the_same(played):
    def essence(steps):
        bundle = steps[4].answer
        return (
            bundle["support_status"],
            [evidence["text"] for evidence in bundle["evidence"]],
            [mention.get("id") for mention in bundle["resolution"]["entities"] + bundle["resolution"]["topics"]],
            bundle["resolution"]["temporal"]["intent"],
            steps[5].answer["data"]["tokens"],
        )

    assert essence(played["embedded"]) == essence(played["emulated"])


def test_the_run_file_is_for_its_owner_only(service: RunningService):
    path = service.folder / "run.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert set(json.loads(path.read_text())) >= {"url", "business_id", "api_key", "pid", "ports"}
    assert stat.S_IMODE(service.folder.stat().st_mode) & 0o077 == 0 or service.folder.name.startswith(service.stack)


def test_nothing_listens_beyond_this_machine(service: RunningService):
    """Every listening socket of the service and its children is on 127.0.0.1."""
    if not Path("/proc").exists():
        pytest.skip("this machine has no /proc to read listeners from")
    owned = set(service.facts["ports"].values())
    lines = Path("/proc/net/tcp").read_text().splitlines()[1:] + Path("/proc/net/tcp6").read_text().splitlines()[1:]
    listeners = [line.split()[1].split(":") for line in lines if line.split()[3] == "0A"]
    found = {int(port, 16): address for address, port in listeners if int(port, 16) in owned}
    assert set(found) == owned
    assert set(found.values()) == {"0100007F"}


class TestKeys:
    def test_a_missing_key_is_401_and_a_wrong_one_403(self, service: RunningService, user: str):
        client = service.client("sk-demo-" + "A" * 43)
        assert client.context(user).status == 403
        client._headers.pop("Authorization")
        assert client.context(user).status == 401

    def test_a_key_of_another_business_sees_none_of_this_one(self, service: RunningService, user: str):
        own = service.client()
        own.wait(own.ingest(_said(user, "My dog is called Biscuit.")))
        made = service.run("keys", "create", "--business", "other")
        assert made.returncode == 0, made.stderr
        other = service.client(made.stdout.strip())
        bundle = other.call("POST", "/v1/memory/recall", {"query": "dog", "user_id": user, "session_id": "x"}).body
        assert bundle["support_status"] == "EMPTY"
        refused = other.call(
            "POST",
            "/v1/memory/recall",
            {"query": "dog", "user_id": user, "session_id": "x", "business_id": service.facts["business_id"]},
        )
        assert refused.status == 403

    def test_a_revoked_key_ends(self, embedded: RunningService):
        key = embedded.run("keys", "create", "--business", "brief").stdout.strip()
        listed = embedded.run("keys", "list", "--business", "brief").stdout.split()
        assert embedded.run("keys", "revoke", "--business", "brief", "--key-id", listed[0]).returncode == 0
        assert embedded.client(key).context("ann").status == 403

    def test_a_key_without_write_cannot_write(self, embedded: RunningService, user: str):
        key = embedded.run("keys", "create", "--business", "reader", "--scopes", "read").stdout.strip()
        reader = embedded.client(key)
        assert reader.context(user).status == 200
        assert reader.call("POST", "/v1/memory/ingestions", _said(user, "I moved to Oslo.")).status == 403
        asked = reader.call("POST", "/v1/memory/recall", {"query": "Oslo", "user_id": user, "session_id": "s"})
        assert asked.body["support_status"] == "EMPTY"


class TestStoppingAndStarting:
    @pytest.mark.parametrize("stack", ["embedded", "emulated"])
    def test_what_was_told_survives_ctrl_c(self, tmp_path, stack, request):
        request.getfixturevalue(stack)  # skips where it cannot run
        with running(tmp_path, stack=stack) as service:
            service.client().wait(service.client().ingest(_said("ann", "My dog is called Biscuit.")))
            key = service.api_key
            assert service.stop() == 0
            assert not (tmp_path / "run.json").exists()
            service.start()
            assert service.api_key == key
            assert "Biscuit" in _recalled(service.client(), "ann", "what is my dog called?")

    def test_nothing_accepted_is_lost_or_doubled_by_a_kill(self, tmp_path):
        service = RunningService(tmp_path).start()
        try:
            accepted = _ingest_until_killed(service)
            service.start()
            client = service.client()
            for operation_id in accepted:
                assert client.wait(operation_id)["status"] == "SUCCEEDED"
            for number, (request_id, text) in enumerate(_animals(len(accepted))):
                answer = client.call("POST", "/v1/memory/ingestions", _said("ann", text, request_id=request_id))
                assert answer.body["duplicate"] is True
                assert answer.body["operation_id"] == accepted[number]
            evidence = _recalled_all(client, "ann", "animals that I own")
            assert len(evidence) == len(set(evidence))
            assert {text for _, text in _animals(len(accepted))} <= set(evidence)
        finally:
            service.stop()

    def test_no_process_stays_behind(self, tmp_path, emulated):
        service = RunningService(tmp_path, stack="emulated").start()
        ports = list(service.facts["ports"].values())
        service.kill()
        end = time.monotonic() + 20
        while any(_listens(port) for port in ports) and time.monotonic() < end:
            time.sleep(0.1)
        assert [port for port in ports if _listens(port)] == []

    def test_a_taken_port_is_one_clear_line(self, tmp_path, embedded: RunningService):
        port = embedded.url.rsplit(":", 1)[1]
        refused = RunningService(tmp_path / "second").run("serve", "--port", port)
        assert refused.returncode == 1
        assert refused.stderr.count("\n") == 1
        assert port in refused.stderr

    def test_a_folder_in_use_is_one_clear_line(self, embedded: RunningService):
        refused = embedded.run("serve", "--port", "0")
        assert refused.returncode == 1
        assert embedded.url in refused.stderr
        assert embedded.client().context("ann").status == 200

    def test_reset_forgets_everything_but_not_what_is_not_ours(self, tmp_path):
        service = RunningService(tmp_path / "own").start()
        assert service.run("reset").returncode == 1
        service.stop()
        assert service.run("reset").returncode == 0
        assert not service.folder.exists()
        (tmp_path / "foreign").mkdir()
        (tmp_path / "foreign" / "thesis.txt").write_text("keep me")
        assert RunningService(tmp_path / "foreign").run("reset").returncode == 1
        assert (tmp_path / "foreign" / "thesis.txt").exists()


def test_make_run_prints_the_conversation(tmp_path):
    service = RunningService(tmp_path)
    service.start(command="run")
    try:
        end = time.monotonic() + 60
        while "Ctrl-C" not in service.output and time.monotonic() < end:
            time.sleep(0.1)
        for shown in (ASK_AGAIN, ABOUT_ME, "PREVIOUS_RELATED", "断桥残雪", service.url, service.api_key):
            assert shown in service.output
        assert service.output.count("curl ") == 3
    finally:
        service.stop()


def test_the_printed_curl_lines_work(tmp_path):
    with running(tmp_path) as service:
        end = time.monotonic() + 20
        while service.output.count("curl ") < 3 and time.monotonic() < end:
            time.sleep(0.05)
        lines = [line for line in service.output.splitlines() if line.startswith("curl ")]
        answers = [subprocess.run(["sh", "-c", line], capture_output=True, text=True).stdout for line in lines]
        assert json.loads(answers[0])["status"] == "ACCEPTED"
        assert "Biscuit" in answers[1]
        assert json.loads(answers[2])["errno"] == 0


def _said(user: str, text: str, *, request_id: str = "") -> dict:
    message = {"role": "user", "content": text}
    return {"request_id": request_id or uuid.uuid4().hex, "user_id": user, "session_id": "s1", "messages": [message]}


def _animals(count: int) -> list[tuple[str, str]]:
    return [(f"animal-{number}", f"I own an animal with the number {number}.") for number in range(count)]


def _ingest_until_killed(service: RunningService, *, after: int = 25) -> list[str]:
    """Ingests as fast as it can and pulls the plug while work is in hand."""
    client = service.client()
    accepted = [client.ingest(_said("ann", text, request_id=request_id)) for request_id, text in _animals(after)]
    service.kill()
    return accepted


def _recalled_all(client: Client, user: str, query: str) -> list[str]:
    body = {"query": query, "user_id": user, "session_id": "s9", "limit": 100}
    return [evidence["text"] for evidence in client.call("POST", "/v1/memory/recall", body).body["evidence"]]


def _recalled(client: Client, user: str, query: str) -> str:
    return "\n".join(_recalled_all(client, user, query))


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0
