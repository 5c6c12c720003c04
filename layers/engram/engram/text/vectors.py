"""Embeddings as bytes: float32 between parts, float16 at rest. numpy is loaded on first use."""

from __future__ import annotations


def to_float16(vector: bytes) -> bytes:
    """Little-endian float32 bytes as float16 bytes: half the room, and a cosine moves by less than 0.001."""
    import numpy

    return numpy.frombuffer(vector, "<f4").astype("<f2").tobytes()
