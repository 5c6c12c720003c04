"""A compiled, immutable catalogue: closed topics, entities, their names, and the words that alone are ambiguous."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TypeVar

from engram.resolve.aliases import NameTable, key_of
from engram.resolve.definitions import EntityDefinition, TopicDefinition
from engram.resolve.phonetics import SoundTable

COMMON_TYPES = frozenset(("food", "animal", "holiday", "exam", "language"))
"""Types whose names are ordinary nouns, with plurals, to be taken at their word."""
PLACE_TYPES = frozenset(("city", "region", "country", "place"))


class Catalogue:
    """Names to ids, in memory.

    Attributes:
        topics, entities: by id.
        ambiguous_heads: folded word → topic ids it may mean when nothing else is said (攻略, plan).
        version: hash of everything in it: what was calibrated or linked with one version is not with another.
    """

    def __init__(
        self,
        *,
        topics: Iterable[TopicDefinition] = (),
        entities: Iterable[EntityDefinition] = (),
        ambiguous_heads: Mapping[str, Iterable[str]] | None = None,
    ) -> None:
        """Raises ValueError if two definitions share an id or a head names a topic that does not exist."""
        self.topics = _by_id(topics)
        self.entities = _by_id(entities)
        heads = {key_of(head): tuple(ids) for head, ids in (ambiguous_heads or {}).items()}
        if any(topic_id not in self.topics for ids in heads.values() for topic_id in ids):
            raise ValueError("an ambiguous head names a topic that is not in the catalogue")
        self.ambiguous_heads: Mapping[str, tuple[str, ...]] = MappingProxyType(heads)

    @cached_property
    def entity_names(self) -> NameTable:
        names = [(name, entity.id) for entity in self.entities.values() for name in names_of(entity)]
        # Ordinary nouns have plurals; proper names do not.
        nouns = [
            (f"{name}s", entity.id)
            for entity in self.entities.values()
            if entity.type in COMMON_TYPES
            for name in names_of(entity)
            if name.isascii() and not name.endswith("s")
        ]
        return NameTable([*names, *nouns])

    @cached_property
    def topic_names(self) -> NameTable:
        return NameTable(
            ((name, topic.id) for topic in self.topics.values() for name in topic_names(topic)), plurals=True
        )

    @cached_property
    def head_names(self) -> NameTable:
        return NameTable(((head, head) for head in self.ambiguous_heads), plurals=True)

    @cached_property
    def entity_sounds(self) -> SoundTable:
        return SoundTable(self.entity_names)

    @cached_property
    def topic_sounds(self) -> SoundTable:
        return SoundTable(self.topic_names)

    @cached_property
    def version(self) -> str:
        digest = hashlib.sha256()
        for definition in (*self.topics.values(), *self.entities.values()):
            digest.update(repr(definition).encode("utf-8", "backslashreplace"))
        digest.update(repr(sorted(self.ambiguous_heads.items())).encode("utf-8", "backslashreplace"))
        return digest.hexdigest()[:16]

    def ids_of(self, name: str) -> tuple[str, ...]:
        """Ids of the entities that a written name may mean: several when it is ambiguous."""
        return tuple(target.id for target in self.entity_names.get(key_of(name)))

    def overlaid(
        self,
        *,
        topics: Iterable[TopicDefinition] = (),
        entities: Iterable[EntityDefinition] = (),
        removed_topics: Collection[str] = (),
        removed_entities: Collection[str] = (),
        ambiguous_heads: Mapping[str, Iterable[str]] | None = None,
    ) -> Catalogue:
        """This catalogue with definitions added, replaced (same id) and removed (by id).

        A word whose topics are all gone is ambiguous no longer.
        """
        new_topics = {**self.topics, **_by_id(topics)}
        new_entities = {**self.entities, **_by_id(entities)}
        kept = {topic_id: topic for topic_id, topic in new_topics.items() if topic_id not in removed_topics}
        heads = {**self.ambiguous_heads, **(ambiguous_heads or {})}
        known = {head: tuple(topic for topic in ids if topic in kept) for head, ids in heads.items()}
        return Catalogue(
            topics=kept.values(),
            entities=[entity for entity_id, entity in new_entities.items() if entity_id not in removed_entities],
            ambiguous_heads={head: ids for head, ids in known.items() if ids},
        )


def names_of(entity: EntityDefinition) -> tuple[str, ...]:
    """Canonical name and aliases of an entity."""
    return (entity.name, *(alias.text for alias in entity.aliases))


def topic_names(topic: TopicDefinition) -> tuple[str, ...]:
    """Names and aliases of a topic in all languages."""
    return (*topic.names.values(), *(alias.text for alias in topic.aliases))


_Definition = TypeVar("_Definition", TopicDefinition, EntityDefinition)


def _by_id(definitions: Iterable[_Definition]) -> Mapping[str, _Definition]:
    table: dict[str, _Definition] = {}
    for definition in definitions:
        if definition.id in table:
            raise ValueError("two definitions share an id")
        table[definition.id] = definition
    return MappingProxyType(table)
