"""The topics and sub-topics a profile may have, and the one function that reads them out."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass


def attribute_unify(name: str) -> str:
    """Topic and sub-topic names compare and are stored in this form: lower case, runs of white space as one `_`."""
    return re.sub(r"\s+", "_", name.strip().lower())


@dataclass(frozen=True, slots=True)
class SubTopic:
    """A sub-topic. `validate_value`: None follows the business's `profile_validate_mode`."""

    name: str
    description: str = ""
    update_description: str = ""
    validate_value: bool | None = None


@dataclass(frozen=True, slots=True)
class Topic:
    name: str
    description: str = ""
    sub_topics: tuple[SubTopic, ...] = ()


@dataclass(frozen=True, slots=True)
class EventTagRule:
    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """What may be written about a user of a business.

    Attributes:
        strict: nothing outside `topics` is ever written.
        validate: values are checked against the sub-topic's description before they are written.
    """

    language: str
    topics: tuple[Topic, ...]
    strict: bool = False
    validate: bool = True
    event_tags: tuple[EventTagRule, ...] = ()
    event_theme_requirement: str = ""

    def find(self, topic: str, sub_topic: str) -> SubTopic | None:
        """The sub-topic under these names after `attribute_unify`, or None."""
        wanted_topic, wanted_sub = attribute_unify(topic), attribute_unify(sub_topic)
        for known in self.topics:
            if attribute_unify(known.name) == wanted_topic:
                for sub in known.sub_topics:
                    if attribute_unify(sub.name) == wanted_sub:
                        return sub
        return None

    def allows(self, topic: str, sub_topic: str) -> bool:
        """Whether a row of this topic and sub-topic may be written and shown."""
        return not self.strict or self.find(topic, sub_topic) is not None

    def validates(self, topic: str, sub_topic: str) -> bool:
        """Whether a value for this sub-topic is checked against its description before it is written."""
        found = self.find(topic, sub_topic)
        return self.validate if found is None or found.validate_value is None else found.validate_value


def with_topics(base: Iterable[Topic], more: Iterable[Topic]) -> tuple[Topic, ...]:
    """`base`, then `more`. A topic of a known name adds its sub-topics; of one sub-topic the later wording counts."""
    merged: dict[str, Topic] = {}
    for topic in (*base, *more):
        name = attribute_unify(topic.name)
        known = merged.get(name)
        if known is None:
            merged[name] = Topic(name, topic.description, _unified(topic.sub_topics))
        else:
            sub_topics = _unified((*known.sub_topics, *topic.sub_topics))
            merged[name] = Topic(name, topic.description or known.description, sub_topics)
    return tuple(merged.values())


def read_out(taxonomy: Taxonomy) -> str:
    """The topics as text for a model: one line a topic, one a sub-topic, with what is said about each."""
    lines = []
    for topic in taxonomy.topics:
        lines.append(_line("-", attribute_unify(topic.name), topic.description))
        for sub in topic.sub_topics:
            update = f"[{sub.update_description}]" if sub.update_description else ""
            lines.append(_line("  -", attribute_unify(sub.name), " ".join(filter(None, (sub.description, update)))))
    return "\n".join(lines)


def _unified(sub_topics: Iterable[SubTopic]) -> tuple[SubTopic, ...]:
    unified: dict[str, SubTopic] = {}
    for sub in sub_topics:
        name = attribute_unify(sub.name)
        unified[name] = SubTopic(name, sub.description, sub.update_description, sub.validate_value)
    return tuple(unified.values())


def _line(bullet: str, name: str, description: str) -> str:
    return f"{bullet} {name}: {description}" if description else f"{bullet} {name}"
