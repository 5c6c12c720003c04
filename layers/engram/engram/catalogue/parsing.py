"""Definitions from the shapes people write them in: the API's bodies and the files of a bulk import."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from engram.domain.errors import InvalidInput
from engram.resolve.definitions import AliasDefinition, EntityDefinition, TopicDefinition, TopicRules
from engram.text.language import has_han

_TOPIC_KEYS = frozenset(("id", "name", "names", "description", "descriptions", "aliases", "rules"))
_ENTITY_KEYS = frozenset(("id", "name", "canonical", "type", "aliases", "hints"))
_RULE_KEYS = frozenset(("cues", "hints", "types"))
_ALIAS_KEYS = frozenset(("text", "language", "source", "editor"))


@dataclass(frozen=True, slots=True)
class Provenance:
    """Where an alias comes from when it does not say so itself, and who entered it."""

    source: str
    editor: str = ""


def topic_of(row: Any, provenance: Provenance) -> TopicDefinition:
    """A topic: `{id, name: {zh, en} or text, description, aliases, rules: {cues, hints, types}}`.

    Raises:
        InvalidInput: not of that shape, or a key it does not have.
    """
    fields = _object(row, _TOPIC_KEYS, "topic")
    return TopicDefinition(
        id=_string(fields.get("id"), "id"),
        names=_by_language(fields.get("name", fields.get("names")), "name"),
        descriptions=_by_language(fields.get("description", fields.get("descriptions")), "description"),
        aliases=aliases_of(fields.get("aliases"), provenance),
        rules=_rules(fields.get("rules")),
    )


def entity_of(row: Any, provenance: Provenance) -> EntityDefinition:
    """An entity: `{id, name or canonical, type, aliases, hints}`.

    Raises:
        InvalidInput: not of that shape, or a key it does not have.
    """
    fields = _object(row, _ENTITY_KEYS, "entity")
    return EntityDefinition(
        id=_string(fields.get("id"), "id"),
        name=_string(fields.get("name", fields.get("canonical")), "name"),
        type=_string(fields.get("type"), "type"),
        aliases=aliases_of(fields.get("aliases"), provenance),
        hints=_strings(fields.get("hints"), "hints"),
    )


def aliases_of(value: Any, provenance: Provenance) -> tuple[AliasDefinition, ...]:
    """Aliases from a list of texts or objects, or from such lists by language."""
    if value is None:
        return ()
    if isinstance(value, Mapping):
        return tuple(
            alias
            for language, ones in value.items()
            for alias in _aliases(ones, _string(language, "aliases"), provenance)
        )
    return _aliases(value, "", provenance)


def _aliases(value: Any, language: str, provenance: Provenance) -> tuple[AliasDefinition, ...]:
    if not isinstance(value, list):
        raise InvalidInput("aliases must be a list, or an object of lists by language", field="aliases")
    return tuple(_alias(one, language, provenance) for one in value)


def _alias(value: Any, language: str, provenance: Provenance) -> AliasDefinition:
    if isinstance(value, str):
        return AliasDefinition(value, language, provenance.source, provenance.editor)
    fields = _object(value, _ALIAS_KEYS, "alias")
    return AliasDefinition(
        text=_string(fields.get("text"), "aliases.text"),
        language=_string(fields.get("language", language), "aliases.language"),
        source=_string(fields.get("source", provenance.source), "aliases.source"),
        editor=_string(fields.get("editor", provenance.editor), "aliases.editor"),
    )


def _rules(value: Any) -> TopicRules:
    if value is None:
        return TopicRules()
    fields = _object(value, _RULE_KEYS, "rules")
    return TopicRules(**{name: _strings(given, f"rules.{name}") for name, given in fields.items()})


def _by_language(value: Any, field: str) -> dict[str, str]:
    """Texts by language; a bare text is Chinese if it holds Han, else English."""
    if value is None:
        return {}
    if isinstance(value, str):
        return {"zh" if has_han(value) else "en": value} if value else {}
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{field} must be a text, or an object of texts by language", field=field)
    return {_string(language, field): _string(text, field) for language, text in value.items()}


def _object(value: Any, known: frozenset[str], what: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidInput(f"{what} must be an object", field=what)
    for name in value:
        if name not in known:
            shown = ascii(str(name)[:64])[1:-1]
            raise InvalidInput(f"unknown parameter {shown} of {what}", field=shown)
    return value


def _string(value: Any, field: str) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"{field} must be a text", field=field)
    return value


def _strings(value: Any, field: str) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise InvalidInput(f"{field} must be a list of texts", field=field)
    return tuple(value)
