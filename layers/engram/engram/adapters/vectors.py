"""Embeddings as they are kept: little-endian float32 of unit length. Without numpy: a remote embedder needs none."""

from __future__ import annotations

import math
import sys
from array import array
from collections.abc import Sequence

from engram.domain.errors import ModelFailure

MAX_CHARACTERS = 8_000


def sendable(text: str) -> str:
    """`text` as a service accepts it: bounded, without lone surrogates."""
    return text[:MAX_CHARACTERS].encode("utf-8", "replace").decode()


def unit_vector(numbers: Sequence[float], dimension: int) -> bytes:
    """The vector at length 1; b"" for one that points nowhere.

    Raises:
        ModelFailure: another dimension than the index was made for: mixing them would make searches silently empty.
    """
    if len(numbers) != dimension:
        raise ModelFailure(
            f"the embedder answered {len(numbers)} dimensions, {dimension} are configured", code="EMBEDDING_DIMENSION"
        )
    length = math.sqrt(sum(float(number) ** 2 for number in numbers))
    if not math.isfinite(length) or length == 0.0:
        return b""
    packed = array("f", (float(number) / length for number in numbers))
    if sys.byteorder == "big":
        packed.byteswap()
    return packed.tobytes()
