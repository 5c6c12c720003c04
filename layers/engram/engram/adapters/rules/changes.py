"""From statements to slot changes: where each belongs, what it replaces and what it contradicts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engram.adapters.rules import chinese_words, english_words
from engram.adapters.rules.placement import Place, place_of
from engram.adapters.rules.statements import SINGLE, FactKind, Statement
from engram.domain.models import MemoryKind, Message
from engram.extraction.elements import same_thing
from engram.extraction.models import Citation, DistillationRequest, SlotAction, SlotChange
from engram.profile.taxonomy import attribute_unify

_PREFERENCES = frozenset(
    {FactKind.LIKE, FactKind.LIKE_FOOD, FactKind.DISLIKE, FactKind.DISLIKE_FOOD, FactKind.DIET, FactKind.NICKNAME}
)
_RELATIONSHIPS = frozenset({FactKind.FAMILY, FactKind.PET, FactKind.MARITAL})
_LIKING = (FactKind.LIKE, FactKind.LIKE_FOOD)
_AVOIDING = (FactKind.DISLIKE, FactKind.DISLIKE_FOOD, FactKind.DIET)
_OPPOSITES = {**dict.fromkeys(_LIKING, _AVOIDING), **dict.fromkeys(_AVOIDING[:2], _LIKING)}


class ChangeWriter:
    """Turns the statements of one batch into changes, remembering what earlier ones of the batch have written."""

    def __init__(self, request: DistillationRequest) -> None:
        self._taxonomy = request.taxonomy
        self._present: dict[Place, list[str]] = {}
        for slot in request.slots:
            place = Place(attribute_unify(slot.topic), attribute_unify(slot.sub_topic))
            self._present.setdefault(place, []).append(slot.content)

    def changes(self, message: Message, statements: Iterable[Statement]) -> Iterator[SlotChange]:
        """One message's changes, what is contradicted before what replaces it."""
        for statement in statements:
            kind = refined(statement)
            place = place_of(kind, self._taxonomy)
            if place is None:
                continue
            citation = Citation(message.message_id, message.content[statement.start : statement.end])
            if statement.holds:
                yield from self._contradicted(kind, statement, citation)
                yield self._written(kind, place, statement, citation)
            else:
                yield from self._ended(kind, statement, citation)

    def _written(self, kind: FactKind, place: Place, statement: Statement, citation: Citation) -> SlotChange:
        self._present.setdefault(place, []).append(statement.content)
        return SlotChange(
            SlotAction.UPDATE if kind in SINGLE else SlotAction.APPEND,
            place.topic,
            place.sub_topic,
            statement.content,
            (citation,),
            kind=memory_kind(kind),
            valid_from=statement.since,
        )

    def _contradicted(self, kind: FactKind, statement: Statement, citation: Citation) -> Iterator[SlotChange]:
        """Liking what was disliked, and the reverse, ends what was said before about that one thing."""
        for opposite in _OPPOSITES.get(kind, ()):
            yield from self._drop(opposite, statement.value, citation)

    def _ended(self, kind: FactKind, statement: Statement, citation: Citation) -> Iterator[SlotChange]:
        kinds = (kind, *(_LIKING if kind in _LIKING else _AVOIDING[:2] if kind in _AVOIDING[:2] else ()))
        for each in dict.fromkeys(kinds):
            yield from self._drop(each, statement.value, citation)

    def _drop(self, kind: FactKind, value: str, citation: Citation) -> Iterator[SlotChange]:
        place = place_of(kind, self._taxonomy)
        if place is None or not any(same_thing(value, content) for content in self._present.get(place, ())):
            return
        yield SlotChange(
            SlotAction.DROP, place.topic, place.sub_topic, "", (citation,), kind=memory_kind(kind), contradicts=value
        )


def refined(statement: Statement) -> FactKind:
    """Tastes in food are kept apart: they answer other questions."""
    edible = english_words.food(statement.value) or chinese_words.edible(statement.value)
    if edible and statement.kind is FactKind.LIKE:
        return FactKind.LIKE_FOOD
    if edible and statement.kind is FactKind.DISLIKE:
        return FactKind.DISLIKE_FOOD
    return statement.kind


def memory_kind(kind: FactKind) -> MemoryKind:
    if kind in _PREFERENCES:
        return MemoryKind.PREFERENCE
    if kind in (FactKind.INSTRUCTION, FactKind.ANSWER_LANGUAGE):
        return MemoryKind.INSTRUCTION
    if kind is FactKind.PLAN:
        return MemoryKind.PLAN
    return MemoryKind.RELATIONSHIP if kind in _RELATIONSHIPS else MemoryKind.FACT
