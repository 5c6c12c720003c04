"""The key of the HMAC over API keys, in a file of one machine's installation that only its owner can read."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from pathlib import Path


def pepper_from(path: Path) -> Callable[[], bytes]:
    """Reads the pepper at `path`, making it first if there is none. Two processes that start at once agree on one."""

    def pepper() -> bytes:
        try:
            return path.read_bytes()
        except FileNotFoundError:
            _make(path)
            return path.read_bytes()

    return pepper


def _make(path: Path) -> None:
    unfinished = path.with_name(f"{path.name}.{os.getpid()}")
    descriptor = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(secrets.token_hex(32).encode())
        file.flush()
        os.fsync(file.fileno())
    try:
        os.link(unfinished, path)  # fails where another process was first; its pepper counts
    except FileExistsError:
        pass
    finally:
        unfinished.unlink()
