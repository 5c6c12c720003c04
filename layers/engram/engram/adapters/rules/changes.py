"""From statements to slot changes: where each belongs, what it replaces and what it contradicts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta

from engram.adapters.rules import chinese_words, english_words
from engram.adapters.rules.corrections import Correction, puts_right
from engram.adapters.rules.frames import frame_of, of_food
from engram.adapters.rules.placement import Place, place_of
from engram.adapters.rules.statements import SINGLE, FactKind, Statement
from engram.domain.models import MemoryKind, Message, ProfileSlot
from engram.extraction.elements import elements_of, same_thing
from engram.extraction.models import Citation, DistillationRequest, SlotAction, SlotChange
from engram.profile.taxonomy import attribute_unify

_PREFERENCES = frozenset({FactKind.LIKE, FactKind.LIKE_FOOD, FactKind.DISLIKE, FactKind.DISLIKE_FOOD, FactKind.DIET})
_RELATIONSHIPS = frozenset({FactKind.FAMILY, FactKind.PET, FactKind.MARITAL})
_LIKING = (FactKind.LIKE, FactKind.LIKE_FOOD)
_AVOIDING = (FactKind.DISLIKE, FactKind.DISLIKE_FOOD, FactKind.DIET)
_OPPOSITES = {**dict.fromkeys(_LIKING, _AVOIDING), **dict.fromkeys(_AVOIDING[:2], _LIKING)}

_MOMENT = timedelta(minutes=30)
_Span = tuple[str, int, int]
"""A message's id, and where in it: the words a statement stands on."""


class ChangeWriter:
    """Turns the statements of one batch into changes, remembering what earlier ones of the batch have written."""

    def __init__(self, request: DistillationRequest) -> None:
        self._taxonomy = request.taxonomy
        self._present: dict[Place, list[str]] = {}
        self._last: tuple[Place, FactKind, str] | None = None
        self._said: dict[Place, set[_Span]] = {}
        self._spans: dict[str, _Span] = {}
        self._slots = sorted(request.slots, key=lambda slot: slot.updated_at)
        for slot in self._slots:
            self._present.setdefault(_place(slot), []).append(slot.content)
            self._said.setdefault(_place(slot), set()).update(
                (one.message_id, one.start, one.end) for one in slot.evidence
            )

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

    def corrected(self, message: Message, correction: Correction) -> Iterator[SlotChange]:
        """What somebody takes back, put right where it was written last."""
        place, content = self._meant(correction, message.created_at)
        if place is None:
            return
        citation = Citation(message.message_id, message.content[correction.start : correction.end])
        wrong = correction.wrong or content
        kind = memory_kind(self._kind_at(place))
        if not correction.right:
            yield SlotChange(
                SlotAction.DROP, place.topic, place.sub_topic, "", (citation,), kind=kind, contradicts=wrong
            )
            return
        right = re.sub(re.escape(wrong), lambda _: correction.right, content, flags=re.IGNORECASE)
        self._present[place].append(right)
        yield SlotChange(
            SlotAction.UPDATE, place.topic, place.sub_topic, right, (citation,), kind=kind, contradicts=wrong
        )

    def _kind_at(self, place: Place) -> FactKind:
        return next((kind for kind in FactKind if place_of(kind, self._taxonomy) == place), FactKind.LIKE)

    def _newest(self, now: datetime) -> tuple[Place, FactKind, str] | None:
        """What was written last, in this batch or a moment before it."""
        if self._last is not None or not self._slots or now - self._slots[-1].updated_at > _MOMENT:
            return self._last
        place = _place(self._slots[-1])
        return place, self._kind_at(place), self._slots[-1].content

    def _meant(self, correction: Correction, now: datetime) -> tuple[Place | None, str]:
        """(place, what it says there) of what is taken back; the place that was written last, of several."""
        if not correction.wrong:
            place, kind, value = self._newest(now) or (None, FactKind.PLAN, "")
            return (place, value) if kind in SINGLE and puts_right(correction, value) else (None, "")
        for place, contents in reversed(self._present.items()):
            for part in reversed([part for content in contents for part in elements_of(content)]):
                known = correction.right and same_thing(correction.right, part)
                if same_thing(correction.wrong, part) and not known:
                    return place, part
        return None, ""

    def _written(self, kind: FactKind, place: Place, statement: Statement, citation: Citation) -> SlotChange:
        self._present[place] = [*self._present.pop(place, ()), statement.content]
        self._last = place, kind, statement.content
        span = (citation.message_id, statement.start, statement.end)
        self._spans[statement.content] = span
        self._said[place] = {span, *(() if kind in SINGLE else self._said.get(place, ()))}
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
        frame = frame_of(statement.content)
        place = place_of(kind, self._taxonomy)
        if not frame or place is None:
            return
        for part in [one for content in self._present.get(place, ()) for one in elements_of(content)]:
            same_words = self._spans.get(part) == (citation.message_id, statement.start, statement.end)
            if frame_of(part) == frame and part != statement.content and not same_words:
                yield SlotChange(SlotAction.DROP, *place, "", (citation,), kind=memory_kind(kind), contradicts=part)

    def _ended(self, kind: FactKind, statement: Statement, citation: Citation) -> Iterator[SlotChange]:
        kinds = (kind, *(_LIKING if kind in _LIKING else _AVOIDING[:2] if kind in _AVOIDING[:2] else ()))
        with_title = kind is FactKind.EMPLOYER and self._names_the_job_of(statement.value)
        for each in dict.fromkeys(kinds):
            yield from self._drop(each, statement.value, citation)
        if with_title:
            yield from self._drop(FactKind.OCCUPATION, "", citation)

    def _names_the_job_of(self, employer: str) -> bool:
        """Whether the title was only ever said together with this employer: then it ends with the job."""
        company, title = (place_of(kind, self._taxonomy) for kind in (FactKind.EMPLOYER, FactKind.OCCUPATION))
        if company is None or title is None:
            return False
        held = self._present.get(company, [])[-1:]
        said = self._said.get(title, set())
        current = any(same_thing(employer, content) for content in held)
        return current and bool(said) and said <= self._said.get(company, set())

    def _drop(self, kind: FactKind, value: str, citation: Citation) -> Iterator[SlotChange]:
        place = place_of(kind, self._taxonomy)
        if place is None or not any(same_thing(value, content) for content in self._present.get(place, ())):
            return
        yield SlotChange(
            SlotAction.DROP, place.topic, place.sub_topic, "", (citation,), kind=memory_kind(kind), contradicts=value
        )


def _place(slot: ProfileSlot) -> Place:
    return Place(attribute_unify(slot.topic), attribute_unify(slot.sub_topic))


def refined(statement: Statement) -> FactKind:
    """Tastes in food are kept apart: they answer other questions."""
    edible = of_food(statement.content) or english_words.food(statement.value) or chinese_words.edible(statement.value)
    if edible and statement.kind is FactKind.LIKE:
        return FactKind.LIKE_FOOD
    if edible and statement.kind is FactKind.DISLIKE:
        return FactKind.DISLIKE_FOOD
    return statement.kind


def memory_kind(kind: FactKind) -> MemoryKind:
    if kind in _PREFERENCES:
        return MemoryKind.PREFERENCE
    if kind in (FactKind.INSTRUCTION, FactKind.ANSWER_LANGUAGE, FactKind.ADDRESS):
        return MemoryKind.INSTRUCTION
    if kind is FactKind.PLAN:
        return MemoryKind.PLAN
    return MemoryKind.RELATIONSHIP if kind in _RELATIONSHIPS else MemoryKind.FACT
