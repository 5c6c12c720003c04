"""The whole service as a child process, as `make serve` runs it: started, killed and started again by tests."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from infra.local.client import Client

ROOT = Path(__file__).resolve().parents[1]
_START_SECONDS = 90.0


class RunningService:
    """One installation in `folder`. `stop`, `kill` and `start` may follow each other."""

    def __init__(self, folder: Path, *, stack: str = "embedded", environment: Mapping[str, str] | None = None) -> None:
        self.folder = folder
        self.stack = stack
        self._environment = {**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})}
        self._process: subprocess.Popen[bytes] | None = None
        self.facts: dict[str, Any] = {}

    @property
    def url(self) -> str:
        return str(self.facts["url"])

    @property
    def api_key(self) -> str:
        return str(self.facts["api_key"])

    @property
    def pid(self) -> int:
        return int(self.facts["pid"])

    @property
    def output(self) -> str:
        return (self.folder / "output").read_text(errors="replace")

    @property
    def log(self) -> str:
        return (self.folder / "service.log").read_text(errors="replace")

    def start(self, *, command: str = "serve") -> RunningService:
        """Returns once requests are answered."""
        self.folder.mkdir(parents=True, exist_ok=True)
        run_file = self.folder / "run.json"
        run_file.unlink(missing_ok=True)
        with (self.folder / "output").open("ab") as output:
            self._process = subprocess.Popen(
                self.command(command, "--port", "0", "--stack", self.stack),
                cwd=ROOT,
                env=self._environment,
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        end = time.monotonic() + _START_SECONDS
        while not run_file.exists():
            if self._process.poll() is not None or time.monotonic() > end:
                self.kill()
                raise RuntimeError(f"the service did not start:\n{self.output[-3000:]}")
            time.sleep(0.02)
        self.facts = json.loads(run_file.read_text())
        return self

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "infra.local", "--dir", str(self.folder), *arguments]

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Another `engram` command on the same folder."""
        return subprocess.run(
            self.command(*arguments), cwd=ROOT, env=self._environment, capture_output=True, text=True, timeout=60
        )

    def client(self, api_key: str = "") -> Client:
        return Client(self.url, api_key or self.api_key)

    def stop(self) -> int:
        """As Ctrl-C does; the exit status."""
        return self._end(signal.SIGINT)

    def kill(self) -> None:
        """As a power cut does."""
        self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> int:
        if self._process is None:
            return 0
        process, self._process = self._process, None
        process.send_signal(how)
        try:
            return process.wait(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()


@contextlib.contextmanager
def running(
    folder: Path, *, stack: str = "embedded", environment: Mapping[str, str] | None = None
) -> Iterator[RunningService]:
    service = RunningService(folder, stack=stack, environment=environment).start()
    try:
        yield service
    finally:
        service.stop()


def emulator_missing() -> str:
    """Why the emulated stack cannot run here; empty if it can."""
    return (
        ""
        if (ROOT / ".venv-emulator" / "bin" / "ministack").exists()
        else "no .venv-emulator: make .venv-emulator/.ready"
    )
