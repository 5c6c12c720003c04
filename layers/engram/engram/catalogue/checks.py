"""What a catalogue definition may hold. Names are data: a name that is syntax somewhere is still only a name.

Raises InvalidInput naming the field; nothing is trimmed or repaired.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from engram.domain.errors import InvalidInput
from engram.domain.scope import check_id
from engram.resolve.aliases import key_of
from engram.resolve.definitions import AliasDefinition, EntityDefinition, TopicDefinition

MAX_NAME_CHARACTERS = 200
MAX_DESCRIPTION_CHARACTERS = 2_000
MAX_ALIASES = 300
MAX_RULES = 200
MAX_RULE_CHARACTERS = 1_000
MAX_RULES_CHARACTERS = 40_000
"""All rules of one kind together: with its aliases a topic must stay within a row of the table."""
MAX_TYPE_CHARACTERS = 40
MAX_EDITOR_CHARACTERS = 128
MAX_LANGUAGES = 20
MAX_TOPICS = 1_000
MAX_ENTITIES = 50_000
MAX_AMBIGUOUS = 100
"""Most targets of one ambiguous name or word."""

_REFUSED = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff\ud800-\udfff]")
_LANGUAGE = re.compile(r"(?:[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*)?\Z")
_TYPE = re.compile(r"\w[\w .:/-]*\Z")


def check_text(value: str, field: str, maximum: int, *, empty: bool = False) -> str:
    """`value` unchanged if it can be kept and shown as one line."""
    if not value.strip() and not empty:
        raise InvalidInput(f"{field} must not be empty", field=field)
    if len(value) > maximum:
        raise InvalidInput(f"{field} must be at most {maximum} characters", field=field)
    if _REFUSED.search(value):
        raise InvalidInput(f"{field} must not hold control characters or lone surrogates", field=field)
    return value


def check_name(value: str, field: str) -> str:
    """A name or alias: a text with something in it that can be matched."""
    check_text(value, field, MAX_NAME_CHARACTERS)
    if not key_of(value):
        raise InvalidInput(f"{field} must hold a letter, digit or sign that can be matched", field=field)
    return value


def check_language(value: str, field: str) -> str:
    if not _LANGUAGE.match(value):
        raise InvalidInput(f"{field} must be a language tag such as en or zh", field=field)
    return value


def check_topic(topic: TopicDefinition) -> TopicDefinition:
    check_id(topic.id, "id")
    if not topic.names:
        raise InvalidInput("name must be given in at least one language", field="name")
    if len(topic.names) > MAX_LANGUAGES or len(topic.descriptions) > MAX_LANGUAGES:
        raise InvalidInput(f"name and description take at most {MAX_LANGUAGES} languages", field="name")
    for language, name in topic.names.items():
        check_language(language, "name")
        check_name(name, "name")
    for language, description in topic.descriptions.items():
        check_language(language, "description")
        check_text(description, "description", MAX_DESCRIPTION_CHARACTERS, empty=True)
    _check_aliases(topic.aliases)
    for field in ("cues", "hints", "types"):
        _check_rules(getattr(topic.rules, field), f"rules.{field}")
    return topic


def check_entity(entity: EntityDefinition) -> EntityDefinition:
    check_id(entity.id, "id")
    check_name(entity.name, "name")
    check_text(entity.type, "type", MAX_TYPE_CHARACTERS)
    if not _TYPE.match(entity.type):
        raise InvalidInput("type must be a word, such as city or person", field="type")
    _check_aliases(entity.aliases)
    _check_rules(entity.hints, "hints")
    return entity


def _check_aliases(aliases: Sequence[AliasDefinition]) -> None:
    if len(aliases) > MAX_ALIASES:
        raise InvalidInput(f"aliases must be at most {MAX_ALIASES}", field="aliases")
    for alias in aliases:
        check_name(alias.text, "aliases")
        check_language(alias.language, "aliases.language")
        check_text(alias.source, "aliases.source", MAX_EDITOR_CHARACTERS, empty=True)
        check_text(alias.editor, "aliases.editor", MAX_EDITOR_CHARACTERS, empty=True)


def _check_rules(rules: Sequence[str], field: str) -> None:
    if len(rules) > MAX_RULES:
        raise InvalidInput(f"{field} must be at most {MAX_RULES}", field=field)
    for rule in rules:
        check_text(rule, field, MAX_RULE_CHARACTERS)
    if sum(map(len, rules)) > MAX_RULES_CHARACTERS:
        raise InvalidInput(f"{field} must be at most {MAX_RULES_CHARACTERS} characters together", field=field)
