"""Which messages answer: by what the query's time means, over the ids that its conditions name, or by relevance.

Each path ends in candidates in the order of the answer; the table has the last word on every one of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from engram.domain.documents import DocumentFilter, DocumentKind
from engram.domain.models import Conversation, Message, MessageRef
from engram.domain.scope import Scope
from engram.recall.asking import is_message, rambles, ranks
from engram.recall.candidates import HEAD, Scores, chosen_first, covering, merged, scaled, telling, with_answers
from engram.recall.conditions import Conditions, Fold, Tier, TypeOf
from engram.recall.features import QueryFeatures, features_of
from engram.recall.fusion import Ranked
from engram.recall.leaning import NEAREST, SAID_BEFORE, leaning_on_conversations
from engram.recall.nearness import SENTENCE, Nearness
from engram.recall.present import asks_present, newest_first
from engram.recall.searching import Found, NearTurn, Searcher, Trace
from engram.recall.selection import (
    ABOUT,
    Meeting,
    Selection,
    by_conditions,
    by_relevance,
    choose,
    decided,
    means_one,
)
from engram.recall.timeline import Moment, eligible
from engram.recall.verification import Candidate, ref_of
from engram.recall.within import coverage, units_of
from engram.recall.wording import (
    AS_MUCH,
    OF_ONE_THING,
    as_full,
    holding,
    named_in,
    names_it,
    naming_words,
    strangers,
)
from engram.resolve.models import Resolution, Temporal, TemporalIntent

MAX_READ_WHOLE = 60
"""Messages of the chosen conversations that are read without searching them. With its tombstones a batch get of
DynamoDB takes 100 keys."""

PENDING_LOOKED_AT = 200
"""Newest messages, not yet indexed, that are matched one by one."""

MAX_RANKED = 200
"""Of a ranking, what can still come into an answer of at most 100 messages once the table has dropped some."""

IN_RANGE = 0.3
"""Share of the floor that is enough where more than words speaks: inside a range that is named, or for a whole page."""

MAX_NEAR = 40
"""Messages whose words are compared one by one."""

CLOSELY_ABOUT = 0.8
"""As `selection.ABOUT`, where the query names the past at large ("I once told you"): the newest conversation goes first
only if it is about as near as the best one."""

ENOUGH_WORDS = 0.34
"""Share of a question's words that a message must hold to answer before it is indexed."""


@dataclass(frozen=True, slots=True)
class Question:
    """One recall, understood.

    Attributes:
        conversations: all of the user's, oldest first by start, pending ones among them.
        pending: messages that the index has not seen.
        recent: what the user has said just before; "" if the caller did not tell.
    """

    scope: Scope
    resolution: Resolution
    conditions: Conditions
    moment: Moment
    conversations: tuple[Conversation, ...]
    pending: tuple[Message, ...]
    fold: Fold
    type_of: TypeOf
    trace: Trace
    recent: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """Messages that answer, in order of preference, not yet verified.

    Attributes:
        selection: conversations chosen by time and conditions; None when relevance alone decides.
        whole: the candidates are all messages of the chosen conversations, to be ordered once they are read.
        scores: 0..1, of messages that a search has ranked.
        text: conversations whose messages match the words.
        start, end: half-open range of the messages' own time, where the query's time is about that.
    """

    candidates: tuple[Candidate, ...] = ()
    selection: Selection | None = None
    whole: bool = False
    partial: bool = False
    scores: Scores = field(default_factory=dict)
    text: frozenset[str] = frozenset()
    start: datetime | None = None
    end: datetime | None = None


@dataclass(frozen=True, slots=True)
class _Asked:
    """The words that decide, the relevance that is enough, and whether ids already say what all of it is about."""

    words: str
    floor: float
    full: bool


