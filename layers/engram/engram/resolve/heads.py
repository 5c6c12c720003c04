"""Whether a word that several topics share (攻略, plan) stands in a text as the noun that it is in their names.

`I plan to move` and 推荐一款手机 are about no plan and no recommendation that was made.
"""

from __future__ import annotations

import re

Span = tuple[int, int]
_BESIDE = 48
"""Characters on either side of a word that say how it is used."""


def stands_as_noun(text: str, span: Span, head: str) -> bool:
    """Whether an ambiguous head is used as a noun: `the plan`, 上次的推荐, but not `I plan to`, 推荐一款手机."""
    start, end = span
    before = text[max(0, start - _BESIDE) : start]
    if head in _VERBS_MOSTLY:
        return bool(_AS_NOUN_BEFORE.search(before) and _AS_NOUN_AFTER.match(text, end))
    if head in _VERBS_TOO:
        if _NOUN_BEFORE.search(before) or _NOTHING_AFTER.match(text, end):
            return True
        if _ANY_BEFORE.search(before) and _ASKED_AFTER.match(text, end):
            return True
        if head == "推荐" and _HAN.match(text, end) and not _GOES_ON.match(text, end):
            return False
        does = _SUBJECT_BEFORE.search(before)
        return not (_OBJECT.match(text, end) or (does and (_WHEN_AFTER.match(text, end) or _does(text, end))))
    if not head.isascii():
        return True
    if head == "tips" and text[start:end] != head:
        return False  # `tip` is the table's own singular, and mostly money
    after = text[end : end + _BESIDE]
    if _NO_NOUN_AFTER.match(after) and not (head in _NOUNS_WITH_TO and _DETERMINED.search(before)):
        return False
    return bool(_DETERMINED.search(before)) or (not after.strip(" ?.!") and not _VERB_BEFORE.search(before))


def _does(text: str, end: int) -> bool:
    """Whether what follows a subject and a word like 计划 is what is planned: 公司计划裁员, not 我计划呢."""
    return bool(_HAN.match(text, end)) and not _GOES_ON_AFTER_NOUN.match(text, end)


_VERBS_TOO = frozenset(("推荐", "计划", "训练", "报告"))
_VERBS_MOSTLY = frozenset(("总结", "申请", "预订"))
_AS_NOUN_BEFORE = re.compile(r"(?:^|[的份次个篇消改，。 ])$")
_AS_NOUN_AFTER = re.compile(r"[吧呢吗呀。？！!? ]*$|[给发呢在里怎好弄成要需]|材料|流程|进度|情况|信息|详情|时间")
_NOUNS_WITH_TO = frozenset(("trip", "guide", "trips", "guides"))
_OBJECT = re.compile(
    r"(?:一下|过|了)?(?!给我|发我|给一)(?:几|哪|一(?!共|直|起|样|定)|两|三|个|款|下|我|你|点|些|给|去|到|在|要|[\u4e00-\u9fff]{0,2}(?:手机|电脑|老师|领导|女))"
)
_HAN = re.compile(r"[\u4e00-\u9fff]")
_GOES_ON = re.compile(r"列表|清单|名单|记录|内容|呢|吧|嘛|啊|再|发|是|有|都|还|来|在|怎|过的")
_GOES_ON_AFTER_NOUN = re.compile(
    r"[表书单的呢吗吧嘛啊里中改发还再是有写做给好没在怎什如何多完哪定]|安排|内容|记录|清单|进度|进展|效果|强度|情况|结果|模板"
)
_NOUN_BEFORE = re.compile(r"(?:的|[这那][个份次套版])$")
_ANY_BEFORE = re.compile(r"有(?:什么|啥|没有|哪些)(?:好的?|新的?)?$")
_ASKED_AFTER = re.compile(r"的?[吗嘛么呢]?[?？]?$")
_NOTHING_AFTER = re.compile(r"(?:一下|几个|一些|点|个|几款)?(?:(?:好|不错|合适|靠谱)一?点?的)?[吧呗啊呢嘛。！？!? ]*$")
_SUBJECT_BEFORE = re.compile(
    r"(?:[我你他她它]们?|人|公司|老板|政府|国家|学校|医院|医生|老师|教练|领导|同事|爸爸?|妈妈?|爷爷|奶奶|朋友|团队|部门)(?:还|也|都|正|本来|原本)?$"
)
_WHEN_AFTER = re.compile(
    r"(?:[今明后昨][年天日]|[下上这本](?:个?月|周|星期|半年)|年底|\d|[一-龥]{2}(?:去|到|买|换|搬|学|考|辞|退|结))"
)
_DETERMINED = re.compile(
    r"(?:\b(?:some|the|my|our|your|a|an|that|this|his|her|their|last|latest|next|new|old|first|any|for|about|on|me|more|other|better|further|these|those)|'s)"
    r"(?: \w+)? $|^$"
)
_NO_NOUN_AFTER = re.compile(
    r" (?:to\b|me\b|us\b|him\b|on doing|a\b|b\b|over\b|the\b|for me to|ahead\b|my\b|your\b|his\b|her\b|their\b|"
    r"everything\b|tourists\b|people\b)"
)
_VERB_BEFORE = re.compile(r"\b(?:to|i|we|you|they|will|can|should|would|don't|didn't|please) $")
