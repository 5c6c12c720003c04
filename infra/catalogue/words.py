"""Builds `engram/text/data`: the small word lists that normalisation and word borders read.

They are cut from open lists (jieba's dictionary, MIT; OpenCC's character and phrase tables, Apache-2.0; SCOWL's small
American list; pypinyin's readings, MIT), so that nothing of those packages is needed at run time.
"""

from __future__ import annotations

import argparse
import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path

HAN_WORD = re.compile(r"^[\u4e00-\u9fff]{2,5}$")
HAN_CHARACTER = re.compile(r"^[\u4e00-\u9fff]$")
MIN_FREQUENCY = 3
NAME_TAGS = frozenset(("nr", "nrt", "nrfg", "nt", "nz"))
NAME, PLACE = "*", "#"


def rows(package: str, name: str) -> list[list[str]]:
    return [line.split() for line in files(package).joinpath(name).read_text("utf-8").splitlines() if line.strip()]


def write(folder: Path, name: str, lines: Iterable[str]) -> None:
    folder.joinpath(name).write_text("\n".join(lines) + "\n", "utf-8")


def build_words(folder: Path) -> None:
    """One line per first character: `完 成97 美81 …`, the number being ten times the logarithm of the frequency.

    `#` marks names of places, `*` those of people, organisations and brands.
    """
    blocks: dict[str, list[tuple[str, str]]] = defaultdict(list)
    entries = {word: (int(frequency), tag) for word, frequency, tag in rows("jieba", "dict.txt")}
    counts = {word: frequency for word, (frequency, _tag) in entries.items()}
    for word, (count, tag) in entries.items():
        if HAN_CHARACTER.match(word) or (HAN_WORD.match(word) and count >= MIN_FREQUENCY and not is_row(word, counts)):
            mark = PLACE if tag == "ns" else NAME if tag in NAME_TAGS and len(word) > 1 else ""
            blocks[word[0]].append((word[1:], f"{round(10 * math.log(max(count, 1)))}{mark}"))
    write(
        folder,
        "words.txt",
        (first + " " + " ".join(f"{rest}{score}" for rest, score in sorted(blocks[first])) for first in sorted(blocks)),
    )


def is_row(word: str, counts: Mapping[str, int]) -> bool:
    """Whether an entry is a row of commoner words (吃火锅, 苏州园林), whose parts should be found by themselves."""
    if len(word) < 3 or counts[word] > 100:
        return False
    if word[-1] in DISHES and counts.get(word[:-1], 0) > 5 * counts[word]:
        return True
    return any(
        min(counts.get(word[:cut], 0), counts.get(word[cut:], 0)) >= 10 * counts[word]
        for cut in range(1, len(word) - 1)
        if cut > 1 or word[0] in VERBS
    )


DISHES = "粥汤饭汁派酱饼糕茶酒"
"""What is made of something: 小米粥 speaks of 小米."""
VERBS = "吃喝买卖看听学去到订写找做打玩换改养种跟在"


def build_script(folder: Path) -> None:
    """Traditional characters and Taiwan's wordings, each with its simplified form."""
    characters = {
        old: new for old, new, *_ in rows("opencc.dictionary", "TSCharacters.txt") if len(old) == len(new) == 1
    }
    characters |= {"臺": "台", "妳": "你", "祂": "他", "牠": "它", "裏": "里", "着": "着"}
    basic = sorted((old, new) for old, new in characters.items() if ord(old) < 0x10000 and ord(new) < 0x10000)
    fold = str.maketrans(dict(basic))
    phrases: dict[str, str] = {}
    mainland = {word for word, *_ in rows("jieba", "dict.txt")} | {"尼日"}
    for line in files("opencc.dictionary").joinpath("TWPhrasesRev.txt").read_text("utf-8").splitlines():
        local, _, common = line.partition("\t")
        old, new = local.translate(fold), common.split(" ")[0].translate(fold)
        # A wording that the mainland uses as well, perhaps in another sense, is left alone.
        if HAN_WORD.match(old) and HAN_WORD.match(new) and old not in mainland:
            phrases[old] = new
    kept = phrases | MORE_WORDINGS
    write(folder, "script.txt", ["".join(old for old, _ in basic), "".join(new for _, new in basic)])
    write(folder, "wordings.txt", (f"{old} {new}" for old, new in sorted(kept.items())))


MORE_WORDINGS = {
    "资料库": "数据库",
    "专案": "项目",
    "软体": "软件",
    "简讯": "短信",
    "程式": "程序",
    "程式码": "代码",
    "计程车": "出租车",
    "捷运": "地铁",
    "履历表": "简历",
    "部落格": "博客",
    "网路": "网络",
    "萤幕": "屏幕",
    "滑鼠": "鼠标",
    "硬碟": "硬盘",
    "记忆体": "内存",
    "伺服器": "服务器",
    "使用者": "用户",
    "除错": "调试",
    "布署": "部署",
    "纽西兰": "新西兰",
    "计画": "计划",
    "记帐": "记账",
    "帐单": "账单",
    "帐号": "账号",
    "帐户": "账户",
    "脚踏车": "自行车",
}


def build_english(folder: Path, source: Path, larger: Path) -> None:
    """English words in lower case, without possessives: `*` marks those that take a capital, `~` the less common."""
    lines = [line.strip() for line in source.read_text("utf-8").splitlines()]
    words = {line for line in lines if re.fullmatch(r"[a-z]{2,}", line)} | MORE_ENGLISH
    capitals = (line for line in larger.read_text("utf-8").splitlines() if re.fullmatch(r"[A-Z][a-z]{2,}", line))
    names = {line.lower() for line in capitals} - words
    rare = {line for line in larger.read_text("utf-8").splitlines() if re.fullmatch(r"[a-z]{5,}", line)} - words - names
    write(folder, "english.txt", sorted(words | {f"{name}*" for name in names} | {f"{word}~" for word in rare}))


MORE_ENGLISH = frozenset(
    "app apps blog email emails emoji login max min mum nan online podcast selfie smartphone wifi".split()
)
"""Ordinary words that the list is too old or too small to hold."""


def build_readings(folder: Path) -> None:
    """One line per reading without tone: `hang 杭航…`, near sounds (zh/z, n/l, ing/in …) folded together."""
    from pypinyin import Style, pinyin

    readings: dict[str, list[str]] = defaultdict(list)
    for code in range(0x4E00, 0x9FA6):
        character = chr(code)
        sound = pinyin(character, style=Style.NORMAL)[0][0]
        if re.fullmatch(r"[a-zü]+", sound):
            readings[near(sound)].append(character)
    write(folder, "readings.txt", (f"{sound} {''.join(readings[sound])}" for sound in sorted(readings)))


def near(sound: str) -> str:
    for old, new in (("zh", "z"), ("ch", "c"), ("sh", "s")):
        sound = new + sound[2:] if sound.startswith(old) else sound
    return re.sub(r"(?<=[iea])ng$", "n", sound)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--english", type=Path, required=True, help="SCOWL list, one word a line (american-english-small)"
    )
    parser.add_argument("--names", type=Path, required=True, help="larger SCOWL list, for words with a capital")
    parser.add_argument("--out", type=Path, default=Path("layers/engram/engram/text/data"))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    build_words(arguments.out)
    build_script(arguments.out)
    build_readings(arguments.out)
    build_english(arguments.out, arguments.english, arguments.names)


if __name__ == "__main__":
    main()
