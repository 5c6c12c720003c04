"""`make reindex`: asks a running service to rebuild its search rows, index and hot profiles from the table, and waits.

The service goes on answering meanwhile; interrupted here, it goes on there.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress

from infra.local.client import Client
from infra.local.folder import Folder

_POLL_SECONDS = 0.5


def main(arguments: Sequence[str]) -> int:
    """Exit status: 0 once everything is rebuilt."""
    options = _options(arguments)
    console = Console(stderr=True, highlight=False)
    try:
        facts = Folder(options.dir).read_run()
    except (OSError, ValueError):
        console.print(
            f"[bold red]engram:[/] no service runs on {options.dir}: start one with make serve", soft_wrap=True
        )
        return 1
    client = Client(str(facts["url"]), str(facts["api_key"]))
    begun = client.call("POST", "/v1/maintenance/reindex", {"user_id": options.user} if options.user else {})
    if begun.status != 202:
        console.print(f"[bold red]engram:[/] {begun.body['detail']}", soft_wrap=True)
        return 1
    operation = _followed(client, begun.body, console)
    result = operation["result"] or {}
    counts = ", ".join(f"{count} {name}" for name, count in result.items())
    console.print(f"{operation['status'].lower()}: {counts}")
    return 0 if operation["status"] == "SUCCEEDED" and not result.get("failed") else 1


def _followed(client: Client, operation: dict[str, Any], console: Console) -> dict[str, Any]:
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("rebuilding", total=None)
        while operation["status"] not in ("SUCCEEDED", "FAILED"):
            time.sleep(_POLL_SECONDS)
            answer = client.call("GET", f"/v1/memory/operations/{operation['operation_id']}")
            operation = answer.body
            result = operation["result"] or {}
            progress.update(task, total=result.get("users"), completed=result.get("ended", 0))
    return operation


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="reindex", description="Rebuild search rows, index and hot profiles")
    parser.add_argument("--dir", type=Path, default=Path(os.environ.get("ENGRAM_DIR", ".engram")))
    parser.add_argument("--user", default="", help="one user; everybody of the business without it")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
