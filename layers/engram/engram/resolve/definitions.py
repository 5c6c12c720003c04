"""What a catalogue is made of, as plain values: topics and entities with their aliases.

Whoever edits a catalogue writes these; the resolver reads the compiled `Catalogue`. Ids are never made here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class AliasDefinition:
    """One way to write a name.

    Attributes:
        text: as people write it; compared after folding.
        language: `zh`, `en`, or "" when it is the same in both.
        source: where it comes from (`shipped`, `import`, `api`, …); editor: who entered it.
    """

    text: str
    language: str = ""
    source: str = "shipped"
    editor: str = ""


@dataclass(frozen=True, slots=True)
class TopicRules:
    """What else than a name tells that a topic is meant.

    Attributes:
        cues: expressions of which one is enough. `a&b` holds when both are there, `a|b` when either is,
            `<type>` stands for a linked entity of that type, `<place>` for any kind of place.
        hints: expressions of which two are needed.
        never: regular expressions over the folded text; words of the topic inside such a match say nothing.
        yields_to: ids of topics that are meant when both are spoken for (装修预算 is about 装修).
        types: entity types that go with the topic, for telling ambiguous names apart and ambiguous heads.
    """

    cues: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    yields_to: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TopicDefinition:
    """An element of the closed set of topics. `names` and `descriptions` are by language."""

    id: str
    names: Mapping[str, str]
    descriptions: Mapping[str, str] = field(default_factory=dict)
    aliases: tuple[AliasDefinition, ...] = ()
    rules: TopicRules = TopicRules()

    @property
    def name(self) -> str:
        """The name to show: English where there is one."""
        return self.names.get("en") or next(iter(self.names.values()), self.id)


@dataclass(frozen=True, slots=True)
class EntityDefinition:
    """A thing with an id and a type. `hints` are words beside which an ambiguous name means this one."""

    id: str
    name: str
    type: str
    aliases: tuple[AliasDefinition, ...] = ()
    hints: tuple[str, ...] = ()
