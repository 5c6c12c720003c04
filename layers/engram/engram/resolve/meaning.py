"""What nearness of meaning says about topics: it finds one where no words did, decides between several, and doubts what
words alone say.

A topic's word in another sense (`a walkthrough of the office`) is seldom near to examples of the topic. Where a text
speaks of earlier talk or of a time, or names what goes with the topic, the word is believed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from engram.domain.models import MentionStatus
from engram.resolve.aliases import key_of
from engram.resolve.decision import decide, decimal_score
from engram.resolve.expressions import HEAD_NOUNS
from engram.resolve.lexicon import loose_words
from engram.resolve.models import Candidate, Mention
from engram.resolve.shipped import default_catalogue
from engram.resolve.similarity import Doubt
from engram.resolve.topics import TopicText, ruled_out
from engram.text.normalise import fold

ONE_WORD = decimal_score(0.97)
"""What a single word must reach to mean a topic: `update` alone is near to many things."""
_LOOSE = Doubt(none=0.7, phrase=0.1, whole=0.1)
"""What doubts a loose word anywhere."""
_UNASKED = Doubt(none=0.0, phrase=0.25, whole=0.3)
"""What doubts any word in a text that asks for nothing earlier. Chosen on 67 such words that the weights had not
seen, 52 rightly understood: it doubted 13 of them, one wrongly."""

_LONG_HAN = 4
"""Characters of a Chinese name that is seldom another word."""


class Similar(Protocol):
    """A phrase, the ids ruled out and the whole text → topics near in meaning, with probabilities; and whether phrase
    and text look so little like being about this one that its words are doubted."""

    def __call__(self, phrase: str, ruled_out: frozenset[str] = ..., *, whole: str = ...) -> tuple[Candidate, ...]: ...

    def doubts(self, topic_id: str, phrase: str, whole: str, doubt: Doubt) -> bool: ...


def unsure(text: TopicText, found: Sequence[Mention]) -> bool:
    """Whether the encoder has a say in what words have found: nothing, one topic that words may not mean, or one that
    others had cues beside. Several names, or one that is ambiguous, it leaves as they are."""
    if not found:
        return True
    if len(found) > 1 or found[0].status is not MentionStatus.LINKED:
        return False
    return _contested(found[0]) or (_doubtful(text, found[0]) and not _borne_out(text, found[0].id))


def weighed(text: TopicText, found: list[Mention], phrase: str, similar: Similar) -> list[Mention]:
    """The one topic that words have found, unless the encoder chooses another with cues, or doubts it."""
    whole = text.normalised.text
    if found[0].found_by == "rule" and len(found[0].candidates) > 1:
        found = _chosen(text, found, phrase, similar)
    first = found[0]
    grounds = [_LOOSE] if first.found_by == "rule" and len(first.candidates) == 1 and _loose(first) else []
    grounds += [] if _borne_out(text, first.id) or not _doubtful(text, first) else [_UNASKED]
    doubted = any(similar.doubts(first.id, phrase or whole, whole, doubt) for doubt in grounds)
    if grounds:
        text.trace.append(f"topic by words: {'doubted' if doubted else 'not doubted'} by examples")
    return by_meaning(text, phrase, similar, besides=frozenset((first.id,))) if doubted else found


def by_meaning(
    text: TopicText, phrase: str, similar: Similar, *, besides: frozenset[str] = frozenset()
) -> list[Mention]:
    """Nearness of meaning: what is left of the query to names of topics, then the whole query to examples of them.

    Args:
        besides: topics that it is not.
    """
    if text.silent:
        text.trace.append("topic embedding: passed, a thing is named in passing")
        return []
    if not phrase or (len(phrase) == 1 and phrase not in HEAD_NOUNS):
        text.trace.append("topic embedding: passed, nothing left to compare")
        return []
    candidates = similar(phrase, ruled_out(text) | besides, whole=text.normalised.text)
    best = decide(candidates)
    if best is None or (_is_one_word(phrase) and best.score < ONE_WORD):
        text.trace.append("topic embedding: passed, no candidate both likely and ahead")
        return []
    text.trace.append("topic embedding: accepted")
    return [text.mention((0, len(text.normalised.text)), "embedding", candidates[:3], best)]


def _chosen(text: TopicText, found: list[Mention], phrase: str, similar: Similar) -> list[Mention]:
    """Of topics with cues the one that is near in meaning, if one is."""
    ids = {candidate.id for candidate in found[0].candidates}
    candidates = similar(phrase or text.normalised.text, ruled_out(text), whole=text.normalised.text)
    best = decide(candidates)
    if best is None or best.id not in ids:
        text.trace.append("topic rules: the encoder decides nothing between them")
        return found
    text.trace.append("topic rules: the encoder decides between topics with cues")
    kept = [candidate for candidate in candidates if candidate.id in ids]
    return [replace(found[0], status=MentionStatus.LINKED, id=best.id, name=best.name, candidates=tuple(kept))]


def _contested(mention: Mention) -> bool:
    """Whether a topic was linked by its cues though another has cues in the text as well, or by one loose word."""
    by_cues = mention.found_by == "rule" and mention.status is MentionStatus.LINKED
    return by_cues and (len(mention.candidates) > 1 or _loose(mention))


def _loose(mention: Mention) -> bool:
    return fold(mention.text) in loose_words()


def _borne_out(text: TopicText, topic_id: str) -> bool:
    """Whether the text asks for something earlier, or names what goes with the topic (a city beside a guide)."""
    return text.recalls or bool(set(text.catalogue.topics[topic_id].rules.types) & text.types)


def _doubtful(text: TopicText, mention: Mention) -> bool:
    """Whether the encoder can doubt a topic. A slip of the pen says less to it than what was meant, four Chinese
    characters of a name are seldom another word, and names and rules of a business's own are not among the examples."""
    if mention.found_by == "typo":
        return False
    shipped = default_catalogue()
    if mention.found_by == "alias":
        filed = shipped.topic_names.get(key_of(mention.text))
        long = not mention.text.isascii() and len(mention.text) >= _LONG_HAN
        return not long and any(target.id == mention.id for target in filed)
    topic = shipped.topics.get(mention.id)
    return topic is not None and topic.rules == text.catalogue.topics[mention.id].rules


def _is_one_word(phrase: str) -> bool:
    return " " not in phrase and (phrase.isascii() or len(phrase) < 3)
