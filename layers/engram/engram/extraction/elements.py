"""The parts of a slot that holds several things: of "likes tea; likes durian" only one may be contradicted."""

from __future__ import annotations

import re
import unicodedata

_BREAK = re.compile(r"\s*[;；\n]+\s*")
_CJK = re.compile(r"[\u3400-\u9fff]")
_NOISE = re.compile(r"[\s\W_]+")
_ARTICLES = re.compile(r"\b(?:the|a|an|my|our|eating|drinking)\b", re.IGNORECASE)


def elements_of(content: str) -> tuple[str, ...]:
    """The parts of a slot's content, in order."""
    return tuple(part for part in _BREAK.split(content.strip()) if part)


def joined(elements: tuple[str, ...] | list[str]) -> str:
    """Parts as one content; Chinese parts are joined by a Chinese semicolon."""
    text = "".join(elements)
    return ("；" if _CJK.search(text) else "; ").join(elements)


def normal(text: str) -> str:
    """Letters and digits only, in one case and width: what counts when two contents are compared."""
    return _NOISE.sub("", unicodedata.normalize("NFKC", _ARTICLES.sub(" ", text)).casefold())


def same(one: str, other: str) -> bool:
    """The two say the same to the letter, but for case, spacing and punctuation."""
    return normal(one) == normal(other)


def same_thing(value: str, content: str) -> bool:
    """`value` names something that `content` speaks of. An empty value means whatever is there.

    Latin words match as whole words, with a plural `s`; Chinese matches as part of the text.
    """
    if not value.strip():
        return True
    wanted, text = normal(value), normal(content)
    if _CJK.search(wanted) or _CJK.search(text):
        return bool(wanted) and (wanted in text or _bare(wanted) in text)
    words = r"[\s\W_]+".join(re.escape(word) for word in re.findall(r"\w+", _ARTICLES.sub(" ", value)))
    return (
        bool(words) and re.search(rf"(?<!\w)(?:{words.rstrip('s')})(?:e?s)?(?!\w)", content, re.IGNORECASE) is not None
    )


_VERBS = re.compile(r"^(?:吃|喝|看|听|玩|做|去|打|学|练)+")


def _bare(wanted: str) -> str:
    """吃榴莲 and 榴莲 are one thing to like or not."""
    bare = _VERBS.sub("", wanted)
    return bare if len(bare) > 1 else wanted
