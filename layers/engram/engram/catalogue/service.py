"""The catalogue as people edit it: shipped topics and entities, with what a business has added, changed or taken away.

Ids come from people and files only; no model and no user's message can make one. Each change raises the version,
so that every process compiles anew, and begins to re-evaluate what had been linked by the names that changed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from engram.catalogue.checks import MAX_ENTITIES, MAX_TOPICS, check_entity, check_topic
from engram.catalogue.importing import Conflict, Imported, conflicts_of, linked_names, read, repeated_ids
from engram.catalogue.merging import Counted, kept_entity, kept_topic, same_names
from engram.catalogue.parsing import Provenance
from engram.catalogue.reevaluation import Reevaluation
from engram.catalogue.resolvers import Resolvers, merged
from engram.domain.errors import ConditionFailed, InvalidInput, NotFound, Unprocessable
from engram.domain.errors import Conflict as Contended
from engram.resolve.aliases import key_of
from engram.resolve.catalogue import Catalogue, names_of, topic_names
from engram.resolve.definitions import AliasDefinition, EntityDefinition, TopicDefinition
from engram.store.catalogue import CatalogueChange, CatalogueRows, Overlay

_ATTEMPTS = 5

Definition = TopicDefinition | EntityDefinition


@dataclass(frozen=True, slots=True)
class Shown:
    """A definition as it holds for a business. `origin`: `shipped`, or `business` for one of its own or changed."""

    definition: Definition
    origin: str


@dataclass(frozen=True, slots=True)
class Changed:
    """What an edit led to.

    Attributes:
        version: of the catalogue now.
        operation_id: of the re-evaluation that has begun; "" when nothing can have been linked by what changed.
    """

    version: int
    operation_id: str = ""


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What an import did, or would do."""

    dry_run: bool
    form: str
    topics: Counted
    entities: Counted
    conflicts: tuple[Conflict, ...]
    applied: bool
    version: int
    operation_id: str = ""


@dataclass(frozen=True, slots=True)
class UnresolvedName:
    """A name that users said and the catalogue does not know, for a person to promote."""

    name: str
    conversations: int
    users: int
    last_seen: str


