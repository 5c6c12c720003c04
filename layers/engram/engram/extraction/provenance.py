"""Which words of a message are its author's own.

People paste mails, quote others, hand over text to translate, and clients echo our context block back. Such
words stay retrievable as they were said, but nothing in them may become a fact about the user.
"""

# ruff: noqa: E501  (a pattern reads best on one line)
from __future__ import annotations

import re
from dataclasses import dataclass

Span = tuple[int, int]

_FLAGS = re.IGNORECASE | re.MULTILINE

_ROLE_LABEL = re.compile(
    r"(?:^|(?<=[\s\"'“「『(\[（【:：>*#]))"
    r"(?:SYSTEM|System|ASSISTANT|Assistant|ADMIN|DEVELOPER|INSTRUCTIONS?|系统(?:提示|消息|指令)?|管理员)"
    r"(?:\s+(?:PROMPT|MESSAGE|NOTE|OVERRIDE|prompt|message|note))?\s*[:：]",
    re.MULTILINE,
)
_CHAT_MARKUP = re.compile(
    r"<\|[a-z_]+\|>|\[/?INST\]|<<SYS>>|</?(?:system|assistant|instructions?|developer|memory|memories|tool)\b[^>\n]*>"
    r"|^#{2,6}[ \t]{0,20}(?:system|instructions?|assistant)\b",
    _FLAGS,
)
_OVERRIDE = re.compile(
    r"(?:ignore|disregard|forget|override|bypass)\s+(?:all\s+|any\s+|of\s+|the\s+|your\s+|these\s+|my\s+)*"
    r"(?:previous|prior|above|earlier|preceding|system|existing)\s+(?:\w+\s+)?"
    r"(?:instructions?|rules?|prompts?|messages?|memor(?:y|ies)|guidelines)"
    r"|remember\s+(?:forever|permanently|for\s+all\s+(?:users|conversations))\s+that\s+(?!i\b|i'm\b|i’m\b|my\b)"
    r"|(?:add|save|write|store|commit)\s+(?:this|the\s+following)\s+(?:in|to|into)\s+(?:your\s+|the\s+)?(?:long[- ]term\s+)?memory"
    r"|(?:忽略|无视|忘记|忘掉|不要理会)(?:掉)?(?:你)?(?:之前|以前|以上|上面|上述|先前|前面|系统)(?:的)?(?:所有|全部|一切)?(?:的)?"
    r"(?:指令|指示|规则|提示词?|设定|要求|内容)"
    r"|(?:永远|永久)(?:地)?记住(?![，,：:\s]*我)"
    r"|(?:写入|存入|加入|保存到)(?:你的)?(?:长期)?记忆",
    _FLAGS,
)
_MAIL_HEADER = re.compile(
    r"^[> \t]{0,20}(?:From|To|Cc|Bcc|Subject|Sent|Date|Reply-To|发件人|收件人|抄送|主题|发送时间|日期|寄件者|收件者|主旨)\s*[:：].*$",
    _FLAGS,
)
_FORWARDED = re.compile(
    r"^[-> \t_*]{0,40}(?:original message|forwarded message|begin forwarded message|转发(?:的)?(?:邮件|消息)|原始邮件|以下为?转发)"
    r"[- \t_*:：]{0,60}|^On .{4,60} wrote:[ \t]{0,20}$|^.{1,30}于.{4,40}写道[:：]",
    _FLAGS,
)
_SALUTATION = re.compile(
    r"^[ \t]{0,20}(?:Dear|Hello|Hi|Attention)\s+(?!I\b)[^\n,!:]{2,40}[,:][ \t]{0,20}$|^[ \t]{0,20}(?:尊敬的|亲爱的)[^\n]{1,24}[:：，,]?[ \t]{0,20}$"
    r"|^[ \t]{0,20}Dear\s+[A-Z][^\n,!:]{1,40}[,:]|^[ \t]{0,20}尊敬的[^\n，,：:]{1,20}[:：，,]",
    _FLAGS,
)
_HANDED_OVER = re.compile(
    r"\b(?:translate|translation|rewrite|rephrase|polish|proofread|summari[sz]e|paraphrase)"
    r"(?:\s+(?:this|these|the|that|following|it|my|into|in|to|for|between|of)\b[^\n.!?:]{0,60})?:"
    r"|\b(?:correct|fix|edit|improve|review|explain|analy[sz]e|classify|complete|continue|answer|reply\s+to|respond\s+to)"
    r"\s+(?:this|these|the|that|following|my|to)\b[^\n.!?:]{0,60}:"
    r"|(?:翻译|译成|润色|改写|总结|概括|归纳|纠错|校对|续写|批改|扩写|缩写|仿写)[^\n。！？：:]{0,40}[:：]"
    r"|(?:修改|检查|回复|回答|解释|分析|看看|看下|看一下)[^\n。！？：:]{0,20}(?:这|那|下面|以下|如下)[^\n。！？：:]{0,20}[:：]",
    _FLAGS,
)
_REPORTED = re.compile(
    r"\b(?:(?:e-?)?mail|letter|text|article|message|review|post|story|novel|poem|script|song|lyrics|document|transcript|log|"
    r"output|quote|line)\b[^\n.!?:]{0,24}:(?!\s*[\w.+-]+@)"
    r"|(?<!\b[Ii] )\b(?:says|said|wrote|writes|reads|told\s+(?:me|us)|asked|replied|states)\b[^\n.!?:]{0,24}:"
    r"|(?:邮件|短信|信件|(?<!微)信(?![息用任心号仰件])|文章|消息|评论|帖子|故事|小说|台词|歌词|文档|网页|原文|例句|日志|例如|比如)[^\n。！？：:]{0,24}[:：](?!\s*[\w.+-]+@)"
    r"|(?<!补充)(?<!我)(?:说|写道?|问|回复|告诉我|发来?的?|内容(?:是|如下)?)(?:过|道|我)?[:：]",
    _FLAGS,
)
_PASTED_BELOW = re.compile(
    r"^[^\n]{0,12}(?:下面|以下|下文|这)(?:就)?(?:是|为)[^\n]{0,30}(?:介绍|内容|邮件|信|文章|简历|聊天记录|对话|原文|稿|消息|简介|资料)[。：:]?[ \t]{0,20}\n"
    r"|^[^\n]{0,30}\b(?:here(?:'s| is)|below is|this is|following is|see)\b[^\n]{0,40}\b(?:bio|e?-?mail|letter|intro(?:duction)?|text|message|resume|résumé|cv|essay|article|chat|transcript|profile|post)\b[^\n]{0,20}\n",
    _FLAGS,
)
_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_QUOTED_LINE = re.compile(r"^[ \t]{0,40}(?:>|&gt;).*$", re.MULTILINE)
_DATA_LINE = re.compile(
    r"^[ \t]{0,40}(?:[{}\[\]|<].*|\d{4}-\d\d-\d\d[T ]\d\d:\d\d.*|(?:Traceback|at) .*)$", re.MULTILINE
)
_BLOCK_LINE = re.compile(
    r"^[ \t]{0,8}(?:[-*•][ \t]{0,4})?(?:\[\d{4}-\d\d-\d\d\][ \t].*|[^\s:：\n][^:：\n]{0,60}::[^:：\n]{1,60}:[ \t].*)$",
    re.MULTILINE,
)
"""A slot or a gist as a context block prints it, whatever template a business puts around them."""
_QUOTATION = re.compile(r"“([^”]{1,4000})”|「([^」]{1,4000})」|『([^』]{1,4000})』|\"([^\"]{1,4000})\"", re.DOTALL)
_SENTENCE_IN_QUOTES = re.compile(r"\b(?:I|I'm|my|we|you|is|are|was)\b|我|你|[.!?。！？]", re.IGNORECASE)

