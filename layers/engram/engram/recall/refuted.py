"""What an index still holds and the table does not: taken out of a search before anything is ranked.

A hit that is dropped only from the answer has weighed already: the best relevance decides whether there is an answer
at all, scores are scaled by it, and a turn is scored together with its neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from engram.domain.documents import Document, DocumentKind, Hit, SearchResult
from engram.domain.models import MessageRef
from engram.domain.visibility import Tombstones
from engram.recall.fusion import WINDOW_TURNS
from engram.recall.relevance import COVERAGE
from engram.recall.verification import ref_of
from engram.text.analysis import share_held, terms_of

_OWN_LEG = "lexical"
"""The leg whose scores are made of the turn alone."""
_WINDOW = "_window"
"""The end of the names of legs over several turns; the others look back one."""


@dataclass(slots=True)
class Refuted:
    """Grows while one recall verifies.

    Attributes:
        conversations: ids of which nothing counts.
        messages: single messages that do not count.
        others: document ids of gists and memory items that do not count.
    """

    conversations: frozenset[str] = frozenset()
    messages: set[MessageRef] = field(default_factory=set)
    others: set[str] = field(default_factory=set)

    @property
    def count(self) -> int:
        return len(self.messages) + len(self.others)

    def hide(self, tombstones: Tombstones) -> None:
        """Takes in what is deleted, purged from the index or not."""
        self.conversations = self.conversations.union(tombstones.conversations)
        self.messages.update(tombstones.hidden_refs())

    def add(self, document: Document) -> None:
        """Takes in a document that the table has not confirmed."""
        if document.kind is DocumentKind.MESSAGE:
            self.messages.add(ref_of(document))
        else:
            self.others.add(document.doc_id)

    def out_of(self, result: SearchResult, text: str) -> SearchResult:
        """`result` without what is refuted, and without what its words gave to the turns beside it.

        Args:
            text: the words that were matched.
        """
        if not (self.conversations or self.messages or self.others):
            return result
        terms = frozenset(terms_of(text)) if self.messages else frozenset()
        legs = {}
        for leg, hits in result.legs.items():
            kept = [self._beside(leg, hit, terms) for hit in hits if not self._covers(hit.document)]
            legs[leg] = tuple(sorted((hit for hit in kept if hit is not None), key=lambda hit: -hit.score))
        return replace(result, legs=legs)

    def _covers(self, document: Document) -> bool:
        if document.kind is not DocumentKind.MESSAGE:
            return document.doc_id in self.others
        return document.conversation_id in self.conversations or ref_of(document) in self.messages

    def _beside(self, leg: str, hit: Hit, terms: frozenset[str]) -> Hit | None:
        """The hit as it is without its refuted neighbours; None where its score cannot be told from theirs."""
        document = hit.document
        if leg == _OWN_LEG or document.kind is not DocumentKind.MESSAGE or not self.messages:
            return hit
        reach = range(1 - WINDOW_TURNS, WINDOW_TURNS) if leg.endswith(_WINDOW) else (-1,)
        if not any(MessageRef(document.conversation_id, document.seq + offset) in self.messages for offset in reach):
            return hit
        if leg != COVERAGE:
            return None
        held = terms.intersection(terms_of(document.text))
        return Hit(document, share_held(len(held), len(terms))) if held else None
