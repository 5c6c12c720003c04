"""Bulk import: JSON, YAML or CSV to definitions, and what in them conflicts with each other or with what is there.

The two catalogue files of an installation that was filled by hand load as they are, ids included:
`{"topics": [...], "ambiguous_heads": {...}}` and `{"entities": [...], "ambiguous_aliases": {...}}`.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from engram.catalogue.checks import MAX_AMBIGUOUS, MAX_ENTITIES, MAX_TOPICS, check_entity, check_name, check_topic
from engram.catalogue.parsing import Provenance, entity_of, topic_of
from engram.domain.errors import InvalidInput
from engram.resolve.aliases import key_of
from engram.resolve.catalogue import Catalogue, names_of, topic_names
from engram.resolve.definitions import AliasDefinition, EntityDefinition, TopicDefinition

FORMATS = ("json", "yaml", "csv")
CSV_COLUMNS = ("kind", "id", "name", "name_en", "type", "aliases", "aliases_en", "description", "description_en")
CSV_SEPARATOR = "|"
"""Between the aliases of one cell."""

MAX_CONFLICTS = 1_000


@dataclass(frozen=True, slots=True)
class Conflict:
    """Something in an import that a person should look at.

    Attributes:
        kind: `duplicate_id`, `unknown_target` (these refuse the import), `replaces`, `ambiguous_name` (these do not).
        id: of the definition it is about; name: the name, alias or word; targets: ids it would mean.
    """

    kind: str
    id: str = ""
    name: str = ""
    targets: tuple[str, ...] = ()

    @property
    def refuses(self) -> bool:
        return self.kind in ("duplicate_id", "unknown_target")


@dataclass(frozen=True, slots=True)
class Imported:
    """What a file says, before it meets what is there."""

    topics: tuple[TopicDefinition, ...] = ()
    entities: tuple[EntityDefinition, ...] = ()
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    ambiguous: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def read(data: bytes, form: str, provenance: Provenance) -> Imported:
    """The definitions in `data`.

    Raises:
        InvalidInput: not of that format, or a definition breaks a rule; names the place.
    """
    text = _text(data)
    if form == "csv":
        return _from_rows(_csv_rows(text), provenance)
    document = _json(text) if form == "json" else _yaml(text)
    if not isinstance(document, dict):
        raise InvalidInput("the file must be an object with topics or entities", field="body")
    unknown = set(document) - {"version", "topics", "entities", "ambiguous_heads", "ambiguous_aliases"}
    if unknown:
        raise InvalidInput(f"unknown key {sorted(map(str, unknown))[0][:64]!a}", field="body")
    return Imported(
        topics=_each(document.get("topics"), "topics", lambda row: check_topic(topic_of(row, provenance)), MAX_TOPICS),
        entities=_each(
            document.get("entities"), "entities", lambda row: check_entity(entity_of(row, provenance)), MAX_ENTITIES
        ),
        words=_targets(document.get("ambiguous_heads"), "ambiguous_heads"),
        ambiguous=_targets(document.get("ambiguous_aliases"), "ambiguous_aliases"),
    )


def format_of(content_type: str, data: bytes) -> str:
    """`json`, `yaml` or `csv`, by the content type where it says so, else by how the text begins."""
    for form in FORMATS:
        if form in content_type.lower():
            return form
    start = data.lstrip()[:1]
    if start in (b"{", b"["):
        return "json"
    first_line = data.removeprefix(b"\xef\xbb\xbf").split(b"\n", 1)[0].decode("utf-8", "replace")
    columns = {column.strip(' "\r') for column in first_line.split(",")}
    return "csv" if {"kind", "id"} <= columns else "yaml"


def linked_names(imported: Imported, present: Catalogue, provenance: Provenance) -> tuple[Imported, list[Conflict]]:
    """`imported` with its ambiguous names entered as an alias of each entity they may mean, by id or by name."""
    entities = {one.id: one for one in imported.entities}
    by_name: dict[str, list[str]] = {}
    for one in (*present.entities.values(), *entities.values()):
        if one.id not in by_name.setdefault(key_of(one.name), []):
            by_name[key_of(one.name)].append(one.id)
    conflicts = []
    for name, targets in imported.ambiguous.items():
        for target in targets:
            found = [target] if target in entities or target in present.entities else by_name.get(key_of(target), [])
            if not found:
                conflicts.append(Conflict("unknown_target", id=target, name=name))
            for identifier in found:
                entity = entities.get(identifier) or present.entities[identifier]
                entities[identifier] = _with_alias(entity, name, provenance)
    return replace(imported, entities=tuple(entities.values())), conflicts


def repeated_ids(written: Imported) -> list[Conflict]:
    """Ids that one file uses twice."""
    return [
        *(Conflict("duplicate_id", id=one) for one in _repeated(one.id for one in written.topics)),
        *(Conflict("duplicate_id", id=one) for one in _repeated(one.id for one in written.entities)),
    ]


def conflicts_of(imported: Imported, present: Catalogue) -> list[Conflict]:
    """Conflicts of an import, its ambiguous names linked, with what is there; refusing ones first."""
    found: list[Conflict] = []
    topics = {*present.topics, *(one.id for one in imported.topics)}
    for word, ids in imported.words.items():
        found += (Conflict("unknown_target", id=one, name=word) for one in ids if one not in topics)
    found += (Conflict("replaces", id=one.id, name=one.name) for one in _replacing_topics(imported, present))
    found += (Conflict("replaces", id=one.id, name=one.name) for one in _replacing_entities(imported, present))
    found += _ambiguous_names(imported, present)
    return sorted(found, key=lambda one: not one.refuses)[:MAX_CONFLICTS]


def _replacing_topics(imported: Imported, present: Catalogue) -> Iterable[TopicDefinition]:
    for one in imported.topics:
        known = present.topics.get(one.id)
        if known is not None and {key_of(name) for name in known.names.values()}.isdisjoint(
            key_of(name) for name in one.names.values()
        ):
            yield one


def _replacing_entities(imported: Imported, present: Catalogue) -> Iterable[EntityDefinition]:
    for one in imported.entities:
        known = present.entities.get(one.id)
        if known is not None and (key_of(known.name), known.type) != (key_of(one.name), one.type):
            yield one


def _ambiguous_names(imported: Imported, present: Catalogue) -> Iterable[Conflict]:
    """Names that mean several things once the import is in, unless the import says itself that they do."""
    declared = {key_of(name) for name in imported.ambiguous}
    replaced = {one.id for one in imported.entities}
    owners: dict[str, dict[str, str]] = {}
    for one in (*imported.entities, *(one for one in present.entities.values() if one.id not in replaced)):
        for name in names_of(one):
            owners.setdefault(key_of(name), {}).setdefault(one.id, name)
    for key, ids in owners.items():
        if len(ids) > 1 and key not in declared and not replaced.isdisjoint(ids):
            yield Conflict("ambiguous_name", name=next(iter(ids.values())), targets=tuple(sorted(ids)))
    replaced_topics = {one.id for one in imported.topics}
    topic_owners: dict[str, dict[str, str]] = {}
    kept = (one for one in present.topics.values() if one.id not in replaced_topics)
    for topic in (*imported.topics, *kept):
        for name in topic_names(topic):
            topic_owners.setdefault(key_of(name), {}).setdefault(topic.id, name)
    for ids in topic_owners.values():
        if len(ids) > 1 and not replaced_topics.isdisjoint(ids):
            yield Conflict("ambiguous_name", name=next(iter(ids.values())), targets=tuple(sorted(ids)))


def _with_alias(entity: EntityDefinition, name: str, provenance: Provenance) -> EntityDefinition:
    if key_of(name) in {key_of(one) for one in names_of(entity)}:
        return entity
    alias = AliasDefinition(name, source=provenance.source, editor=provenance.editor)
    return replace(entity, aliases=(*entity.aliases, alias))


def _repeated(ids: Iterable[str]) -> list[str]:
    seen: set[str] = set()
    again: dict[str, None] = {}
    for one in ids:
        if one in seen:
            again[one] = None
        seen.add(one)
    return list(again)


def _each(rows: Any, field: str, read_row: Any, maximum: int) -> tuple[Any, ...]:
    if rows is None:
        return ()
    if not isinstance(rows, list):
        raise InvalidInput(f"{field} must be a list", field=field)
    if len(rows) > maximum:
        raise InvalidInput(f"{field} must be at most {maximum}", field=field)
    found = []
    for place, row in enumerate(rows):
        try:
            found.append(read_row(row))
        except InvalidInput as error:
            where = f"{field}[{place}]"
            raise InvalidInput(f"{where}: {error}", field=f"{where}.{error.field or ''}".rstrip(".")) from None
    return tuple(found)


def _targets(value: Any, field: str) -> dict[str, tuple[str, ...]]:
    if value is None:
        return {}
    if not isinstance(value, dict) or len(value) > MAX_ENTITIES:
        raise InvalidInput(f"{field} must be an object of words", field=field)
    found = {}
    for word, targets in value.items():
        named = isinstance(word, str) and isinstance(targets, list) and all(isinstance(one, str) for one in targets)
        if not named or not 1 <= len(targets) <= MAX_AMBIGUOUS:
            raise InvalidInput(
                f"{field} must map each word to a list of 1 to {MAX_AMBIGUOUS} names or ids", field=field
            )
        found[check_name(word, field)] = tuple(dict.fromkeys(targets))
    return found


def _text(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput("the file must be UTF-8", field="body") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys are there once: of two lists under one key one would be lost without a word."""
    found: dict[str, Any] = {}
    for key, value in pairs:
        if str(key) in found:
            raise InvalidInput(f"the file has the key {str(key)[:64]!a} twice in one object", field="body")
        found[str(key)] = value
    return found


