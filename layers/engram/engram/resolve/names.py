"""Names that the catalogue does not hold, and known names that are only a part of them.

Conservative on purpose: an unknown name is counted for a person to promote, and a wrong one is noise.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from engram.resolve.aliases import Squeezed, key_of
from engram.resolve.catalogue import PLACE_TYPES, Catalogue, topic_names
from engram.resolve.lexicon import given_names, place_names, timely_names
from engram.resolve.people import SURNAMES, begins_word, goes_on_as_given_name, is_person, people_in
from engram.resolve.sense import opens_sentence
from engram.text.language import is_han
from engram.text.normalise import NormalisedText
from engram.text.segment import han_run, is_english_word, is_word, kind_of, on_borders, word_score, words

Span = tuple[int, int]

_INSTITUTION = re.compile(
    r"(?:[东南西北中]?(?:大街|大道|东路|西路|南路|北路|中路|路)(?![线上程过径况人由费演灯边口段牌])|"
    r"(?:外国语|师范|理工|交通|医科|科技|财经|音乐|体育|农业|工业|政法|邮电)?(?:大学|学院|附中)|"
    r"银行|日报|晚报|时报|航空|啤酒|卫视|电视台|出版社|商会|证券)"
)
_LANDFORM = re.compile(r"群岛|半岛|海峡|岛(?![屿国主民内上])")
_TRANSLITERATION = frozenset("尔斯达特顿拉娜莎蒂亚恩姆诺比克德罗维夫森逊伊")
_PROVINCES = frozenset(
    "湖北 湖南 河北 河南 山东 山西 陕西 甘肃 青海 四川 贵州 云南 广东 广西 海南 福建 浙江 江苏 江西 安徽 辽宁 黑龙江 "
    "内蒙古 新疆 西藏 宁夏 吉林 台湾".split()
)
_PLACE_ENDING = re.compile(r"[\u4e00-\u9fff]{2,6}?(?:群岛|半岛|岛|古镇|古城|镇|县|湖|山|峡谷|沙漠)")
_TRAVEL_WORD = re.compile(
    r"\s{0,3}(?:的)?(?:旅游|旅行|自由行|攻略|游记|行程|酒店|民宿|机票|签证|怎么玩|好玩|景点|美食)"
)
_WORKS = re.compile(r"(?:的)(?:歌|专辑|演唱会|新歌|单曲|电影|小说|漫画)")
_CONCERT = re.compile(r"演唱会|巡演|新专辑")
_RARE_WORD = -15.0
"""Logarithm of the probability below which a word of three characters before a concert is who gives it (五月天)."""
RARE_ALONE = -10.3
"""Logarithm of the probability below which a single character is hardly a word by itself."""
_LATIN_NAME = re.compile(
    r"(?<![A-Za-z])[A-Z]{1,2}[a-zà-ÿ]{2,}(?:[A-Z][a-z]+|[A-Z]{2,3})?(?:[’'][A-Z]?[a-z]+)?"
    r"(?:[ -](?:of (?:the )?)?[A-Z][a-zà-ÿ]{2,})*(?![A-Z])"
)
_TITLE_BEFORE = re.compile(r"\b(?:Project|Dr\.?|Prof(?:essor|\.)?|Mr\.?|Mrs\.?|Ms\.?|Coach|Uncle|Aunt) $")
"""What belongs to the name that it stands before (Project Orion, Dr. Patel)."""
_WORD_BEFORE = re.compile(r"\b([A-Z][a-z]+) $")
_DAY_NEXT = re.compile(r" (?:(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|Day|Eve|Week)\b")
_CAPITAL_NEXT = re.compile(r" ([A-Z][a-z]{2,})")
_PLAY = re.compile(
    r"(?:^|\b)(?:play|listen to|put on|queue|sing) (?P<work>[A-Z][\w']*(?: [A-Z][\w']*)*)(?: by "
    r"(?P<who>(?:the )?[A-Z][\w']*(?: [A-Z][\w']*)*))?"
)
_DEMONYM = re.compile(r"(?:ian|ean|ese|ish|ans|ians|ic|ists?|ism|ics)$")
_PEOPLES = frozenset(
    "mandarin cantonese hindi hebrew urdu tamil greek dutch thai swiss czech welsh arab roman french german scots "
    "dane swede turk pole finn".split()
)
_INTERJECTIONS = frozenset(
    "yeah yep yup nope congrats phew woohoo aww aw wow haha hehe hmm hey hiya omg ooh oops ugh yay whoa btw".split()
)
_TECHNICAL = frozenset("kotlin scala erlang clojure svelte django laravel haskell fortran cobol matlab golang".split())
"""Names of trades that are never ordinary words, though word lists hold them."""
_OF_CODE = frozenset(
    "Error Exception Warning List Map Set Queue Frame Array Type Class View Controller Service Handler Test Model Loop "
    "Box Id Name Time Date Value Key String Number Builder Factory Event Context State".split()
)
"""Last parts of what is written in one word in code: KeyError is no name, ClickHouse is."""
_PRESS = frozenset("times post today daily weekly tribune herald gazette journal chronicle".split())
_NEWSPAPER = re.compile(
    r"(?<!\w)(?P<name>[A-Z]{2,4} (?:Today|Daily|Weekly|Times|Post|Tribune|Herald|Gazette|Journal))\b"
)
_OF_A_WORK = re.compile(
    r" (?:walkthrough|boss|build|soundtrack|movie|film|novel|series|season \d|album|trailer|cast|ending|dlc)\b"
)
_EXAM = re.compile(
    r"\b(?P<name>(?!MRI|PET|PCR|DNA|SQL|API|ECG|EEG|HIV|PDF|FAQ|FINAL|ENT)[A-Z]{3,5})"
    r"(?= (?:exam|prep|test prep|score)s?\b| ?(?:考试|备考|真题|模考|成绩))"
)
"""Letters before an exam are what it is called."""
_GAME = re.compile(
    r"(?:^|[^\u4e00-\u9fff]|[的过到]|关于|给我|发我|上次|之前)"
    r"(?P<name>(?:(?![关新我你这那最全怎如任副游快哪找发求要的过到一两份个篇些款])[\u4e00-\u9fff]){2,7}?)(?:的)?(?:通关|游戏)(?:攻略|秘籍)"
)
"""What has a guide to playing it through is a game."""
_PROJECT = re.compile(r"(?P<name>[\u4e00-\u9fff]{2,6})项目")
_SELDOM = -12.0
"""Logarithm of the probability below which a name of the dictionary before 项目 is what the project is called."""
_MODEL = re.compile(r" ?(?:pro max|pro|max|plus|mini|ultra|lite|se)\b")
"""What makes the name of a product that of another (iPhone 15 Pro Max)."""
_CONTRACTION = re.compile(r"(?:n[’']t|[’'](?:re|ve|ll|d|m))$")
_CALENDAR = frozenset(
    "january february march april may june july august september october november december jan feb mar apr "
    "jun jul aug sep "
    "sept oct nov dec monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur "
    "thurs fri sat sun "
    "easter christmas halloween thanksgiving xmas hanukkah diwali ramadan english french german spanish".split()
)


def inside_longer_name(
    normalised: NormalisedText, start: int, end: int, kinds: set[str], catalogue: Catalogue
) -> Span | None:
    """The longer, unknown name that the known name `start..end` (folded text) is only a part of, if any."""
    text = normalised.text
    if is_han(text[end - 1]):
        return _longer_han(text, start, end, kinds)
    return _longer_latin(normalised, start, end, kinds, catalogue)


def name_around(text: str, start: int, end: int) -> Span | None:
    """The longer word of the dictionary, itself a name, that `start..end` is only a part of (中山 in 中山大学)."""
    first, last = han_run(text, start, end)
    for left, right in words(text[first:last]):
        whole = (first + left, first + right)
        if whole[0] <= start and end <= whole[1] and whole[1] - whole[0] > end - start:
            named = kind_of(text[slice(*whole)]) == "place" or _INSTITUTION.search(text, end, whole[1])
            return whole if named else None
    return None


def is_landform(name: str) -> bool:
    """Whether a name says itself that it is a piece of land: 帕劳群岛."""
    return any(match.end() == len(name) for match in _LANDFORM.finditer(name))


def doubled(text: str, start: int, end: int) -> bool:
    """Whether the last character of a name of two or more is written again: 王芳芳 is not 王芳."""
    return end - start >= 2 and is_han(text[end - 1]) and text[end : end + 1] == text[end - 1]


def _longer_han(text: str, start: int, end: int, kinds: set[str]) -> Span | None:
    if "person" in kinds and doubled(text, start, end):
        return start, end + 1
    # 张伟 in 张伟丽: a further character of given names that begins no word of its own.
    two = "person" in kinds and end - start == 2 and text[start] in SURNAMES
    if two and goes_on_as_given_name(text, end):
        return start, end + 1
    if kinds & PLACE_TYPES:
        suffix = _INSTITUTION.match(text, end) or _LANDFORM.match(text, end)
        if suffix:
            return start, suffix.end()
    following = text[end : end + 1]
    if following and kinds & (PLACE_TYPES | {"company"}) and end - start >= 2 and not begins_word(text, end):
        # 韩国瑜: a seldom character that begins no word, after a name that could begin with a surname.
        of_person = text[start] in SURNAMES and is_han(following) and (word_score(following) or 0.0) < RARE_ALONE
        if following in _TRANSLITERATION or of_person:
            return start, end + 1
    return None


def _longer_latin(
    normalised: NormalisedText, start: int, end: int, kinds: set[str], catalogue: Catalogue
) -> Span | None:
    if kinds == {"product"} and (model := _MODEL.match(normalised.text, end)):
        return start, model.end()
    if not kinds & (PLACE_TYPES | {"person", "pet", "game"}) or " " in normalised.text[start:end]:
        return None
    first, last = normalised.span(start, end)
    written = normalised.original
    if not written[first:last].istitle():
        return None
    given = _WORD_BEFORE.search(written, 0, first)
    if given and given[1].lower() in given_names() and not catalogue.entity_names.get(given[1].lower()):
        return normalised.folded_span(given.start(), first)[0], end
    following = _CAPITAL_NEXT.match(written, last)
    if not following:
        return None
    word = following[1].lower()
    if word in _PRESS:
        return start, end + len(following[0])
    if is_english_word(word) or word in _CALENDAR or catalogue.entity_names.get(key_of(word)):
        return None
    if catalogue.topic_names.get(word) or (word.endswith("s") and is_english_word(word[:-1])):
        return None
    return start, end + len(following[0])


def unknown_names(normalised: NormalisedText, catalogue: Catalogue) -> Iterator[Span]:
    """Spans in the folded text of names that the catalogue does not hold. May overlap what is known already."""
    yield from _works(normalised)
    yield from _latin_names(normalised, catalogue)
    yield from _titles(normalised.text)
    yield from (match.span() for match in timely_names().finditer(normalised.text))
    yield from _exams(normalised)
    yield from _newspapers(normalised)
    yield from _projects(normalised.text)
    yield from (match.span("name") for match in _GAME.finditer(normalised.text))
    yield from _han_works_and_people(normalised.text)
    yield from people_in(normalised.text)


def _titles(text: str) -> Iterator[Span]:
    for match in re.finditer(r"《([^《》]{1,40})》", text):
        yield match.span(1)


def _newspapers(normalised: NormalisedText) -> Iterator[Span]:
    for match in _NEWSPAPER.finditer(normalised.original):
        yield normalised.folded_span(*match.span("name"))


def _exams(normalised: NormalisedText) -> Iterator[Span]:
    for match in _EXAM.finditer(normalised.original):
        yield normalised.folded_span(*match.span("name"))


def _projects(text: str) -> Iterator[Span]:
    for match in _PROJECT.finditer(text):
        start = match.start("name")
        for first, last in words(match["name"]):
            seldom = (word_score(match["name"][first:last]) or 0.0) < _SELDOM
            if last == len(match["name"]) and seldom and kind_of(match["name"][first:last]) == "name":
                yield start + first, match.end()


def _works(normalised: NormalisedText) -> Iterator[Span]:
    for match in _PLAY.finditer(normalised.original):
        if match["who"] or not is_english_word(match["work"].lower()):
            for group in ("work", "who"):
                if match[group]:
                    yield normalised.folded_span(*match.span(group))


def _latin_names(normalised: NormalisedText, catalogue: Catalogue) -> Iterator[Span]:
    original = normalised.original
    # In a headline every word has its capital. Letters among Chinese ones are never a headline.
    if original.isascii() and ((original.istitle() and original.count(" ") > 1) or original.isupper()):
        return
    for match in _LATIN_NAME.finditer(original):
        parts = [part for part in re.split(r"[ -]", match.group()) if part]
        start = match.start()
        # At the beginning of a sentence a capital says nothing; elsewhere it belongs to the name (Mount Everest).
        while parts and _ordinary(parts[0], catalogue) and (len(parts) == 1 or opens_sentence(original, start)):
            if "of" in parts[1:2] or (len(parts) > 1 and _OF_A_WORK.match(original, match.end())):
                break  # Lord of the Rings, Hollow Knight walkthrough
            start += len(parts[0]) + 1
            parts = parts[1:]
        while parts and _ordinary(parts[-1], catalogue) and _says_what(parts, catalogue):
            parts = parts[:-1]
        name = " ".join(parts)
        if _DAY_NEXT.match(original, start + len(name)):
            continue  # Cyber Monday
        if title := _TITLE_BEFORE.search(original, 0, start):
            start, name = title.start(), original[title.start() : start] + name
        bare = re.sub(r"[’']s$", "", name)
        if not bare or _DEMONYM.search(bare.lower()) or catalogue.entity_names.get(bare.lower().removesuffix("er")):
            continue
        plural = original[:start].lower().endswith("the ") and bare.endswith("s") and " " not in bare
        if not plural:
            yield normalised.folded_span(start, start + len(bare))


def _says_what(parts: Sequence[str], catalogue: Catalogue) -> bool:
    """Whether the last word says what is asked for of a name (Kilimanjaro Trip) and is not of it (Elden Ring)."""
    last = parts[-1].lower()
    return len(parts) == 1 or last in _topic_words(catalogue) or last.removesuffix("s") in _topic_words(catalogue)


@lru_cache(maxsize=8)
def _topic_words(catalogue: Catalogue) -> frozenset[str]:
    """Latin words of the names of topics, and of the words that several of them share."""
    names = [name for topic in catalogue.topics.values() for name in topic_names(topic)]
    return frozenset(re.findall(r"[a-z]{3,}", " ".join([*names, *catalogue.ambiguous_heads]).lower()))


def _ordinary(word: str, catalogue: Catalogue) -> bool:
    bare = re.sub(r"[’']s$", "", word.lower())
    if bare in _TECHNICAL:
        return False
    humps = re.findall(r"[A-Z][a-zà-ÿ]+", word)
    if len(humps) > 1 and humps[-1] in _OF_CODE:
        return True
    if bare in _INTERJECTIONS or _CONTRACTION.search(bare):
        return True
    return (
        is_english_word(bare)
        or bare.removesuffix("s") in _CALENDAR
        or bare in _PEOPLES
        or bare in _CALENDAR
        or (bare.endswith("s") and is_english_word(bare[:-1]))
        or bool(catalogue.topic_names.get(bare))
    )


def unknown_places(normalised: NormalisedText, squeezed: Squeezed) -> Iterator[Span]:
    """Spans of a folded text that are surely names of places, whether or not the catalogue holds them; the longest
    first."""
    found = {*_places_of_the_world(normalised, squeezed), *_places_by_form(normalised.text)}
    yield from sorted(found, key=lambda span: (span[0] - span[1], span[0]))


def _places_by_form(text: str) -> Iterator[Span]:
    for run in re.finditer(r"[\u4e00-\u9fff]{3,}", text):
        spans = [(run.start() + first, run.start() + last) for first, last in words(run.group())]
        for left, right in pairwise(spans):
            here = text[right[0] : right[1]]
            if text[left[0] : left[1]] in _PROVINCES and kind_of(here) == "place" and here not in _PROVINCES:
                yield right
        for first, last in spans:
            if last - first > 1 and kind_of(text[first:last]) in ("place", "name") and _TRAVEL_WORD.match(text, last):
                yield first, last
    for match in _PLACE_ENDING.finditer(text):
        if _TRAVEL_WORD.match(text, match.end()):
            start = _name_start(text, match.start(), match.end())
            if match.end() - start >= 3 and not is_word(text[start : match.end()]):
                yield start, match.end()


def _places_of_the_world(normalised: NormalisedText, squeezed: Squeezed) -> Iterator[Span]:
    """Known places: in Latin letters only with a capital, since many are words or surnames too."""
    for hit in place_names().find(squeezed):
        start, end = squeezed.span(hit.start, hit.end)
        if is_han(hit.key[0]):
            if on_borders(squeezed.text, hit.start, hit.end, name_score=_PLACE_SCORE):
                yield _longer_han(normalised.text, start, end, {"city"}) or (start, end)
        elif normalised.as_written(start, end)[:1].isupper() and on_borders(
            squeezed.text, hit.start, hit.end, name_score=_PLACE_SCORE
        ):
            yield start, end


_PLACE_SCORE = -13.9


def _name_start(text: str, start: int, end: int) -> int:
    """Where the name within `start..end` begins: after the last word that is certainly not part of it."""
    begin = start
    for first, last in words(text[start:end]):
        piece = text[start + first : start + last]
        if piece in _NOT_IN_NAMES or (last - first > 1 and kind_of(piece) == "word" and start + last < end - 1):
            begin = start + last
    return begin


_NOT_IN_NAMES = frozenset(
    "的 了 在 去 到 聊 说 把 给 和 跟 与 是 有 想 要 我 你 他 她 我们 你们 那 这 那个 这个 过 上次 之前 次 "
    "再 关于 发 看".split()
)


def _han_works_and_people(text: str) -> Iterator[Span]:
    for run in re.finditer(r"[\u4e00-\u9fff]{3,}", text):
        base = run.start()
        spans = [(base + first, base + last) for first, last in words(run.group())]
        for at, (first, last) in enumerate(spans):
            piece = text[first:last]
            before = text[spans[at - 1][0] : spans[at - 1][1]] if at else ""
            after = text[spans[at + 1][0] : spans[at + 1][1]] if at + 1 < len(spans) else ""
            works = last - first >= 2 and _WORKS.match(text, last) and (kind_of(piece) != "word" or len(piece) > 2)
            plays = last - first >= 2 and _CONCERT.match(text, last) and _is_performer(piece)
            if works or plays or is_person(piece, before, after):
                yield first, last


def _is_performer(piece: str) -> bool:
    return kind_of(piece) == "name" or (len(piece) > 2 and (word_score(piece) or 0.0) < _RARE_WORD)
