"""Other people in the user's life: what is said of them is kept as a memory item about them, never as the user's."""

# ruff: noqa: E501  (a pattern reads best on one line)
from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from engram.adapters.rules.clauses import USER, Clause
from engram.adapters.rules.placement import Place, place_of
from engram.adapters.rules.statements import FactKind, Statement
from engram.domain.models import MemoryKind, Message
from engram.extraction.models import Citation, ItemDraft, SlotAction
from engram.profile.taxonomy import Taxonomy

_SAID = re.compile(
    r"(?:my|our) (?:[\w-]+ ){0,2}?[\w-]+(?:,? [A-Z]\w+,?)? (?:is|isn't|has|likes|loves|hates|lives|works|studies|speaks|plays|can't|doesn't|was born|owns|teaches|runs|moved|prefers|eats|drinks|enjoys)\b.{2,100}$"
    r"|我们?(?:家|的|家的)*.{1,8}?(?:是|叫|在|住|吃|不吃|喝|喜欢|讨厌|对.{1,8}过敏|不|有|会|今年|养|学|教|搬|刚|最近|很|特别|也).{0,40}$",
    re.IGNORECASE,
)


_ONLY_ONE = re.compile(
    r"mother|mom|mum|father|dad|wife|husband|spouse|partner|fianc[ée]e?|girlfriend|boyfriend|boss|manager|妈妈?|母亲|爸爸?|父亲|老公|丈夫|老婆|妻子|太太|对象|男朋友|男友|女朋友|女友|未婚夫|未婚妻|老板",
    re.IGNORECASE,
)
"""Relations of whom a user has one: what is said of where they live is about the same person."""
_SINGLE_FACTS: tuple[tuple[FactKind, re.Pattern[str]], ...] = (
    (FactKind.HOME, re.compile(r".*\b(?:lives?|(?:has |just |recently )*(?:moved|relocated)(?: back)?) (?:in|to) [A-Z]|.{1,6}?(?:现在|刚|又|已经|最近)*(?:住在?|搬到|搬去|搬回|定居)[^，]{2,}")),
    (FactKind.AGE, re.compile(r".*\b(?:is|turned|just turned) \d{1,3}(?: years old)?$|.{1,6}?(?:今年|刚|已经|快)*\d{1,3}岁")),
    (FactKind.EMPLOYER, re.compile(r".*\b(?:works? (?:at|for)|joined) [A-Z]|.{1,6}?(?:现在|目前)*在[^，]{2,12}(?:工作|上班)")),
)  # fmt: skip


def items_about_others(
    clauses: Iterable[Clause], statements: Iterable[Statement], message: Message, taxonomy: Taxonomy
) -> Iterator[ItemDraft]:
    """Plain statements about a relation or a pet, in the words of the message; not what the profile has from them.

    Where the only person of a relation lives, works and how old they are replaces what was said of it before.
    """
    in_profile = {(one.start, one.end) for one in statements}
    for clause in clauses:
        known = clause.subject not in (USER, "assistant", "?", "") and (clause.start, clause.end) not in in_profile
        if known and clause.asserted and _SAID.match(clause.text):
            words = message.content[clause.start : clause.end]
            cited = (Citation(message.message_id, words),)
            place = _single_place(clause, taxonomy)
            if place is None:
                yield ItemDraft(MemoryKind.RELATIONSHIP, words, cited, subject=clause.subject)
            else:
                yield ItemDraft(
                    MemoryKind.RELATIONSHIP,
                    words,
                    cited,
                    subject=clause.subject,
                    topic=place.topic,
                    sub_topic=place.sub_topic,
                    action=SlotAction.UPDATE,
                )


def _single_place(clause: Clause, taxonomy: Taxonomy) -> Place | None:
    if _ONLY_ONE.fullmatch(clause.subject) is None:
        return None
    kind = next((kind for kind, pattern in _SINGLE_FACTS if pattern.match(clause.text)), None)
    return place_of(kind, taxonomy) if kind is not None else None
