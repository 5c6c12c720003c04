"""How many tokens a text has at most, without a tokenizer: what a caller's own template may cost on the read path.

o200k_base cuts a text into pieces by character class and then joins bytes of each piece to tokens. Three facts give
bounds that hold for any text. A piece that is a token is one token. The tokens of a piece are at most its bytes. And
where no token can straddle two characters, they are at most the tokens of its characters one by one, because then
every character is joined as if it stood alone. What is known of the vocabulary is under `data/`, made by
`infra.token_bounds`.
"""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from unicodedata import category

_DATA = Path(__file__).parent / "data"
_APOSTROPHE = "'"
_WHITE = frozenset(
    "\t\n\x0b\x0c\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
)
_CLASSES = {"Lu": "U", "Lt": "U", "Ll": "L", "Lm": "O", "Lo": "O", "Nd": "N", "Nl": "N", "No": "N"}
# The pattern of o200k_base on the letters of `_class_of`: W space, S other white space, R line break, F slash, P rest.
_PIECES = re.compile(
    "(?:[WSPFK]?[UOK]*[LOK]+|[WSPFK]?[UOK]+[LOK]*)|N{1,3}|W?[PFK]+[RF]*|[WSR]*R+|[WSR]+(?![^WSR])|[WSR]+"
)
_CONTRACTIONS = re.compile(r"'(?:s|t|re|ve|m|ll|d)", re.IGNORECASE)


def token_bound(text: str) -> int:
    """Tokens that `text` has at most, whatever is put before and after it.

    The first and last two pieces may be cut differently by what stands beside them, and count by their characters.
    """
    pieces = cut_like_o200k(text)
    inner = range(2, len(pieces) - 2) if _is_known(text) else range(0)
    return sum(_piece_bound(piece, whole=place in inner) for place, piece in enumerate(pieces))


def seam_bound(line: str, follower: str) -> int:
    """Tokens by which `line` and `follower` joined may exceed the count of `line` with a line feed plus the bound.

    `line` was counted as `line + "\\n"`. Between a letter or digit and what is neither, a piece always ends: then
    nothing changes. Otherwise the last piece of `line` may be cut anew, and is charged by its bytes.
    """
    if not line:
        return 0
    if not _is_known(line):
        return len(line.encode("utf-8", "replace"))
    last = category(line[-1])[0]
    joins = follower[:1] == _APOSTROPHE or category(follower[:1] or " ")[0] in "LNM" or not _is_known(follower[:1])
    if last in "LN" and not joins:
        return 0
    start = _start_of_last_run(line, "LM" if last in "LM" else "N" if last == "N" else "CPSZM")
    if line[start] == _APOSTROPHE:  # what follows may make a contraction of the word before it
        start = _start_of_last_run(line[:start], "LM")
    return len(line[max(0, start - 1) :].encode("utf-8", "replace"))


def cut_like_o200k(text: str) -> list[str]:
    """The pieces that o200k_base joins to tokens: their concatenation is `text`."""
    classes = "".join(map(_class_of, text))
    pieces, start = [], 0
    while start < len(text):
        match = _PIECES.match(classes, start)
        end = match.end() if match is not None else start + 1
        if "L" in classes[start:end] or "U" in classes[start:end] or "O" in classes[start:end]:
            contraction = _CONTRACTIONS.match(text, end)
            end = contraction.end() if contraction is not None else end
        pieces.append(text[start:end])
        start = end
    return pieces


def _is_known(text: str) -> bool:
    """Whether this Python's Unicode has every character: a newer tokenizer may know others as letters."""
    return text.isascii() or all(category(char) != "Cn" for char in text)


def _piece_bound(piece: str, *, whole: bool) -> int:
    if whole and piece in _words():
        return 1
    if whole and piece.isascii() and piece.isdigit():
        return 1
    data = piece.encode("utf-8", "replace")
    if piece.isascii() or _may_straddle(data):
        return len(data)
    known = _characters()
    return sum(1 if char < "\x80" or char in known else len(char.encode("utf-8", "replace")) for char in piece)


def _may_straddle(data: bytes) -> bool:
    """Whether the piece holds the bytes of a token that joins part of a character with something of another."""
    splits = _splits()
    return any(
        data.startswith(token, at) for at, pair in enumerate(pairwise(data)) for token in splits.get(bytes(pair), ())
    )


def _start_of_last_run(text: str, classes: str) -> int:
    start = len(text)
    while start and (category(text[start - 1])[0] in classes or text[start - 1] == _APOSTROPHE):
        start -= 1
    return min(start, len(text) - 1) if text else 0


def _class_of(char: str) -> str:
    if char in "\r\n":
        return "R"
    if char in _WHITE:
        return "W" if char == " " else "S"
    name = category(char)
    return _CLASSES.get(name) or ("K" if name[0] == "M" else "F" if char == "/" else "P")


@cache
def _words() -> frozenset[str]:
    """Pieces that are one token: common English words, white space, punctuation."""
    return frozenset((_DATA / "words.txt").read_bytes().decode("ascii").split("\0"))


@cache
def _characters() -> frozenset[str]:
    """Characters beyond ASCII that are one token."""
    return frozenset((_DATA / "characters.txt").read_text("utf-8"))


@cache
def _splits() -> dict[bytes, tuple[bytes, ...]]:
    """Tokens that hold part of a character and something of another, by their first two bytes."""
    found: dict[bytes, tuple[bytes, ...]] = {}
    for line in (_DATA / "split.txt").read_text("ascii").split():
        token = bytes.fromhex(line)
        found[token[:2]] = (*found.get(token[:2], ()), token)
    return found
