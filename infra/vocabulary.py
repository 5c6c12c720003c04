"""Unpacks the tokenizer's vocabulary to where tiktoken looks for it, so that it downloads nothing.

Run as `python infra/vocabulary.py FOLDER` by the build of the dependency layer, and by the service on one machine.
"""

from __future__ import annotations

import hashlib
import lzma
import os
import sys
from pathlib import Path

PACKED = Path(__file__).resolve().parents[1] / "layers" / "dependencies" / "vocabulary" / "o200k_base.tiktoken.xz"
CACHE_NAME = "fb374d419588a4632f3f557e76b4b70aebbca790"
"""tiktoken names a cached file by the SHA-1 of the address it would have downloaded it from."""

SHA256 = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"


def unpack(folder: Path) -> Path:
    """`folder`, holding the vocabulary as tiktoken's cache file.

    Raises:
        ValueError: the packed file is not the vocabulary that tiktoken expects.
    """
    target = folder / CACHE_NAME
    if target.exists() and hashlib.sha256(target.read_bytes()).hexdigest() == SHA256:
        return folder
    data = lzma.decompress(PACKED.read_bytes())
    if hashlib.sha256(data).hexdigest() != SHA256:
        raise ValueError(f"{PACKED.name} is not the o200k_base vocabulary")
    folder.mkdir(parents=True, exist_ok=True)
    unfinished = folder / f"{CACHE_NAME}.{os.getpid()}"
    unfinished.write_bytes(data)
    os.replace(unfinished, target)
    return folder


if __name__ == "__main__":
    unpack(Path(sys.argv[1]))
