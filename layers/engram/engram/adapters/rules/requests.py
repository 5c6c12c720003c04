"""What a user wants: once (a request, worth a line in the events) or from now on (an instruction, worth keeping)."""

# ruff: noqa: E501  (a pattern reads best on one line)
from __future__ import annotations

import re
from dataclasses import dataclass

from engram.adapters.rules import chinese_words, english_words
from engram.adapters.rules.chinese_syntax import OPENS_UNREAL as _ZH_UNREAL
from engram.adapters.rules.english_syntax import OPENS_UNREAL as _EN_UNREAL
from engram.adapters.rules.statements import FactKind

_I = re.IGNORECASE
_CJK = re.compile(r"[\u3400-\u9fff]")

_DURABLE_ZH = (
    r"(?:以后|今后|往后|从现在(?:起|开始)|从今(?:天起|往后|以后)?|之后|每次|每当|一直|总是|永远|始终|任何时候|全程)"
)
_TO_ASSISTANT_ZH = r"(?:回答|回复|答复|说话?|讲|先给|先说|给出|直接给|列出|附上|总结|称呼|叫我|喊我|用|不要|别|少|多|写|解释|告诉|提醒|给我|跟我|和我|对我|保持|避免|使用|输出|翻译)"
_INSTRUCTION_ZH = re.compile(
    rf"^(?:请|麻烦|拜托)?(?:你|您)?(?:记住|记得)?[，,：:\s]*(?:请)?(?:你|您)?(?:我希望|我想要?|我要|我要求)?(?:你|您)?{_DURABLE_ZH}[，,]?(?:请|你|您|都|就|要|也|我们|跟我|和我|对我|给我)*.{{0,12}}?{_TO_ASSISTANT_ZH}"
    rf"|^(?:请|麻烦)?(?:你|您)?(?:和|跟|对)?我?(?:说话|聊天|交流|回答|回复)(?:时|的时候)?(?:请)?(?:都|总是|一直|始终)?(?:要|用|别|不要).{{1,30}}"
    rf"|^(?:请|麻烦)?(?:你|您)?(?:不要|别)(?:再)?(?:用|发|使用|加|带)(?:任何)?(?:表情|emoji|颜文字|感叹号|英文|markdown|敬语|列表)"
    rf"|^(?:请|麻烦)?(?:你|您)?(?:不要|别)(?:再)?(?:叫我|喊我|称呼我|对我说|跟我说|提|说)(?:.{{1,20}})"
    rf"|^(?:请|麻烦)?(?:你|您)?(?:的)?(?:回答|回复)(?:都)?(?:请|要|尽量|保持|必须|应该).{{1,30}}"
    rf"|^(?:请|麻烦)?(?:你|您)?(?:一律|都|只)(?:用|以).{{1,20}}(?:回答|回复|说|写)",
    _I,
)
_CALL_ME_ZH = re.compile(
    r"^(?:请|麻烦|拜托|你|您|可以|就|以后|今后|往后|之后|从现在起|从现在开始|从今以后|从今往后|记得|记住|都|要|还是|直接|改口)*(?:叫|喊|称呼)我(?:为|做|作)?(?P<value>[^，。,.!！?？的吧了]{1,12}?)(?:就好|就行|即可|就可以|吧|好了|就可以了)*(?:了)?$"
)
_ANSWER_IN_ZH = re.compile(
    rf"用(?P<value>{chinese_words.LANGUAGE})(?:跟我|和我|对我|给我|来)?(?:回答|回复|答复|交流|说|聊|对话|写|沟通)"
)

