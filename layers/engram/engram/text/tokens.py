"""Counting o200k_base tokens. Write path only: the vocabulary takes 0.4 s and 45 MB to load, so no read imports it.

A read adds numbers that were counted here when the text was written.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tiktoken import Encoding

TokenCounter = Callable[[str], int]
"""Text to its number of o200k_base tokens."""

ENCODING = "o200k_base"
_SLICE_CHARACTERS = 100_000


def count_tokens(text: str) -> int:
    """Tokens of `text`; the names of special tokens count as the plain text that they are.

    Exact up to 100,000 characters. A longer text is counted in slices, which may differ by a token for each cut:
    the encoder's memory grows with an unbroken run, and such texts are only measured against a buffer.
    Vocabulary: tiktoken's file, found through `TIKTOKEN_CACHE_DIR`.
    """
    encoding = _o200k()
    if len(text) <= _SLICE_CHARACTERS:
        return len(encoding.encode_ordinary(text))
    starts = range(0, len(text), _SLICE_CHARACTERS)
    return sum(len(encoding.encode_ordinary(text[start : start + _SLICE_CHARACTERS])) for start in starts)


@cache
def _o200k() -> Encoding:
    import tiktoken

    return tiktoken.get_encoding(ENCODING)
