"""Recall: from what a user wrote to conversations, items and evidence, each checked against the table at that moment.

Open (one batch get, two queries), understand, find candidates, verify (one batch get), say what it is worth.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

from engram.domain.clock import Clock, NewId, Stopwatch
from engram.domain.ids import derived_id
from engram.domain.models import Message
from engram.domain.scope import Scope
from engram.domain.table import Item, Key
from engram.recall.answering import Answer, Answering, Question, ids_of
from engram.recall.bundle import Dropped, ExecutionStatus, RecallBundle, SupportStatus
from engram.recall.carrying import carried_over
from engram.recall.choosing import CHOOSER, Choices, Settled
from engram.recall.conditions import conditions_of
from engram.recall.confirming import Confirming, Verified, standing
from engram.recall.items import Items
from engram.recall.nearness import Nearness
from engram.recall.ordering import freshness_of
from engram.recall.references import references_of
from engram.recall.request import RecallRequest
from engram.recall.searching import Searcher, Trace
from engram.recall.support import support_of
from engram.recall.timeline import Moment, current_conversation, with_pending
from engram.resolve.catalogue import Catalogue
from engram.resolve.models import Resolution, ResolveContext, Subjects
from engram.store.recall_reads import Opening, RecallReads
from engram.text.normalise import fold


class QueryResolver(Protocol):
    """The resolver of one business's catalogue."""

    @property
    def catalogue(self) -> Catalogue: ...

    def resolve(self, query: str, context: ResolveContext) -> Resolution: ...

    def subjects(self, messages: Sequence[Message], context: ResolveContext) -> Subjects: ...


class Catalogues(Protocol):
    """Resolvers by business, current as of the row at `head_key`."""

    def head_key(self, business_id: str) -> Key: ...

    def resolver(self, business_id: str, head: Item | None) -> QueryResolver: ...


@dataclass(frozen=True, slots=True)
class RecallRules:
    """What can be set about recall.

    Attributes:
        timezone: IANA name, where a request gives none.
        conversation_gap: silence after which a session's next message begins a new conversation.
        index_lag: how far the search index may be behind the table; zero when it is part of it.
    """

    timezone: str = "UTC"
    conversation_gap: timedelta = timedelta(minutes=30)
    index_lag: timedelta = timedelta()


REMOTE_INDEX_LAG = timedelta(seconds=15)
"""OpenSearch Serverless shows a document some ten seconds after it was written, and cannot be told to hurry."""

MAX_ATTEMPTS = 4
"""How often an answer is found again when the table does not confirm what it was found by."""

MAX_LINKED = 40
"""Newest messages of a conversation that are resolved while they wait to be indexed."""

RECENT_READ = 4
"""Messages of the present conversation that say what a message goes on from."""


