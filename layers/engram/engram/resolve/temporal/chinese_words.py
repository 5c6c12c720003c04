"""Chinese words of time: years, days, parts of a day, numbers, and the fragments of patterns made of them."""

from __future__ import annotations

NUMBER = r"(?:\d{1,4}|[一二两三四五六七八九十百半]{1,4})"
DIGITS = {character: value for value, character in enumerate("零一二三四五六七八九")} | {"两": 2, "〇": 0, "○": 0}
YEARS = {"大前年": -3, "前年": -2, "去年": -1, "上年": -1, "今年": 0, "本年": 0, "明年": 1, "后年": 2}
DAYS = {
    "大前天": -3, "前天": -2, "前日": -2, "前儿": -2, "昨天": -1, "昨日": -1, "昨儿": -1, "今天": 0, "今日": 0,
    "今儿": 0, "明天": 1, "明日": 1, "明儿": 1, "后天": 2, "大后天": 3,
}  # fmt: skip
PARTS: dict[str, tuple[int, int]] = {
    "凌晨": (0, 6), "清晨": (6, 12), "早晨": (6, 12), "早上": (6, 12), "一早": (6, 12), "上午": (6, 12), "早": (6, 12),
    "中午": (11, 14), "午后": (12, 18), "下午": (12, 18), "傍晚": (18, 24), "晚上": (18, 24), "夜里": (18, 24),
    "晚间": (18, 24), "夜晚": (18, 24), "半夜": (0, 6), "晚": (18, 24),
}  # fmt: skip
SEASONS = {"春": 3, "夏": 6, "秋": 9, "冬": 12}
WEEKDAYS = {"一": 0, "二": 1, "三": 2, "四": 3, "五": 4, "六": 5, "日": 6, "天": 6, "末": 7}

YEAR = (
    r"(?P<year>大前年|前年|去年|上年|今年|本年|明年|后年|(?:19|20)\d\d年|[一二][〇零○一二三四五六七八九]{3}年|"
    r"(?<!\d)[0-4]\d年(?=(?:1[0-2]|0?[1-9]|十[一二]|[一二三四五六七八九十])月(?!份?前)))(?:的)?"
)
MONTH = r"(?P<month>1[0-2]|0?[1-9]|十[一二]|[一二三四五六七八九十])月(?:份)?"
PART = rf"(?P<part>{'|'.join(sorted(PARTS, key=len, reverse=True))})"
CLOCK = (
    r"(?P<hour>\d{1,2}|十[一二]|[一二两三四五六七八九十])(?:点|[:：])(?P<minute>半|一刻|三刻|"
    r"[一二三四五]?十[一二三四五六七八九]?(?=分)|\d{1,2})?(?:分|钟|整)?"
    r"(?:[到至~-](?P<upto>\d{1,2}|十[一二]|[一二两三四五六七八九十])(?:点钟?|[:：]00)(?P<upto_half>半)?)?"
)
TAIL = rf"(?:的)?(?:{PART})?(?:{CLOCK})?"
DAY = r"(?P<day>[12]\d|3[01]|0?[1-9]|三十一?|二?十[一二三四五六七八九]?|二十|[一二三四五六七八九])(?:号|日)"
SHIFT = r"(?P<shift>上上上|上上|下下|上一|这一|下一|上|这|本|下|当)"


def number(text: str) -> int:
    """Value of a small Chinese or Arabic number; 半 is 0."""
    if text.isdigit():
        return int(text)
    total, current = 0, 0
    for character in text:
        if character == "百":
            total, current = total + (current or 1) * 100, 0
        elif character in "十廿":
            current = current if character == "十" else 2
            total, current = total + (current or 1) * 10, 0
        else:
            current = DIGITS.get(character, 0)
    return total + current


def offset_of(shift: str) -> int:
    """Units from the present one that 上, 这 and 下 speak of."""
    return {"上上上": -3, "上上": -2, "上": -1, "上一": -1, "下": 1, "下一": 1, "下下": 2}.get(shift, 0)
