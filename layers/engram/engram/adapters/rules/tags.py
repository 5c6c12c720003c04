"""Values for the event tags that rules can fill: how the user feels, and what the user aims at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engram.domain.models import EventTag
from engram.profile.taxonomy import Taxonomy, attribute_unify

_FEELINGS: Mapping[str, tuple[str, ...]] = {
    "happy": ("happy", "glad", "excited", "thrilled", "delighted", "overjoyed"),
    "sad": ("sad", "heartbroken", "down", "depressed", "miserable", "lonely"),
    "anxious": ("anxious", "worried", "nervous", "stressed", "overwhelmed", "scared"),
    "angry": ("angry", "furious", "annoyed", "frustrated", "mad"),
    "tired": ("tired", "exhausted", "burnt out", "burned out"),
    "开心": ("开心", "高兴", "快乐", "兴奋", "激动", "幸福"),
    "难过": ("难过", "伤心", "沮丧", "失落", "心碎", "孤独"),
    "焦虑": ("焦虑", "担心", "紧张", "压力大", "害怕", "不安"),
    "生气": ("生气", "愤怒", "烦躁", "恼火", "气死"),
    "疲惫": ("疲惫", "好累", "很累", "累死", "精疲力尽"),
}
_FEELING_NAMES = frozenset({"emotion", "emotions", "mood", "feeling", "feelings", "情绪", "心情", "情感", "感受"})
_GOAL_NAMES = frozenset({"goal", "goals", "plan", "plans", "目标", "计划"})


def tags_of(taxonomy: Taxonomy, own_words: Sequence[str], plans: Sequence[str]) -> tuple[EventTag, ...]:
    """A value for each tag of the business that the batch's own words give one for."""
    found = []
    for rule in taxonomy.event_tags:
        name = attribute_unify(rule.name)
        if name in _FEELING_NAMES:
            feeling = _feeling(own_words)
            if feeling:
                found.append(EventTag(rule.name, feeling))
        elif name in _GOAL_NAMES and plans:
            found.append(EventTag(rule.name, plans[-1][:128]))
    return tuple(found)


def _feeling(own_words: Sequence[str]) -> str:
    for words in reversed(own_words):
        text = f" {words.lower()} "
        for feeling, signs in _FEELINGS.items():
            for sign in signs:
                said = sign in text if not sign.isascii() else f" {sign} " in text.replace(",", " ").replace(".", " ")
                if said and not any(no + sign in text for no in ("不", "没", "not ", "n't ")):
                    return feeling
    return ""
