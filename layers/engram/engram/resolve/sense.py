"""Which of several things a name means here, judged by the words around it.

Evidence is in log odds and small words give little of it: without any the candidates stay even, and the rule of
`decision` leaves them ambiguous. An ordinary word that is also a name (nice, 奔驰) needs evidence even when alone.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from engram.resolve.aliases import Target
from engram.resolve.catalogue import COMMON_TYPES, PLACE_TYPES, Catalogue
from engram.resolve.decision import decimal_score, shares
from engram.resolve.expressions import CueText, cue_text
from engram.resolve.lexicon import sense_cues, type_cues
from engram.resolve.models import Candidate
from engram.text.language import has_han
from engram.text.segment import is_english_word, kind_of, word_score

TYPE_CUE = 2.4
"""One word that goes with a type; two do not count double, they are often the same evidence."""
MORE_CUES = 0.6
OWN_HINT = 2.6
"""A word that goes with this very entity."""
TOPIC = 2.4
COMPANY = 2.4
"""Another name in the text is surely of the type: Python beside JavaScript."""
SPELLING = 1.0
"""Capital or small letter as in one candidate's name only: a habit of the writer as much as a sign."""
RECENT = 3.0
"""The present conversation has named this candidate by an unambiguous name."""
RECENT_CUE = 1.4
NEAR = 48
"""Characters on either side of a name within which words speak about it."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What can decide about the names of a text.

    Attributes:
        cues: of the text itself; recent: of the messages before it.
        topics: ids of topics that the text is about.
        recent_ids: entities named unambiguously in recent messages.
        named_ids: entities named unambiguously in the text itself; named_types: their types.
    """

    catalogue: Catalogue
    cues: CueText
    recent: CueText
    topics: tuple[str, ...] = ()
    recent_ids: frozenset[str] = frozenset()
    named_ids: frozenset[str] = frozenset()
    named_types: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a name was written: the words as they are, whether they begin the sentence, and whether they alone are what
    the sentence says was spoken of (关于联想, 聊的奔驰)."""

    written: str
    opening: bool
    spoken_of: bool = False


def weigh(
    targets: Sequence[Target], spelling: Spelling, around: Surroundings, place: tuple[int, int]
) -> tuple[Candidate, ...]:
    """Candidates with their probabilities, unordered. `place` is the name's span in the folded text."""
    catalogue = around.catalogue
    entities = [catalogue.entities[target.id] for target in targets]
    support = evidence(targets, around, place)
    weights = [
        support[target.id] + (SPELLING if _only_spelt_so(target, targets, spelling) else 0.0) for target in targets
    ]
    return tuple(
        Candidate(entity.id, entity.name, entity.type, decimal_score(share))
        for entity, share in zip(entities, shares(weights), strict=True)
    )


def evidence(targets: Sequence[Target], around: Surroundings, place: tuple[int, int]) -> dict[str, float]:
    """Log odds for each target from words near it, topics, and the conversation."""
    near = _near(around.cues, place)
    here = _counts(near, place)
    before = _counts(around.recent, None)
    totals: dict[str, float] = {}
    kinds = {around.catalogue.entities[target.id].type for target in targets}
    within = len(targets) > 1 and _lies_around(kinds, around.cues.text, place)
    # A name of one entity only cannot vouch for itself.
    known = around.recent_ids if len(targets) == 1 else around.recent_ids | around.named_ids
    for target in targets:
        kind = around.catalogue.entities[target.id].type
        total = _graded(here.types.get(kind, 0), TYPE_CUE) + _graded(before.types.get(kind, 0), RECENT_CUE)
        total += _graded(_own(around.catalogue, target.id, near, place), OWN_HINT)
        total += RECENT if target.id in known else 0.0
        total += TYPE_CUE if kind == "person" and _speaks(around.cues.text, place) else 0.0
        total += TYPE_CUE if kind in PLACE_TYPES and within else 0.0
        total += COMPANY if kind in _company(target.id, targets, around, place) else 0.0
        total += TOPIC if any(kind in around.catalogue.topics[topic].rules.types for topic in around.topics) else 0.0
        totals[target.id] = total
    return totals


def _company(target_id: str, targets: Sequence[Target], around: Surroundings, place: tuple[int, int]) -> frozenset[str]:
    """Types of the other names in the text. A name of one entity only cannot vouch for itself, and small Latin letters
    not for each other (`go and rust`)."""
    if len(targets) > 1:
        # A place beside it speaks for any kind of place: Seattle for the state as for the capital.
        beside_place = bool(around.named_types & PLACE_TYPES)
        return around.named_types | PLACE_TYPES if beside_place else around.named_types
    if not has_han(around.cues.text[slice(*place)]):
        return frozenset()
    return frozenset(around.catalogue.entities[other].type for other in around.named_ids if other != target_id)


