"""The entity ladder: names as filed, then slips of the pen, then names that the catalogue does not know.

Each step takes what the step before left and adds a line to the trace: what it accepted, or why it passed on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from engram.domain.models import MentionStatus
from engram.resolve.aliases import Hit, Squeezed, Target
from engram.resolve.catalogue import PLACE_TYPES, Catalogue, names_of
from engram.resolve.decision import decide, decimal_score, ranked
from engram.resolve.definitions import EntityDefinition
from engram.resolve.lexicon import not_name_patterns, not_names, other_names
from engram.resolve.longer_names import doubled, inside_longer_name, is_landform, name_around
from engram.resolve.models import Candidate, Mention
from engram.resolve.places import unknown_places
from engram.resolve.sense import (
    TYPE_CUE,
    Spelling,
    Surroundings,
    as_entered,
    evidence,
    modifies,
    needs_evidence,
    opens_sentence,
    reads_as_word,
    spoken_of,
    weigh,
)
from engram.resolve.shipped import default_catalogue
from engram.resolve.slips import slips
from engram.text.language import is_han
from engram.text.normalise import NormalisedText
from engram.text.segment import on_borders

NAME_SCORE = -13.9
"""Logarithm of the probability given to a name that the dictionary lacks: about fifty times in its corpus."""
_EXPRESSION_SCORE = -7.5
_DIVISIONS = ("省", "市", "县")
_EDITIONS = ("版", "课", "书", "歌")
_CERTAIN = decimal_score(0.99)
_SLIP = decimal_score(0.95)


@dataclass(frozen=True, slots=True)
class Claim:
    """A name that stands in the text: its span in the folded text, and the entities it may mean."""

    start: int
    end: int
    key: str
    targets: tuple[Target, ...]
    step: str = "alias"


@dataclass(slots=True)
class Claims:
    """What the names of a text come to before anything is decided between candidates.

    Attributes:
        claims: not overlapping, in order of the text.
        longer: spans of unknown names that hold a known one (王芳芳, Paris Hilton).
        places: spans of unknown names that are surely places (扎金索斯岛).
    """

    claims: list[Claim] = field(default_factory=list)
    longer: list[tuple[int, int]] = field(default_factory=list)
    places: list[tuple[int, int]] = field(default_factory=list)
    trace: list[str] = field(default_factory=list)
    _taken: set[int] = field(default_factory=set)

    def free(self, start: int, end: int) -> bool:
        """Whether no name has been found in this span."""
        return self._taken.isdisjoint(range(start, end))

    def take(self, start: int, end: int) -> tuple[int, int]:
        """Marks a span as part of a name."""
        self._taken.update(range(start, end))
        return start, end


def claim_names(normalised: NormalisedText, squeezed: Squeezed, catalogue: Catalogue) -> Claims:
    """Step 1, exact names: longest first, on word borders, and not part of a longer name."""
    claims = Claims()
    _silence(normalised.text, squeezed, claims, catalogue)
    dropped = 0
    hits = sorted(catalogue.entity_names.find(squeezed), key=lambda hit: (hit.start - hit.end, hit.start))
    for hit in hits:
        kinds = {catalogue.entities[target.id].type for target in hit.targets}
        last = hit.end + _with_suffix(squeezed.text, hit, kinds)
        start, end = squeezed.span(hit.start, last)
        if not claims.free(start, end):
            continue
        bordered = on_borders(squeezed.text, hit.start, last, name_score=NAME_SCORE)
        dropped += not bordered
        longer = (
            inside_longer_name(normalised, start, end, kinds, catalogue)
            if bordered
            else _name_across(squeezed, hit, kinds, catalogue)
        )
        if longer and (bordered or claims.free(*longer)):
            kept = claims.places if is_landform(normalised.text[slice(*longer)]) else claims.longer
            kept.append(claims.take(*longer))
        elif bordered:
            place = claims.take(start, end)
            if kinds != {"language"} or not modifies(normalised.text, *place):
                claims.claims.append(Claim(*place, hit.key, hit.targets))
    claims.claims.sort(key=lambda claim: claim.start)
    for span in unknown_places(normalised, squeezed):
        if claims.free(*span):
            claims.places.append(claims.take(*span))
    claims.trace.append(
        f"alias: {len(claims.claims)} names, {dropped} across word borders, {len(claims.longer)} in longer names"
    )
    return claims


def _with_suffix(text: str, hit: Hit, kinds: set[str]) -> int:
    """1 when the next character only says what the name is of: 台湾省 is 台湾, 英文版 is 英文, 托福考 is 托福."""
    following = text[hit.end : hit.end + 1] if is_han(hit.key[-1]) else ""
    place = following in _DIVISIONS and bool(kinds & PLACE_TYPES)
    edition = following in _EDITIONS and kinds == {"language"}
    if not (place or edition or (following == "考" and kinds == {"exam"})):
        return 0
    return int(on_borders(text, hit.start, hit.end + 1, name_score=NAME_SCORE))


def _name_across(squeezed: Squeezed, hit: Hit, kinds: set[str], catalogue: Catalogue) -> tuple[int, int] | None:
    """The span of an unknown name that a known one, not on word borders, is a part of (王磊磊, 中山大学)."""
    whole = name_around(squeezed.text, hit.start, hit.end)
    kin = catalogue.entity_names.get(squeezed.text[hit.end - 1 : hit.end + 1])
    if "person" in kinds and doubled(squeezed.text, hit.start, hit.end) and not kin:
        whole = hit.start, hit.end + 1
    if whole is None or catalogue.entity_names.get(squeezed.text[slice(*whole)]):
        return None
    return squeezed.span(*whole)


def _silence(text: str, squeezed: Squeezed, claims: Claims, catalogue: Catalogue) -> None:
    """Takes what stands in fixed expressions and in other names out of the question, unless the catalogue has the
    expression itself."""
    for table, kept in ((other_names(), claims.longer), (not_names(), None)):
        for hit in table.find(squeezed):
            bordered = on_borders(squeezed.text, hit.start, hit.end, name_score=_EXPRESSION_SCORE)
            span = squeezed.span(hit.start, hit.end)
            if bordered and claims.free(*span) and not catalogue.entity_names.get(hit.key):
                claims.take(*span)
                if kept is not None:
                    kept.append(span)
    for pattern in not_name_patterns():
        for match in pattern.finditer(text):
            claims.take(*match.span("what" if "what" in pattern.groupindex else 0))


def claim_slips(normalised: NormalisedText, claims: Claims, catalogue: Catalogue) -> None:
    """Step 2, one wrong character, when no other real name is as near."""
    found = 0
    for start, end, key in slips(normalised.text, catalogue.entity_sounds):
        targets = catalogue.entity_names.get(key)
        if targets and claims.free(start, end):
            claims.claims.append(Claim(*claims.take(start, end), key, targets, "typo"))
            found += 1
    claims.claims.sort(key=lambda claim: claim.start)
    claims.trace.append(
        f"typo: {found} names one character off" if found else "typo: passed, nothing near one name only"
    )


def certain_types(claims: Claims, catalogue: Catalogue) -> frozenset[str]:
    """Types of entities about which there is no doubt, `place` standing for every kind of place as well."""
    kinds = {
        catalogue.entities[claim.targets[0].id].type
        for claim in claims.claims
        if len({catalogue.entities[target.id].type for target in claim.targets}) == 1
    }
    return with_place(kinds, claims)


def with_place(kinds: set[str], claims: Claims) -> frozenset[str]:
    """The types, and `place` if any of them is a kind of place or the text names a place that is unknown."""
    return frozenset(kinds | {"place"}) if kinds & PLACE_TYPES or claims.places else frozenset(kinds)


def decide_claims(normalised: NormalisedText, claims: Claims, around: Surroundings) -> list[Mention]:
    """Step 3, the rule: a name of one entity is linked, of several only when its surroundings decide."""
    mentions: list[Mention] = []
    undecided = plain = 0
    for claim in claims.claims:
        mention = _decide(normalised, claim, around)
        if mention is None:
            plain += 1
            continue
        undecided += mention.status is MentionStatus.AMBIGUOUS
        mentions.append(mention)
    claims.trace.append(f"context: {undecided} left ambiguous, {plain} ordinary words")
    return mentions


def _decide(normalised: NormalisedText, claim: Claim, around: Surroundings) -> Mention | None:
    first, last = normalised.span(claim.start, claim.end)
    written = normalised.original[first:last]
    place = (claim.start, claim.end)
    spelling = Spelling(written, opens_sentence(normalised.original, first), spoken_of(normalised.text, place))
    entities = [around.catalogue.entities[target.id] for target in claim.targets]
    kinds = [entity.type for entity in entities]
    # Between several names a capital speaks for a name, even where a sentence begins.
    strict = spelling if len(kinds) == 1 else replace(spelling, opening=False)
    ordinary = all(needs_evidence(t, kind, strict, claim.key) for t, kind in zip(claim.targets, kinds, strict=True))
    if ordinary and not _entered(entities, written, normalised.text, place):
        support = evidence(claim.targets, around, place)
        if max(support.values()) < TYPE_CUE or all(
            reads_as_word(kind, spelling, normalised.text, place) for kind in kinds
        ):
            return None
    if len(claim.targets) == 1:
        entity = around.catalogue.entities[claim.targets[0].id]
        score = _CERTAIN if claim.step == "alias" else _SLIP
        candidate = Candidate(entity.id, entity.name, entity.type, score)
        return _linked(written, first, last, candidate, claim.step)
    candidates = ranked(weigh(claim.targets, spelling, around, place))
    best = decide(candidates)
    if best is not None:
        return _linked(written, first, last, best, "context")
    return Mention(
        written, first, last, MentionStatus.AMBIGUOUS, type=candidates[0].type, found_by="alias", candidates=candidates
    )


def _entered(entities: Sequence[EntityDefinition], written: str, text: str, place: tuple[int, int]) -> bool:
    """Whether a business has entered one of the entities, and the name as it stands is surely that."""
    own = [entity for entity in entities if entity.id not in default_catalogue().entities]
    return bool(own) and as_entered(written, {name for entity in own for name in names_of(entity)}, text, place)


def _linked(written: str, first: int, last: int, candidate: Candidate, step: str) -> Mention:
    return Mention(
        written,
        first,
        last,
        MentionStatus.LINKED,
        candidate.id,
        candidate.name,
        candidate.type,
        step,
        (candidate,),
    )


def unresolved_names(
    normalised: NormalisedText,
    claims: Claims,
    taken: Sequence[tuple[int, int]],
    unknown: Sequence[tuple[int, int]],
) -> list[Mention]:
    """Step 4, names that the catalogue does not know: kept as text, never made into ids.

    Args:
        taken: spans of the folded text that mean something else (times, topics).
        unknown: spans of names that the catalogue does not hold.
    """
    spans = [*claims.longer, *claims.places]
    for start, end in unknown:
        busy = [*taken, *spans]
        if claims.free(start, end) and not any(start < last and first < end for first, last in busy):
            spans.append((start, end))
    claims.trace.append(f"unknown: {len(spans)} names not in the catalogue")
    mentions: list[Mention] = []
    for start, end in spans:
        first, last = normalised.span(start, end)
        written = normalised.original[first:last]
        mentions.append(Mention(written, first, last, MentionStatus.UNRESOLVED, found_by="unknown"))
    return mentions
