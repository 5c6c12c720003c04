"""The topic ladder by words: names, cues, slips, keywords, heads. What they leave open is for `meaning`.

It stops at the first step that is certain. Each step says in the trace what it accepted or why it passed on.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

from engram.domain.models import MentionStatus
from engram.resolve.aliases import Squeezed
from engram.resolve.borders import stands_alone
from engram.resolve.catalogue import PLACE_TYPES, Catalogue, topic_names
from engram.resolve.decision import decimal_score, ranked
from engram.resolve.expressions import CueIndex, CueText, part_of, weight
from engram.resolve.heads import stands_as_noun
from engram.resolve.keywords import keyword_index
from engram.resolve.models import Candidate, Mention
from engram.resolve.phonetics import SoundTable
from engram.resolve.slips import slips
from engram.text.normalise import NormalisedText
from engram.text.segment import is_word, on_borders

TOPIC_SCORE = -12.0
_CERTAIN = decimal_score(0.99)
_SLIP = decimal_score(0.95)
_CUE_LEAD = 1.25
"""How many times as much of the text must speak for the best topic as for the second."""

Span = tuple[int, int]


@dataclass(slots=True)
class TopicText:
    """A text as the topic ladder reads it.

    Attributes:
        types: of the entities in it; named: spans of names in the folded text; known: of those in the catalogue.
        silent: spans of the folded text that must not be read as topic words.
        recalls: whether the text asks for something earlier, or names a time.
        crossed: topics of which a name stands in the text only across words (体检 in 身体检测); torn: where it does.
    """

    normalised: NormalisedText
    squeezed: Squeezed
    cues: CueText
    catalogue: Catalogue
    types: frozenset[str] = frozenset()
    silent: Sequence[Span] = ()
    crossed: set[str] = field(default_factory=set)
    torn: list[Span] = field(default_factory=list)
    named: Sequence[Span] = ()
    known: Sequence[Span] = ()
    recalls: bool = False
    trace: list[str] = field(default_factory=list)
    _never: dict[str, list[Span]] = field(default_factory=dict)

    def never(self, topic_id: str) -> list[Span]:
        """Spans of the folded text inside which the topic's words say nothing."""
        if topic_id not in self._never:
            pattern = _never_patterns(self.catalogue).get(topic_id)
            found = pattern.finditer(self.normalised.text) if pattern else ()
            self._never[topic_id] = [match.span() for match in found]
        return self._never[topic_id]

    def mention(self, span: Span, step: str, candidates: Sequence[Candidate], linked: Candidate | None) -> Mention:
        """A mention of a topic at a span of the folded text."""
        first, last = self.normalised.span(*span)
        written = self.normalised.original[first:last]
        if linked is None:
            return Mention(written, first, last, MentionStatus.AMBIGUOUS, "", "", "topic", step, ranked(candidates))
        return Mention(
            written, first, last, MentionStatus.LINKED, linked.id, linked.name, "topic", step, ranked(candidates)
        )

    def candidate(self, topic_id: str, score: float) -> Candidate:
        return Candidate(topic_id, self.catalogue.topics[topic_id].name, "topic", decimal_score(score))


def by_name(text: TopicText) -> list[Mention]:
    """Names and aliases as filed: longest first, on word borders, none inside a `never` expression."""
    text.crossed.clear()
    text.torn.clear()
    taken: list[Span] = []
    found: list[tuple[Span, list[str]]] = []
    hits = sorted(text.catalogue.topic_names.find(text.squeezed), key=lambda hit: (hit.start - hit.end, hit.start))
    for hit in hits:
        span = text.squeezed.span(hit.start, hit.end)
        ids = [target.id for target in hit.targets if not _overlaps(span, text.never(target.id))]
        if not ids or _overlaps(span, taken) or _overlaps(span, text.silent):
            continue
        if stands_alone(text.squeezed.text, hit.start, hit.end, name_score=TOPIC_SCORE):
            taken.append(span)
            found.append((span, ids))
        elif not hit.key.isascii():
            text.crossed.update(ids)
            text.torn.append(span)
    named = {ids[0] for _span, ids in found if len(ids) == 1}
    rules = text.catalogue.topics
    found = [(span, ids) for span, ids in found if not named & set(rules[ids[0]].rules.yields_to)]
    yielding = any(rules[ids[0]].rules.yields_to for _span, ids in found)
    spoken = _spoken(text) if yielding else {}
    found = [(span, ids) for span, ids in found if not _outspoken(spoken, span, rules[ids[0]].rules.yields_to)]
    text.trace.append(f"topic alias: {len(found)} names" if found else "topic alias: passed, no name of a topic")
    return _mentions(text, found, "alias", 0.99)


def _outspoken(spoken: Mapping[str, set[Span]], span: Span, others: Sequence[str]) -> bool:
    """Whether a topic that the named one yields to has words of its own beside the name (租房可以抵扣吗)."""
    return any(not _overlaps(span, (place,)) for other in others for place in spoken.get(other, ()))


