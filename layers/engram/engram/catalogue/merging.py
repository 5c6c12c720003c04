"""What stays of a definition when it is written again: rules and hints that the writer left out, and where aliases came
from. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from engram.resolve.aliases import key_of
from engram.resolve.definitions import AliasDefinition, EntityDefinition, TopicDefinition, TopicRules


@dataclass(frozen=True, slots=True)
class Counted:
    """Definitions of an import by what happens to them."""

    added: int
    changed: int
    unchanged: int

    @classmethod
    def of(
        cls,
        given: Sequence[TopicDefinition | EntityDefinition],
        written: Sequence[TopicDefinition | EntityDefinition],
        present: Mapping[str, TopicDefinition | EntityDefinition],
    ) -> Counted:
        added = sum(one.id not in present for one in written)
        return cls(added, len(written) - added, len(given) - len(written))


def kept_topic(topic: TopicDefinition, present: TopicDefinition | None) -> TopicDefinition:
    """`topic` with the rules of the present one where it gives none. `never` and `yields_to` are shipped knowledge,
    which nobody is shown, and always stay."""
    if present is None:
        return topic
    rules = (
        present.rules
        if topic.rules == TopicRules()
        else replace(topic.rules, never=present.rules.never, yields_to=present.rules.yields_to)
    )
    descriptions = topic.descriptions or present.descriptions
    aliases = _aliases(topic.aliases, present.aliases)
    return replace(topic, rules=rules, descriptions=descriptions, aliases=aliases)


def kept_entity(entity: EntityDefinition, present: EntityDefinition | None) -> EntityDefinition:
    """`entity` with the hints of the present one where it gives none."""
    if present is None:
        return entity
    return replace(entity, hints=entity.hints or present.hints, aliases=_aliases(entity.aliases, present.aliases))


def same_names(before: Iterable[str], after: Iterable[str]) -> bool:
    return {key_of(one) for one in before} == {key_of(one) for one in after}


def _aliases(new: Sequence[AliasDefinition], present: Sequence[AliasDefinition]) -> tuple[AliasDefinition, ...]:
    """The new aliases, each with its earlier source and editor if it was there; in the earlier order if all were."""
    known = {(one.text, one.language): one for one in present}
    untagged = {one.text: one for one in present}
    kept = tuple(
        known.get((one.text, one.language)) or (untagged.get(one.text) if not one.language else None) or one
        for one in new
    )
    return tuple(present) if set(kept) == set(present) else tuple(dict.fromkeys(kept))
