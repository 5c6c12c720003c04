"""The folder of one installation (`ENGRAM_DIR`): data, secrets, logs, `run.json`, and the lock that keeps it to one."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from pathlib import Path
from typing import IO, Any

PRIVATE = 0o600


class Refused(Exception):
    """The service cannot start, for a reason that one line says."""


class Folder:
    """Paths of one installation. Made on first use, readable by its owner only."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self._lock: IO[str] | None = None

    @property
    def run_file(self) -> Path:
        return self.path / "run.json"

    @property
    def environment_file(self) -> Path:
        """How commands beside a running service reach its parts."""
        return self.path / "environment.json"

    @property
    def data(self) -> Path:
        return self.path / "data"

    @property
    def log_file(self) -> Path:
        return self.path / "service.log"

    def prepare(self) -> None:
        """Makes the folder and takes its lock, which the system gives back when the process ends, however it ends.

        Raises:
            Refused: another service runs on this folder, or something that is no folder is in the way.
        """
        try:
            self.path.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._lock = (self.path / "lock").open("w")
        except OSError as error:
            raise Refused(f"{self.path} cannot be used: {error.strerror}") from None
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise Refused(f"a service already runs on {self.path}{self._where()}; use another ENGRAM_DIR") from None
        self.run_file.unlink(missing_ok=True)
        self.environment_file.unlink(missing_ok=True)

    def _where(self) -> str:
        try:
            running = self.read_run()
        except (OSError, ValueError):
            return ""
        return f" at {running['url']} (process {running['pid']})"

    def write_private(self, path: Path, text: str) -> None:
        """Writes all of it or nothing, for the owner only."""
        unfinished = path.with_name(path.name + ".new")
        descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, PRIVATE)
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
        os.replace(unfinished, path)

    def write_run(self, facts: dict[str, Any]) -> None:
        self.write_private(self.run_file, json.dumps(facts, indent=2) + "\n")

    def read_run(self) -> dict[str, Any]:
        facts: dict[str, Any] = json.loads(self.run_file.read_text())
        return facts

    def forget(self) -> bool:
        """Deletes the folder; False if there was none.

        Raises:
            Refused: a service runs on it, or it holds nothing that says it is ours.
        """
        if not self.path.exists():
            return False
        if not (self.path / "lock").exists():
            raise Refused(f"{self.path} was not made by Engram; delete it yourself if you mean it")
        self.prepare()
        shutil.rmtree(self.path)
        return True