class Answering:
    """Finds candidates. Holds no state between questions."""

    def __init__(self, *, searcher: Searcher, nearness: Nearness) -> None:
        self._searcher = searcher
        self._nearness = nearness

    def answer(self, question: Question) -> Answer:
        temporal, conditions = question.resolution.temporal, question.conditions
        newest = temporal.intent is TemporalIntent.LATEST and not means_one(question.resolution)
        allowed = eligible(question.conversations, temporal, question.moment, with_current=newest)
        found = by_conditions(allowed, conditions, question.type_of)
        if ranks(question.resolution, conditions, found) or rambles(question.resolution, conditions, found):
            return self._by_relevance(question, found)
        if temporal.intent is TemporalIntent.CURRENT_SESSION or not conditions.any:
            answer = self._of(question, choose(allowed, temporal, conditions, question.moment), {})
        elif decided(found, conditions) and means_one(question.resolution):
            answer = self._of(question, choose(found.conversations, temporal, conditions, question.moment), {})
        else:
            answer = self._by_words(question, allowed, found)
        return _bounded(answer, temporal, question.moment)

    def _by_relevance(self, question: Question, found: Meeting) -> Answer:
        """Every conversation is meant and the ranking decides; ids do only where no words match."""
        where = DocumentFilter(kinds=(DocumentKind.MESSAGE,))
        message = is_message(question.resolution, question.conditions)
        features = replace(features_of(question.resolution), sentence=question.resolution.query)
        searched = self._ranked(question, features, where)
        ranked = searched.ranked
        # Of a whole page no message holds a large share, so the share that a question is judged by says little.
        floor = self._searcher.floor * (IN_RANGE if message else 1.0)
        fresh = _fresh(question, question.resolution.search_text, where)
        relevance = {ref_of(one.document): one.relevance for one in ranked[:HEAD]} | fresh
        if max(relevance.values(), default=0.0) >= floor:
            text = frozenset(ref.conversation_id for ref, value in relevance.items() if value >= floor)
            scores = scaled(ranked)
            candidates = merged(ranked if message else telling(ranked), scores, fresh)
            if asks_present(question.resolution.query) and not message:
                candidates = newest_first(candidates, as_full(holding(ranked, features.text), text, share=OF_ONE_THING))
            if message:
                near = self._going_on(question, features, where)
                candidates = leaning_on_conversations(candidates, near, _others(question), question.conditions)
            else:
                candidates = with_answers(candidates, question.conversations)
            return Answer(candidates, scores={**scores, **fresh}, text=text)
        if found.tier is Tier.FULL:
            return self._of(question, Selection(tuple(reversed(found.conversations))), scaled(ranked))
        return Answer()

    def _by_words(self, question: Question, allowed: Sequence[Conversation], found: Meeting) -> Answer:
        """Ids do not settle it: the words that are left decide among the conversations that are still possible."""
        temporal, conditions = question.resolution.temporal, question.conditions
        ranged = temporal.intent is TemporalIntent.TIME_RANGE
        floor = self._searcher.floor * (IN_RANGE if ranged else 1.0)
        base = found.conversations or without_contradiction(allowed, conditions, question.type_of)
        if not base:
            return Answer(selection=Selection(()))
        full = found.tier is Tier.FULL
        words = conditions.words if full and conditions.words else conditions.search_text
        known = ids_of(base)
        other = [] if conditions.entities or not full else [one for one in allowed if one.conversation_id not in known]
        where = _filter((*base, *other), question)
        features = replace(features_of(question.resolution), text=words)
        if not means_one(question.resolution):
            features = replace(features, sentence=question.resolution.query)
        searched = self._ranked(question, features, where)
        ranked = searched.ranked
        fresh = _fresh(question, words, where)
        if other and conditions.words:
            base = _with_unlinked(base, other, holding(ranked, conditions.search_text, surely=True))
        text = self._about(question, base, searched, fresh, _Asked(words, floor, full))
        meant = tuple(one for one in base if one.conversation_id in text)
        named = _naming(base, conditions, ranked, question.fold)
        if named:
            meant = tuple(one for one in meant if one.conversation_id in ids_of(named)) or named
        elif conditions.names:
            base = without_other_names(base, conditions, strangers(ranked, words))
            meant = tuple(one for one in meant if one.conversation_id in ids_of(base))
        partial = (conditions.structured and not full) or (bool(conditions.names) and not named)
        if not meant and found.tier is not Tier.NONE:
            meant, partial = base, partial or not full or bool(conditions.words and not conditions.entities)
        selection = choose(meant, temporal, conditions, question.moment)
        scores = scaled(ranked)
        if not means_one(question.resolution):
            candidates = merged(telling(ranked, ids_of(meant)), scores, fresh)
            candidates = with_answers(chosen_first(selection, candidates), question.conversations)
            return Answer(candidates, selection, partial=partial, scores={**scores, **fresh}, text=text)
        return replace(self._of(question, selection, {**scores, **fresh}), partial=partial, text=text)

    def _about(
        self,
        question: Question,
        base: Sequence[Conversation],
        searched: Found,
        fresh: Scores,
        asked: _Asked,
    ) -> frozenset[str]:
        """Conversations of `base` that are about the words asked.

        Where one of them holds the words and is relevant, others that hold as much need be less so.
        """
        words, floor = asked.words, asked.floor
        relevance = _of_conversations(searched.ranked, fresh)
        if question.resolution.temporal.intent is TemporalIntent.ALL_HISTORY:
            return ids_of(by_relevance(base, relevance, floor, about=0.0))
        one = means_one(question.resolution)
        chain = question.resolution.temporal.intent in (TemporalIntent.EARLIEST, TemporalIntent.LATEST)
        about, share = ABOUT if one or chain else CLOSELY_ABOUT, OF_ONE_THING if chain else AS_MUCH
        strong = ids_of(by_relevance(base, relevance, floor, about=about))
        named = named_in(question.resolution.query, words)
        held = {ref.conversation_id: value for ref, value in fresh.items()} | holding(searched.ranked, named)
        fullest = as_full(held, strong, share=share)
        if any(held.get(name, 0.0) for name in strong):
            less = ids_of(by_relevance(base, relevance, floor * ABOUT, about=about))
            whole = {name for name, value in held.items() if asked.full and value >= 1.0}
            strong |= less | (ids_of(base) & whole)
            fullest = as_full(held, strong, share=share)
        siblings = question.conditions.topics and question.conditions.words and strong
        said = len(naming_words(named)) > 1 and any(held.get(name) == 1.0 for name in fullest)
        return fullest if siblings or said or not one else fullest | self._near(words, searched, strong)

    def _of(self, question: Question, selection: Selection, scores: Scores) -> Answer:
        """Candidates of chosen conversations: all their messages where they are few, searched ones where not."""
        chosen = selection.conversations
        if sum(one.next_seq for one in chosen) <= MAX_READ_WHOLE:
            refs = [MessageRef(one.conversation_id, seq) for one in chosen for seq in range(one.next_seq)]
            return Answer(tuple(Candidate(ref, 0.0) for ref in refs), selection, whole=True, scores=scores)
        where = _filter(chosen, question)
        ranked = self._ranked(question, features_of(question.resolution), where, embed=bool(scores)).ranked
        fresh = _fresh(question, question.resolution.search_text, where)
        within = scaled(ranked)
        candidates = covering(chosen, merged(ranked, within, fresh))
        return Answer(candidates, selection, scores={**within, **fresh})

    def _ranked(
        self, question: Question, features: QueryFeatures, where: DocumentFilter, *, embed: bool = True
    ) -> Found:
        vector = self._searcher.embed(features.meaning, question.trace) if embed else None
        found = self._searcher.ranked(question.scope, features, where, vector=vector, trace=question.trace)
        return replace(found, ranked=found.ranked[:MAX_RANKED])

    def _going_on(self, question: Question, features: QueryFeatures, where: DocumentFilter) -> tuple[NearTurn, ...]:
        """Turns near to the message together with what was said just before it."""
        said = [(features.meaning, 1.0), (question.recent, SAID_BEFORE)]
        vector = self._searcher.joint(said, question.trace)
        return self._searcher.nearest(question.scope, where, vector=vector, trace=question.trace, limit=NEAREST)

    def _near(self, words: str, searched: Found, strong: frozenset[str]) -> frozenset[str]:
        """Conversations that hold none of the words and are about them all the same."""
        rest = [one.document for one in searched.ranked if one.document.conversation_id not in strong]
        cosines = {document.doc_id: searched.cosines.get(document.doc_id, 0.0) for document in rest}
        near = [document for document in rest if cosines[document.doc_id] >= SENTENCE]
        near = sorted(near, key=lambda document: -cosines[document.doc_id])[:MAX_NEAR]
        about = self._nearness.about(words, {document.text: cosines[document.doc_id] for document in near})
        return frozenset(document.conversation_id for document in near if document.text in about)