_DURABLE_EN = r"(?:from now on|from here on|from today(?: on)?|in (?:the )?future|going forward|henceforth|every time|each time|whenever|always|never|at all times)"
_TO_ASSISTANT_EN = r"(?:answer|reply|respond|write|speak|talk|call|address|refer|use|keep|give|include|explain|avoid|format|remind|ask|say|tell|be|begin|start|end|stop|don't|do not|add|show|translate|mention|suggest|recommend|send|cite|make|assume|convert|skip|sign)"
_INSTRUCTION_EN = re.compile(
    rf"^(?:please |kindly )?(?:remember to |make sure to |be sure to |i(?:'d| would)? (?:want|need|like|prefer|expect) you to |you (?:should|must|need to|have to|can|may) )?{_DURABLE_EN}[,]? (?:please |you (?:should|must) |i want you to )*{_TO_ASSISTANT_EN}\b.*"
    rf"|^(?:please |kindly )?(?:remember to |make sure to |be sure to |i(?:'d| would)? (?:want|need|like|prefer|expect) you to |you (?:should|must) )?{_TO_ASSISTANT_EN}\b.*\b(?:from now on|in (?:the )?future|going forward|every time|each time|always|at all times)$"
    r"|^(?:please |kindly )?(?:don't|do not|never|stop) (?:ever )?(?:use|using|call|calling me|add|adding|send|sending|include|including) (?:any |so many )?(?:emojis?|emoticons|exclamation marks?|markdown|bullet(?: point)?s|jargon|slang|me \w+).*"
    r"|^(?:please |kindly )?keep (?:(?:your|all|the|all your) )?(?:answers?|replies|responses?|explanations?|messages?) .+"
    r"|^(?:please |kindly )?(?:stop|quit) (?!by\b)\w+ing\b.*"
    r"|^i (?:prefer|like|want) (?:your |my )?(?:answers?|replies|responses?|explanations?) (?:to be |in |short|brief|concise|detailed).*|^i (?:prefer|want) (?:short|brief|concise|detailed|long|simple|formal|informal|metric|bullet)\b[\w ,-]* (?:answers?|replies|responses?|explanations?|units)$",
    _I,
)
_CALL_ME_EN = re.compile(
    r"^(?:please |just |from now on,? |you can |you may |everyone |my friends |people |so |but |i(?:'d| would)? (?:like|want|prefer) (?:you|people|everyone) to |you should )*(?:please )?(?:call|calls|address|refer to) me (?:as |by )?(?P<value>.+?)(?: from now on| please| instead| okay| ok)*[\s.!]*$",
    _I,
)
_ANSWER_IN_EN = re.compile(
    rf"\b(?:answer|reply|respond|write|speak|talk|responses?|answers?|replies)\b.{{0,24}}? in (?P<value>{english_words.LANGUAGE})\b",
    _I,
)

_LONGEST_WISH = 300
_CALL_TIME = re.compile(
    r"\bcall(?:ing)? me (?:now|later|back|again|today|tonight|tomorrow|when|if|at|on|in|after|before|during|this|next|so (?:late|early))\b",
    _I,
)
_CLAUSE_END = re.compile(
    r"[，,]\s*(?:and\s+)?|\s+and\s+(?=(?:please|always|never|don't|do not|answer|reply|speak|use|keep)\b)", _I
)
_LIFTED_EN = re.compile(
    r"^(?:(?:ok|okay|now|actually),? )?(?:you (?:can|may|are allowed to)|feel free to|it's (?:ok|okay|fine) to|go ahead and) (?:use|add|send|include) (?P<value>[\w -]{3,30}?)(?: again| now| after all)$",
    _I,
)
_LIFTED_ZH = re.compile(
    r"^(?:现在|以后)?(?:你|您)?(?:现在|又)?(?:可以|能)(?:重新|再)?(?:用|发|加|带|使用)(?P<value>[^，。]{2,10}?)了$"
)
_REQUEST_ZH = re.compile(
    r"(?:^|[，,。；;：:\s!！])(?:那|就|再|现在|今天|你|您|可以|能)*(?:帮我|帮忙|帮个忙|给我|替我|为我|请(?!假|客|问|教|记住|记得|叫我|称呼)|麻烦(?:你|您)|能不能|可不可以|可以(?:帮|给|教|讲|推荐|介绍)|能否|可否|推荐|我想(?:让|请|要)你|我需要(?:一|你)|告诉我|教我|讲讲|介绍一下|写一?[个篇段首封份]|出一?[个份篇]|做一?[个份]|列(?:一下|出|个)|制定|规划一|安排一|总结|翻译|解释|生成|设计一|整理|查一下|算一下|分析)"
)
_RECALL_ZH = re.compile(
    r"上上?次|上一?回|之前(?:聊|说|给|提|问|讨论)|刚才|再(?:给|发|说|讲)|还记得|以前(?:聊|说|给)|聊过|说过|问过|给过"
)
_REQUEST_EN = re.compile(
    r"^(?:please(?! (?:remember|note|call|don't|do not|never|always))|kindly|can you|could you|would you|will you|can i (?:get|have)|could i (?:get|have)|help me|i need (?:you|an?|some|help)|i(?:'d| would) like (?:you|an?|some)|i want (?:you|an?|some)|i(?:'m| am) looking for|give me|show me|send me|find me|get me|make|create|draft|plan|design|write|generate|suggest|recommend|list|explain|summari[sz]e|translate|compare|teach me|tell me (?:about|a|an|how|more)|walk me through|outline|prepare|compose|brainstorm|look up|calculate|convert|fix|review|proofread|rewrite|build|set up|book)\b",
    _I,
)
_RECALL_EN = re.compile(
    r"\b(?:last time|previous(?:ly)?|earlier|again|you (?:told|gave|said|mentioned|sent|wrote|recommended)|we (?:talked|discussed|spoke|chatted)|do you remember|remember when|remind me (?:what|of|about))\b",
    _I,
)


