"""Logs and metrics: ids, counts, sizes and durations. Never a word a user wrote.

One JSON line per log record on standard output. The formatter keeps only fields of `ALLOWED`, so that a careless
call site cannot put text into a log.
"""

from __future__ import annotations

import json
import logging
import sys
import time
import traceback
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Any

LOGGER = logging.getLogger("engram")

ALLOWED = frozenset(
    """business_id user_hash operation_id request_id correlation_id function code status stage stages attempts count
    duration_ms bytes leg legs error_type where kind version epoch degraded dropped group reason""".split()
)

_correlation: ContextVar[str] = ContextVar("correlation", default="")


class _OneJsonLine(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {"level": record.levelname, "message": record.msg, "timestamp": round(time.time(), 3)}
        if correlation := _correlation.get():
            line["correlation_id"] = correlation
        line.update(getattr(record, "fields", {}))
        return json.dumps(line, ensure_ascii=True, default=str)


def configure(level: str = "INFO") -> None:
    """Sends Engram's log records to standard output as JSON lines. Called once, by `bootstrap`."""
    if not LOGGER.handlers:
        handler = logging.StreamHandler(sys.stdout)
        handler.setFormatter(_OneJsonLine())
        LOGGER.addHandler(handler)
        LOGGER.propagate = False
    LOGGER.setLevel(level)


def log(message: str, *, level: int = logging.INFO, **fields: Any) -> None:
    """One record. `message` is a constant of our own; fields outside `ALLOWED` are refused at once.

    Raises:
        ValueError: a field that is not in `ALLOWED`: a mistake at the call site, found by any test that runs it.
    """
    unknown = fields.keys() - ALLOWED
    if unknown:
        raise ValueError(f"not to be logged: {', '.join(sorted(unknown))}")
    LOGGER.log(level, message, extra={"fields": fields})


def annotate(event: Mapping[str, Any]) -> None:
    """Takes the correlation id of an API Gateway 2.0 event for the records that follow."""
    context = event.get("requestContext")
    _correlation.set(str(context.get("requestId", "")) if isinstance(context, Mapping) else "")


def failure(error: BaseException, **fields: Any) -> None:
    """Logs an exception by type and place. Its message stays out: it may quote what a user wrote."""
    frames = traceback.extract_tb(error.__traceback__)
    where = " < ".join(f"{frame.filename.rsplit('/', 1)[-1]}:{frame.lineno}" for frame in reversed(frames[-6:]))
    log("unexpected failure", level=logging.ERROR, error_type=type(error).__name__, where=where, **fields)


def metric(namespace_fields: Mapping[str, str], **values: float) -> None:
    """Embedded metric format, one line: CloudWatch reads it from the log. No id of a user as a dimension."""
    now = int(time.time() * 1000)
    definition = {
        "Namespace": "Engram",
        "Dimensions": [list(namespace_fields)],
        "Metrics": [{"Name": name, "Unit": "Milliseconds" if name.endswith("_ms") else "Count"} for name in values],
    }
    line = {"_aws": {"Timestamp": now, "CloudWatchMetrics": [definition]}, **namespace_fields, **values}
    LOGGER.info("metric", extra={"fields": line})
