"""A business's catalogue in the table: only what it has changed of the shipped one, and a version that orders changes.

Rows come first and the version last: a process that compiles meanwhile sees the new version and reads again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from engram.domain.clock import Clock, to_text
from engram.domain.errors import ConditionFailed, Throttled
from engram.domain.models import Conversation
from engram.domain.scope import Scope
from engram.domain.table import Absent, Item, Key, Put, VersionIs, Write
from engram.ports import Table
from engram.resolve.definitions import EntityDefinition, TopicDefinition
from engram.store import keys, limits
from engram.store.items import decode, encode
from engram.store.reader import tombstones_of

_ATTEMPTS = 8
_REMOVED = "removed"
_WORD, _TOPICS = "word", "topic_ids"
_ROWS_WITH_HEAD = limits.MAX_TRANSACTION_WRITES - 1


@dataclass(frozen=True, slots=True)
class Overlay:
    """What a business has changed.

    Attributes:
        removed_topics, removed_entities: ids of shipped definitions that it does not want.
        words: word that alone is ambiguous, to the topics it may mean; no topics takes a shipped word back.
    """

    version: int = 0
    topics: tuple[TopicDefinition, ...] = ()
    entities: tuple[EntityDefinition, ...] = ()
    removed_topics: frozenset[str] = frozenset()
    removed_entities: frozenset[str] = frozenset()
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CatalogueChange:
    """Rows to write: definitions put in place, and ids that are gone for this business."""

    topics: tuple[TopicDefinition, ...] = ()
    entities: tuple[EntityDefinition, ...] = ()
    removed_topics: tuple[str, ...] = ()
    removed_entities: tuple[str, ...] = ()
    words: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UnresolvedNames:
    """Names of one conversation that the catalogue does not know."""

    scope: Scope
    conversation: Conversation


class CatalogueRows:
    """Catalogue rows on the Table port."""

    def __init__(self, *, table: Table, clock: Clock) -> None:
        self._table = table
        self._clock = clock

    def head(self, business_id: str) -> Item | None:
        """One get."""
        return self._table.get(keys.catalogue_head(business_id))

    def overlay(self, business_id: str) -> Overlay:
        """All of it, read after its version: rows may be newer than the version, never older. A get and a query."""
        head = self.head(business_id)
        overlay = Overlay(version=head.version if head else 0)
        topics: list[TopicDefinition] = []
        entities: list[EntityDefinition] = []
        removed: dict[str, set[str]] = {keys.CATALOGUE_TOPICS: set(), keys.CATALOGUE_ENTITIES: set()}
        words: dict[str, tuple[str, ...]] = {}
        for item in self._rows(business_id):
            prefix = item.key.sk[: item.key.sk.index(keys.SEPARATOR) + 1]
            if prefix == keys.CATALOGUE_WORDS:
                words[item.body[_WORD]] = tuple(item.body[_TOPICS])
            elif item.body.get(_REMOVED):
                removed[prefix].add(item.body["id"])
            elif prefix == keys.CATALOGUE_TOPICS:
                topics.append(decode(item, TopicDefinition))
            else:
                entities.append(decode(item, EntityDefinition))
        return replace(
            overlay,
            topics=tuple(topics),
            entities=tuple(entities),
            removed_topics=frozenset(removed[keys.CATALOGUE_TOPICS]),
            removed_entities=frozenset(removed[keys.CATALOGUE_ENTITIES]),
            words=words,
        )

    def commit(self, business_id: str, change: CatalogueChange, *, expected: int) -> int:
        """The new version. All or none for a few definitions; an import goes in parts, its version last.

        Raises:
            ConditionFailed: the catalogue is no longer at `expected`.
        """
        puts = list(self._items(business_id, change))
        while len(puts) > _ROWS_WITH_HEAD:
            part, puts = puts[:_ROWS_WITH_HEAD], puts[_ROWS_WITH_HEAD:]
            self._table.write(puts=part)
        self._bump(business_id, [Put(item) for item in puts], expected)
        return expected + 1

    def forget(self, business_id: str) -> int:
        """Removes every row: what is shipped holds again. The version goes on, so that copies notice.

        Raises:
            Throttled: others keep changing the catalogue.
        """
        for _ in range(_ATTEMPTS):
            head = self.head(business_id)
            version = head.version if head else 0
            self._table.write(deletes=[item.key for item in self._rows(business_id)])
            try:
                self._bump(business_id, [], version)
            except ConditionFailed:
                continue
            return version + 1
        raise Throttled("catalogue is contended")

    def unresolved(self, business_id: str, *, limit: int) -> Iterator[UnresolvedNames]:
        """Conversations with unknown names, deleted ones left out. A page of the index and a batch get each 100."""
        cursor: Key | None = None
        seen = 0
        while seen < limit:
            page = self._table.query_index(keys.unresolved_in(business_id), limit=100, cursor=cursor)
            yield from self._shown(business_id, page.items)
            seen += len(page.items)
            cursor = page.cursor
            if cursor is None:
                return

    def users(self, business_id: str, *, after: str = "", limit: int = 100) -> list[str]:
        """The next user ids of a business, in order."""
        start = keys.escape(after) + "\0" if after else ""
        page = self._table.query_index(keys.users_of(business_id), start=start, limit=limit)
        return [keys.user_of_listing(item.index.sk) for item in page.items if item.index is not None]

    def _shown(self, business_id: str, items: Sequence[Item]) -> Iterator[UnresolvedNames]:
        listed = [(Scope(business_id, keys.user_of_listing(item.index.sk)), item) for item in items if item.index]
        hidden = self._table.batch_get(list({keys.tombstones(scope) for scope, _ in listed}))
        for scope, item in listed:
            tombstones = tombstones_of(hidden.get(keys.tombstones(scope)))
            conversation = decode(item, Conversation)
            if tombstones.shows_row(item.epoch) and conversation.conversation_id not in tombstones.conversations:
                yield UnresolvedNames(scope, conversation)

    def _bump(self, business_id: str, writes: Sequence[Write], expected: int) -> None:
        body = {"changed_at": to_text(self._clock())}
        head = Item(keys.catalogue_head(business_id), body, version=expected + 1)
        self._table.transact([Put(head, VersionIs(expected) if expected else Absent()), *writes])

    def _rows(self, business_id: str) -> Iterator[Item]:
        cursor: Key | None = None
        while True:
            page = self._table.query(keys.catalogue_partition(business_id), cursor=cursor)
            yield from page.items
            cursor = page.cursor
            if cursor is None:
                return

    def _items(self, business_id: str, change: CatalogueChange) -> Iterator[Item]:
        topic, entity = keys.catalogue_topic, keys.catalogue_entity
        yield from (Item(topic(business_id, one.id), encode(one)) for one in change.topics)
        yield from (Item(entity(business_id, one.id), encode(one)) for one in change.entities)
        yield from (Item(topic(business_id, one), _gone(one)) for one in change.removed_topics)
        yield from (Item(entity(business_id, one), _gone(one)) for one in change.removed_entities)
        for word, topic_ids in change.words.items():
            yield Item(keys.catalogue_word(business_id, word), {_WORD: word, _TOPICS: list(topic_ids)})


def _gone(identifier: str) -> dict[str, Any]:
    return {"id": identifier, _REMOVED: True}