@dataclass(frozen=True, slots=True)
class Wish:
    """What a sentence asks of the assistant from now on; with `holds` False, what it need not heed any more."""

    kind: FactKind
    value: str
    content: str
    holds: bool = True


def is_request(sentence: str) -> bool:
    """Whether the sentence asks the assistant to do something."""
    text = _bare(sentence)
    if _CJK.search(text):
        return len(text) > 3 and _REQUEST_ZH.search(text) is not None
    return len(text.split()) > 1 and _REQUEST_EN.match(text) is not None


def asks_again(sentence: str) -> bool:
    """Whether the sentence asks for what was said before: that is a read, and nothing new to remember."""
    chinese = _CJK.search(sentence) is not None
    return (_RECALL_ZH if chinese else _RECALL_EN).search(sentence) is not None and (
        is_request(sentence) or "?" in sentence or chinese
    )


def wishes(sentence: str) -> list[Wish]:
    """Instructions to the assistant that are to hold from now on: how to call the user, how to answer."""
    text = _bare(sentence)
    chinese = _CJK.search(text) is not None
    if text.endswith(("?", "？")) or (_ZH_UNREAL if chinese else _EN_UNREAL).search(text):
        return []
    if _CALL_TIME.search(text):
        return []
    lifted = (_LIFTED_ZH if chinese else _LIFTED_EN).match(text)
    if lifted is not None:
        return [Wish(FactKind.INSTRUCTION, lifted["value"].strip(), "", holds=False)]
    parts = _CLAUSE_END.split(text) if len(text) <= _LONGEST_WISH else [text]
    each = [wishes(part) for part in parts] if len(parts) > 1 else []
    if each and all(each):
        return [wish for found in each for wish in found]
    called = _nickname(text, chinese)
    if called:
        rest = [one for one in _CLAUSE_END.split(text) if not _nickname(one, chinese)]
        return [Wish(FactKind.ADDRESS, called, called), *(wish for one in rest for wish in wishes(one))]
    if (_INSTRUCTION_ZH if chinese else _INSTRUCTION_EN).match(text) is None or len(text) > _LONGEST_WISH:
        return []
    language = (_ANSWER_IN_ZH if chinese else _ANSWER_IN_EN).search(text)
    if language is not None:
        return [Wish(FactKind.ANSWER_LANGUAGE, language["value"], text)]
    return [Wish(FactKind.INSTRUCTION, text, text)]


def _nickname(text: str, chinese: bool) -> str:
    for clause in _CLAUSE_END.split(text):
        match = (_CALL_ME_ZH if chinese else _CALL_ME_EN).match(clause.strip())
        if match is not None:
            found = chinese_words.called(match["value"]) if chinese else english_words.name(match["value"])
            if found:
                return found
    return ""


def _bare(sentence: str) -> str:
    text = sentence.strip(" \t\n.!。！,，;；")
    return re.sub(
        r"^(?:hi|hello|hey|ok|okay|also|and|so|oh|well|thanks|by the way|btw|你好|您好|嗨|好的?|对了|另外|还有|那么?)[,，!！.\s]+",
        "",
        text,
        flags=_I,
    )
