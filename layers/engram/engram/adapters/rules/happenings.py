"""Plans and gists: what somebody intends, and one line for each thing worth remembering of a batch, dated by when it happens."""

# ruff: noqa: E501  (a pattern reads best on one line)
from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import date, tzinfo

from engram.adapters.rules.clauses import UNKNOWN, USER, Clause, by_sentence
from engram.adapters.rules.corrections import asks_to_forget
from engram.adapters.rules.dates import When, when
from engram.adapters.rules.requests import asks_again, is_request
from engram.adapters.rules.statements import FactKind, Statement
from engram.adapters.rules.tenses import looks_ahead, returns_yearly
from engram.domain.models import Message
from engram.extraction.models import Citation, GistDraft

MAX_GIST_CHARACTERS = 200
_LONGEST_DATE = 24
MAX_GISTS_PER_MESSAGE = 6
_I = re.IGNORECASE
_CJK = re.compile(r"[\u3400-\u9fff]")
_PLAN = re.compile(
    r"^(?:i(?:'m| am|'ve| have|'ll| will)?|we(?:'re| are|'ve| have|'ll| will)?)\b.*?(?:\b(?:will|going to|gonna|plan(?:ning)? (?:to|on)|intend(?:ing)? to|about to|decided to|scheduled|(?:signed up|registered) for|flying|moving|travel+ing|leaving|starting|visiting|expecting|getting married|(?:need|have|has|got|supposed|due) to|gotta|must)\b|'ll\b)"
    r"|^(?:i|we)(?:'ve| have)?(?: just| already)? (?:booked|scheduled|have an? (?:[\w-]+ ){0,2}(?:appointment|exam|meeting|interview|flight|test|trip|wedding|deadline|surgery|concert|race|presentation|party|reservation|review|call|match|game|class|lesson|check-?up|train|visit))\b"
    r"|^(?:my|our) (?:[\w'-]+ ){0,3}(?:appointment|exam|meeting|interview|flight|test|trip|wedding|deadline|surgery|concert|race|presentation|party|reservation|review|match|game|check-?up|train|graduation|move)(?: to [\w ]+?)?(?:'s| is| are|'re| starts?| leaves| got moved to| (?:was|has been|is) (?:moved|postponed|rescheduled) to)\b"
    r"|^[^他她它你您]{0,12}我们?.{0,12}?(?:(?:打算|计划|准备|决定)(?!工作|好|了|书|案)|即将|将要?|要(?!是|求)|会(?=去|在|到|参加)|(?:必须|应该|得)(?=去|要|交|参加|开|做|写|赶|准备|见|上)|需要(?=去|交|参加|提交|完成)|[约約]了|预约了?|订了|报名了?|有(?:一)?(?:个|场|次)?[^，]{0,6}(?:考试|面试|会议|手术|演出|约会|体检|航班|婚礼|比赛|聚会|答辩|演讲|旅行|会$|会议|评审|汇报|课|直播|复诊|饭局))"
    r"|^.{0,12}我们?.{0,12}?(?:明天|后天|下(?:下)?(?:个)?(?:周|星期|礼拜|月)[一二三四五六日天末]?|明年|周末|(?:周|星期|礼拜)[一二三四五六日天]|\d月\d*[日号]?).{0,6}?(?:搬|去(?!年)|飞|出差|入职|结婚|毕业|开学|面试|体检|出发|回国|考试|手术)"
    r"|^我们?的?(?:婚礼|航班|飞机|火车|高铁|考试|面试|手术|演出|比赛|答辩|毕业典礼|体检|预约)(?:是|在|定在|改到|推迟到)",
    _I,
)
_LASTING_PLAN = re.compile(
    r"\b(?:plan(?:ning)? (?:to|on)|intend(?:ing)? to|decided to|booked|signed up|registered)\b.*\b(?:mov(?:e|ing)|relocat\w+|stud(?:y|ying)|travel\w*|visit\w*|trip|marr(?:y|ied)|wedding|baby|retire|quit|change (?:jobs|careers)|switch|start (?:a|my)|learn\w*|buy\w*|marathon|climb\w*|appl(?:y|ying)|adopt\w*|flight)\b"
    r"|(?:打算|计划|准备|决定|订了|报名了?).*(?:搬|移居|移民|留学|结婚|旅行|旅游|去.{2,}(?:玩|待|住)|换工作|跳槽|辞职|考(?:研|证|试)|创业|买房|买车|装修|生孩子|学习|攀登|登山|马拉松|机票)",
    _I,
)
_FLEETING = re.compile(
    r"\b(?:will|'ll) (?:definitely |just |also )?(?:try|focus|keep|give|talk|let|get back|think|check|see|do|be back|start with|take a look|look)\b|想(?:和|跟)?你|聊聊|请教|问",
    _I,
)
_NO_PLAN = re.compile(
    r"\b(?:(?:an?|the|my|our|this|travel) plan to|not going to|won't|no longer|don't plan|used to|wasn't|was going to)\b|不打算|不准备|不会|不要|没打算|要求|需要(?!去|交|参加|提交|完成)|想要(?:你|一)|没有?计划|要不要|主要|重要|只要",
    _I,
)
_SUBJECT = re.compile(r"^(?:i(?:'m| am|'ve| have)?|we(?:'re| are|'ve| have)?)\s+|^我们?", _I)
_CANCELLED = re.compile(
    r"^(?:i|we)(?:'ve| have)? (?:cancel+ed|called off|gave up on|dropped) (?:my|our|the)?\s*(?:plans? (?:to|for) |trip to )?(?P<value>[\w ]{3,40}?)(?: trip| plan| appointment)?$"
    r"|^(?:i'm|i am|we're|we are) (?:not|no longer) (?:going|moving|flying|traveling|planning to go) to (?P<place>[\w ]{3,30}?)(?: anymore| after all)?$"
    r"|^(?:the|my|our) (?P<it>[\w ]{3,40}?)(?: trip| plan| move| flight| appointment| wedding| visit)? (?:is|was|got|has been|have been) (?:cancel+ed|called off|off)(?: now| again)?$"
    r"|^(?:我们?的?)?(?P<off>[^了，我]{2,12}?)的?(?:行程|计划|旅行|旅游|预约|航班|机票|安排|婚礼|面试|会议|出差)?(?:被|都|又|已经|临时)*(?:取消|泡汤|黄)了?$"
    r"|^我们?.{0,8}?(?:取消了?|放弃了?|不去|不打算去?|不准备去?)(?P<zh>[^了，]{2,16}?)(?:的?(?:计划|行程|旅行|预约|安排))?了?$",
    _I,
)
_POLITE = re.compile(
    r"(?:i (?:see|understand|agree|know|think so|guess so|got it|don't know|have no idea|appreciate it|hope so|mean it|love it|like it|like that|love that)|i'm (?:good|fine|ok|okay|back|here|done|sorry|not sure|ready)|thank(?:s| you)\b.*|我(?:明白|知道|懂|了解|理解|同意|觉得也是|也这么想|看看|试试|想想|想问|不知道|不清楚|没事|很好|还好|在)(?:了|的|一下)?)[\s.!。！]*",
    _I,
)