class CatalogueService:
    """Reads and edits of one business's catalogue."""

    def __init__(self, *, rows: CatalogueRows, resolvers: Resolvers, reevaluation: Reevaluation) -> None:
        self._rows = rows
        self._resolvers = resolvers
        self._reevaluation = reevaluation

    # Reading ------------------------------------------------------------------------------------------

    def topics(self, business_id: str) -> list[Shown]:
        catalogue, overlay = self._present(business_id)
        own = {one.id for one in overlay.topics}
        return [Shown(one, _origin(one.id, own)) for one in sorted(catalogue.topics.values(), key=_by_id)]

    def entities(self, business_id: str) -> list[Shown]:
        catalogue, overlay = self._present(business_id)
        own = {one.id for one in overlay.entities}
        return [Shown(one, _origin(one.id, own)) for one in sorted(catalogue.entities.values(), key=_by_id)]

    def topic(self, business_id: str, topic_id: str) -> Shown:
        return _one(self.topics(business_id), topic_id, "topic")

    def entity(self, business_id: str, entity_id: str) -> Shown:
        return _one(self.entities(business_id), entity_id, "entity")

    def meanings(self, business_id: str, name: str) -> list[Definition]:
        """What a name may mean: several when it is ambiguous."""
        catalogue, _ = self._present(business_id)
        key = key_of(name)
        topics: Iterable[Definition] = catalogue.topics.values()
        found: list[Definition] = [one for one in topics if key in {key_of(each) for each in names(one)}]
        return [*found, *(catalogue.entities[one] for one in catalogue.ids_of(name))]

    def words(self, business_id: str) -> Mapping[str, tuple[str, ...]]:
        """Words that alone may mean one of several topics."""
        catalogue, _ = self._present(business_id)
        return catalogue.ambiguous_heads

    def unresolved(self, business_id: str, *, limit: int, look_at: int) -> tuple[list[UnresolvedName], bool]:
        """The most frequent unknown names, and whether there are conversations that were not looked at."""
        seen: dict[str, tuple[int, set[str], str]] = {}
        looked_at = 0
        for one in self._rows.unresolved(business_id, limit=look_at):
            looked_at += 1
            ended = one.conversation.ended_at.isoformat()
            for name in one.conversation.unresolved:
                count, users, last = seen.get(name, (0, set(), ""))
                users.add(one.scope.user_id)
                seen[name] = (count + 1, users, max(last, ended))
        found = [UnresolvedName(name, count, len(users), last) for name, (count, users, last) in seen.items()]
        found.sort(key=lambda one: (-one.conversations, one.name))
        return found[:limit], looked_at >= look_at

    # Editing ------------------------------------------------------------------------------------------

    def put_topic(self, business_id: str, topic: TopicDefinition) -> Changed:
        """Raises InvalidInput; Conflict if others keep changing the catalogue."""
        check_topic(topic)

        def change(catalogue: Catalogue) -> CatalogueChange:
            kept = kept_topic(topic, catalogue.topics.get(topic.id))
            _check_types(kept, catalogue)
            return CatalogueChange(topics=(kept,))

        return self._edited(business_id, change)

    def put_entity(self, business_id: str, entity: EntityDefinition) -> Changed:
        """Raises InvalidInput; Conflict if others keep changing the catalogue."""
        check_entity(entity)
        return self._edited(
            business_id,
            lambda catalogue: CatalogueChange(entities=(kept_entity(entity, catalogue.entities.get(entity.id)),)),
        )

    def delete_topic(self, business_id: str, topic_id: str) -> Changed:
        """Raises NotFound."""

        def change(catalogue: Catalogue) -> CatalogueChange:
            _known(catalogue.topics, topic_id, "topic")
            return CatalogueChange(removed_topics=(topic_id,))

        return self._edited(business_id, change)

    def delete_entity(self, business_id: str, entity_id: str) -> Changed:
        """Raises NotFound."""

        def change(catalogue: Catalogue) -> CatalogueChange:
            _known(catalogue.entities, entity_id, "entity")
            return CatalogueChange(removed_entities=(entity_id,))

        return self._edited(business_id, change)

    def put_alias(self, business_id: str, kind: str, identifier: str, alias: AliasDefinition) -> Changed:
        """Adds an alias, or replaces the one that is written alike. Raises NotFound, InvalidInput."""

        def change(catalogue: Catalogue) -> CatalogueChange:
            present = _definition(catalogue, kind, identifier)
            others = tuple(one for one in present.aliases if key_of(one.text) != key_of(alias.text))
            return _change_of(replace(present, aliases=(*others, alias)))

        return self._edited(business_id, change)

    def delete_alias(self, business_id: str, kind: str, identifier: str, text: str) -> Changed:
        """Raises NotFound: no such definition, or it has no such alias."""

        def change(catalogue: Catalogue) -> CatalogueChange:
            present = _definition(catalogue, kind, identifier)
            left = tuple(one for one in present.aliases if key_of(one.text) != key_of(text))
            if len(left) == len(present.aliases):
                raise NotFound(f"the {kind} has no such alias")
            return _change_of(replace(present, aliases=left))

        return self._edited(business_id, change)

    def reset(self, business_id: str) -> Changed:
        """Back to the shipped catalogue."""
        before, overlay = self._present(business_id)
        if not overlay.version:
            return Changed(0)
        version = self._rows.forget(business_id)
        after = self._resolvers.default.catalogue
        return Changed(version, self._reevaluation.begin(business_id, changed_ids(before, after)))

    def load(self, business_id: str, data: bytes, form: str, provenance: Provenance, *, dry_run: bool) -> ImportReport:
        """Imports definitions, or only says what it would do.

        Raises:
            InvalidInput: the file cannot be read.
            Unprocessable: above the number of topics or entities that a catalogue may hold.
        """
        written = read(data, form, provenance)
        for _ in range(_ATTEMPTS):
            catalogue, overlay = self._present(business_id)
            imported, unknown = linked_names(written, catalogue, provenance)
            conflicts = (*repeated_ids(written), *unknown, *conflicts_of(imported, catalogue))
            change, topics, entities = _import_change(imported, catalogue)
            report = ImportReport(dry_run, form, topics, entities, conflicts, False, overlay.version)
            if any(one.refuses for one in conflicts) or dry_run:
                return report
            if change == CatalogueChange():
                return replace(report, applied=True)
            done = self._tried(business_id, catalogue, overlay, change)
            if done is not None:
                return replace(report, applied=True, version=done.version, operation_id=done.operation_id)
        raise Contended("the catalogue is being changed by others")

    def _edited(self, business_id: str, make: Callable[[Catalogue], CatalogueChange]) -> Changed:
        for _ in range(_ATTEMPTS):
            catalogue, overlay = self._present(business_id)
            change = make(catalogue)
            done = self._tried(business_id, catalogue, overlay, change)
            if done is not None:
                return done
        raise Contended("the catalogue is being changed by others")

    def _tried(self, business_id: str, before: Catalogue, overlay: Overlay, change: CatalogueChange) -> Changed | None:
        """The outcome of a change, or None if another one came first."""
        after = merged(self._resolvers.default.catalogue, _with(overlay, change))
        for topic in change.topics:
            check_topic(topic)
        for entity in change.entities:
            check_entity(entity)
        if len(after.topics) > MAX_TOPICS or len(after.entities) > MAX_ENTITIES:
            raise Unprocessable(f"a catalogue holds at most {MAX_TOPICS} topics and {MAX_ENTITIES} entities")
        try:
            version = self._rows.commit(business_id, change, expected=overlay.version)
        except ConditionFailed:
            return None
        return Changed(version, self._reevaluation.begin(business_id, changed_ids(before, after)))

    def _present(self, business_id: str) -> tuple[Catalogue, Overlay]:
        overlay = self._rows.overlay(business_id)
        return merged(self._resolvers.default.catalogue, overlay), overlay


