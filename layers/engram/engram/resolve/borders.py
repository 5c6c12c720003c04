"""Whether a Chinese word of a topic stands in a text as that word, with some certainty.

The most probable division alone is wrong now and then (投资|料 for 投|资料). Where a word that crosses the border is
nearly as probable, the topic's word is not surely there, and a topic that is missed is better than a false one.
"""

from __future__ import annotations

from engram.text.language import is_han
from engram.text.segment import han_run, on_borders, score_of, word_score

MARGIN = 8.0
"""How much likelier than any division across its borders a word must be: near misses written for this reach 5 and
nearly all real queries that have such a rival 10 or more."""
_SMALL_WORDS = frozenset("的了着过吗呢吧啊是在有会能可要里外上下中我你他她问说列发给看再还都来")
_ASKED_FOR = tuple("心得 经验 方案 计划 攻略 清单 记录 笔记 建议 推荐 技巧 方法 指南 教程 问题 话题".split())
"""What is asked for of a topic: before such a word the topic's own surely ends (养花|心得, not 养|花心|得)."""
_REACH = 3
"""Characters of a crossing word on one side of a border."""


def stands_alone(text: str, start: int, end: int, *, name_score: float, margin: float = MARGIN) -> bool:
    """Whether `text[start:end]` is a word or a row of words of its own, and no other reading comes near. What is joined
    only to a word that is often one by itself (店里, 会的) is no other reading."""
    if not on_borders(text, start, end, name_score=name_score):
        return False
    if not any(is_han(character) for character in text[start:end]):
        return True
    first, last = han_run(text, start, end)
    borders = (start,) if text.startswith(_ASKED_FOR, end) else (start, end)
    crossing = [
        (left, right)
        for border in borders
        for left in range(max(first, border - _REACH), border)
        for right in range(border + 1, min(last, border + _REACH) + 1)
        if (left < start or right > end) and not (left <= start and end <= right)
    ]
    crossing = [
        (left, right) for left, right in crossing if not _SMALL_WORDS.issuperset(text[left:start] + text[end:right])
    ]
    rivals = [(span, score) for span in crossing if (score := word_score(text[slice(*span)])) is not None]
    if not rivals:
        return True
    inside = text[start:end]
    own = max(word_score(inside) or name_score, score_of(inside))
    own += score_of(text[first:start]) + score_of(text[end:last])
    return all(
        own - margin > score_of(text[first:left]) + score + score_of(text[right:last])
        for (left, right), score in rivals
    )
