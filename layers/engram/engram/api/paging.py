"""Lists of bounded length: the rows of one page and a signed cursor for the next."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from engram.api.cursors import Cursors

T = TypeVar("T")


def paged(
    rows: Iterable[T], *, cursors: Cursors, subject: str, cursor: str, limit: int, key: Callable[[T], Sequence[Any]]
) -> tuple[list[T], str]:
    """Up to `limit` rows after `cursor`, and the cursor of the next page ("" at the end).

    Args:
        rows: in the order of the list.
        key: JSON values that name a row; a row is found again by what it is, so rows may come and go in between.
    """
    left = list(rows)
    if cursor:
        last = cursors.read(subject, cursor)
        left = _after(left, last, key)
    page = left[:limit]
    more = len(left) > limit
    return page, cursors.make(subject, list(key(page[-1]))) if more else ""


def _after(rows: list[T], last: list[Any], key: Callable[[T], Sequence[Any]]) -> list[T]:
    """Rows behind the one that ended the page before; of a list sorted by key either way, if that row is gone."""
    for position, row in enumerate(rows):
        if list(key(row)) == last:
            return rows[position + 1 :]
    if len(rows) > 1 and list(key(rows[0])) > list(key(rows[-1])):
        return [row for row in rows if list(key(row)) < last]
    return [row for row in rows if list(key(row)) > last]
