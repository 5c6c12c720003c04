"""Catalogues from files: the shape of `topics.json` and `entities.json`, and the one that is shipped.

Ids in the files are kept as they are. What is shipped adds rules for topics, hints for entities, and places.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

from engram.resolve.aliases import key_of
from engram.resolve.catalogue import Catalogue
from engram.resolve.definitions import AliasDefinition, EntityDefinition, TopicDefinition, TopicRules
from engram.resolve.lexicon import places_known, read_json


def topics_from(
    document: Mapping[str, Any], *, source: str = "import", editor: str = ""
) -> tuple[TopicDefinition, ...]:
    """Topics of a document `{"topics": [{id, name, description, aliases, rules?}]}`.

    Raises:
        KeyError, TypeError: the document has another shape.
    """
    return tuple(
        TopicDefinition(
            id=entry["id"],
            names=dict(entry["name"]),
            descriptions=dict(entry.get("description", {})),
            aliases=_aliases(entry.get("aliases", {}), source, editor),
            rules=_rules(entry.get("rules", {})),
        )
        for entry in document["topics"]
    )


def heads_from(document: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """`ambiguous_heads` of a topics document."""
    return {head: tuple(ids) for head, ids in document.get("ambiguous_heads", {}).items()}


def entities_from(
    document: Mapping[str, Any], *, source: str = "import", editor: str = ""
) -> tuple[EntityDefinition, ...]:
    """Entities of a document `{"entities": [{id, canonical, type, aliases, hints?}], "ambiguous_aliases": {…}}`.

    An alias that `ambiguous_aliases` lists is added to each of its entities that does not have it yet.
    """
    by_name = {entry["canonical"]: entry for entry in document["entities"]}
    extra: dict[str, list[str]] = {}
    for alias, names in document.get("ambiguous_aliases", {}).items():
        for name in names:
            known = {key_of(text) for texts in by_name[name].get("aliases", {}).values() for text in texts}
            if key_of(alias) not in known | {key_of(name)}:
                extra.setdefault(name, []).append(alias)
    return tuple(
        EntityDefinition(
            id=entry["id"],
            name=entry["canonical"],
            type=entry["type"],
            aliases=(
                *_aliases(entry.get("aliases", {}), source, editor),
                *(AliasDefinition(alias, "", source, editor) for alias in extra.get(entry["canonical"], ())),
            ),
            hints=tuple(entry.get("hints", ())),
        )
        for entry in document["entities"]
    )


@lru_cache(maxsize=1)
def default_catalogue() -> Catalogue:
    """The shipped catalogue, compiled once per process."""
    topics, entities = read_json("topics.json"), read_json("entities.json")
    rules, hints = read_json("topic_rules.json"), read_json("hints.json")
    for entry in topics["topics"]:
        entry["rules"] = rules.get(entry["id"], {})
    for entry in entities["entities"]:
        entry["hints"] = hints.get(entry["id"], ())
    things = entities_from(entities, source="shipped")
    return Catalogue(
        topics=topics_from(topics, source="shipped"),
        entities=(*things, *_places(things)),
        ambiguous_heads=heads_from(topics) | heads_from({"ambiguous_heads": read_json("shared_words.json")}),
    )


def _places(things: Iterable[EntityDefinition]) -> tuple[EntityDefinition, ...]:
    """Countries and the largest cities (GeoNames, CC BY 4.0) that are not among the things already.

    Smaller places are recognised as names but are no entities until a person adds them: what nobody chose to keep
    apart should not be told apart.
    """
    taken = {key_of(name) for thing in things for name in (thing.name, *(alias.text for alias in thing.aliases))}
    places: list[EntityDefinition] = []
    for place in places_known():
        written = [*place.chinese, *place.english]
        if place.kind == "city" or any(key_of(name) in taken for name in written):
            continue
        aliases = _aliases({"zh": place.chinese, "en": place.english}, "geonames", "")
        kind = "country" if place.kind == "country" else "city"
        places.append(EntityDefinition(place.id, written[0], kind, tuple(a for a in aliases if a.text != written[0])))
        taken.update(key_of(name) for name in written)
    return tuple(places)


def _aliases(by_language: Mapping[str, Iterable[str]], source: str, editor: str) -> tuple[AliasDefinition, ...]:
    return tuple(
        AliasDefinition(text, language, source, editor) for language, texts in by_language.items() for text in texts
    )


def _rules(entry: Mapping[str, Iterable[str]]) -> TopicRules:
    return TopicRules(
        cues=tuple(entry.get("cues", ())),
        hints=tuple(entry.get("hints", ())),
        never=tuple(entry.get("never", ())),
        types=tuple(entry.get("types", ())),
        yields_to=tuple(entry.get("yields_to", ())),
    )