class RecallService:
    """See the module. Shared between threads; holds no state between recalls but its parts' caches."""

    def __init__(
        self,
        *,
        reads: RecallReads,
        searcher: Searcher,
        nearness: Nearness,
        catalogues: Catalogues,
        clock: Clock,
        new_id: NewId,
        rules: RecallRules | None = None,
        choices: Choices | None = None,
    ) -> None:
        """`choices`: a model that is asked about ambiguous mentions, if one is set."""
        self._reads = reads
        self._catalogues = catalogues
        self._choices = choices
        self._answering = Answering(searcher=searcher, nearness=nearness)
        self._items = Items(searcher=searcher, reads=reads)
        self._confirming = Confirming(reads=reads)
        self._clock = clock
        self._new_id = new_id
        self._rules = rules or RecallRules()

    def recall(self, scope: Scope, request: RecallRequest) -> RecallBundle:
        """Conversations, items and evidence that answer `request`; an unknown user gets an empty bundle."""
        total, trace = Stopwatch(), Trace()
        as_of = self._clock()
        opening = self._reads.opening(scope, request.session_id, as_of, [self._catalogues.head_key(scope.business_id)])
        trace.took("state", total)
        trace.refuted.hide(opening.tombstones)
        watch = Stopwatch()
        resolver = self._resolver(scope.business_id, opening.others)
        question = self._understood(scope, request, opening, resolver, as_of, trace)
        trace.took("resolve", watch)
        catalogue = resolver.catalogue
        answer, verified = Answer(), Verified(empty=self._holds_nothing(question, opening))
        if not verified.empty:
            answer, verified = self._answered(question, request)
        bundle = self._bundle(question, request, answer, verified, catalogue, as_of)
        trace.timings["total"] = total.ms()
        return replace(bundle, timings={stage: round(ms, 3) for stage, ms in trace.timings.items()})

    def resolve(self, scope: Scope, request: RecallRequest) -> Resolution:
        """How `request` is understood, without an answer. One batch get."""
        key = self._catalogues.head_key(scope.business_id)
        resolver = self._resolver(scope.business_id, self._reads.rows([key]))
        return self._resolution(request, resolver, self._clock()).resolution

    # Understanding ------------------------------------------------------------------------------------

    def _resolver(self, business_id: str, rows: Mapping[Key, Item]) -> QueryResolver:
        return self._catalogues.resolver(business_id, rows.get(self._catalogues.head_key(business_id)))

    def _understood(
        self,
        scope: Scope,
        request: RecallRequest,
        opening: Opening,
        resolver: QueryResolver,
        as_of: datetime,
        trace: Trace,
    ) -> Question:
        now = request.now or as_of
        gap = self._rules.conversation_gap
        catalogue = resolver.catalogue
        context = self._context(request, now)
        current = current_conversation(opening.conversations, opening.current_id, now=now, gap=gap)
        settled = self._resolution(request, resolver, as_of)
        resolution = settled.resolution
        if settled.missing:
            trace.lacks(CHOOSER)
        return Question(
            scope=scope,
            resolution=resolution,
            conditions=conditions_of(resolution, fold),
            moment=Moment(now, request.now is not None, request.session_id, current),
            conversations=with_pending(
                opening.conversations, opening.pending, lambda new: resolver.subjects(new[-MAX_LINKED:], context)
            ),
            pending=(*opening.pending, *self._just_indexed(scope, opening, as_of)),
            fold=fold,
            type_of=lambda identifier: getattr(catalogue.entities.get(identifier), "type", ""),
            trace=trace,
            recent="\n".join(one.content for one in request.recent_messages[-RECENT_READ:] if one.role == "user"),
        )

    def _just_indexed(self, scope: Scope, opening: Opening, as_of: datetime) -> tuple[Message, ...]:
        if not self._rules.index_lag or opening.user is None:
            return ()
        pending = {one.ref for one in opening.pending}
        found = self._reads.just_indexed(scope, as_of, self._rules.index_lag)
        return tuple(one for one in found if one.ref not in pending)

    def _resolution(self, request: RecallRequest, resolver: QueryResolver, as_of: datetime) -> Settled:
        context = self._context(request, request.now or as_of)
        said = [one.content for one in request.recent_messages if one.role == "user"]
        resolution = resolver.resolve(request.query, context)
        resolution = carried_over(resolution, said, lambda text: resolver.resolve(text, replace(context, recent=())))
        if self._choices is None:
            return Settled(resolution)
        return self._choices.settled(resolution, context.recent, resolver.catalogue)

    def _context(self, request: RecallRequest, now: datetime) -> ResolveContext:
        recent = tuple(one.content for one in request.recent_messages)
        return ResolveContext(now=now, timezone=request.timezone or self._rules.timezone, recent=recent)

    # Answering and verifying --------------------------------------------------------------------------

    def _answered(self, question: Question, request: RecallRequest) -> tuple[Answer, Verified]:
        """The answer, and what of it the table confirms: found again without what it does not, and in another
        conversation if nothing is left of the chosen one.
        """
        dropped, refuted = Dropped(), question.trace.refuted
        answer, verified = Answer(), Verified()
        for attempt in range(MAX_ATTEMPTS):
            known = refuted.count
            answer = self._answering.answer(question)
            hits = self._items.find(question, request, answer)
            watch = Stopwatch()
            verified = self._confirming.verified(question, request, answer, hits, dropped=dropped, every=attempt > 0)
            question.trace.took("verify", watch)
            chosen = answer.selection.conversations if answer.selection else ()
            emptied = bool(answer.whole and chosen) and not (verified.messages or verified.items)
            if refuted.count == known and not emptied:
                break
            gone = ids_of(chosen) if emptied else frozenset()
            left = tuple(one for one in question.conversations if one.conversation_id not in gone)
            question = replace(question, conversations=left)
        return answer, verified

    # Saying what it is worth --------------------------------------------------------------------------

    def _bundle(
        self,
        question: Question,
        request: RecallRequest,
        answer: Answer,
        verified: Verified,
        catalogue: Catalogue,
        as_of: datetime,
    ) -> RecallBundle:
        references = references_of(
            answer,
            verified.evidence,
            standing(question.conversations, verified),
            question.conditions,
            catalogue,
            question.resolution.temporal.intent,
        )
        support = self._support(question, answer, verified)
        trace = question.trace
        query_id = self._new_id()
        explain = {"trace": question.resolution.trace, "dropped": dict(verified.dropped.counts)}
        return RecallBundle(
            query_id=query_id,
            bundle_id=derived_id("bundle", query_id),
            execution_status=ExecutionStatus.DEGRADED if trace.missing else ExecutionStatus.COMPLETE,
            support_status=support,
            resolution=question.resolution,
            conversation_refs=references,
            items=verified.items,
            evidence=verified.evidence,
            freshness=freshness_of(question.pending, as_of),
            timings={},
            missing=tuple(trace.missing),
            explain=explain if request.explain else None,
        )

    def _holds_nothing(self, question: Question, opening: Opening) -> bool:
        """Whether nothing at all is stored of the user."""
        if question.conversations or opening.pending:
            return False
        return opening.user is None or not self._reads.has_items(question.scope)

    def _support(self, question: Question, answer: Answer, verified: Verified) -> SupportStatus:
        if verified.empty:
            return SupportStatus.EMPTY
        chosen = answer.selection.conversations if answer.selection else ()
        relevant = answer.text.union(one.conversation_id for one in chosen)
        shown = {one.conversation_id for one in verified.evidence} & relevant
        behind = [one for one in question.conversations if one.conversation_id in shown]
        return support_of(answer, question.conditions, behind, found=bool(verified.evidence or verified.items))