def names(definition: Definition) -> tuple[str, ...]:
    return topic_names(definition) if isinstance(definition, TopicDefinition) else names_of(definition)


def changed_ids(before: Catalogue, after: Catalogue) -> tuple[str, ...]:
    """Ids whose names differ, and those that share a name with one of them: what links by a name may change for all."""
    found: dict[str, None] = {}
    for old, new in ((before.topics, after.topics), (before.entities, after.entities)):
        for identifier in {*old, *new}:
            was, now = old.get(identifier), new.get(identifier)
            if was is not now and (was is None or now is None or not same_names(names(was), names(now))):
                found[identifier] = None
    return tuple(sorted(found))


def _with(overlay: Overlay, change: CatalogueChange) -> Overlay:
    topics = {**{one.id: one for one in overlay.topics}, **{one.id: one for one in change.topics}}
    entities = {**{one.id: one for one in overlay.entities}, **{one.id: one for one in change.entities}}
    return replace(
        overlay,
        topics=tuple(topics.values()),
        entities=tuple(entities.values()),
        removed_topics=(overlay.removed_topics - set(topics)) | set(change.removed_topics),
        removed_entities=(overlay.removed_entities - set(entities)) | set(change.removed_entities),
        words={**overlay.words, **change.words},
    )


def _import_change(imported: Imported, catalogue: Catalogue) -> tuple[CatalogueChange, Counted, Counted]:
    topics = [kept_topic(one, catalogue.topics.get(one.id)) for one in imported.topics]
    entities = [kept_entity(one, catalogue.entities.get(one.id)) for one in imported.entities]
    words = {key_of(word): ids for word, ids in imported.words.items()}
    change = CatalogueChange(
        topics=tuple(one for one in topics if catalogue.topics.get(one.id) != one),
        entities=tuple(one for one in entities if catalogue.entities.get(one.id) != one),
        words={word: ids for word, ids in words.items() if catalogue.ambiguous_heads.get(word) != ids},
    )
    return (
        change,
        Counted.of(topics, change.topics, catalogue.topics),
        Counted.of(entities, change.entities, catalogue.entities),
    )


def _change_of(definition: Definition) -> CatalogueChange:
    if isinstance(definition, TopicDefinition):
        return CatalogueChange(topics=(definition,))
    return CatalogueChange(entities=(definition,))


def _definition(catalogue: Catalogue, kind: str, identifier: str) -> Definition:
    if kind == "topic":
        _known(catalogue.topics, identifier, kind)
        return catalogue.topics[identifier]
    _known(catalogue.entities, identifier, kind)
    return catalogue.entities[identifier]


def _known(definitions: Mapping[str, Definition], identifier: str, kind: str) -> None:
    if identifier not in definitions:
        raise NotFound(f"no such {kind}")


def _one(shown: list[Shown], identifier: str, kind: str) -> Shown:
    for one in shown:
        if one.definition.id == identifier:
            return one
    raise NotFound(f"no such {kind}")


def _check_types(topic: TopicDefinition, catalogue: Catalogue) -> None:
    known = {one.type for one in catalogue.entities.values()}
    for kind in topic.rules.types:
        if kind not in known:
            raise InvalidInput("rules.types must be types of entities in the catalogue", field="rules.types")


def _origin(identifier: str, own: set[str]) -> str:
    return "business" if identifier in own else "shipped"


def _by_id(definition: Definition) -> str:
    return definition.id
