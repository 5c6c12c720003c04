"""BlobStore on a folder: one file per blob, written whole or not at all.

File names are hashes, since neither every character nor every length nor every case is a file name on every
machine; the name itself stands at the head of the file.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from engram.domain.errors import Unavailable
from engram.domain.scope import Scope
from engram.store.limits import check_blob_name

_LENGTH_BYTES = 4


class FolderBlobs:
    """Blobs under `root`, one folder per user. The folder is made when first written to."""

    def __init__(self, root: str | Path) -> None:
        self._root = Path(root)

    def put(self, scope: Scope, name: str, data: bytes) -> None:
        """Keeps `data` under `name`; it is on the disk when this returns.

        Raises:
            InvalidInput: the name is empty or too long.
            Unavailable: the disk is full or the folder cannot be written.
        """
        head = check_blob_name(name).encode()
        path = self._path(scope, name)
        with _translated():
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as file:
                try:
                    file.write(len(head).to_bytes(_LENGTH_BYTES, "big") + head + data)
                    file.flush()
                    os.fsync(file.fileno())
                    os.replace(file.name, path)
                except BaseException:
                    Path(file.name).unlink(missing_ok=True)
                    raise
            _sync_folder(path.parent)

    def get(self, scope: Scope, name: str) -> bytes | None:
        check_blob_name(name)
        with _translated():
            try:
                content = self._path(scope, name).read_bytes()
            except FileNotFoundError:
                return None
        return content[_LENGTH_BYTES + int.from_bytes(content[:_LENGTH_BYTES], "big") :]

    def delete(self, scope: Scope, names: Sequence[str]) -> None:
        """Removes those that exist; a user's folder goes with its last blob."""
        folder = self._folder(scope)
        with _translated():
            for name in names:
                self._path(scope, check_blob_name(name)).unlink(missing_ok=True)
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()

    def names(self, scope: Scope) -> list[str]:
        with _translated():
            try:
                files = [path for path in self._folder(scope).iterdir() if not path.name.startswith(".")]
            except FileNotFoundError:
                return []
            return sorted(_name_of(path) for path in files)

    def _folder(self, scope: Scope) -> Path:
        return self._root / scope.business_id / hashlib.sha256(scope.user_id.encode()).hexdigest()

    def _path(self, scope: Scope, name: str) -> Path:
        return self._folder(scope) / hashlib.sha256(name.encode()).hexdigest()


@contextmanager
def _translated() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Unavailable(f"the blob folder cannot be used (errno {error.errno})") from None


def _name_of(path: Path) -> str:
    with path.open("rb") as file:
        return file.read(int.from_bytes(file.read(_LENGTH_BYTES), "big")).decode()


def _sync_folder(folder: Path) -> None:
    """Makes the new name durable, not only the content (POSIX)."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
