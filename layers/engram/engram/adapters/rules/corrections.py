"""What somebody takes back: "no, I meant Osaka, not Tokyo", 说错了，是大阪. It changes what was said, wherever that is."""

# ruff: noqa: E501  (a pattern reads best on one line)
from __future__ import annotations

import re
from dataclasses import dataclass

_I = re.IGNORECASE
_CJK = re.compile(r"[\u3400-\u9fff]")
_SORRY_EN = r"(?:no|nope|sorry|oops|whoops|wait|correction|actually|my (?:bad|mistake)|i was wrong|typo)"
_MEANT_EN = r"(?:i (?:meant|mean)(?: to say)?|i was talking about)"
_RATHER_EN = rf"(?:{_MEANT_EN}|make (?:that|it)|(?:it|that) should (?:be|have been)|it(?:'s| is| was)|that(?:'s| is| was)|should be)"
_SORRY_ZH = r"(?:不对|不是的|错了|(?:我)?(?:说|打|写|记|搞|弄)错(?:字|名字)?了?|口误|更正(?:一下)?|纠正(?:一下)?|抱歉|对不起|不好意思|不不+|不(?=[，,]))"
_MEANT_ZH = r"(?:我(?:刚才|之前|前面)?(?:想|要)?(?:说|指|讲)的?(?:应该|其实)?是|我是(?:说|指))"
_RATHER_ZH = rf"(?:{_MEANT_ZH}|应该是|其实是|是)"

_BOTH = (
    re.compile(
        rf"^(?:(?:{_SORRY_EN}[,.!:\s]+)+{_RATHER_EN}|{_MEANT_EN}) (?P<right>[^,.;]{{1,60}}?),? (?:and )?not (?P<wrong>[^,.;]{{1,40}}?)[.!]*$",
        _I,
    ),
    re.compile(
        rf"^(?:{_SORRY_EN}[,.!:\s]+)+(?P<right>[^,.;]{{1,40}}?),? (?:and )?not (?P<wrong>[^,.;]{{1,40}}?)[.!]*$", _I
    ),
    re.compile(
        rf"^(?:{_SORRY_EN}[,.!:\s]+)+not (?P<wrong>[^,.;]{{1,40}}?)(?:,? but|,? {_RATHER_EN}|,) (?P<right>[^,.;]{{1,40}}?)[.!]*$",
        _I,
    ),
    re.compile(r"^not (?P<wrong>(?-i:[A-Z])[^,.;]{1,40}?), (?P<right>(?-i:[A-Z])[^,.;]{1,40}?)[.!]*$", _I),
    re.compile(
        rf"^(?:(?:{_SORRY_ZH}[，,。!！\s]*)+{_RATHER_ZH}|{_MEANT_ZH})(?P<right>[^，,。；]{{1,20}}?)[，,\s]*(?:而)?(?:并)?不是(?P<wrong>[^，,。；]{{1,20}}?)[。!！了啦]*$"
    ),
    re.compile(
        rf"^(?:(?:{_SORRY_ZH}[，,。!！\s]*)+|我(?:说|指)的)不是(?P<wrong>[^，,。；]{{1,20}}?)[，,\s]*(?:而)?(?:应该)?是(?P<right>[^，,。；]{{1,20}}?)[。!！啦]*$"
    ),
)
_RIGHT_ONLY = (
    re.compile(
        rf"^(?:{_SORRY_EN}[,.!:\s]+)+(?:{_RATHER_EN} )(?P<right>[^,.;]{{1,40}}?)[.!]*$|^i meant(?: to say)? (?P<meant>[^,.;]{{1,40}}?)[.!]*$",
        _I,
    ),
    re.compile(rf"^(?:{_SORRY_ZH}[，,。!！\s]*)+{_RATHER_ZH}(?P<right>[^，,。；]{{1,16}}?)[。!！啦]*$"),
)
_FORGET = (
    re.compile(
        r"^(?:please |can you |could you )?(?:forget|don't remember|do not remember|stop remembering) (?:that |about |the fact that )*"
        r"(?:(?:i|we)(?:'m| am|'ve| have)?(?: really| also| even)?(?: like| love| hate| dislike| enjoy| live in| lived in| work(?:ed)? (?:at|for)| am allergic to| allergic to| speak| have| own)?|my(?: (?:love|dislike|hatred|allergy) (?:of|for|to))?) "
        r"(?P<wrong>[^,.;]{2,40}?)(?: allergy| please| anymore)?[.!]*$",
        _I,
    ),
    re.compile(
        r"^(?:请|麻烦)?(?:你|您)?(?:把|帮我)?(?:忘掉|忘记|忘了|别再?记得?|不要再?记得?|删掉|删除)(?:关于)?我(?:对|的)?(?:很|最)?(?:喜欢|讨厌|不喜欢|爱|住在|在|不吃)?(?P<wrong>[^，,。；]{1,16}?)(?:过敏|工作|上班)?(?:这件事|这事|的事情?|吧|了)*[。!！]*$"
    ),
)
_WHOLE_STATEMENT = re.compile(r"(?:.*\b)?(?:i|i'm|i've|my|we|our|you|he|she|they)\b|.*我", _I)
_FRAME = re.compile(
    r"likes?|dislikes?|allergic(?: to)?|allergy|named|called|favou?rite|过敏|喜欢|讨厌|不喜欢|不吃|爱|叫", _I
)
"""Words a slot is worded with: they are not what it speaks of."""


@dataclass(frozen=True, slots=True)
class Correction:
    """Instead of `wrong` it is `right`; an empty `wrong` is what was said last, an empty `right` only takes back.

    Attributes:
        start, end: span of the words it stands on, in the message.
    """

    wrong: str
    right: str
    start: int
    end: int


def correction(sentence: str, start: int) -> Correction | None:
    """The correction that a sentence, which begins at `start` of its message, makes of what was said before."""
    text = sentence.strip()
    end = start + len(sentence)
    if len(text) > 200 or text.endswith(("?", "？")):
        return None
    for pattern in _FORGET:
        match = pattern.match(text)
        if match is not None:
            return Correction(match["wrong"].strip(), "", start, end)
    for pattern in _BOTH:
        match = pattern.match(text)
        if match is not None and _FRAME.fullmatch(match["wrong"].strip()) is None:
            right = "" if _WHOLE_STATEMENT.match(match["right"]) else match["right"].strip()
            return Correction(match["wrong"].strip(), right, start, end)
    for pattern in _RIGHT_ONLY:
        match = pattern.match(text)
        if match is not None:
            right = next(group for group in match.groups() if group)
            return None if _WHOLE_STATEMENT.match(right) else Correction("", right.strip(), start, end)
    return None


def puts_right(correction: Correction, value: str) -> bool:
    """Whether it can be meant for `value`, where it does not say what was wrong: number for number, name for name."""
    new = correction.right
    same_script = (_CJK.search(new) is None) == (_CJK.search(value) is None)
    same_sort = any(map(str.isdigit, new)) == any(map(str.isdigit, value))
    same_case = new[:1].isupper() == value[:1].isupper()
    return same_script and same_sort and same_case and len(new.split()) <= len(value.split()) + 2


def asks_to_forget(sentence: str) -> bool:
    """Whether it asks to forget something about the user: then it is no event either."""
    return any(pattern.match(sentence.strip()) for pattern in _FORGET)
