"""Writes what `engram.context.bounds` knows of o200k_base, from tiktoken's vocabulary.

`python -m infra.token_bounds`. Run again only if the tokenizer changes; tests compare the bounds with the tokenizer.
"""

from __future__ import annotations

import os
from pathlib import Path

from infra.vocabulary import unpack

ROOT = Path(__file__).resolve().parents[1]
TARGET = ROOT / "layers" / "engram" / "engram" / "context" / "data"
COMMON_RANKS = 60_000
"""Words beyond this rank are rare in templates; each costs a few bytes of the file."""


def write(target: Path) -> None:
    os.environ["TIKTOKEN_CACHE_DIR"] = str(unpack(ROOT / "build" / "vocabulary"))
    import regex
    import tiktoken

    encoding = tiktoken.get_encoding("o200k_base")
    pieces = regex.compile(encoding._pat_str)
    words, single, split = [], [], []
    for rank, data in enumerate(sorted(encoding._mergeable_ranks, key=encoding._mergeable_ranks.__getitem__)):
        if len(data) > 1 and is_split(data):
            split.append(data.hex())
            continue
        text = data.decode("utf-8", "ignore")
        if len(text) == 1 and text > "\x7f" and text.encode() == data:
            single.append(text)
        elif rank < COMMON_RANKS and 1 < len(text) <= 16 and text.isascii() and pieces.findall(text) == [text]:
            words.append(text)
    target.mkdir(exist_ok=True)
    (target / "words.txt").write_text("\0".join(sorted(words)), "ascii", newline="")
    (target / "characters.txt").write_text("".join(sorted(single)), "utf-8", newline="")
    (target / "split.txt").write_text("\n".join(sorted(split)), "ascii", newline="")


def is_split(data: bytes) -> bool:
    """Whether a token holds part of one character together with something of another."""
    try:
        data.decode()
    except UnicodeDecodeError:
        starts = [byte for byte in data if byte < 0x80 or byte >= 0xC0]
        return len(starts) > 1 or (len(starts) == 1 and not data[0] >= 0xC0)
    return False


if __name__ == "__main__":
    write(TARGET)
