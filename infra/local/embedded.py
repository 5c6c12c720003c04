"""The default stack of one machine: SQLite, a queue in the process, folders. Nothing to start, nothing to stop."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from engram.settings import FIELDS
from infra.local.folder import Folder
from infra.local.worker import Source


class EmbeddedStack:
    """What the template's resources are on this machine when nothing else runs on it."""

    name = "embedded"
    physical: Mapping[str, str] = {}

    def __init__(self, folder: Folder) -> None:
        folder.data.mkdir(exist_ok=True)
        self.environment = {
            FIELDS["stack"]: "embedded",
            FIELDS["data_dir"]: str(folder.data),
            FIELDS["cache"]: os.environ.get(FIELDS["cache"]) or "memory",  # or a Valkey that the caller names
            FIELDS["pepper_secret"]: "",
        }
        self.parts: dict[str, str] = {"table": str(folder.data)}
        self.ports: dict[str, int] = {}

    def prepare(self, resources: Mapping[str, Any]) -> None:
        """SQLite makes its file when it is first used."""

    def source(self, queue: str) -> Source:
        """The queue that the functions of this process send to."""
        from engram.bootstrap import services

        return services().local_queue

    def stop(self) -> None:
        """Nothing runs but this process."""