def by_cue_slip(text: TopicText) -> list[Mention]:
    """Cues in which a longer Latin word has a slip: `restaraunt in Milan`."""
    table = _cue_words(text.catalogue)
    corrected = tuple(
        (token if _overlaps((start, end), text.named) else table.near(token) or token, start, end)
        for token, start, end in text.cues.latin
    )
    if corrected == text.cues.latin:
        text.trace.append("topic rules with slips: passed, every word is a word")
        return []
    mended = replace(text, cues=replace(text.cues, latin=corrected), trace=[])
    found = by_cue(mended) or by_keyword(mended)
    text.trace.append("topic rules with slips: accepted" if found else "topic rules with slips: passed, no cue")
    return [replace(mention, found_by="typo") for mention in found]


def by_slip(text: TopicText) -> list[Mention]:
    """A name of a topic with one wrong character."""
    names = text.catalogue.topic_names
    found = [
        ((start, end), [target.id for target in names.get(key)])
        for start, end, key in slips(text.normalised.text, text.catalogue.topic_sounds)
        if not _overlaps((start, end), text.silent) and not _overlaps((start, end), text.torn)
    ]
    text.trace.append(f"topic typo: {len(found)} names one character off" if found else "topic typo: passed")
    return _mentions(text, found, "typo", 0.95)


def _mentions(text: TopicText, found: list[tuple[Span, list[str]]], step: str, score: float) -> list[Mention]:
    """One mention per topic: saying it again adds nothing."""
    mentions: list[Mention] = []
    seen: set[tuple[str, ...]] = set()
    for span, ids in sorted(found):
        if tuple(ids) in seen:
            continue
        seen.add(tuple(ids))
        if len(ids) == 1:
            best = text.candidate(ids[0], score)
            mentions.append(text.mention(span, step, [best], best))
        else:
            even = [text.candidate(topic_id, 1 / len(ids)) for topic_id in ids]
            mentions.append(text.mention(span, step, even, None))
    return mentions


def by_cue(text: TopicText) -> list[Mention]:
    """Rules and synonyms of the catalogue: one cue that is enough, or two hints."""
    spoken = _spoken(text)
    if not spoken:
        text.trace.append("topic rules: passed, no cue")
        return []
    weights = {topic_id: weight(text.normalised.text, spans) for topic_id, spans in spoken.items()}
    order = sorted(weights, key=lambda topic_id: (-weights[topic_id], topic_id))
    best = order[0]
    span = (min(first for first, _ in spoken[best]), max(last for _, last in spoken[best]))
    close = [other for other in order[1:] if weights[best] <= _CUE_LEAD * weights[other]]
    if not close:
        text.trace.append("topic rules: accepted, cues of one topic")
        linked = text.candidate(best, 0.95)
        others = [text.candidate(other, 0.5) for other in order[1:3]]
        return [text.mention(span, "rule", [linked, *others], linked)]
    text.trace.append(f"topic rules: {1 + len(close)} topics too close")
    even = [text.candidate(topic_id, 0.95 / (1 + len(close))) for topic_id in (best, *close)]
    return [text.mention(span, "rule", even, None)]


def _spoken(text: TopicText) -> dict[str, set[Span]]:
    """Topic → spans of the words that speak for it."""
    index = _cue_index(text.catalogue)
    spoken: dict[str, set[Span]] = {}
    hinted: dict[str, set[Span]] = {}
    for found in index.find(text.cues, text.types, without=text.silent, names=text.known):
        topic_id, sort = found.owner
        if any(_overlaps(span, text.never(topic_id)) or _torn(text, span) for span in found.spans):
            continue
        (spoken if sort == "cue" else hinted).setdefault(topic_id, set()).update(found.spans)
    for topic_id, spans in hinted.items():
        if topic_id in spoken:
            spoken[topic_id] |= spans
        elif _apart(spans) >= 2:
            spoken[topic_id] = spans
    return {topic_id: spans for topic_id, spans in spoken.items() if not _yields(text.catalogue, topic_id, spoken)}


def _torn(text: TopicText, span: Span) -> bool:
    """Whether a word is only a piece of a name that stands across words (体检 in 身体检测). Not so the end of one that
    is a word by itself (签证 in 怎么办签证, where 办签证 is no name), nor its beginning before a longer word
    (签证|申请表)."""
    if not _within(span, text.torn):
        return False
    folded = text.normalised.text
    ends = any(first < span[0] and span[1] == last for first, last in text.torn)
    begins = span[1] - span[0] > 1 and any(
        first == span[0] and _word_across(folded, span[1], last) for first, last in text.torn
    )
    return not ((ends or begins) and stands_alone(folded, *span, name_score=TOPIC_SCORE))


def _word_across(folded: str, start: int, border: int) -> bool:
    """Whether a word of the dictionary begins at a place and ends behind a border."""
    return any(is_word(folded[start:end]) for end in (border + 1, border + 2) if end <= len(folded))


def _yields(catalogue: Catalogue, topic_id: str, spoken: Mapping[str, set[Span]]) -> bool:
    """Whether a topic that this one yields to has words of its own in the text."""
    others = catalogue.topics[topic_id].rules.yields_to
    return any(spoken.get(other, set()) - spoken[topic_id] for other in others)