def _speaks(text: str, place: tuple[int, int]) -> bool:
    """Whether the name says or is told something: `tell Jordan`, 问中山. What `I said about Jordan` makes no person."""
    before, after = text[: place[0]], text[place[1] :]
    return bool(_SAYS.match(after) or _IS_TOLD.search(before) or (_DID.search(before) and _SAY.match(after)))


def _lies_around(kinds: set[str], text: str, place: tuple[int, int]) -> bool:
    """Whether something is in what is named, and nothing else that it may name can be lived or worked in."""
    return kinds <= {*PLACE_TYPES, "person", "pet", "food", "animal"} and bool(_WITHIN.search(text[: place[0]]))


_WITHIN = re.compile(r"\b(?:in|visit|visiting|visited|around|across|throughout) $")
_DID = re.compile(r"\b(?:did|does|do|has|would|will|didn't|doesn't) $")
_SAY = re.compile(r" (?:say|tell|mention|think|ask|reply|suggest|recommend|want|call|text|like|answer|agree|promise)\b")


_SAYS = re.compile(
    r"(?:说|告诉|问|提到|回复|答应)(?!的?是?什么)| (?:said|says|told|asked|mentioned|thinks|replied|called|texted)\b"
)
_IS_TOLD = re.compile(
    r"(?:告诉|问|通知|提醒|叮嘱) ?$|\b(?:tell|told|ask|asked|remind|texted|emailed|call|called|invite|met) $"
)


def needs_evidence(target: Target, kind: str, spelling: Spelling, key: str) -> bool:
    """Whether this name is so ordinary a word that without evidence it is taken for the word."""
    if kind in COMMON_TYPES or (kind == "person" and target.written.islower()):
        return False
    if spelling.spoken_of or key in _NEVER_WORDS:
        return False
    if key in _WORDS_TOO or (len(key) == 2 and target.written.isupper() and spelling.written.islower()):
        return True
    if has_han(key):
        common = (word_score(key) or RARE) > RARE
        return len(key) <= 2 and common and kind_of(key) == "word" and kind in _BORROWED_TYPES
    if " " in key or not is_english_word(key):
        return False
    capital = spelling.written[:1].isupper() and target.written[:1].isupper()
    return not capital or spelling.opening


def as_entered(written: str, names: Collection[str], text: str, place: tuple[int, int]) -> bool:
    """Whether what may be an ordinary word is surely the name that a business has entered: all of the query, spelt as
    entered, or in Chinese what is opened, used or been in."""
    if not _LETTER.search(text[: place[0]] + text[place[1] :]):
        return True
    return bool(_USES.search(text[: place[0]])) if has_han(written) else written in names


_LETTER = re.compile(r"\w")
_USES = re.compile(r"(?:打开|登录|下载|安装|用|在)$")


def spoken_of(text: str, place: tuple[int, int]) -> bool:
    """Whether a name is all that was talked about: a verb of talk before it, and no noun that it could belong to."""
    return bool(_TALK_OF.search(text[: place[0]]) and _NO_MORE.match(text, place[1]))


_TALK_OF = re.compile(r"(?:关于|有关|聊的?|[聊说谈]到|[聊说讲谈]过的?|说的|提到|提过的?|讨论过?的?)$")
_NO_MORE = re.compile(r"$|[，。？！,.?! ]|我|你|的(?:事|内容|讨论|对话|话题|记录|那)|吗|呢|这家|那家|公司|是|都|什么")
_NEVER_WORDS = frozenset(("微软", "微信"))
"""Names that the dictionary lists as plain words."""
_WORDS_TOO = frozenset(("雪梨", "大苹果"))
"""Second names of places that are more often what they say."""
RARE = -14.5
"""Logarithm of the probability below which a word is too rare to be taken for the word (飞书)."""
_BORROWED_TYPES = frozenset(("company", "product", "software", "project", "book", "movie", "game", "media"))
"""Types whose Chinese names are often borrowed from ordinary words (奔驰, 联想, 大众)."""


def reads_as_word(kind: str, spelling: Spelling, text: str, place: tuple[int, int]) -> bool:
    """Whether an ordinary word in small letters is the word, whatever stands around it: `a nice restaurant` is not in
    Nice. A place is meant only where a place must stand, a person or a pet never."""
    if has_han(spelling.written):
        return bool(_ACTS_IN.search(text[: place[0]]))
    if spelling.written[:1].isupper():
        return False
    if kind in ("person", "pet"):
        return True
    if kind not in PLACE_TYPES:
        beside = cue_text(" ".join((*_LAST_WORD.findall(text[: place[0]]), *_NEXT_WORD.findall(text[place[1] :]))))
        return not any(found.owner == kind for found in type_cues().find(beside))
    return not (_WHERE.search(text[: place[0]]) and _PLACE_ENDS.match(text[place[1] :]))