def ids_of(conversations: Iterable[Conversation]) -> frozenset[str]:
    return frozenset(one.conversation_id for one in conversations)


def without_contradiction(
    allowed: Sequence[Conversation], conditions: Conditions, type_of: TypeOf
) -> tuple[Conversation, ...]:
    """Those that words may still find: not about another thing of the kind that was asked for."""
    kinds = frozenset(kind for one in conditions.entities for kind in one.types)
    return tuple(one for one in allowed if not any(type_of(identifier) in kinds for identifier in one.entity_ids))


def without_other_names(
    base: Sequence[Conversation], conditions: Conditions, strangers: frozenset[str]
) -> tuple[Conversation, ...]:
    """Those that may be about a name which none of them holds: not about another name instead.

    Args:
        strangers: those in another script than the name is written in; they may call it otherwise.
    """
    wanted = frozenset(identifier for one in conditions.entities for identifier in one.ids)
    return tuple(
        one
        for one in base
        if one.conversation_id in strangers or not (one.unresolved or wanted.symmetric_difference(one.entity_ids))
    )


def _with_unlinked(
    base: Sequence[Conversation], other: Sequence[Conversation], held: Mapping[str, float]
) -> tuple[Conversation, ...]:
    """`base`, and those of `other` that hold every word of the question though no id says what they are about."""
    added = [one for one in other if held.get(one.conversation_id, 0.0) >= 1.0]
    return tuple(sorted((*base, *added), key=lambda one: (one.ended_at, one.conversation_id))) if added else tuple(base)