def by_keyword(text: TopicText) -> list[Mention]:
    """All words of one topic's name, in any order and with any endings."""
    found = {
        topic_id: (score, spans)
        for topic_id, (score, spans) in keyword_index(text.catalogue).find(text.cues).items()
        if topic_id not in text.crossed and not any(_overlaps(span, text.never(topic_id)) for span in spans)
    }
    order = sorted(found, key=lambda topic_id: (-found[topic_id][0], topic_id))
    if not order or (len(order) > 1 and found[order[0]][0] < _CUE_LEAD * found[order[1]][0]):
        text.trace.append("topic keywords: passed, " + ("two names as well covered" if order else "no name all there"))
        return []
    text.trace.append("topic keywords: accepted, all words of one name")
    spans = found[order[0]][1]
    best = text.candidate(order[0], 0.92)
    return [text.mention((spans[0][0], spans[-1][1]), "keyword", [best], best)]


def by_head(text: TopicText) -> list[Mention]:
    """Words that are ambiguous when nothing else is said (攻略, plan); the type of an entity may decide."""
    for hit in text.catalogue.head_names.find(text.squeezed):
        span = text.squeezed.span(hit.start, hit.end)
        silent = _overlaps(span, text.silent) or any(part_of(span, name) for name in text.known)
        if silent or not on_borders(text.squeezed.text, hit.start, hit.end, name_score=TOPIC_SCORE):
            continue
        head = hit.targets[0].id
        ids = [
            topic_id for topic_id in text.catalogue.ambiguous_heads[head] if not _overlaps(span, text.never(topic_id))
        ]
        of_name = any(0 <= span[0] - last <= 1 for _first, last in text.named)
        if not ids or not (of_name or stands_as_noun(text.normalised.text, span, head)):
            continue
        kept = _fitting(text, ids)
        if len(kept) == 1 and len(ids) > 1:
            text.trace.append("topic heads: accepted, the entity's type leaves one topic")
            best = text.candidate(kept[0], 0.95)
            return [text.mention(span, "rule", [best], best)]
        text.trace.append(f"topic heads: {len(kept)} topics share the word")
        even = [text.candidate(topic_id, 0.9 / max(len(kept), 2)) for topic_id in kept]
        return [text.mention(span, "rule", even, None)]
    text.trace.append("topic heads: passed, no ambiguous word")
    return []


def _fitting(text: TopicText, ids: Sequence[str]) -> list[str]:
    """Topics that go with the types of the entities in the text; all of them when none does."""
    fitting = [topic_id for topic_id in ids if set(text.catalogue.topics[topic_id].rules.types) & text.types]
    return fitting or list(ids)


def ruled_out(text: TopicText) -> frozenset[str]:
    """Topics that the text excludes: by an expression that is never theirs, or by the type of its entities (with a
    city there is no game's guide)."""
    never = frozenset(topic_id for topic_id in text.catalogue.topics if text.never(topic_id)) | text.crossed
    if not text.types & PLACE_TYPES:
        return never
    return never | frozenset(
        topic.id
        for topic in text.catalogue.topics.values()
        if topic.rules.types and not set(topic.rules.types) & text.types and set(topic.rules.types) & _EXCLUSIVE
    )


_EXCLUSIVE = frozenset(("game", "book", "movie", "language_prog"))


def _overlaps(span: Span, others: Sequence[Span]) -> bool:
    return any(span[0] < last and first < span[1] for first, last in others)


def _within(span: Span, others: Sequence[Span]) -> bool:
    return any(first <= span[0] and span[1] <= last for first, last in others)


def _apart(spans: set[Span]) -> int:
    kept: list[Span] = []
    for span in sorted(spans, key=lambda item: (item[0] - item[1], item[0])):
        if not _overlaps(span, kept):
            kept.append(span)
    return len(kept)


@lru_cache(maxsize=8)
def _cue_index(catalogue: Catalogue) -> CueIndex[tuple[str, str]]:
    cues: dict[tuple[str, str], Sequence[str]] = {}
    for topic in catalogue.topics.values():
        cues[topic.id, "cue"] = topic.rules.cues
        cues[topic.id, "hint"] = topic.rules.hints
    return CueIndex.build(cues)


@lru_cache(maxsize=8)
def _cue_words(catalogue: Catalogue) -> SoundTable:
    """Longer Latin words that speak for topics."""
    cues = (cue for topic in catalogue.topics.values() for cue in (*topic.rules.cues, *topic_names(topic)))
    return SoundTable({word for cue in cues for word in re.findall(r"[a-z]{7,}(?![a-z*<])", cue.lower())})


@lru_cache(maxsize=8)
def _never_patterns(catalogue: Catalogue) -> Mapping[str, re.Pattern[str]]:
    return {
        topic.id: re.compile("|".join(f"(?:{pattern})" for pattern in topic.rules.never))
        for topic in catalogue.topics.values()
        if topic.rules.never
    }
