"""How many tokens a text has at most, without a tokenizer: what a caller's own template may cost on the read path.

A token of o200k_base is at least one byte of one piece, and pieces are cut by character class. From these two facts
follow bounds that hold for any text; `context.templates` uses them where nothing was counted at write time.
"""

from __future__ import annotations

from unicodedata import category

_APOSTROPHES = "'"


def token_bound(text: str) -> int:
    """Tokens that `text` has at most, wherever it stands: its bytes."""
    return len(text.encode("utf-8", "replace"))


def seam_bound(line: str, follower: str) -> int:
    """Tokens by which `line` and `follower` joined may exceed the count of `line` with a line feed plus the bound.

    `line` was counted as `line + "\\n"`. Between a letter or digit and what is neither, a piece always ends: then
    nothing changes. Otherwise the last piece of `line` may be cut anew, and is charged by its bytes.
    """
    if not line:
        return 0
    last = category(line[-1])[0]
    joins = bool(follower) and (follower[0] in _APOSTROPHES or category(follower[0])[0] in "LNM")
    if last in "LN" and not joins:
        return 0
    wanted = "LM" if last in "LM" else "N" if last == "N" else "CPSZM"
    start = len(line)
    while start and (category(line[start - 1])[0] in wanted or line[start - 1] in _APOSTROPHES):
        start -= 1
    return len(line[max(0, start - 1) :].encode("utf-8", "replace"))