def _others(question: Question) -> list[Conversation]:
    """All conversations but the one in which this is said, the farthest from now first. Only a caller who says when
    now is has any after it, and those are not what it goes on from.
    """
    moment = question.moment
    others = (one for one in question.conversations if one.conversation_id != moment.current_id)
    return sorted(others, key=lambda one: abs(moment.now - one.ended_at), reverse=True)


def _bounded(answer: Answer, temporal: Temporal, moment: Moment) -> Answer:
    if temporal.intent is not TemporalIntent.TIME_RANGE:
        return answer
    return replace(answer, start=temporal.start, end=temporal.end)


def _filter(conversations: Sequence[Conversation], question: Question) -> DocumentFilter:
    """Messages of these conversations, in the range that the query names."""
    temporal = question.resolution.temporal
    ranged = temporal.intent is TemporalIntent.TIME_RANGE
    every = len(conversations) == len(question.conversations)
    return DocumentFilter(
        kinds=(DocumentKind.MESSAGE,),
        conversation_ids=() if every else tuple(one.conversation_id for one in conversations),
        start=temporal.start if ranged else None,
        end=temporal.end if ranged else None,
    )


def _fresh(question: Question, words: str, where: DocumentFilter) -> Scores:
    """Messages that the index has not seen and that hold enough of the words, by the share they hold."""
    units = units_of(words, question.fold)
    conversations = frozenset(where.conversation_ids)
    found: Scores = {}
    for message in question.pending[-PENDING_LOOKED_AT:]:
        inside = (not conversations or message.conversation_id in conversations) and (
            (where.start is None or message.created_at >= where.start)
            and (where.end is None or message.created_at < where.end)
        )
        share = coverage(units, message.content, question.fold) if inside else 0.0
        if share >= ENOUGH_WORDS:
            found[message.ref] = max(share, 0.5)
    return found


def _of_conversations(ranked: Iterable[Ranked], fresh: Scores) -> dict[str, float]:
    """Relevance of each conversation: that of its best message."""
    found: dict[str, float] = {}
    pairs = [(ref_of(one.document), one.relevance) for one in ranked]
    for ref, value in (*pairs, *fresh.items()):
        found[ref.conversation_id] = max(found.get(ref.conversation_id, 0.0), value)
    return found


def _naming(
    base: Sequence[Conversation], conditions: Conditions, ranked: Sequence[Ranked], fold: Fold
) -> tuple[Conversation, ...]:
    """Those in which a name that the catalogue does not know is written."""
    if not conditions.names:
        return ()
    holding = {
        one.document.conversation_id
        for one in ranked
        if any(names_it(name, fold(one.document.text)) for name in conditions.names)
    }
    return tuple(
        one
        for one in base
        if one.conversation_id in holding
        or any(names_it(name, known) for name in conditions.names for known in one.unresolved)
    )
