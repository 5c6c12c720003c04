"""What a question says about the messages it wants, beside its words: who spoke, when, in which language.

Pure: from a resolution to `QueryFeatures`, and from a document to the values that fusion adds up.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from engram.domain.documents import Document
from engram.recall.doubt import asks_the_clock, bearer_in, is_personal, names_in
from engram.recall.present import without_present
from engram.resolve.models import Resolution, TemporalIntent
from engram.text.analysis import terms_of

REPORTED_LATE = timedelta(days=15)
"""How long after a day people still tell of it."""
SAYS_ENOUGH_BYTES = 400
"""A turn of this length or more gets all of the weight for length. Bytes of UTF-8 weigh an ideograph as a syllable."""

WORDS_OF_A_QUESTION = 30
_WORDS = re.compile(r"[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_TAIL_CHARACTERS = 400
_HEAD_CHARACTERS = 800
_CJK = re.compile(r"[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
_ASKS = re.compile(r"[?？][\s\"'”’)\]）」』*_]*\Z")
_CAPTION = re.compile(r"\s*\[[^\]]*\]\s*\Z")
_ASKS_WHEN = re.compile(
    r"\bwhen\b|\bhow long\b|\bwhat (?:date|day|year|month|time)\b|\bwhich (?:date|day|year|month)\b"
    r"|什么时候|什么時候|何时|何時|哪天|哪一天|几号|幾號|几点|幾點|哪年|哪一年|多久|几月",
    re.IGNORECASE,
)
_TELLS_WHEN = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|since|weeks?|weekend|months?|years?|morning|recently|soon"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september"
    r"|october|november|december|\d{4})\b|[今昨明前后後]天|[上下这這本]个?個?(?:周|週|月|星期|礼拜)|周末|週末|[去今明前]年"
    r"|(?<!\d)\d+[月号號日]|刚刚|剛剛|刚才|剛才",
    re.IGNORECASE,
)
_WHAT_YOU_SAID = re.compile(
    r"\byour?\b.{0,30}\b(?:recommend|suggest|said|say|told|tell|advise|advice|gave|give|wrote|write|list|mention"
    r"|explain|answer|propose)|你.{0,8}(?:推荐|推薦|建议|建議|说过|說過|告诉|告訴|给过|給過|给我|給我|写|寫|列|提到|回答|讲|講|介绍|介紹|教)",
    re.IGNORECASE,
)

_READ_WHOLE = frozenset({TemporalIntent.NONE, TemporalIntent.TIME_RANGE})


@dataclass(frozen=True, slots=True)
class QueryFeatures:
    """A question, as far as ranking needs it.

    Attributes:
        text: the words to match, as given to the index (`SearchQuery.text`).
        asked: the question as asked, for names, language and kind; `text` where it is "".
        sentence: the question as asked if it is to be embedded whole; "" embeds `text`. An encoder of sentences reads
            a whole question better than the words left of it (LoCoMo R@5 .746 against .731), but 上次 or "last time"
            in it would pull towards messages that say such words.
        start, end: period that the question names, half-open; None is open.
        personal: whether it speaks of the user or of earlier talk (`doubt.is_personal`).
        clock: whether it asks what the clock or the calendar says.
        bearer: terms of what it asks the name of (`doubt.bearer_in`); empty if it asks for no name.
        named: the things it names (`doubt.names_in`).
    """

    text: str
    asked: str = ""
    sentence: str = ""
    start: datetime | None = None
    end: datetime | None = None
    personal: bool = True
    clock: bool = False
    bearer: frozenset[str] = frozenset()
    named: tuple[tuple[str, frozenset[str]], ...] = ()

    @property
    def words(self) -> str:
        return self.asked or self.text

    @property
    def meaning(self) -> str:
        """What to embed."""
        return self.sentence or self.text


def features_of(resolution: Resolution) -> QueryFeatures:
    """Features of a resolved query. A day that a whole page mentions in passing is not the day it asks about."""
    temporal = resolution.temporal
    page = is_page(resolution.query)
    ranged = temporal.intent is TemporalIntent.TIME_RANGE
    named = ranged and not page
    return QueryFeatures(
        text=resolution.search_text if ranged else without_present(resolution.search_text),
        asked=resolution.query,
        sentence=resolution.query if temporal.intent in _READ_WHOLE else "",
        start=temporal.start if named else None,
        end=temporal.end if named else None,
        personal=page or is_personal(resolution),
        clock=asks_the_clock(resolution),
        bearer=frozenset() if page else bearer_in(resolution),
        named=() if page else names_in(resolution),
    )


def is_page(text: str) -> bool:
    """Whether a text is longer than a question."""
    return words_in(text) > WORDS_OF_A_QUESTION


def words_in(text: str) -> float:
    """Words of a text; two ideographs count as one."""
    return len(_WORDS.findall(text)) + len(_CJK.findall(text)) / 2


def is_cjk(text: str) -> bool:
    """Whether ideographs, kana or hangul carry the text: one of them says as much as four Latin letters."""
    found = len(_CJK.findall(text))
    return found > 0 and found * 4 >= len(_LATIN.findall(text))


def asks(document: Document) -> bool:
    """Whether the turn ends in a question. A caption in brackets at its end is passed over."""
    text = document.text
    if "?" not in text and "？" not in text:
        return False
    return bool(_ASKS.search(_CAPTION.sub("", text[-_TAIL_CHARACTERS:])))


def asks_when(words: str) -> bool:
    return bool(_ASKS_WHEN.search(words))


def tells_when(document: Document) -> bool:
    """Whether the turn holds an expression of time."""
    return bool(_TELLS_WHEN.search(document.text[:_HEAD_CHARACTERS]))


def wants_assistant(words: str) -> bool:
    """Whether the question is about what the assistant said: then the user's own words deserve no favour."""
    return bool(_WHAT_YOU_SAID.search(words))


def length(document: Document) -> float:
    """0 for nothing, 1 from `SAYS_ENOUGH_BYTES` on, by the logarithm."""
    if len(document.text) >= SAYS_ENOUGH_BYTES:
        return 1.0
    size = len(document.text.encode("utf-8", "replace"))
    return min(1.0, math.log1p(size) / math.log1p(SAYS_ENOUGH_BYTES))


def names_speaker(terms: frozenset[str], speaker: str) -> bool:
    """Whether the question's `terms` hold the speaker's name or a part of it."""
    return bool(speaker) and not terms.isdisjoint(terms_of(speaker))


def date_fit(document: Document, query: QueryFeatures, *, afterwards: float) -> float:
    """1 in the period, from `afterwards` to 0 within `REPORTED_LATE` after it, else 0; 0 if no period is named."""
    at = document.occurred_at
    if (query.start is None and query.end is None) or (query.start is not None and at < query.start):
        return 0.0
    if query.end is None or at < query.end:
        return 1.0
    return afterwards * max(0.0, 1 - (at - query.end) / REPORTED_LATE)


def recency(document: Document, newest: datetime, *, half_life_days: float) -> float:
    """1 for the newest, halved every `half_life_days` before it."""
    return float(0.5 ** ((newest - document.occurred_at) / timedelta(days=half_life_days)))
