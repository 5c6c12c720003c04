"""One slip of the pen: a name spelt with one wrong character, when no other real name is as near.

Chinese slips are mostly characters that sound or look alike (航州 for 杭州) or one wrong among five or more; Latin
slips are one letter added, dropped, changed, or two swapped. What is itself a word or name is no slip (宿州, 苏州).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from engram.text.language import is_han
from engram.text.segment import is_listed_english, is_word, reading

MIN_LATIN = 5
"""Shorter Latin names have too many neighbours among ordinary words."""
MIN_CHANGED_HAN = 5
"""From this length one character may be wrong without sounding alike."""


class SoundTable:
    """Filed names by how they sound and by what is left when one character is taken out."""

    def __init__(self, keys: Iterable[str]) -> None:
        self._keys = tuple(keys)
        self._known = frozenset(self._keys)

    @cached_property
    def _sounds(self) -> dict[str, list[str]]:
        table: dict[str, list[str]] = {}
        for key in self._keys:
            if len(key) >= 2 and all(is_han(character) for character in key):
                for sound in _readings_of(key):
                    table.setdefault(sound, []).append(key)
        return table

    @cached_property
    def _gaps(self) -> dict[str, list[str]]:
        """Pattern with one character left out (by place for Han, anywhere for Latin) → keys."""
        table: dict[str, list[str]] = {}
        for key in self._keys:
            for pattern in _patterns(key):
                table.setdefault(pattern, []).append(key)
        return table

    def near(self, written: str) -> str | None:
        """The one filed name that `written` is a slip of, or None: not a slip, or more than one name is as near."""
        if written in self._known:
            return None
        if any(is_han(character) for character in written):
            return self._near_han(written)
        return self._near_latin(written)

    def _near_han(self, written: str) -> str | None:
        if len(written) < 2 or is_word(written) or not all(is_han(character) for character in written):
            return None
        alike = {
            key for sound in _readings_of(written) for key in self._sounds.get(sound, ()) if _changed(key, written) == 1
        }
        alike |= {key for other in _lookalikes(written) for key in self._sounds.get(reading(other), ()) if key == other}
        if alike:
            return alike.pop() if len(alike) == 1 else None
        if len(written) < MIN_CHANGED_HAN:
            return None
        changed = {key for pattern in _patterns(written) for key in self._gaps.get(pattern, ())}
        near = {key for key in changed if _changed(key, written) == 1}
        return near.pop() if len(near) == 1 else None

    def _near_latin(self, written: str) -> str | None:
        if len(written) < MIN_LATIN or is_listed_english(written) or not written.replace(" ", "").isalpha():
            return None
        found = {key for pattern in _patterns(written) for key in self._gaps.get(pattern, ())}
        near = {key for key in found if one_edit(key, written) and not _inflected(key, written)}
        return near.pop() if len(near) == 1 else None


_ALIKE = (
    "杭航抗",
    "已己",
    "末未",
    "土士",
    "天夭夫",
    "大太",
    "西酉",
    "京亨",
    "折拆",
    "坏环",
    "清请情晴",
    "候侯",
    "沈沉",
    "贝见",
    "复夏",
    "洲州",
    "辩辨",
    "密蜜",
    "门们",
    "成城",
    "青清",
    "岛鸟",
    "武式",
    "汉汗",
    "广厂",
    "庆床",
    "南楠",
    "丽历厉",
)
"""Characters that are mistaken for one another by their shape."""


_SOUNDS_ALSO = {
    "都": "督", "重": "崇", "长": "常", "乐": "月", "行": "航", "厦": "下", "藏": "仓", "朝": "超", "调": "吊",
    "会": "块", "校": "叫", "单": "善", "弹": "谈", "降": "祥", "便": "骗", "系": "记", "大": "代", "薄": "报",
}  # fmt: skip
"""Characters with a second reading, each with a character that always sounds so."""


def _readings_of(written: str) -> Iterable[str]:
    """How a text may sound, each character with a second reading taken either way, one at a time."""
    yield reading(written)
    for at, character in enumerate(written):
        other = _SOUNDS_ALSO.get(character)
        if other:
            yield reading(written[:at] + other + written[at + 1 :])


def _lookalikes(written: str) -> Iterable[str]:
    for at, character in enumerate(written):
        for group in _ALIKE:
            if character in group:
                yield from (written[:at] + other + written[at + 1 :] for other in group if other != character)


def _inflected(key: str, written: str) -> bool:
    """Whether `written` is the name with an ending: another word (Nigeria, Nigerian), not a slip."""
    return (
        written.startswith(key) and written[len(key) :] in ("n", "s", "d", "r", "y", "i") and key[-1:] != written[-1:]
    )


def _patterns(key: str) -> Iterable[str]:
    if all(is_han(character) for character in key):
        if len(key) >= MIN_CHANGED_HAN:
            yield from (f"{key[:at]}*{key[at + 1 :]}" for at in range(len(key)))
    elif key.isascii() and len(key) >= MIN_LATIN - 1:
        yield key
        yield from (key[:at] + key[at + 1 :] for at in range(len(key)))


def _changed(left: str, right: str) -> int:
    return sum(a != b for a, b in zip(left, right, strict=True)) if len(left) == len(right) else 99


def one_edit(left: str, right: str) -> bool:
    """Whether one insertion, deletion, substitution or swap of neighbours turns `left` into `right`."""
    if abs(len(left) - len(right)) > 1 or left[:1] != right[:1]:
        return False
    start = next((at for at, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right)))
    a, b = left[start:], right[start:]
    if len(a) == len(b):
        return a[1:] == b[1:] or _swapped(a, b)
    return a[1:] == b or a == b[1:]


def _swapped(a: str, b: str) -> bool:
    """Two neighbours swapped, or in a long rest one letter moved by one place more (restaraunt)."""
    if a[2:] == b[2:]:
        return a[:2] == b[1::-1]
    return len(a) >= MIN_LATIN and a[3:] == b[3:] and b[:3] in (a[1:3] + a[0], a[2] + a[:2])
