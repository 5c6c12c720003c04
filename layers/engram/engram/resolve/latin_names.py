"""Names in Latin letters that the catalogue does not hold: what has a capital without need, and a few set forms."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from engram.resolve.catalogue import Catalogue, topic_names
from engram.resolve.lexicon import CALENDAR_WORDS
from engram.resolve.sense import opens_sentence
from engram.text.normalise import NormalisedText
from engram.text.segment import is_english_word

Span = tuple[int, int]

_LATIN_NAME = re.compile(
    r"(?<![A-Za-z])[A-Z]{1,2}[a-zà-ÿ]{2,}(?:[A-Z][a-z]+|[A-Z]{2,3})?(?:[’'][A-Z]?[a-z]+)?"
    r"(?:[ -](?:of (?:the )?)?[A-Z][a-zà-ÿ]{2,})*(?![A-Z])"
)
_TITLES = frozenset("Project Dr Dr. Prof Prof. Professor Mr Mr. Mrs Mrs. Ms Ms. Coach Aunt Uncle".split())
_TITLE_BEFORE = re.compile(rf"\b(?:{'|'.join(sorted(map(re.escape, _TITLES)))}) $")
"""What belongs to the name that it stands before (Project Orion, Dr. Patel)."""
_LONGEST_TITLE = 10
_JOINING = ("of", "the")
_DAY_NEXT = re.compile(r" (?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|Day|Eve|Week)\b")
_PLAY = re.compile(
    r"(?:^|\b)(?:play|listen to|put on|queue|sing) (?P<work>[A-Z][\w']*(?: [A-Z][\w']*)*)(?: by "
    r"(?P<who>(?:the )?[A-Z][\w']*(?: [A-Z][\w']*)*))?"
)
_DEMONYM = re.compile(r"(?:ian|ean|ese|ish|ans|ians|ic|ists?|ism|ics)$")
_PEOPLES = frozenset(
    "mandarin cantonese hindi hebrew urdu tamil greek dutch thai swiss czech welsh arab roman french german scots "
    "dane swede turk pole finn".split()
)
_INTERJECTIONS = frozenset(
    "yeah yep yup nope congrats phew woohoo aww aw wow haha hehe hmm hey hiya omg ooh oops ugh yay whoa btw".split()
)
_TECHNICAL = frozenset(
    "kotlin scala erlang clojure svelte django laravel haskell fortran cobol matlab golang flutter ruby".split()
)
"""Names of trades that are never ordinary words, though word lists hold them."""
_OF_CODE = frozenset(
    "Error Exception Warning List Map Set Queue Frame Array Type Class View Controller Service Handler Test Model Loop "
    "Box Id Name Time Date Value Key String Number Builder Factory Event Context State".split()
)
"""Last parts of what is written in one word in code: KeyError is no name, ClickHouse is."""
_NEWSPAPER = re.compile(
    r"(?<!\w)(?P<name>[A-Z]{2,4} (?:Today|Daily|Weekly|Times|Post|Tribune|Herald|Gazette|Journal))\b"
)
_OF_A_WORK = re.compile(
    r" (?:walkthrough|boss|build|soundtrack|movie|film|novel|series|season \d|album|trailer|cast|ending|dlc)\b"
)
_EXAM = re.compile(
    r"\b(?P<name>(?!(?:MRI|PET|PCR|DNA|SQL|API|ECG|EEG|HIV|PDF|FAQ|FINAL|ENT|THE|YOUR|MY|NEXT|THIS|LAST|MOCK|ORAL|MATH|EYE)\b)[A-Z]{3,5})"
    r"(?= (?:exam|prep|test prep|score)s?\b| ?(?:考试|备考|真题|模考|成绩))"
)
"""Letters before an exam are what it is called."""
_CONTRACTION = re.compile(r"(?:n[’']t|[’'](?:re|ve|ll|d|m))$")


def latin_names(normalised: NormalisedText, catalogue: Catalogue) -> Iterator[Span]:
    """Spans in the folded text."""
    yield from _works(normalised)
    yield from _capitalised(normalised, catalogue)
    for pattern in (_EXAM, _NEWSPAPER):
        for match in pattern.finditer(normalised.original):
            yield normalised.folded_span(*match.span("name"))


def _works(normalised: NormalisedText) -> Iterator[Span]:
    for match in _PLAY.finditer(normalised.original):
        if match["who"] or not is_english_word(match["work"].lower()):
            for group in ("work", "who"):
                if match[group]:
                    yield normalised.folded_span(*match.span(group))


def _capitalised(normalised: NormalisedText, catalogue: Catalogue) -> Iterator[Span]:
    original = normalised.original
    # In a headline every word has its capital. Letters among Chinese ones are never a headline.
    if original.isascii() and ((original.istitle() and original.count(" ") > 1) or original.isupper()):
        return
    for match in _LATIN_NAME.finditer(original):
        if match.group() in _TITLES and original[match.end() : match.end() + 1] in (".", " "):
            continue  # it belongs to the name after it
        title = _TITLE_BEFORE.search(original[max(match.start() - _LONGEST_TITLE, 0) : match.start()])
        start, name = _name_of(original, match, catalogue, titled=bool(title))
        if title and name:
            start, name = start - len(title.group()), title.group() + name
        bare = re.sub(r"[’']s$", "", name)
        if not bare or _DAY_NEXT.match(original, start + len(name)):  # Cyber Monday
            continue
        if _DEMONYM.search(bare.lower()) or catalogue.entity_names.get(bare.lower().removesuffix("er")):
            continue
        plural = original[:start].lower().endswith("the ") and bare.endswith("s") and " " not in bare
        if not plural:
            yield normalised.folded_span(start, start + len(bare))


def _name_of(original: str, match: re.Match[str], catalogue: Catalogue, *, titled: bool) -> tuple[int, str]:
    """Where the name among capitalised words begins, and the name, which may be empty: ordinary words at either end
    belong to it only as its title, within it, or before what is asked for of a work."""
    start, parts = match.start(), [part for part in re.split(r"[ -]", match.group()) if part]
    own_title = not titled and len(parts) > 1 and parts[0] in _TITLES
    rest_ordinary = all(part in _JOINING or _ordinary(part, catalogue) for part in parts[1:])
    # At the beginning of a sentence a capital says nothing; elsewhere it belongs to the name (Mount Everest).
    while parts and not (titled or own_title) and (parts[0] in _JOINING or _ordinary(parts[0], catalogue)):
        inside = len(parts) > 1 and parts[0] not in _JOINING
        if inside and not opens_sentence(original, start):
            break
        if inside and rest_ordinary and (parts[1] == "of" or _OF_A_WORK.match(original, match.end())):
            break  # Lord of the Rings, Hollow Knight walkthrough; but Photos of | Zermatt
        start += len(parts[0]) + 1
        parts = parts[1:]
    while len(parts) > (titled or own_title) and (parts[-1] in _JOINING or _trailing(parts, catalogue)):
        parts = parts[:-1]
    alone = len(parts) == 1 and (own_title or (not titled and _ordinary(parts[0], catalogue)))
    return start, "" if alone else " ".join(parts)


def _trailing(parts: Sequence[str], catalogue: Catalogue) -> bool:
    return _ordinary(parts[-1], catalogue) and _says_what(parts, catalogue)


def _says_what(parts: Sequence[str], catalogue: Catalogue) -> bool:
    """Whether the last word says what is asked for of a name (Kilimanjaro Trip) and is not of it (Elden Ring)."""
    last = parts[-1].lower()
    return len(parts) == 1 or last in _topic_words(catalogue) or last.removesuffix("s") in _topic_words(catalogue)


@lru_cache(maxsize=8)
def _topic_words(catalogue: Catalogue) -> frozenset[str]:
    """Latin words of the names of topics, and of the words that several of them share."""
    names = [name for topic in catalogue.topics.values() for name in topic_names(topic)]
    return frozenset(re.findall(r"[a-z]{3,}", " ".join([*names, *catalogue.ambiguous_heads]).lower()))


def _ordinary(word: str, catalogue: Catalogue) -> bool:
    bare = re.sub(r"[’']s$", "", word.lower())
    if bare in _TECHNICAL:
        return False
    humps = re.findall(r"[A-Z][a-zà-ÿ]+", word)
    if len(humps) > 1 and humps[-1] in _OF_CODE:
        return True
    if bare in _INTERJECTIONS or _CONTRACTION.search(bare):
        return True
    return (
        is_english_word(bare)
        or bare.removesuffix("s") in CALENDAR_WORDS
        or bare in _PEOPLES
        or bare in CALENDAR_WORDS
        or (bare.endswith("s") and is_english_word(bare[:-1]))
        or bool(catalogue.topic_names.get(bare))
    )
