"""The pepper of one machine: made at first use, kept in a file that only its owner can read."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Callable
from pathlib import Path

_BYTES = 32


def pepper_from(path: Path) -> Callable[[], bytes]:
    """Gives the file's content, making the file if there is none. Two processes that start at once agree on one."""
    if not path.exists():
        _make(path)
    pepper = path.read_bytes()
    return lambda: pepper


def _make(path: Path) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".pepper-")  # mode 0600
    try:
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_hex(_BYTES))
        # A link fails if the file has appeared meanwhile, where a rename would replace a pepper in use.
        os.link(temporary, path)
    except FileExistsError:
        pass
    finally:
        os.unlink(temporary)
