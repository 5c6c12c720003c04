"""Servers that the emulated stack starts: on 127.0.0.1, logging into the folder, gone when this process is gone."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from infra.local.folder import Refused

_START_SECONDS = 60.0
_STOP_SECONDS = 15.0


class Child:
    """One server. It is stopped by closing its standard input, which also happens when this process dies."""

    def __init__(
        self, name: str, command: Sequence[str], *, port: int, log: Path, environment: Mapping[str, str]
    ) -> None:
        self.port = port
        self._name = name
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                [sys.executable, str(Path(__file__).with_name("tether.py")), *command],
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **environment},
                start_new_session=True,  # Ctrl-C is for this process, which then stops its children in order
            )

    def wait_until_it_listens(self) -> None:
        """Raises Refused if it ends, or takes more than a minute."""
        end = time.monotonic() + _START_SECONDS
        while not _listens(self.port):
            if self._process.poll() is not None or time.monotonic() > end:
                self.stop()
                raise Refused(f"{self._name} did not start on port {self.port}; its log is in the folder")
            time.sleep(0.02)

    def stop(self) -> None:
        if self._process.stdin is not None:
            self._process.stdin.close()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _listens(port: int) -> bool:
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=0.5):
        return True
    return False