def plans(clauses: Sequence[Clause], message: Message, zone: tzinfo) -> Iterator[Statement]:
    """What the user intends: with a date ahead, or said to be a plan. A cancelled plan does not hold."""
    said = message.created_at.astimezone(zone).date()
    for place, clause in enumerate(clauses):
        if clause.subject not in (USER, UNKNOWN) or not clause.asserted:
            continue
        cancelled = _CANCELLED.match(clause.text)
        if cancelled is not None:
            value = next(group for group in cancelled.groups() if group)
            yield Statement(FactKind.PLAN, value, "", clause.start, clause.end, holds=False)
            continue
        if clause.subject != USER or _PLAN.match(clause.text) is None or _NO_PLAN.search(clause.text):
            continue
        day = when(clause.text, said, forward=True) or _date_before(clauses, place, said)
        ahead = day is not None and day.day > said and not _FLEETING.search(clause.text)
        if not ahead and not _LASTING_PLAN.search(clause.text):
            continue
        words = clause.slice_of(message.content, 0, len(clause.text))
        content = (
            _SUBJECT.sub("", words).strip() if not _CJK.search(words) else words.replace("我", "", 1).strip("们的 ")
        )
        dated = _dated(content, day) if day is not None and day.day > said else content
        yield Statement(FactKind.PLAN, content, dated, clause.start, clause.end)


def _date_before(clauses: Sequence[Clause], place: int, said: date) -> When | None:
    """The date that stands alone before a clause: "On Friday, I have to …"."""
    before = clauses[place - 1] if place else None
    if before is None or before.end - before.start > _LONGEST_DATE or clauses[place].start - before.end > 2:
        return None
    return when(before.text, said, forward=True) if before.subject == UNKNOWN else None


def _dated(content: str, day: When) -> str:
    """A plan outlives the day it was made: "next month" is kept with the month it means."""
    return f"{content}（{day.text}）" if _CJK.search(content) else f"{content} ({day.text})"


def gists(sentences: list[tuple[int, int]], clauses: list[Clause], message: Message, zone: tzinfo) -> list[GistDraft]:
    """One line per sentence that tells or asks something, in its own words."""
    found = []
    for _, inside in by_sentence(sentences, clauses):
        text = _own_text(inside, message)
        if not text or _POLITE.fullmatch(text):
            continue
        chinese = _CJK.search(text) is not None
        if asks_again(text) or asks_to_forget(text):
            continue
        if is_request(text):
            label = "用户请求：" if chinese else "User asked: "
        elif _tells(inside, text):
            label = "用户说：" if chinese else "User said: "
        else:
            continue
        happened = _when(inside, text, message, zone)
        moment = message.created_at if happened is None else happened.moment(zone)
        found.append(GistDraft(label + _cut(text), moment, (Citation(message.message_id, text),)))
        if len(found) == MAX_GISTS_PER_MESSAGE:
            break
    return found


def _own_text(clauses: list[Clause], message: Message) -> str:
    """The author's words from the first own clause to the last; a sentence interrupted by foreign words ends there."""
    if not clauses:
        return ""
    end = clauses[0].end
    for clause in clauses[1:]:
        if clause.start - end > 12:
            break
        end = clause.end
    return message.content[clauses[0].start : end]


def _tells(clauses: list[Clause], text: str) -> bool:
    long_enough = len(text) >= 4 if _CJK.search(text) else len(text.split()) >= 3
    about_them = any(clause.asserted and clause.subject not in ("?", "assistant", "") for clause in clauses)
    return long_enough and about_them


def _when(clauses: list[Clause], text: str, message: Message, zone: tzinfo) -> When | None:
    """The first date, read in the direction of its own clause; a clause that shows none has that of its sentence."""
    said = message.created_at.astimezone(zone).date()
    for clause in clauses:
        words = message.content[clause.start : clause.end]
        if when(words, said, forward=True) is None:
            continue
        found = when(words, said, forward=looks_ahead(words, text))
        if found is not None:
            if returns_yearly(words):
                return None
            day = found.day.isoformat()[: len(found.text)]
            return None if day == said.isoformat()[: len(found.text)] else found
    return None


def _cut(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= MAX_GIST_CHARACTERS else flat[: MAX_GIST_CHARACTERS - 1].rstrip() + "…"
