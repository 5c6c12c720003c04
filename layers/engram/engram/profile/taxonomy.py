"""The topics and sub-topics a profile may have, and the one function that reads them out."""

from __future__ import annotations

import re
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