BLOCK_MARKERS = (
    "# Memory",
    "## User Profile",
    "## Past Events",
    "## User Current Profile",
    "# 用户记忆",
    "# 记忆",
    "## 用户画像",
    "## 过往事件",
)
"""Headings of rendered context blocks, of this product and of the one whose wire format it speaks."""


@dataclass(frozen=True, slots=True)
class Provenance:
    """What of a text is not its author's own.

    Attributes:
        foreign: half-open spans, sorted, not overlapping.
        instructs: the foreign part, or the text itself, tries to instruct the memory or the assistant's system.
    """

    foreign: tuple[Span, ...]
    instructs: bool

    def is_own(self, start: int, end: int) -> bool:
        """No character of the span is foreign."""
        return all(end <= left or start >= right for left, right in self.foreign)


def provenance_of(text: str, *, extra_markers: tuple[str, ...] = ()) -> Provenance:
    """Reads `text` once for everything that marks words as somebody else's. Errs on the side of foreign."""
    spans: list[Span] = []
    orders = [match.start() for match in (*_ROLE_LABEL.finditer(text), *_CHAT_MARKUP.finditer(text))]
    spans += [(start, len(text)) for start in orders[:1] and [min(orders)]]
    overrides = list(_OVERRIDE.finditer(text))
    spans += [_paragraph(text, match.start()) for match in overrides]
    spans += [
        match.span() for pattern in (_FENCE, _QUOTED_LINE, _DATA_LINE, _BLOCK_LINE) for match in pattern.finditer(text)
    ]
    spans += _mail(text)
    spans += _handed_over(text)
    spans += _quotations(text)
    spans += _echo(text, BLOCK_MARKERS + extra_markers)
    return Provenance(_joined(spans), bool(orders or overrides))


def _paragraph(text: str, position: int) -> Span:
    start = text.rfind("\n\n", 0, position) + 1
    end = text.find("\n\n", position)
    return start, len(text) if end < 0 else end


def _mail(text: str) -> list[Span]:
    """A mail runs from its first header, forward mark or salutation to the end: where it stops cannot be told."""
    starts = [match.start() for match in _FORWARDED.finditer(text)]
    headers = [match.start() for match in _MAIL_HEADER.finditer(text)]
    if len(headers) > 1:
        starts.append(headers[0])
    starts += [match.start() for match in _SALUTATION.finditer(text)]
    return [(min(starts), len(text))] if starts else []


def _handed_over(text: str) -> list[Span]:
    """Text given to work on, or reported, follows a colon: to the end of the text, or of the line for a report."""
    handed = (*_HANDED_OVER.finditer(text), *_PASTED_BELOW.finditer(text))
    spans = [(match.end(), len(text)) for match in handed]
    for match in _REPORTED.finditer(text):
        rest = text[match.end() :]
        after_break = rest.lstrip(" \t").startswith("\n")
        line_end = text.find("\n", match.end())
        spans.append((match.end(), len(text) if after_break or line_end < 0 else line_end))
    return spans


def _quotations(text: str) -> list[Span]:
    """Quoted sentences; a quoted name or title stays the author's own words."""
    found = []
    for match in _QUOTATION.finditer(text):
        inner = next(group for group in match.groups() if group is not None)
        if len(inner) > 40 or _SENTENCE_IN_QUOTES.search(inner):
            found.append(match.span())
    return found


def _echo(text: str, markers: tuple[str, ...]) -> list[Span]:
    found = [text.find(marker) for marker in markers if marker and marker in text]
    return [(min(found), len(text))] if found else []


def _joined(spans: list[Span]) -> tuple[Span, ...]:
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        elif end > start:
            joined.append((start, end))
    return tuple(joined)
