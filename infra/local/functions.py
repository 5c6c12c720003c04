"""Loads the functions and calls them as Lambda does: an event, a context, an answer or an error."""

from __future__ import annotations

import importlib.util
import sys
import time
import traceback
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from infra.local.events import ACCOUNT
from infra.local.template import Function


class Context:
    """What Lambda passes beside an event."""

    __slots__ = (
        "_deadline",
        "aws_request_id",
        "function_name",
        "function_version",
        "invoked_function_arn",
        "log_group_name",
        "log_stream_name",
        "memory_limit_in_mb",
    )

    def __init__(self, function: Function, region: str) -> None:
        self.function_name = function.folder.rsplit("/", 1)[-1]
        self.function_version = "$LATEST"
        self.invoked_function_arn = f"arn:aws:lambda:{region}:{ACCOUNT}:function:{self.function_name}"
        self.memory_limit_in_mb = function.memory
        self.aws_request_id = uuid.uuid4().hex
        self.log_group_name = f"/aws/lambda/{self.function_name}"
        self.log_stream_name = "local"
        self._deadline = time.monotonic() + function.timeout

    def get_remaining_time_in_millis(self) -> int:
        return max(0, int((self._deadline - time.monotonic()) * 1000))


class FunctionError(Exception):
    """A handler raised. Its message stays out: it may quote what a user wrote."""


class LoadedFunction:
    """One function, imported from its folder under a name of its own: all of them are called `app.py`."""

    def __init__(self, function: Function, *, root: Path, region: str) -> None:
        self.spec = function
        self.module = load_module(function, root=root)
        self._region = region
        self._handler: Callable[[Any, Context], Any] = getattr(self.module, function.handler.partition(".")[2])

    def __call__(self, event: dict[str, Any]) -> Any:
        """The handler's answer.

        Raises:
            FunctionError: the handler raised; the place is on standard error, as it would be in the function's log.
        """
        try:
            return self._handler(event, Context(self.spec, self._region))
        except Exception as error:  # noqa: BLE001  the outermost edge: what Lambda's runtime does
            frames = traceback.extract_tb(error.__traceback__)
            place = " < ".join(f"{Path(frame.filename).name}:{frame.lineno}" for frame in reversed(frames[-4:]))
            print(f"{self.spec.name}: {type(error).__name__} at {place}", file=sys.stderr, flush=True)
            raise FunctionError(f"{self.spec.name} failed with {type(error).__name__}") from None


def load_module(function: Function, *, root: Path) -> Any:
    """The module that holds the function's handler."""
    path = root / function.folder / f"{function.handler.partition('.')[0]}.py"
    name = f"engram_function_{function.name.lower()}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module
