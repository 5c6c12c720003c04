"""What a question says about the messages it wants, beside its words: who spoke, when, and in which language.

Pure: from a resolution or a plain text to `QueryFeatures`, and from a document to the values fusion adds up.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta

from engram.domain.documents import Document
from engram.resolve.models import Resolution, TemporalIntent
from engram.text.analysis import terms_of

_CJK = re.compile(r"[\u3400-\u9fff\u3040-\u30ff\uac00-\ud7af]")
_LATIN = re.compile(r"[A-Za-z\u00c0-\u024f]")
_ASKS = re.compile(r"[?？][\s\"'”’)\]）」』*_]*\Z")
_CAPTION = re.compile(r"\s*\[[^\]]*\]\s*\Z")

REPORTED_LATE = timedelta(days=10)
"""People tell of a day afterwards: the evidence for "on 3 May" is often said some days after."""


@dataclass(frozen=True, slots=True)
class QueryFeatures:
    """A question, as far as ranking needs it.

    Attributes:
        text: the words to match, as given to the index (`SearchQuery.text`).
        asked: the question as asked, for names and language; `text` where it is "".
        start, end: period that the question names, half-open; None is open.
    """

    text: str
    asked: str = ""
    start: datetime | None = None
    end: datetime | None = None

    @property
    def words(self) -> str:
        return self.asked or self.text


def features_of(resolution: Resolution) -> QueryFeatures:
    """Features of a resolved query."""
    temporal = resolution.temporal
    named = temporal.intent is TemporalIntent.TIME_RANGE
    return QueryFeatures(
        text=resolution.search_text,
        asked=resolution.query,
        start=temporal.start if named else None,
        end=temporal.end if named else None,
    )


def is_chinese(text: str) -> bool:
    """Whether CJK carries the text: one ideograph says as much as three or four letters."""
    return len(_CJK.findall(text)) * 4 >= len(_LATIN.findall(text)) and bool(_CJK.search(text))


def asks(document: Document) -> bool:
    """Whether the turn ends in a question."""
    return bool(_ASKS.search(_CAPTION.sub("", document.text)))


def names_speaker(terms: frozenset[str], speaker: str) -> bool:
    """Whether the question's `terms` hold the speaker's name or a part of it."""
    return bool(speaker) and not terms.isdisjoint(terms_of(speaker))


def date_fit(document: Document, query: QueryFeatures) -> float:
    """1 inside the period, falling to 0 within `REPORTED_LATE` after it, 0 elsewhere or if no period is named."""
    if query.start is None and query.end is None:
        return 0.0
    at = document.occurred_at
    if query.start is not None and at < query.start:
        return 0.0
    if query.end is None or at < query.end:
        return 1.0
    late = (at - query.end) / REPORTED_LATE
    return max(0.0, 0.5 * (1 - late))
