"""Whether words that look like a time are one: 五月天 is a band, `May I` asks, 一周报价 is no week.

Kept apart from the grammar, which reads what an expression means once it is one.
"""

from __future__ import annotations

import re
from functools import lru_cache

from engram.resolve.lexicon import timely_names
from engram.resolve.temporal.periods import Period
from engram.text.segment import on_borders

_SCORE = -9.5
_WEAK_MONTHS = re.compile(
    r"^(?:may|march|mar|jan|feb|jun|jul|aug|sep|sept|oct|nov|dec|apr|sat|sun|mon|wed|fri|tue|thu)\.?$"
)
_NAMES = frozenset(("april", "june", "august"))
"""Months that are people's names too."""
_PREPOSITION = re.compile(
    r"\b(?:in|since|last|from|of|this|next|until|till|during|by|between|and|early|late|mid|through|"
    r"throughout|on|to|for|back in|around|before|after|every|end of)(?: the)? $"
)
_CALENDAR_BEFORE = re.compile(r"\b(?:in|since|last|this|next|during|early|late|mid) $")
_MODAL_AFTER = re.compile(r"^ (?:i|we|you|he|she|it|they|be|have|not|also|as well|or|the|help|need|want|in\b|on\b)")
_TITLES = re.compile(r"《[^》]*》|「[^」]*」|“[^”]*”")
_WORK = re.compile(r"\b(?:play|song|listen to|movie|film|album|band|book|watch|read|sing)(?: called| named)? $")
_WORK_AFTER = re.compile(r"^(?: by (?:the )?[a-z]+| once more| (?:once )?again by)")
_TITLE_WORDS_AFTER = re.compile(
    r"^(?:'s)?,? (?:by [a-z' ]{2,30} )?(?:lyrics|chords|soundtrack|trailer|sheet music|karaoke|cover version)\b"
)
_FILM_AFTER = re.compile(r"^ (?:the )?(?:movies?|films?|franchise|series)\b")
_FILMS = re.compile(r"(?:the )?day after tomorrow|(?:friday )?the 13th|independence day|(?:new year's|christmas) eve")
"""Times that are better known as titles when a film is spoken of right after them."""
_TODAY_OWN = re.compile(
    r"我|咱|聊|说|讨论|谈|提|问|记|发|写|\b(?:i|we|my|our|me|you|us|said|told|discussed|talked|chat|conversation|mentioned)\b"
)
_OWN_PLAN = re.compile(
    r" (?:report\b|(?:\w+ )?(?:plans?|workout|training|run|notes|minutes|meetings?|standup|interview|agenda|schedule|"
    r"itinerary|to-?dos?|tasks?|expenses?|spending|budget|diet|meals?|chats?|conversations?|discussion|lesson|homework)\b)"
)
"""What is somebody's own when it is today's; the news and the weather are everybody's."""
_PAST_VERB = re.compile(
    r"\b(?:did|was|were|had|said|told|talked|discussed|mentioned|chatted|asked|went|ate|watched|saw|met|made|gave|"
    r"recommended|suggested|cooked|bought|read|ran|wrote|sent|happened)\b"
)
_HOLIDAY_PREPOSITION = re.compile(
    r"(?:\b(?:on|over|at|during|around|since|before|after|from|until|by|between|and|the day after)|[’']s) (?:the )?$"
)
_HOLIDAY_TIME = re.compile(
    r"^(?:的)?(?:期间|那天|当天|那会|的时候|时候|时|前后|假期|那几天|那周|前|后|之后|之前|以来|当晚|晚上|"
    r"(?:我|我们|咱们|你|跟|和)?(?:聊|说|去|在|拍|给|讨论|谈|提|推荐|回|跟|和|发|做|吃|玩|看|收|买|定|订))|"
    r"^ (?:\d{4}|morning|eve|night|chat|conversation)"
)
_DONE_THEN = re.compile(r"[\u4e00-\u9fff]{1,4}的")
_IDIOM_AFTER = re.compile(r"流火|瘦|飞雪|飞霜|雪(?!梨)|怀胎|不知肉味|花|桂|瓜|革命")
_WEEKDAY_BEFORE = re.compile(
    r"(?:\b(?:on|last|this|next|from|since|for|of|and|to|through|before|after|between|until|about|"
    r"discussed|said|our|my|the|was|it)|^|[,.?!]) ?$"
)
_WEEKDAY_AFTER = re.compile(
    r"^(?:$|[?.!,]|'s| (?:morning|afternoon|evening|night|to|and|through|at|you|we|i|about|chat|talk|"
    r"meeting|call|standup|notes|conversation|lunch|dinner)\b)"
)
_WEEKDAY_TITLE = re.compile(
    r"(?:saturday night (?:live|fever)|monday morning quarterback\w*|friday night lights|"
    r"(?:sunday|saturday) (?:school|roast|times))\b"
)
_WEEKDAY_TITLE_BEFORE = re.compile(r"\b(?:freaky|ruby|super|cyber|blue|fat|ash|good|casual|friday the) $")
_TITLE_AFTER = re.compile(
    r"雨疏风骤|会更好|系列|三部曲|黄花|之歌|之子|方舟|边缘|重现|头条|资本|传奇|巨星|的太阳|的记忆.{0,3}(?:歌|首)"
)
"""What makes a day part of the title of a song, a film or a game (明日方舟, 明天会更好)."""
_IDIOM = re.compile(
    r"\bborn <yesterday>|\bthere(?:[’']s| is| was| were) no <tomorrow>|"
    r"\b(?:he|she|it|they|that|old)(?:[’'](?:s|re)| is| are| was)? <yesterday(?:[’']s)?> news"
)
"""Idioms, the words of a time between angle brackets."""
_BARE_WEEKDAY = re.compile(r"^(?:mon|tues|wednes|thurs|fri|satur|sun)day(?:'s)?$")
_PUBLIC_EVENT_AFTER = re.compile(r"(?:的)?(?:世界杯|奥运会|冬奥会|亚运会|欧洲杯|世博会|(?:总统)?大选|诺贝尔)")
_INNATE_AFTER = re.compile(r"练[出成就得]|近视|[和与跟]先天|性|免疫|获得|培养|努力|养成|教育|失明|形成|因素|环境")
"""后天 as the opposite of inborn."""
_NAME_AFTER = re.compile(r"^(?:病|街|节(?!目|假)|天(?:的|乐团|演唱|专辑|新)|大战|围城|版|款|型)")
_FIXED_PHRASES = re.compile(
    r"百年前|万年前|亿年前|千年前|从前|年前(?=买|到货|能|回家|打折)|饭前|产前|婚前|生前|睡前|"
    r"(?:\d+|[一二三四五六七八九十两]+)(?:周|天|个月|年|日|个?小时)(?:报价|游|内|制|计划|速成|无理由|试用|保修|班|期|票|套餐|左右|后|的假|宝宝|大|龄|没)"
)
_YEAR_LIKE = re.compile(
    r"(?:room|model|no\.?|number|#|\$|¥|version|win(?:dows)?|office|port|error|python|id|flight) ?$"
)
_AHEAD = re.compile(r"\b(?:until|till|by|due|every|each) (?:the )?$")
"""A limit or a habit, not a time at which something was said."""
_DECIMALS = re.compile(r"^(?:\d{1,2}/\d{1,2})$")
_MEASURE_AFTER = re.compile(
    r"^ ?(?:cups?|teaspoons?|tablespoons?|tsps?|tbsps?|inch(?:es)?|pounds?|lbs?|oz|ounces?|miles?|hours?|"
    r"of (?:a|an|the)|size|scale|time|support|full|done|finished)\b"
)