_ACTS_IN = re.compile(r"在[\u4e00-\u9fff]{1,8}[上中里]$")
"""Before a Chinese word that is done somewhere: 在平原上奔驰."""
_LAST_WORD = re.compile(r"([^\W_]+)\W{0,2}$")
_NEXT_WORD = re.compile(r"^\W{0,2}([^\W_]+)")
_WHERE = re.compile(r"\b(?:in|to|from|near|visit|visiting|around) $")
_PLACE_ENDS = re.compile(r"$|[,.?!]| (?:in|for|last|next|this|with|on|and|or|trip|hotel|weather|travel)\b")


def modifies(text: str, start: int, end: int) -> bool:
    """Whether an English name of a language only says of what kind the next word is: `french fries` are not French
    lessons, and what is learnt, spoken or translated is the language whatever follows."""
    following = _NEXT_NOUN.match(text, end)
    if following is None or _OF_LANGUAGE.fullmatch(following[1]):
        return False
    return not _AS_LANGUAGE.search(text[:start])


_NEXT_NOUN = re.compile(r" ([a-z]+)")
_AS_LANGUAGE = re.compile(
    r"\b(?:in|into|to|from|learn(?:ing|t|ed)?|stud(?:y|ying|ied)|speak(?:ing|s)?|spoken?|teach(?:ing|es)?|taught|"
    r"understand|write|read|practi[cs](?:e|ing)|translate|improve|basic|business|conversational|written|fluent|my) $"
)
_OF_LANGUAGE = re.compile(
    r"is|was|are|or|and|for|at|in|on|to|with|by|from|than|but|as|well|better|fluently|daily|online|please|again|every|"
    r"last|next|this|yesterday|today|tomorrow|before|first|vs|versus|"
    r"(?:lesson|class|course|verb|word|exam|test|teacher|tutor|accent|translation|text|sentence|dictionary|subtitle|"
    r"tense|language|phrase|skill|essay|letter|alphabet|conversation|speaker|level|stud|textbook|noun|pronoun|"
    r"adjective|article|preposition|idiom|homework|quiz|podcast|flashcard|app|learner|beginner|exercise|drill|"
    r"composition|assignment|certificate|workbook|note|dialogue)(?:s|es|ses|ies|y)?|"
    r"grammar|vocab|vocabulary|pronunciation|version|speaking|listening|reading|writing|practi[cs]e|proficiency|"
    r"learning|kanji|spelling|conjugations?|immersion|fluency|slang"
)


def _only_spelt_so(target: Target, targets: Sequence[Target], spelling: Spelling) -> bool:
    if spelling.opening or has_han(spelling.written):
        return False
    same = [other for other in targets if other.written == spelling.written]
    return target in same and len(same) < len(targets)


def _graded(count: int, first: float) -> float:
    return first + MORE_CUES * min(count - 1, 2) if count else 0.0


@dataclass(frozen=True, slots=True)
class _Counts:
    types: Mapping[str, int]


def _counts(cues: CueText, place: tuple[int, int] | None) -> _Counts:
    without = (place,) if place else ()
    seen: dict[str, set[tuple[int, int]]] = {}
    for found in type_cues().find(cues, without=without):
        seen.setdefault(found.owner, set()).update(found.spans)
    return _Counts({kind: len(spans) for kind, spans in seen.items()})


def _own(catalogue: Catalogue, entity_id: str, cues: CueText, place: tuple[int, int]) -> int:
    hints = catalogue.entities[entity_id].hints
    if not hints:
        return 0
    return len({span for found in sense_cues(entity_id, hints).find(cues, without=(place,)) for span in found.spans})


def _near(cues: CueText, place: tuple[int, int]) -> CueText:
    """The sentence around a name, no wider than `NEAR` on either side, with places kept."""
    start, end = place
    first = max(start - NEAR, 0)
    last = min(end + NEAR, len(cues.text))
    for mark in "。！？!?\n;；":
        cut = cues.text.rfind(mark, first, start)
        first = max(first, cut + 1)
        stop = cues.text.find(mark, end, last)
        last = stop if stop >= 0 else last
    if (first, last) == (0, len(cues.text)):
        return cues
    # Blanks instead of what is far keep every span where it is in the text.
    return cue_text(" " * first + cues.text[first:last])


def opens_sentence(text: str, start: int) -> bool:
    """Whether a capital letter at `start` says nothing: it opens a sentence, or all the text is in capitals."""
    at = start
    while at and text[at - 1] in " \"'“‘(《":
        at -= 1
    if not at or text[at - 1] in ".?!。！？:：\n":
        return True
    return _SMALL_LETTER.search(text) is None and _CAPITALS.match(text) is not None


_SMALL_LETTER = re.compile(r"[a-z]")
_CAPITALS = re.compile(r"(?:[^A-Z]*[A-Z]){7}")
