"""What of a query is worth searching for: no time cues, no polite wrapping, but every entity and topic word."""

from __future__ import annotations

import re
from collections.abc import Sequence

from engram.resolve.models import SourceType
from engram.text.language import is_han
from engram.text.normalise import NormalisedText
from engram.text.segment import words

Span = tuple[int, int]

_FILLER_HAN = frozenset(
    "我们 我 你 您 咱们 咱 聊天 聊过 聊 说过 说 讲 提到 提过 提 谈 谈到 给 给我 发 发我 一下 一份 一遍 再 "
    "再给 帮 帮我 请 请问 看看 "
    "不是 而是 的 了 呢 吗 吧 啊 呀 嘛 哦 来着 那个 这个 那 这 那份 那段 那些 这些 是 有 什么 什么时候 怎么 怎样 "
    "如何 哪些 哪个 哪 谁 多少 几 个 过 "
    "还 还记得 记得 记不记得 回忆 想 想要 要 能 能不能 可以 可不可以 请给 告诉 跟 和 与 把 被 让 就是 关于 "
    "有关 相关 内容 事 事情 东西 "
    "里 在 到 叫 出来 出 起来 下 上 都 也 就 后来 讨论 讨论过 推荐 推荐过 问 问过 时候 咱俩 一 些 说好 "
    "说好的 拿 找 找出来 翻 翻出来 知道".split()
)
_FILLER_LATIN = frozenset(
    "a an the i we you me us my our your it that this those these is are was were be been am do did does "
    "done have has had "
    "can could would will shall should may please what which who when where why how about of on in at to "
    "for from with and "
    "or so not but if any some there again back tell told give gave send resend show remind remember recall said "
    "say says talked talk "
    "talking discussed discuss chat chatted mentioned mention asked ask find get let know want wanted need "
    "needed think thought "
    "again ever already one ones thing things stuff conversation conversations yes no hi hey hello ok okay "
    "thanks thank".split()
)
_LATIN_WORD = re.compile(r"[A-Za-z0-9À-ɏ][A-Za-z0-9À-ɏ'’+#./-]*")
_HAN_RUN = re.compile(r"[\u3400-\u9fff]+")
_SPACES = re.compile(r"\s+")
MAX_LENGTH = 2_000

_ABOUT_TALK = re.compile(
    r"聊|说过|说的|讲过|提过|提到|谈|讨论|对话|会话|问过|告诉过|推荐过|给我的|"
    r"\b(?:we|you|i) (?:\w+ )?(?:talked|discussed|said|told|mentioned|chatted|asked|recommended|suggested|"
    r"wrote|gave|sent)\b|"
    r"\bdid (?:we|you|i) (?:\w+ )?(?:talk|discuss|say|tell|mention|chat|ask|recommend|suggest|write|give|send)\b|"
    r"\b(?:conversation|chat|discussion|session|talk about)s?\b"
)
_ABOUT_SELF = re.compile(
    r"我(?:的|是|叫|住|在|对|有|喜欢|讨厌|爱|家|现在|目前|几|多大|多高)|"
    r"\b(?:my|i'm|am i|do i|i am|i like|i love|i hate|i prefer|about me)\b"
)


def kept_spans(text: NormalisedText, cues: Sequence[Span], keep: Sequence[Span]) -> list[Span]:
    """Spans of the folded text that are worth searching for: words that are neither filler nor within a time cue.

    Args:
        cues: spans of time cues; keep: spans of entities and topics, kept even if they look like filler.
    """
    folded = text.text[:MAX_LENGTH]
    tokens: list[Span] = [match.span() for match in _LATIN_WORD.finditer(folded)]
    for run in _HAN_RUN.finditer(folded):
        tokens += [(run.start() + first, run.start() + last) for first, last in words(run.group())]
    spans: list[Span] = []
    for first, last in sorted(tokens):
        needed = any(first < end and start < last for start, end in keep)
        if needed or not (_is_filler(folded[first:last]) or any(first < end and start < last for start, end in cues)):
            spans.append((first, last))
    return sorted({*spans, *keep})


def _is_filler(word: str) -> bool:
    if is_han(word[0]):
        return word in _FILLER_HAN
    return word.replace("’", "'").removesuffix("'s") in _FILLER_LATIN or word in (
        "i've",
        "you've",
        "we've",
        "what's",
        "i'm",
        "let's",
    )


def search_text(text: NormalisedText, cues: Sequence[Span], keep: Sequence[Span]) -> str:
    """The words of the query that are worth searching for, as written, in order."""
    return _written(text, kept_spans(text, cues, keep))


def phrase_left(text: NormalisedText, cues: Sequence[Span], entities: Sequence[Span]) -> str:
    """What is left once entities, time cues and filler are out: the phrase to compare with topics, folded."""
    spans = kept_spans(text, [*cues, *entities], ())
    return _join([text.text[first:last] for first, last in spans])


def _written(text: NormalisedText, spans: Sequence[Span]) -> str:
    merged: list[Span] = []
    for first, last in spans:
        if merged and first <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(last, merged[-1][1]))
        else:
            merged.append((first, last))
    written = _join([text.as_written(first, last) for first, last in merged])
    return written.encode("utf-8", "replace").decode("utf-8")


def _join(pieces: Sequence[str]) -> str:
    return _SPACES.sub(" ", " ".join(pieces)).strip()


def source_type(text: NormalisedText) -> SourceType:
    """Whether the user asks for what was said, for what is known about them, or for either."""
    folded = text.text[:MAX_LENGTH]
    if _ABOUT_TALK.search(folded):
        return SourceType.CONVERSATION
    return SourceType.MEMORY if _ABOUT_SELF.search(folded) else SourceType.ANY
