"""The profile configuration: YAML in, a taxonomy out. The same for the whole service and for one business."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from engram.profile.taxonomy import EventTagRule, SubTopic, Taxonomy, Topic, attribute_unify, with_topics
from engram.profile.yaml_text import (
    Value,
    flag_of,
    keys_of,
    list_of,
    mistake,
    parse_yaml,
    shown,
    text_of,
)

LANGUAGES = ("en", "zh")
PRESETS = ("assistant", "companion", "education", "strict")
MAX_TOPICS = 100
MAX_SUB_TOPICS = 100
MAX_TAGS = 50
MAX_NAME_CHARACTERS = 100
MAX_DESCRIPTION_CHARACTERS = 1_000

_HERE = Path(__file__).parent
_TOPIC_KEYS = ("topic", "description", "sub_topics")
_SUB_TOPIC_KEYS = ("name", "description", "update_description", "validate_value")
_TAG_KEYS = ("name", "description")


@dataclass(frozen=True, slots=True)
class ProfileConfig:
    """What one configuration sets; None where it says nothing and the wider one counts.

    Attributes:
        overwrite: instead of the wider topics; an empty list says nothing.
        additional: on top of them.
    """

    language: str | None = None
    overwrite: tuple[Topic, ...] | None = None
    additional: tuple[Topic, ...] = ()
    strict: bool | None = None
    validate: bool | None = None
    event_tags: tuple[EventTagRule, ...] | None = None
    event_theme_requirement: str | None = None


def parse_config(text: str) -> ProfileConfig:
    """A configuration from YAML; an empty text sets nothing. `preset` begins with one of `PRESETS`.

    Raises:
        YamlMistake: not YAML, an unknown key, a value of the wrong kind. Names the line and the key.
    """
    document = parse_yaml(text)
    if document is None or document.plain is None:
        return ProfileConfig()
    found = keys_of(document, "the configuration", tuple(_FIELDS))
    given = {key: value for key, value in found.items() if value.plain is not None}
    base = preset(_one_of(given.pop("preset"), "preset", PRESETS)) if "preset" in given else ProfileConfig()
    values = {_FIELDS[key].attribute: _FIELDS[key].parse(value, key) for key, value in given.items()}
    values["additional"] = (*base.additional, *values.get("additional", ()))
    if not values.get("overwrite"):
        values["overwrite"] = base.overwrite
    return replace(base, **values)


def taxonomy_of(service: ProfileConfig, business: ProfileConfig, *, language: str = "en") -> Taxonomy:
    """What may be written and shown: the business's settings over the service's over the defaults in its language.

    This is the one place where a taxonomy is put together; the distiller's prompt and the reader both use its result.
    """
    chosen = business.language or service.language or language
    topics = with_topics(service.overwrite or default_topics(chosen), service.additional)
    topics = with_topics(business.overwrite or topics, business.additional)
    tags = business.event_tags if business.event_tags is not None else service.event_tags
    return Taxonomy(
        language=chosen,
        topics=topics,
        strict=_first(business.strict, service.strict, default=False),
        validate=_first(business.validate, service.validate, default=True),
        event_tags=tags or (),
        event_theme_requirement=business.event_theme_requirement or service.event_theme_requirement or "",
    )


@cache
def default_topics(language: str) -> tuple[Topic, ...]:
    """Our own topics in `language` (English where we have none), from the files under `topics/`."""
    name = language if language in LANGUAGES else LANGUAGES[0]
    document = parse_yaml((_HERE / "topics" / f"{name}.yaml").read_text("utf-8"))
    return _topics(document, name) if document is not None else ()


@cache
def preset(name: str) -> ProfileConfig:
    """A configuration to begin with, from the files under `presets/`."""
    return parse_config((_HERE / "presets" / f"{name}.yaml").read_text("utf-8"))


def _topics(value: Value, name: str) -> tuple[Topic, ...]:
    topics = tuple(_topic(one) for one in list_of(value, name, maximum=MAX_TOPICS))
    seen: set[str] = set()
    for topic, one in zip(topics, value.plain or (), strict=True):
        if attribute_unify(topic.name) in seen:
            mistake(f"topic {shown(topic.name)} stands in {name} twice", one)
        seen.add(attribute_unify(topic.name))
    return topics


def _topic(value: Value) -> Topic:
    found = keys_of(value, "a topic", _TOPIC_KEYS)
    if "topic" not in found:
        mistake("a topic needs the key topic", value)
    sub_topics = found.get("sub_topics")
    return Topic(
        name=_name(found["topic"], "topic"),
        description=_described(found, "description"),
        sub_topics=tuple(_sub_topic(one) for one in list_of(sub_topics, "sub_topics", maximum=MAX_SUB_TOPICS))
        if sub_topics is not None
        else (),
    )


def _sub_topic(value: Value) -> SubTopic:
    """A name alone, or a mapping."""
    if not isinstance(value.plain, dict):
        return SubTopic(_name(value, "sub_topic"))
    found = keys_of(value, "a sub-topic", _SUB_TOPIC_KEYS)
    if "name" not in found:
        mistake("a sub-topic needs the key name", value)
    return SubTopic(
        name=_name(found["name"], "name"),
        description=_described(found, "description"),
        update_description=_described(found, "update_description"),
        validate_value=_validated(found),
    )


def _validated(found: Mapping[str, Value]) -> bool | None:
    value = found.get("validate_value")
    return flag_of(value, "validate_value") if value is not None and value.plain is not None else None


def _tags(value: Value, key: str) -> tuple[EventTagRule, ...]:
    rules = []
    for one in list_of(value, key, maximum=MAX_TAGS):
        found = keys_of(one, "an event tag", _TAG_KEYS)
        if "name" not in found:
            mistake("an event tag needs the key name", one)
        rules.append(EventTagRule(attribute_unify(_name(found["name"], "name")), _described(found, "description")))
    return tuple(rules)


def _name(value: Value, key: str) -> str:
    name = text_of(value, key, maximum=MAX_NAME_CHARACTERS)
    if not name:
        mistake(f"{key} must not be empty", value)
    if "::" in name or any(not char.isprintable() for char in name):
        mistake(f"{key} must not hold :: or control characters", value)
    return name


def _described(found: Mapping[str, Value], key: str) -> str:
    value = found.get(key)
    return _sentence(value, key) if value is not None and value.plain is not None else ""


def _sentence(value: Value, key: str) -> str:
    return text_of(value, key, maximum=MAX_DESCRIPTION_CHARACTERS)


def _language(value: Value, key: str) -> str:
    return _one_of(value, key, LANGUAGES)


def _one_of(value: Value, key: str, choices: tuple[str, ...]) -> str:
    name = text_of(value, key, maximum=MAX_NAME_CHARACTERS)
    if name not in choices:
        mistake(f"{key} must be one of {', '.join(choices)}", value)
    return name


def _first(*values: bool | None, default: bool) -> bool:
    return next((value for value in values if value is not None), default)


class _Field(NamedTuple):
    attribute: str
    parse: Callable[[Value, str], Any]


_FIELDS: Mapping[str, _Field] = {
    "preset": _Field("", _sentence),
    "language": _Field("language", _language),
    "overwrite_user_profiles": _Field("overwrite", _topics),
    "additional_user_profiles": _Field("additional", _topics),
    "profile_strict_mode": _Field("strict", flag_of),
    "profile_validate_mode": _Field("validate", flag_of),
    "event_tags": _Field("event_tags", _tags),
    "event_theme_requirement": _Field("event_theme_requirement", _sentence),
}