def is_time(folded: str, period: Period) -> bool:
    """Whether the words of a period, where they stand, speak of a time that limits what is recalled."""
    if period.unit == "season" and period.cycle:
        return False  # a season of every year, unless a year stands beside it
    words = folded[period.first : period.last]
    before, after = folded[: period.first], folded[period.last :]
    if not on_borders(folded, period.first, period.last, name_score=_SCORE) or _inside_title(folded, period):
        return False
    if _FIXED_PHRASES.search(folded[max(period.first - 2, 0) : period.last + 3]) and period.unit != "rolling":
        return not _FIXED_PHRASES.search(words + after[:3])
    if words.isascii():
        return _english(words, before, after, period)
    return _chinese(words, before, after, period)


def _inside_title(folded: str, period: Period) -> bool:
    return any(first <= period.first and period.last <= last for first, last in _titles_in(folded))


@lru_cache(maxsize=8)
def _titles_in(folded: str) -> tuple[tuple[int, int], ...]:
    """Spans of titles; of one text, every period in it asks for them."""
    return tuple(match.span() for pattern in (_TITLES, timely_names()) for match in pattern.finditer(folded))


def _chinese(words: str, before: str, after: str, period: Period) -> bool:
    if after.startswith("见") or _TITLE_AFTER.match(after) or (words == "明日" and after.startswith("之后")):
        return False
    if period.unit == "year" and _PUBLIC_EVENT_AFTER.match(after) and not _TODAY_OWN.search(before + after):
        return False  # which one, not when the user spoke of it
    if words.startswith("后天") and (_INNATE_AFTER.match(after) or re.search("先天|天生", before + after)):
        return False
    if re.match(r"前一[天日晚]", words) and before:
        return False  # the day before something: 体检前一天
    if re.fullmatch(r"今[天日儿]的?", words):
        return bool(_TODAY_OWN.search(before + after)) and len(words) >= 2
    if re.fullmatch(r"十一|六一", words):
        return False  # a number, unless a year or a shift says that the day is meant
    if period.unit == "holiday" and period.cycle:
        return words.endswith(("期间", "当天", "前夕", "前夜")) or bool(_HOLIDAY_TIME.match(after))
    if period.unit == "month" and re.fullmatch(r"[\d一二三四五六七八九十]+月份?", words):
        return not _NAME_AFTER.match(after) and not _IDIOM_AFTER.match(after) and not re.search(r"[第\d.]$", before)
    if re.fullmatch(r"(?:周|星期|礼拜)[一二三四五六日天末]", words) and re.search(
        r"(?:每|每个|逢|下个|双|单)$", before
    ):
        return False
    if words in ("周末", "年初", "年底", "年中") and not (_TODAY_OWN.search(before + after) or _DONE_THEN.match(after)):
        return False
    if re.fullmatch(r"(?:当|本)(?:周|月|日|晚|年)", words) and words.startswith("当"):
        return False
    return not (re.fullmatch(r"[\d一二三四五六七八九十两]{1,3}(?:号|日)", words) and not _day_number(before, after))


