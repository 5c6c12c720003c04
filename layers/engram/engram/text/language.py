"""Which language a text is in, as far as the resolver needs it: Chinese, English, or both."""

from __future__ import annotations

import re
from typing import Literal

Language = Literal["zh", "en", "mixed"]

_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U0002fa1f]")
_LATIN = re.compile(r"[A-Za-zＡ-Ｚａ-ｚÀ-ɏ]")


def language_of(text: str) -> Language:
    """`zh` with Han characters and no Latin letter, `mixed` with both, else `en` (also for a text with neither)."""
    if not _HAN.search(text):
        return "en"
    return "mixed" if _LATIN.search(text) else "zh"


def is_han(character: str) -> bool:
    """Whether a character is a Han ideograph."""
    return bool(_HAN.match(character))


def has_han(text: str) -> bool:
    """Whether a text holds a Han ideograph."""
    return bool(_HAN.search(text))
