"""Start, wait for, and stop the node. Its process is remembered in a file, and only that process is ever ended."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import time
import urllib.request
from pathlib import Path

from infra.local.opensearch.assembly import PARTS, NotPossible, assemble

DEFAULT_PORT = 9210
START_SECONDS = 90.0
STOP_SECONDS = 30.0
HEAP = "512m"

_HERE = Path(__file__).parent


class LocalNode:
    """The node whose data and log are under `folder`.

    Args:
        folder: of its data, its log and the note of its process.
        port: of its HTTP interface on 127.0.0.1. Kept while the node runs.
    """

    def __init__(self, folder: Path, *, port: int = DEFAULT_PORT) -> None:
        self._folder = folder.resolve()
        self._port = port
        self._state = self._folder / "node.json"
        self.log = self._folder / "node.log"

    @classmethod
    def of(cls, installation: Path, *, port: int = 0) -> LocalNode:
        """The node of an installation (`ENGRAM_DIR`). Port 0: the usual one, or a free one where that is taken."""
        return cls(installation / "opensearch", port=port or _usual_or_free_port())

    @property
    def url(self) -> str:
        """Where it answers, or will."""
        return f"http://127.0.0.1:{self._running().get('port', self._port)}"

    def start(self) -> str:
        """Starts it if it is not running, and returns its URL when it answers.

        Raises:
            NotPossible: no Java or Maven, or the node ended or did not answer in time.
        """
        if not self._running():
            parts = assemble(PARTS)
            self._folder.mkdir(parents=True, exist_ok=True)
            pid = self._launch(parts)
            self._state.write_text(json.dumps({"pid": pid, "port": self._port}))
        end = time.monotonic() + START_SECONDS
        while not self.answers():
            if not self._running():
                raise NotPossible(f"OpenSearch ended while it was starting; {self.log} says why")
            if time.monotonic() > end:
                self.stop()
                raise NotPossible(f"OpenSearch did not answer within {START_SECONDS:.0f} s; {self.log} may say why")
            time.sleep(0.25)
        return self.url

    def answers(self) -> bool:
        """Whether its shards are ready to be written and searched."""
        health = f"{self.url}/_cluster/health?wait_for_status=yellow&timeout=1s"
        with contextlib.suppress(OSError, ValueError), urllib.request.urlopen(health, timeout=3) as answer:
            return json.load(answer)["status"] in ("yellow", "green")
        return False

    def kill(self) -> None:
        """Ends it at once, as a crash would."""
        if state := self._running():
            os.kill(state["pid"], signal.SIGKILL)
        while self._running():
            time.sleep(0.02)

    def stop(self) -> bool:
        """Ends it in order; its data stays. Returns whether there was one to end."""
        state = self._running()
        if not state:
            self._state.unlink(missing_ok=True)
            return False
        os.kill(state["pid"], signal.SIGTERM)
        end = time.monotonic() + STOP_SECONDS
        while self._running() and time.monotonic() < end:
            time.sleep(0.1)
        if self._running():
            os.kill(state["pid"], signal.SIGKILL)
        self._state.unlink(missing_ok=True)
        return True

    def _launch(self, parts: Path) -> int:
        command = [
            "java",
            f"-Xms{HEAP}",
            f"-Xmx{HEAP}",
            f"-Dlog4j2.configurationFile={_HERE / 'log4j2.properties'}",
            "-cp",
            os.pathsep.join((f"{parts / 'lib'}/*", f"{parts / 'knn'}/*")),
            str(_HERE / "LocalNode.java"),
            str(self._folder / "home"),
            str(self._port),
        ]
        with self.log.open("ab") as log:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self._folder, start_new_session=True
            )
        self._process = process  # kept, so that a child that ends at once does not stay as a zombie
        return process.pid

    def _running(self) -> dict[str, int]:
        """Process and port of the node, or nothing. A number that now belongs to another program does not count."""
        with contextlib.suppress(OSError, ValueError):
            state: dict[str, int] = json.loads(self._state.read_text())
            if _is_node(state["pid"]):
                return state
        return {}


def _usual_or_free_port() -> int:
    for port in (DEFAULT_PORT, 0):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(("127.0.0.1", port))
            return int(probe.getsockname()[1])
    raise NotPossible("this machine has no free port")


def _is_node(pid: int) -> bool:
    answer = subprocess.run(
        ["ps", "-ww", "-o", "stat=,args=", "-p", str(pid)], capture_output=True, text=True, check=False
    )
    return "LocalNode" in answer.stdout and not answer.stdout.startswith("Z")
