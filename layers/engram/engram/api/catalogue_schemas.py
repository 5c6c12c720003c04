"""The catalogue as HTTP shows it, and the parameters of its lists."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from engram.catalogue.service import Changed, Definition, ImportReport, Shown, UnresolvedName
from engram.resolve.definitions import AliasDefinition, TopicDefinition

MAX_PAGE = 1_000


class ListQuery(BaseModel):
    """`GET /v1/catalog/topics` and `/entities`. `after` is the last id of the page before."""

    model_config = ConfigDict(extra="forbid")

    limit: int = Field(default=100, ge=1, le=MAX_PAGE)
    after: str = Field(default="", max_length=128)
    type: str = Field(default="", max_length=64)
    origin: Literal["", "shipped", "business"] = ""
    name: str = Field(default="", max_length=200)


class NameQuery(BaseModel):
    """`GET /v1/catalog/aliases`: what a name may mean."""

    model_config = ConfigDict(extra="forbid")

    name: str = Field(min_length=1, max_length=200)


class UnresolvedQuery(BaseModel):
    """`GET /v1/catalog/unresolved`."""

    model_config = ConfigDict(extra="forbid")

    limit: int = Field(default=100, ge=1, le=MAX_PAGE)


class ImportQuery(BaseModel):
    """`POST /v1/catalog/import`."""

    model_config = ConfigDict(extra="forbid")

    dry_run: bool = False
    format: Literal["json", "yaml", "csv", ""] = ""


class AliasBody(BaseModel):
    """`PUT …/aliases/{alias}`."""

    model_config = ConfigDict(extra="forbid")

    language: str = Field(default="", max_length=35)
    source: str = Field(default="api", max_length=128)
    editor: str = Field(default="", max_length=128)


def shown_body(shown: Shown) -> dict[str, Any]:
    return definition_body(shown.definition) | {"origin": shown.origin}


def definition_body(one: Definition) -> dict[str, Any]:
    """A topic or an entity, in the shape in which it can be put back."""
    if isinstance(one, TopicDefinition):
        return {
            "id": one.id,
            "name": dict(one.names),
            "description": dict(one.descriptions),
            "aliases": [_alias(alias) for alias in one.aliases],
            "rules": {"cues": list(one.rules.cues), "hints": list(one.rules.hints), "types": list(one.rules.types)},
        }
    return {
        "id": one.id,
        "name": one.name,
        "type": one.type,
        "aliases": [_alias(alias) for alias in one.aliases],
        "hints": list(one.hints),
    }


def meaning_body(one: Definition) -> dict[str, Any]:
    if isinstance(one, TopicDefinition):
        return {"kind": "topic", "id": one.id, "name": one.name}
    return {"kind": "entity", "id": one.id, "name": one.name, "type": one.type}


def changed_body(changed: Changed) -> dict[str, Any]:
    return {"version": changed.version, "operation_id": changed.operation_id or None}


def report_body(report: ImportReport) -> dict[str, Any]:
    return {
        "dry_run": report.dry_run,
        "applied": report.applied,
        "format": report.form,
        "topics": _counted(report.topics),
        "entities": _counted(report.entities),
        "conflicts": [
            {
                "kind": one.kind,
                "id": one.id or None,
                "name": one.name or None,
                "targets": list(one.targets),
                "refuses": one.refuses,
            }
            for one in report.conflicts
        ],
        "version": report.version,
        "operation_id": report.operation_id or None,
    }


def unresolved_body(one: UnresolvedName) -> dict[str, Any]:
    return {"name": one.name, "count": one.conversations, "users": one.users, "last_seen": one.last_seen}


def _alias(alias: AliasDefinition) -> dict[str, str]:
    return {"text": alias.text, "language": alias.language, "source": alias.source, "editor": alias.editor}


def _counted(counted: Any) -> dict[str, int]:
    return {"added": counted.added, "changed": counted.changed, "unchanged": counted.unchanged}
