"""Text → entities, topics, temporal intent, and the words left to search for.

The same resolver reads a query and, at write time, whole conversations. It does no I/O: the encoder is an optional
port, asked only when names and rules did not decide. What stays ambiguous keeps its candidates.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from engram.domain.models import MentionStatus, Message
from engram.ports import Embedder
from engram.resolve.aliases import squeeze
from engram.resolve.catalogue import PLACE_TYPES, Catalogue
from engram.resolve.entities import (
    Claims,
    certain_types,
    claim_names,
    claim_slips,
    decide_claims,
    unresolved_names,
    with_place,
)
from engram.resolve.expressions import CueText, cue_text
from engram.resolve.filler import phrase_left, search_text, source_type
from engram.resolve.lexicon import in_passing
from engram.resolve.meaning import Similar, by_meaning, unsure, weighed
from engram.resolve.models import Mention, Resolution, ResolveContext, SourceType, Subjects, TemporalIntent
from engram.resolve.names import unknown_names
from engram.resolve.sense import Spelling, Surroundings, needs_evidence
from engram.resolve.similarity import LOCAL_CALIBRATION, Calibration, TopicSimilarity
from engram.resolve.subjects import Read, subjects_of
from engram.resolve.temporal import temporal_of
from engram.resolve.topics import (
    TopicText,
    by_cue,
    by_cue_slip,
    by_head,
    by_keyword,
    by_name,
    by_slip,
)
from engram.text.language import language_of
from engram.text.normalise import normalise

Span = tuple[int, int]
MAX_QUERY = 2_000
"""Characters of a query that are resolved; the rest still takes part in the search."""
MAX_MENTIONS = 50
"""Mentions of entities that are reported of one text."""


class Resolver:
    """Resolves texts against one catalogue. Safe to share between threads."""

    def __init__(
        self,
        catalogue: Catalogue,
        embedder: Embedder | None = None,
        *,
        calibration: Calibration = LOCAL_CALIBRATION,
    ) -> None:
        """Args:
        embedder: for topics near in meaning; without it that step passes.
        """
        self.catalogue = catalogue
        self._similar: Similar | None = (
            TopicSimilarity(catalogue, embedder, calibration=calibration) if embedder is not None else None
        )

    def warm(self) -> None:
        """Compiles what the first query would otherwise wait for; for servers, at start."""
        now = datetime.now(UTC)
        for text in ("上次聊的攻略", "what did we say before about it"):
            self.resolve(text, ResolveContext(now))
        if self._similar is not None:
            self._similar("nothing in particular", whole="nothing in particular")

    def resolve(self, query: str, context: ResolveContext) -> Resolution:
        """What a query refers to. Total: any text is accepted, and none makes it raise."""
        read = self._read(query[:MAX_QUERY], context, similar=self._similar)
        entities, topics = read.entities, read.topics
        folded = read.normalised
        cues = [folded.folded_span(*span) for span in read.temporal.spans]
        named = [folded.folded_span(mention.start, mention.end) for mention in entities]
        kept = [*named, *(folded.folded_span(m.start, m.end) for m in topics if m.found_by in ("alias", "typo"))]
        return Resolution(
            query=query,
            normalised=folded.text,
            language=language_of(query),
            entities=entities,
            topics=topics,
            temporal=read.temporal,
            source_type=source_type(folded),
            search_text=search_text(folded, cues, kept) + _beyond(query),
            trace=read.trace,
        )

    def _read(self, text: str, context: ResolveContext, *, similar: Similar | None) -> Read:
        normalised = normalise(text)
        squeezed = squeeze(normalised.text)
        cues = cue_text(normalised.text)
        temporal = temporal_of(normalised, context)
        time_spans = [normalised.folded_span(*span) for span in temporal.spans]
        claims = claim_names(normalised, squeezed, self.catalogue)
        if not claims.claims or _has_unknown_words(cues, claims):
            claim_slips(normalised, claims, self.catalogue)
        known = [(claim.start, claim.end) for claim in claims.claims]
        topic_text = TopicText(
            normalised,
            squeezed,
            cues,
            self.catalogue,
            types=certain_types(claims, self.catalogue),
            silent=[match.span() for match in in_passing().finditer(normalised.text)],
            named=[*known, *claims.longer, *claims.places],
            known=known,
            recalls=temporal.intent is not TemporalIntent.NONE or source_type(normalised) is SourceType.CONVERSATION,
        )
        topics = _by_words(topic_text)
        around = self._around(cues, context, topics, claims)
        entities = decide_claims(normalised, claims, around)
        linked_types = {mention.type for mention in entities if mention.status is MentionStatus.LINKED}
        before, topic_text.types = topic_text.types, with_place(linked_types, claims)
        if topic_text.types != before:
            topics = _by_words(topic_text)
        unknown = list(unknown_names(normalised, self.catalogue))
        topics = _by_meaning(topic_text, topics, time_spans, unknown, similar)
        taken = [*time_spans, *(normalised.folded_span(m.start, m.end) for m in topics if m.found_by == "alias")]
        entities += unresolved_names(normalised, claims, taken, unknown)
        entities = sorted(entities, key=lambda mention: mention.start)[:MAX_MENTIONS]
        trace = (*claims.trace, *topic_text.trace, f"temporal: {temporal.intent}")
        return Read(normalised, cues, temporal, tuple(entities), tuple(topics), trace)

    def _around(
        self, cues: CueText, context: ResolveContext, topics: Sequence[Mention], claims: Claims
    ) -> Surroundings:
        recent = normalise("\n".join(context.recent)[-MAX_QUERY:])
        named = claim_names(recent, squeeze(recent.text), self.catalogue) if recent.text else Claims()
        linked = tuple(mention.id for mention in topics if mention.status is MentionStatus.LINKED)
        return Surroundings(
            self.catalogue,
            cues,
            cue_text(recent.text),
            linked,
            recent_ids=_unambiguous(named),
            named_ids=_unambiguous(claims),
            named_types=self._types_named(claims),
        )

    def _types_named(self, claims: Claims) -> frozenset[str]:
        """Types of names that mean one entity, and the one type that several ambiguous names share (Java, Python)."""
        sure = {self.catalogue.entities[name].type for name in _unambiguous(claims)}
        open_names = {claim.key: claim.targets for claim in claims.claims if len(claim.targets) > 1}
        kinds = [{self.catalogue.entities[target.id].type for target in targets} for targets in open_names.values()]
        shared = set.intersection(*kinds) if len(kinds) > 1 else set()
        both_places = len(kinds) > 1 and all(types & PLACE_TYPES for types in kinds)
        return frozenset(sure | shared) if len(shared) == 1 and not both_places else frozenset(sure)

    def subjects(self, messages: Sequence[Message], context: ResolveContext) -> Subjects:
        """What a run of messages is about, for storing with their conversation. No encoder, no model.

        Names count wherever the user says them; in an assistant's long answer only those at its beginning or said
        twice. Topics come from the user's own words, and from the answer when they have none.
        """
        return subjects_of(messages, lambda text: self._read(text, context, similar=None), self._plain_names)

    def _plain_names(self, text: str) -> list[tuple[int, str]]:
        """Places and ids of names that mean one entity whatever stands around them: cheap on long texts."""
        normalised = normalise(text)
        claims = claim_names(normalised, squeeze(normalised.text), self.catalogue)
        single = [(claim, claim.targets[0]) for claim in claims.claims if len(claim.targets) == 1]
        return [
            (claim.start, target.id)
            for claim, target in single
            if not needs_evidence(
                target,
                self.catalogue.entities[target.id].type,
                Spelling(normalised.as_written(claim.start, claim.end), opening=True),
                claim.key,
            )
        ]


def _by_words(text: TopicText) -> list[Mention]:
    """The ladder of topics by words: the first step that finds anything ends it."""
    text.trace.clear()
    for step in (by_name, by_cue, by_slip, by_keyword, by_cue_slip, by_head):
        found = step(text)
        if found:
            break
    return found


def _by_meaning(
    text: TopicText, found: list[Mention], times: Sequence[Span], unknown: Sequence[Span], similar: Similar | None
) -> list[Mention]:
    """What an encoder makes of the topics that words have found; `times` and `unknown` names are no part of a topic."""
    if similar is None:
        text.trace.append("topic embedding: passed, no encoder")
        return found
    if not unsure(text, found):
        return found
    phrase = phrase_left(text.normalised, times, [*text.named, *unknown])
    return weighed(text, found, phrase, similar) if found else by_meaning(text, phrase, similar)


def _unambiguous(claims: Claims) -> frozenset[str]:
    return frozenset(claim.targets[0].id for claim in claims.claims if len(claim.targets) == 1)


def _has_unknown_words(cues: CueText, claims: Claims) -> bool:
    """Whether some of the text is neither a name nor obviously words: only then can there be a slip."""
    return any(claims.free(start, end) for _word, start, end in cues.latin) or any(
        claims.free(start, end) for start, end in cues.han if end - start == 1
    )


def _beyond(query: str) -> str:
    rest = query[MAX_QUERY:]
    return " " + rest.encode("utf-8", "replace").decode("utf-8") if rest.strip() else ""
