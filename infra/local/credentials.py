"""The business and key of one installation, kept in its folder so that scripts of this machine can use them."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from infra.local.folder import Folder

if TYPE_CHECKING:
    from engram.access.api_keys import ApiKeys

BUSINESS = "demo"


@dataclass(frozen=True, slots=True)
class Credentials:
    business_id: str
    api_key: str


def credentials(folder: Folder, stack: str, api_keys: ApiKeys) -> Credentials:
    """The installation's own; made anew where there are none, or where the table no longer knows them."""
    from engram.access.scopes import ALL_SCOPES

    path = _path(folder, stack)
    if path.exists():
        known = Credentials(**json.loads(path.read_text()))
        if api_keys.verify(known.api_key) is not None:
            return known
    created = api_keys.create(BUSINESS, scopes=ALL_SCOPES, label="made at the first start")
    made = Credentials(created.record.business_id, created.text)
    folder.write_private(path, json.dumps(asdict(made)) + "\n")
    return made


def _path(folder: Folder, stack: str) -> Path:
    return folder.path / f"key-{stack}.json"
