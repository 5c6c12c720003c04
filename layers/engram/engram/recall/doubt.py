"""What speaks against a question being about the user's memory, before any message is looked at.

"What is the capital of Mongolia?" is nobody's memory; among a handful of messages something is always a little near.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from engram.domain.documents import Document
from engram.recall.recipes import Doubts
from engram.resolve.models import Resolution, TemporalIntent
from engram.text.analysis import terms_of

_ASKS_FOR_HELP = re.compile(
    r"\bhow (?:do|can|could|should|would|might) (?:i|we)\b|"
    r"(?<!did you )\b(?:tell|give|show|help|teach|write|recommend|find|send|sing|explain to) (?:me|us)\b|"
    r"(?:[帮幫给給教替为為让讓]|告[诉訴])我(?!.{0,200}[了过過])|我想(?:知道|问|問)",
    re.IGNORECASE,
)
_SPEAKS_OF_ONESELF = re.compile(r"\b(?:i|me|my|mine|myself|we|us|our|ours)\b|[我咱俺]", re.IGNORECASE)
_ASKS_THE_CLOCK = re.compile(
    r"\bwhat (?:time|day|date) is (?:it|today)\b|\bwhat(?:'s| is) the (?:time|date)\b(?! (?:of|for|zone))|"
    r"[现現]在(?:是)?[几幾][点點]|[几幾][点點][了啦]|今天(?:是)?(?:[几幾][号號]|(?:星期|周|週|礼拜|禮拜)[几幾])",
    re.IGNORECASE,
)
_ASKS_FOR_A_NAME = re.compile(
    r"\bnames? of\b|['’]s? (?:first |last |full |sur)?names?\b|"
    r"\b(?:who|what) (?:is|was|are|were|do|did) .{1,60}\bcalled\b|叫(?:做)?(?:什么|什麼|啥)|名字",
    re.IGNORECASE,
)
_NAMING = frozenset(terms_of("name names named call called first last full surname 叫 叫什么 什么 名字 叫做"))
_UNBOUND = frozenset({TemporalIntent.NONE, TemporalIntent.TIME_RANGE})


def is_personal(resolution: Resolution) -> bool:
    """Whether the query speaks of the user or of earlier talk. "How do I tie a tie?" does neither."""
    if resolution.temporal.intent not in _UNBOUND:
        return True
    return speaks_of_oneself(resolution.query)


def speaks_of_oneself(query: str) -> bool:
    """Whether the user is in a query otherwise than as the one who is to be helped ("give me")."""
    return bool(_SPEAKS_OF_ONESELF.search(_ASKS_FOR_HELP.sub(" ", query)))


def asks_the_clock(resolution: Resolution) -> bool:
    """Whether a clock or a calendar answers. "What time is it?" is no question about a time zone."""
    return bool(_ASKS_THE_CLOCK.search(resolution.query))


def names_in(resolution: Resolution) -> tuple[tuple[str, frozenset[str]], ...]:
    """The things that the query names: the id where it is known, and the terms of the name as written."""
    return tuple((one.id, frozenset(terms_of(one.text))) for one in resolution.entities)


def bearer_in(resolution: Resolution) -> frozenset[str]:
    """Terms of what the query asks the name of: "my landlord's name" is no question about any name that was said."""
    if not _ASKS_FOR_A_NAME.search(resolution.query):
        return frozenset()
    return frozenset(terms_of(resolution.search_text)) - _NAMING


def is_absent(named: tuple[str, frozenset[str]], documents: Iterable[Document]) -> bool:
    """Whether no document is linked to the thing, said by it, or holds a part of its name."""
    identifier, terms = named
    for document in documents:
        if identifier and identifier in document.entity_ids:
            return False
        text = f"{document.speaker} {document.text}".casefold()
        if any(term in text for term in terms):
            return False
    return True


def doubt(*, personal: bool, absent: bool, ideographs: bool, weights: Doubts) -> float:
    """Taken from the logit of every hit's relevance."""
    return (
        (0.0 if personal else weights.impersonal)
        + (weights.absent if absent else 0.0)
        + (weights.ideographs if ideographs else 0.0)
    )