def _json(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_once)
    except json.JSONDecodeError as error:
        raise InvalidInput(f"the file is not JSON: line {error.lineno}, column {error.colno}", field="body") from None
    except (ValueError, RecursionError):
        raise InvalidInput("the file is not JSON", field="body") from None


def _yaml(text: str) -> Any:
    import yaml

    safe: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

    class Loader(safe):  # type: ignore[misc]
        """Refuses a key that an object has twice, of which YAML would keep the last."""

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            _once([(key.value, None) for key, _value in node.value])
            return super().construct_mapping(node, deep=deep)

    try:
        return yaml.load(text, Loader=Loader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        raise InvalidInput(f"the file is not YAML: line {line}", field="body") from None
    except (yaml.YAMLError, ValueError, RecursionError):
        raise InvalidInput("the file is not YAML", field="body") from None


def _csv_rows(text: str) -> list[dict[str, str]]:
    try:
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        unknown = set(reader.fieldnames or ()) - set(CSV_COLUMNS)
        if unknown:
            raise InvalidInput(f"unknown column {sorted(unknown)[0][:64]!a}", field="body")
        if not {"kind", "id", "name"} <= set(reader.fieldnames or ()):
            raise InvalidInput(f"the first line must name columns of {', '.join(CSV_COLUMNS)}", field="body")
        rows = []
        for row in reader:
            if None in row or None in row.values():
                raise InvalidInput(f"line {reader.line_num} has another number of cells than the first", field="body")
            rows.append(row)
        return rows
    except csv.Error:
        raise InvalidInput("the file is not CSV", field="body") from None


def _from_rows(rows: Sequence[Mapping[str, str]], provenance: Provenance) -> Imported:
    shaped: dict[str, list[dict[str, Any]]] = {"topic": [], "entity": []}
    for place, row in enumerate(rows):
        kind = row["kind"].strip()
        if kind not in shaped:
            raise InvalidInput(f"row {place + 1}: kind must be topic or entity", field="kind")
        shaped[kind].append(_shaped(kind, row))
    return Imported(
        topics=_each(shaped["topic"], "topics", lambda row: check_topic(topic_of(row, provenance)), MAX_TOPICS),
        entities=_each(
            shaped["entity"], "entities", lambda row: check_entity(entity_of(row, provenance)), MAX_ENTITIES
        ),
    )


def _shaped(kind: str, row: Mapping[str, str]) -> dict[str, Any]:
    """A CSV row in the shape of the JSON files. Columns without a language are Chinese where they hold Han."""
    aliases = {"": _cell(row, "aliases"), "en": _cell(row, "aliases_en")}
    shaped: dict[str, Any] = {
        "id": row["id"],
        "aliases": {language: ones for language, ones in aliases.items() if ones},
    }
    if kind == "entity":
        other = row.get("name_en", "").strip()
        if other:
            shaped["aliases"].setdefault("en", []).append(other)
        return shaped | {"name": row["name"], "type": row.get("type", "")}
    names = {"zh": row["name"], "en": row.get("name_en", "")}
    if row["name"].isascii() and not names["en"]:
        names = {"en": row["name"]}
    descriptions = {"zh": row.get("description", ""), "en": row.get("description_en", "")}
    return shaped | {
        "name": {language: one for language, one in names.items() if one},
        "description": {language: one for language, one in descriptions.items() if one},
    }


def _cell(row: Mapping[str, str], column: str) -> list[str]:
    return [one.strip() for one in row.get(column, "").split(CSV_SEPARATOR) if one.strip()]
