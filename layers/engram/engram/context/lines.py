"""How one memory looks in the context block: a line that is data, whatever it holds, and its exact token count.

A line begins with `-` and ends with a line feed, and holds no other. There o200k_base always ends one piece and begins
the next, so the tokens of joined lines are the sum of the tokens of each: a read may add what a write has counted.
"""

from __future__ import annotations

import re
from datetime import datetime, tzinfo

_BREAKS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]+")
_UNPRINTABLE = re.compile(r"[\ud800-\udfff\ufffe\uffff]")
_CLOSING = re.compile(r"<(?=[/|])")


def slot_line(topic: str, sub_topic: str, content: str) -> str:
    """`- topic::sub_topic: content`, one line."""
    return f"- {as_data(topic)}::{as_data(sub_topic)}: {as_data(content)}\n"


def gist_line(content: str, happened_at: datetime, zone: tzinfo) -> str:
    """`- [2026-11-30] content`, one line, dated by when it happened in `zone`.

    All dates of four-digit years have the same number of tokens (o200k_base cuts numbers after three digits), so a
    count holds for another zone.
    """
    return f"- [{happened_at.astimezone(zone):%Y-%m-%d}] {as_data(content)}\n"


def as_data(text: str) -> str:
    """`text` on one line, unable to close the block, a tag around it, or a chat turn.

    White space and control characters become single spaces. `</` and `<|`, with which closing tags and the special
    tokens of chat models begin, are taken apart by a space.
    """
    flat = _UNPRINTABLE.sub("\ufffd", _BREAKS.sub(" ", text)).strip()
    return _CLOSING.sub("< ", flat)
