"""Other people in the user's life: what is said of them is kept as a memory item about them, never as the user's."""

# ruff: noqa: E501  (a pattern reads best on one line)
from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from engram.adapters.rules.clauses import USER, Clause
from engram.adapters.rules.statements import Statement
from engram.domain.models import MemoryKind, Message
from engram.extraction.models import Citation, ItemDraft

_SAID = re.compile(
    r"(?:my|our) (?:[\w-]+ ){0,2}?[\w-]+(?:,? [A-Z]\w+,?)? (?:is|isn't|has|likes|loves|hates|lives|works|studies|speaks|plays|can't|doesn't|was born|owns|teaches|runs|moved|prefers|eats|drinks|enjoys)\b.{2,100}$"
    r"|我们?(?:家|的|家的)*.{1,8}?(?:是|叫|在|住|吃|不吃|喝|喜欢|讨厌|对.{1,8}过敏|不|有|会|今年|养|学|教|搬|刚|最近|很|特别|也).{0,40}$",
    re.IGNORECASE,
)


def items_about_others(
    clauses: Iterable[Clause], statements: Iterable[Statement], message: Message
) -> Iterator[ItemDraft]:
    """Plain statements about a relation or a pet, in the words of the message; not what the profile has from them."""
    in_profile = {(one.start, one.end) for one in statements}
    for clause in clauses:
        known = clause.subject not in (USER, "assistant", "?", "") and (clause.start, clause.end) not in in_profile
        if known and clause.asserted and _SAID.match(clause.text):
            words = message.content[clause.start : clause.end]
            yield ItemDraft(
                MemoryKind.RELATIONSHIP, words, (Citation(message.message_id, words),), subject=clause.subject
            )
