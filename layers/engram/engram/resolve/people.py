"""Chinese names of people that the catalogue does not hold.

A surname and one or two characters often used in given names are a person only where something is said with, to or of
them: `跟刘洋讨论`, `赵敏的生日`, `林志豪上次发来的`. What the dictionary has as a word is none (高兴, 马上).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from engram.text.segment import is_word, kind_of, word_score

Span = tuple[int, int]

SURNAMES = frozenset(
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何林高罗郑梁谢宋唐许韩邓冯曹彭曾肖田董潘袁蔡蒋余于杜叶程魏苏吕丁任卢姚沈钟姜崔谭陆汪范金石廖贾韦夏付方白邹孟熊秦邱江尹薛阎段雷侯龙史陶黎贺顾毛郝龚邵万钱严武戴莫孔向汤"
)
_GIVEN = frozenset(
    "丽芳娜敏静强伟磊军洋勇艳杰娟涛超秀霞刚桂辉玲婷鹏浩宇轩欣怡琳峰倩雪梅莉颖斌琴蕾明民华英兰燕萍娥芬菊凤洁莲媛佳嘉琼珍贞璐琦晶妍茜珊莎锦黛婉娴瑾瑶蓓"
    "蓉薇菁岚婕馨韵毓昭琬茗羽滢筠凝晓霄枫芸菲舒荔俊毅健志豪博诚震群承绍松庆哲亮谦翰朗宏斌栋维翔旭泽晨辰建树炎德泰雄琛钧冠腾楠航弘彬昊睿凯睦子梓诗涵雨悦萱彤国龙波业海"
)
"""Characters often used in given names and seldom as words by themselves."""
_SURNAME = f"[{''.join(sorted(SURNAMES))}]"
_NAME = re.compile(rf"(?=(?P<who>{_SURNAME}[{''.join(sorted(_GIVEN))}]{{1,2}}))")
_FAMILIAR = re.compile(
    rf"(?P<who>[小老阿]{_SURNAME}|{_SURNAME}(?:医生|大夫|老师|教授|经理|主任|师傅|律师|教练|护士|阿姨|叔叔|总))"
)
_BEFORE = re.compile(
    r"(?:^|[^\u4e00-\u9fff]|[送跟和与同给找问帮陪约让叫替把向请对的]|上次|之前|昨天|前天|关于|聊到?|提到|说过?|认识|记得|同事|朋友|老师|经理|医生|客户)$"
)
_OF = (
    "生日|电话|手机|号码|微信|邮箱|联系方式|地址|会议|纪要|礼物|婚礼|简历|合同|报价|意见|建议|周报|汇报|汇款|工号|工位|文件|邮件|消息|"
    "项目|论文|老公|老婆|爱人|女儿|儿子|孩子|男朋友|女朋友|婚期|职位|面试|作业|航班|回复|方案|推荐|爱好|口味|近况"
)
_AFTER = re.compile(
    rf"(?:(?:(?:上[次回]|昨[天晚]|前天|今天|明天|上周[一二三四五六日天末]?|之前|刚才|后来|最近|那天|到底|在会上|还|也|都|已经|又)?"
    rf"(?:跟我|和我|给我|对我|帮我)?(?:说|讲|聊|提|问|讨论|推荐|发[来的给过了]|给[的我过了]|寄|告诉|写的|负责|住在?|喜欢|结婚|辞职|开会|见面|吃饭|一起|约[我的了]|开[的了]|教[的我]|[挑选买订写做][的个一]|准备的))|"
    rf"(?:的(?:[\u4e00-\u9fff]{{0,2}}?)(?:{_OF}))|上[次回]|几岁|多大|是谁|什么|喜欢)"
)
"""What is said or done by somebody, or is somebody's."""
_BETWEEN = re.compile(
    r"(?:跟|和|与|同|找|约)(?P<who>[\u4e00-\u9fff]{2,3}?)(?=(?:说|聊|谈|讨论|商量|见面|开会|吃饭|提|讲|一起|碰面|沟通|去))"
)
_WITH = frozenset("和跟与给找问同陪帮约让叫")
"""A word that stands right before a person in a text that is cut into words."""
_THEN = frozenset(
    ("说", "的", "聊", "提", "讲", "讨论", "推荐", "开会", "见面", "吃饭", "发", "打", "商量", "一起", "写")
)
"""One that stands right after."""


def people_in(text: str) -> Iterator[Span]:
    """Spans of a folded text that surely are names of people; a longer one before what it begins with."""
    for match in _BETWEEN.finditer(text):
        who = match["who"]
        if who[0] in SURNAMES and not is_word(who) and not is_word(who[:2]) and who[-1] != "人":
            yield match.span("who")
    for match in _NAME.finditer(text):
        start, end = match.span("who")
        for last in range(end, start + 1, -1):
            who = text[start:last]
            named = kind_of(who) == "name" or not is_word(who)
            if named and _spoken_of(text, start, last):
                yield start, last
                break
    for match in _FAMILIAR.finditer(text):
        if not is_word(match["who"]) and _spoken_of(text, *match.span("who")):
            yield match.span("who")


def _spoken_of(text: str, start: int, end: int) -> bool:
    """Whether what stands around a span speaks with or of a person; 对于 and 对方 are words and no 于 or 方."""
    if start and is_word(text[start - 1 : start + 1]):
        return False
    return bool(_BEFORE.search(text[max(start - 2, 0) : start]) and _AFTER.match(text, end))


def is_person(piece: str, before: str, after: str) -> bool:
    """Whether a word that the dictionary has as a name is spoken with or of, the words beside it being given."""
    named = piece[0] in SURNAMES and 2 <= len(piece) <= 3 and kind_of(piece) == "name"
    return named and before in _WITH and after in _THEN


def goes_on_as_given_name(text: str, end: int) -> bool:
    """Whether the character after a surname and one character is a further one of the given name (张伟丽)."""
    return text[end : end + 1] in _GIVEN and not begins_word(text, end)


def begins_word(text: str, at: int) -> bool:
    """Whether a common word begins at a place in the text."""
    return any(is_word(text[at : at + length]) for length in (2, 3, 4)) or (word_score(text[at]) or -99) > -7