def _day_number(before: str, after: str) -> bool:
    """Whether a bare 5号 is a day of the month and not a number of something."""
    if re.search(r"(?:[a-z0-9第型座房楼路线大小]|(?<![参增添])加)\s*$", before):
        return False
    return not re.match(r"^(?:线|楼|院|机|房|店|桌|选手|球员|位|字|电池|门|馆|厅|车|公路|柜|元|游|圈|生|期)", after)


def _english(words: str, before: str, after: str, period: Period) -> bool:
    bare = words.removesuffix("'s")
    if _IDIOM.search(f"{before[-20:]}<{words}>{after[:5]}"):
        return False
    if _in_a_title(words, before, after) or re.match(r"(?:last|this|next) (?:second|minute)", bare):
        return False
    if period.unit == "weekend" and period.cycle:
        return bool(_PAST_VERB.search(before + after))  # else `what to cook over the weekend`
    if _WEAK_MONTHS.match(bare) or bare in _NAMES or bare.startswith("may "):
        return _month(words, before, after, period)
    if _AHEAD.search(before) and (period.unit == "holiday" or _BARE_WEEKDAY.match(words)):
        return False
    if bare == "today":
        own = bool(_TODAY_OWN.search(before + after)) or before.endswith("earlier ")
        own |= words.endswith("'s") and bool(_OWN_PLAN.match(after))
        return own or not (before + after).strip()
    if period.unit == "holiday" and period.cycle:
        return bool(_HOLIDAY_PREPOSITION.search(before)) or bool(_HOLIDAY_TIME.match(after))
    if _BARE_WEEKDAY.match(words) and not _stands_alone(words, before, after):
        return False
    return _number(bare, before, after, period)


def _in_a_title(words: str, before: str, after: str) -> bool:
    """Whether the words are a piece of the name of a work, or of an address (monday.com)."""
    if _WORK.search(before) and (_WORK_AFTER.match(after) or before.startswith("play ")):
        return True
    if _TITLE_WORDS_AFTER.match(after) or (_FILMS.fullmatch(words) and _FILM_AFTER.match(after)):
        return True
    if words.endswith(".") and re.match(r"[a-z]", after):
        return True
    return bool(_WEEKDAY_TITLE.match(words + after) or _WEEKDAY_TITLE_BEFORE.search(before))


def _month(words: str, before: str, after: str, period: Period) -> bool:
    """Whether what may be a month is no verb and no person: `we may first look`, `june carter songs`."""
    bare, after_preposition = words.removesuffix("'s"), bool(_PREPOSITION.search(before))
    if _WEAK_MONTHS.match(bare):
        if _CALENDAR_BEFORE.search(before):
            return True
        return (after_preposition and not _MODAL_AFTER.match(after)) or words.endswith("'s")
    if bare in _NAMES:
        return after_preposition or not re.match(r" [a-z]", after) or bool(_TODAY_OWN.search(before + after))
    first = re.match(r"may (?:the )?[a-z]", bare) and period.cycle
    return after_preposition or not before or not first


def _number(bare: str, before: str, after: str, period: Period) -> bool:
    """Whether digits are a date and no version, share or measure."""
    if (period.unit == "year" or "." in bare) and _YEAR_LIKE.search(before):
        return False
    if not _DECIMALS.match(bare):
        return True
    if bare in ("24/7", "9/11"):
        return bool(re.search(r"\b(?:on|from|since) $", before))
    dated = re.search(r"(?:\bon|\bfrom|\bsince|\bof|\bthe|\bfor|^) ?$", before)
    return bool(dated) and not _MEASURE_AFTER.match(after)


def _stands_alone(words: str, before: str, after: str) -> bool:
    """Whether a bare weekday is a day and not a word for something else (`Sunday best`)."""
    if words.endswith("'s"):
        return True
    if re.match(r" (?:is|are|was) ", after):
        return False
    return (
        bool(_WEEKDAY_AFTER.match(after))
        if not before.strip()
        else bool(_WEEKDAY_BEFORE.search(before) or _WEEKDAY_AFTER.match(after))
    )
