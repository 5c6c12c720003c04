"""Since when a statement holds, where its words say so: "at Contoso since Monday", 从三月起."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, tzinfo

from engram.adapters.rules.dates import when
from engram.adapters.rules.statements import Statement

_SINCE = re.compile(
    r"\b(?:since|as of|starting|from)\s+(?P<en>.+)$"
    r"|(?:从|自)(?P<zh>[^，。,]{1,12}?)(?:起|开始|以来)",
    re.IGNORECASE,
)


def with_since(statement: Statement, message: str, said: date, zone: tzinfo) -> Statement:
    """The statement with `since`, if its clause names a date not after the day it was said."""
    match = _SINCE.search(message[statement.start : statement.end])
    if match is None or not statement.holds:
        return statement
    found = when(match.group() if match["en"] else match["zh"], said, forward=False)
    if found is None or found.day > said:
        return statement
    return replace(statement, since=found.moment(zone))
