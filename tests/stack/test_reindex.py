"""`make reindex` against a running service, and with none."""

from __future__ import annotations

import subprocess
import sys

from tests.services import ROOT


def reindex(folder, *arguments):
    command = [sys.executable, "-m", "infra.reindex", "--dir", str(folder), *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)


def test_rebuilds_and_says_how_much(embedded, user):
    client = embedded.client()
    message = {"role": "user", "content": "I live in Oslo."}
    body = {"request_id": "r", "user_id": user, "session_id": "s", "messages": [message], "flush": True}
    client.wait(client.ingest(body))
    one = reindex(embedded.folder, "--user", user)
    assert (one.returncode, one.stderr.splitlines()[-1].split(":")[0]) == (0, "succeeded")
    everybody = reindex(embedded.folder)
    assert everybody.returncode == 0, everybody.stderr
    assert "0 failed" in everybody.stderr


def test_of_a_user_nobody_knows_says_so(embedded, user):
    refused = reindex(embedded.folder, "--user", user)
    assert refused.returncode == 1
    assert "nothing is known of this user" in refused.stderr


def test_without_a_service_is_one_clear_line(tmp_path):
    refused = reindex(tmp_path)
    assert refused.returncode == 1
    assert "no service runs" in refused.stderr
    assert "Traceback" not in refused.stderr
