"""Whether a text still says what only deleted messages said. Pure.

A row that rests on several messages keeps those that are left; its words must then come from them. Compared are the
terms that search compares, so inflection and spacing do not hide a word, and stop words do not count as one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from engram.text.analysis import terms_of


@dataclass(frozen=True, slots=True)
class Words:
    """Terms of the messages that a row cites.

    Attributes:
        deleted: of those that go.
        left: of those that stay.
    """

    deleted: frozenset[str]
    left: frozenset[str]

    @classmethod
    def of(cls, deleted: Iterable[str], left: Iterable[str]) -> Words:
        return cls(_terms(deleted), _terms(left))

    def betrays(self, text: str) -> bool:
        """Whether `text` holds a term that only the deleted messages hold."""
        return not _terms([text]).isdisjoint(self.deleted - self.left)

    def supports(self, text: str) -> bool:
        """Whether `text` says nothing of the deleted alone and something of what is left."""
        terms = _terms([text])
        return terms.isdisjoint(self.deleted - self.left) and not terms.isdisjoint(self.left)


def _terms(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(term for text in texts for term in terms_of(text))
