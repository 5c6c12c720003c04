"""Which of a request and its answer is the evidence: who asks for the guide again wants the guide, not the request.

What the user tells about themselves is said in their own words, so a statement stays before what was answered to it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from engram.domain.models import Message, MessageRef, Role
from engram.recall.doubt import speaks_of_oneself
from engram.recall.features import wants_assistant
from engram.recall.within import coverage, units_of
from engram.recall.wording import LOOKED_AT
from engram.text.normalise import fold

JUST_BELOW = 0.99
"""Share of the answer's score that its request keeps."""

WORTH = 1.0
"""An answer at least this many times as long as what it answers carries more than a word about having read it."""
WORTH_OF_REQUEST = 0.3
"""The same where something was asked for, which few words may be: a name, a headline."""

THANKS = 0.3
"""Share of its score that a mere word of thanks keeps."""

LONGEST_THANKS = 60
"""Characters."""

_THANKS = re.compile(
    r"(?:[\W_]|非常|[太多感]?[谢謝][你您啦了]?|不客[气氣]|不用[谢謝]|好(?:的|啊|吧|呀|嘞)?|嗯|哦|行"
    r"|明白(?:了)?|知道了|收到|了解|没问题|沒問題|辛苦了"
    r"|\b(?:ok(?:ay)?|thanks?|thank you|thx|so much|very much|a lot|great|cool|perfect|got it|noted|sure|nice"
    r"|no problem|you(?:'|’)?re welcome|alright|all right|i see|will do|understood)\b)+",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[,，;；:：。！!…\n]|\.(?=\s|\Z)|(?<=[?？])|\s[-–—]+\s")
_QUESTION = re.compile(
    r"[?？]\s*\Z|[吗呢]\s*\Z|什么|什麼|怎么|怎麼|怎样|怎樣|如何|多少|哪|几(?=[个天点号次块月年家种本岁])|为什么"
    r"|是不是|能不能|可不可以|要不要|好不好"
    r"|\A\W*(?:(?:so|and|but|ok(?:ay)?|well|hi|hello|hey|please)\W+)?"
    r"(?:what|which|who|whom|whose|where|when|why|how|(?:can|could|would|will|should|do|does|did|is|are|am|was|were|may"
    r"|shall) (?:you|i|we|it|there|the|my|this|that))\b",
    re.IGNORECASE,
)
_REQUEST = re.compile(
    r"(?:(?:帮|幫|替|为|為)我|[给給教](?:我|个|個|一))(?!.{0,60}[了过過])|[请請]|告[诉訴]我|改(?:成|一|短|长|为)|一下|做法|用\S{1,12}写"
    r"|\A\W*(?:再|也|能|可以|麻[烦煩])?(?:[给給为為]\S{1,6})?(?:推荐|推薦|介绍|介紹|列|[写寫]|做|总结|總結|整理|翻[译譯]"
    r"|解[释釋]|[调調]整|安排|规划|規劃|[讲講])"
    r"|\A\W*(?:(?:please|now|then|so|and|ok(?:ay)?|also)\W+)*"
    r"(?:give|show|tell|write|make|plan|list|recommend|suggest|explain|help|draft|create|think of|translate"
    r"|summari[sz]e|tidy|find|send|design|teach|extend|shorten|rewrite|adjust|update|change|compare|describe|generate|add|turn|convert"
    r"|outline|cut|trim|reduce|edit|improve|check|review|calculate"
    r"|polish|simplify|expand|name|set up|prepare|come up with|remind|repeat)\b"
    r"|\b(?:please|i(?:'d| would) like you to|i (?:need|want) (?:you to|an?|some)\b)",
    re.IGNORECASE,
)
_AGAIN = re.compile(
    r"\b(?:give|show|send|resend|forward|repeat|paste|share|read)\b|\bagain\b|\bplease\b"
    r"|再|[给給]我|[发發][给給]?我|[发發]一|重[发發新]|[找调調]出|看看",
    re.IGNORECASE,
)
_TALK = re.compile(
    rf"{_AGAIN.pattern}|\b(?:we|i) (?:last |first |ever )?(?:talk|discuss|spoke|chat)\w*"
    r"|我们?(?:之前|上次|第一次)?[聊谈]",
    re.IGNORECASE,
)
_KEEP = re.compile(r"[记記](?:住|着|著|下|得|一下)|\b(?:remember|keep|note|memori[sz]e|don't forget)\b", re.IGNORECASE)
_BY_YOU = re.compile(
    r"\b(?:advice|suggestions?|recommendations?|tips)\b"
    r"|\bhow (?:did|do|should|can) (?:we|i|you) (?:\w+ )?(?:fix|solve|resolve|handle)\b"
    r"|\bdid you (?!know|see|remember|hear|notice|forget)"
    r"|\byou (?:said|told|gave|wrote|made|recommended|suggested|advised|listed)\b"
    r"|怎么(?:解决|处理|修|治)|怎麼(?:解決|處理|修|治)|(?<!我)(?:推荐|推薦|建议|建議)(?:了|过|過|的|\W|\Z|(?=再))"
    r"|(?<![跟和对對向给給])(?<!告诉)(?<!告訴)你(?:是|之前|当时|當時|上次|刚才|剛才|那时|都|又|曾)?(?:怎么|怎麼|如何)?"
    r"(?:给的|給的|[让叫教劝讓勸]我|说|說|建议|建議|推荐|推薦|比较|比較|回答|安排|评价|分析|排|列|写|寫)",
    re.IGNORECASE,
)


def answers_first(
    scores: Mapping[MessageRef, float], messages: Mapping[MessageRef, Message], query: str, words: str
) -> dict[MessageRef, float]:
    """`scores`, with each answer just above what it answers where the answer is what the query wants.

    Args:
        messages: at least those that are scored.
        words: of the query, those that are searched for.
    """
    lifted = {ref: score * THANKS if is_thanks(messages[ref].content) else score for ref, score in scores.items()}
    by_you = wants_assistant(query) or _BY_YOU.search(query) is not None
    oneself = not by_you and all(speaks_of_oneself(one) for one in (query, _TALK.sub(" ", query)))
    again = not oneself and _AGAIN.search(query) is not None
    units = units_of(words, fold)
    for ref in scores:
        score, answer = lifted[ref], MessageRef(ref.conversation_id, ref.seq + 1)
        if answer not in scores or lifted[answer] > score:
            continue
        given, asked = messages[answer], messages[ref]
        if _may_answer(given, asked, by_you=by_you) and (
            by_you or again or is_request(asked.content, alone=True) or _tells_more(given, asked, units, oneself)
        ):
            lifted[answer] = score
            lifted[ref] = score * JUST_BELOW
    return lifted


def is_thanks(text: str) -> bool:
    """Whether a text only says that another one was read; what stands around it is what it is found by."""
    return len(text) <= LONGEST_THANKS and _THANKS.fullmatch(text) is not None


def is_request(text: str, *, alone: bool = True) -> bool:
    """Whether a text asks for something.

    Args:
        alone: and does nothing else; a text that also tells something is not counted then.
    """
    clauses = [one for one in _CLAUSE.split(text[:LOOKED_AT]) if re.search(r"\w", one)]
    asking = [bool(_QUESTION.search(one) or _REQUEST.search(one)) for one in clauses]
    return bool(asking) and (all(asking) if alone else any(asking))


def _tells_more(answer: Message, asked: Message, units: frozenset[str], oneself: bool) -> bool:
    """Whether `answer` holds more of the query, or as much where what it answers asks for something beside telling it.

    What only half asks is left to the user's own words where the query is about the user.
    """
    given, own = (coverage(units, one.content[:LOOKED_AT], fold) for one in (answer, asked))
    return given > own or (is_request(asked.content, alone=False) and (given == own or not oneself))


def _may_answer(answer: Message, asked: Message, *, by_you: bool) -> bool:
    """Whether `answer` was given to `asked` and is more than a word of thanks."""
    if answer.role is not Role.ASSISTANT or asked.role is not Role.USER or not answer.content.strip():
        return False
    if is_thanks(answer.content):
        return False
    request = is_request(asked.content, alone=False) and not _KEEP.search(asked.content[:LOOKED_AT])
    least = WORTH_OF_REQUEST if request or by_you else WORTH
    return len(answer.content) >= least * len(asked.content)
