"""Whether a sentence looks ahead or back: it decides which Friday "on Friday" is.

What is still to be done, or to be had, is the coming one; what was done is the last one. A sentence without a tense
that could be read either way ("周五有个会", "review on Friday") speaks of what is to come.
"""

# ruff: noqa: E501  (a pattern reads best on one line)
from __future__ import annotations

import re

_I = re.IGNORECASE
_AHEAD = re.compile(
    r"\b(?:i'm|we're|i am|we are|am|are)(?: \w+ly| also| now| finally)? (?!being|living|working|feeling)\w{2,}ing\b|\b(?:will|won't|'ll|going to|gonna|plan(?:ning|s)?|intend|about to|next|tomorrow|tonight|upcoming|coming|scheduled|booked|flying|moving|leaving|starting|visiting"
    r"|need|needs|must|(?:have|has|had better|got|gotta|ought|supposed|want|wants|hope|hoping|due|expected|allowed|able|ready|meant) to|should|shall|can|could you|would like|deadline|due (?:on|by)|is due|remind me|don't forget"
    r"|(?:moved|postponed|rescheduled|pushed|shifted|changed|delayed|brought forward) to (?:next |the )?(?:(?:mon|tues|wednes|thurs|fri|satur|sun)day|\d)|(?:by|until|till|before|for) (?:this |next |the )?(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|(?:have|has|got|there(?:'s| is| are)|i've|we've) (?:an?|my|our|the|two|three|some|got) [\w' -]{0,40}?(?:appointment|exam|meeting|interview|flight|test|date|trip|wedding|deadline|surgery|review|call|presentation|party|concert|match|game|class|lesson|dinner|lunch|visit|reservation|train|session|demo|check-?up)"
    r"|in (?:\d+|an?|one|two|three|a few|a couple of) (?:days?|weeks?|months?|years?))\b"
    r"|打算|计划|准备|决定|即将|将要|要(?!是)|会(?=去|在|到|参加|有|来|开|考)|得(?=去|要|交|参加|开|做|写|赶|准备|见|上)|必须|应该|需要|记得|提醒|明[天晚年早]|后天|下(?:下)?(?:个)?(?:周|星期|礼拜|月)|[约約]了|预约|订了|报名|改到|推迟到|延到|提前到|以后|之后|截止|之前(?=[^，。]{0,4}(?:交|完成|提交|做完))",
    _I,
)
_SINCE = re.compile(r"\bsince\b|以来|从[^，。]{1,8}(?:起|开始)", _I)
_YEARLY = re.compile(r"\bbirth(?:day|date)?\b|\bborn\b|\banniversary\b|生日|出生|纪念日", _I)
_BACK = re.compile(
    r"\b(?:was|were|did|didn't|had|went|saw|met|got|took|came|ate|drank|bought|made|said|told|gave|found|felt|left|lost|won|ran|sat|slept|spoke|spent|sent|sold|taught|thought|began|broke|brought|built|caught|chose|drove|fell|flew|forgot|heard|held|kept|knew|learnt|led|lent|paid|put|read|rode|sang|swam|threw|understood|woke|wrote|quit|been|done|gone|since|ago|last|yesterday"
    r"|(?!need|bed|red|shed|wed|led\b|speed|feed|seed|weed)\w{2,}ed)\b"
    r"|了(?!解)|过(?=[^敏年]|$)|刚|昨|前天|上次|以前|曾经|已经|自?从|以来|那天",
    _I,
)


def looks_ahead(clause: str, sentence: str) -> bool:
    """The direction that the clause shows, else that of its sentence, else ahead."""
    if _SINCE.search(clause) is not None:
        return False
    for text in (clause, sentence):
        if _AHEAD.search(text) is not None:
            return True
        if _BACK.search(text) is not None:
            return False
    return True


def returns_yearly(clause: str) -> bool:
    """Whether its date is a birthday or the like: it says nothing of when something happened."""
    return _YEARLY.search(clause) is not None
