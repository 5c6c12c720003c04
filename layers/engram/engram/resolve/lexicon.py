"""The word lists of `resolve/data`, read once and compiled when first asked for."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from engram.resolve.expressions import CueIndex

DATA = Path(__file__).parent / "data"


def read_json(name: str) -> Any:
    """A shipped JSON file."""
    return json.loads((DATA / name).read_text("utf-8"))


@lru_cache(maxsize=1)
def type_cues() -> CueIndex[str]:
    """Words that go with things of a type: 股价 with companies, `cook*` with food."""
    cues: Mapping[str, list[str]] = read_json("type_cues.json")
    return CueIndex.build(cues)


@lru_cache(maxsize=512)
def sense_cues(entity_id: str, hints: tuple[str, ...]) -> CueIndex[str]:
    """Words that go with one entity."""
    return CueIndex.build({entity_id: hints})
