"""What the rules read in Chinese. Each pattern starts at the subject 我 (put in front where it was left out)."""

# ruff: noqa: E501  (a pattern reads best on one line)
from __future__ import annotations

import re

from engram.adapters.rules import chinese_words as words
from engram.adapters.rules.chinese_syntax import PET_NOUN
from engram.adapters.rules.grammar import Grammar, Rule
from engram.adapters.rules.statements import FactKind as Kind

_WHEN = r"(?:现在|目前|如今|最近|近来|今年|去年|前年|今天|昨天|前天|上周[一二三四五六日天]?|上个?月|这个?月|本周|刚刚?|已经|早就|从小|平时|一般|主要|终于|去年底|年初|\d{4}年\d{0,2}月?|从?[\d一二三四五六七八九十]+月(?:份|底|初)?(?:起|开始)?|从(?:上周[一二三四五六日天]?|昨天|今天|上个?月|去年|今年)(?:起|开始)?)"
_MORE = r"(?:一直|其实|也|还|都|真的|真|就|只|是|确实|又|正|正在|本身|个人|又重新|重新)"
_ME = rf"(?:{_WHEN}|)(?:我|俺|咱|本人)(?:们|自己|本人|家|这个?人|呢)?(?:{_WHEN}|{_MORE})*"
_VERY = r"(?:最|很|特别|非常|超级?|超|比较|挺|蛮|太|有点|有些|尤其|更|极其|十分|严重|轻微|一直|真的|真|都|越来越|最近|重度|极度|相当|还是|还挺|也|又)*"
_END = r"(?:了|的|来着|啦|呀|啊|哦|呢|哈|噢|唉|哎)*$"
_NOT_NOW = r"(?:不再|再也不|已经不|不|没有?|早就不|现在不|从不|从来不|并不|根本不|并没有|并非)"
_X = r"(?P<value>.+?)"


def _rule(kind: Kind, pattern: str, content: str = "{value}", **options: object) -> Rule:
    return Rule(kind, pattern, content, **options)  # type: ignore[arg-type]


# fmt: off
_WHO = (
    _rule(Kind.NAME, rf"(?:{_ME}|我?的?)(?:的?(?:名字|姓名|全名|大名|真名|中文名)(?:是|叫做?|[:：])?|叫做?|名叫|改名(?:叫做?|为|成)){_X}{_END}", shape=words.person, explicit=True),
    _rule(Kind.NAME, rf"{_ME}(?:全名|大名|本名)?姓(?P<value>[\u4e00-\u9fff]{{1,2}}名[\u4e00-\u9fff]{{1,2}}){_END}", shape=words.person),
    _rule(Kind.NAME, rf"{_ME}是(?P<value>[\u4e00-\u9fff]{{2,4}}){_END}", shape=words.introduced, opening=True),
    _rule(Kind.NICKNAME, rf"{_ME}?的?(?:昵称|外号|小名|绰号)(?:是|叫){_X}{_END}", shape=words.person),
    _rule(Kind.AGE, rf"{_ME}的?(?:年龄(?:是)?|刚?满|快?|都|有|马上)*(?P<value>(?:\d{{1,3}}|[一二两三四五六七八九十]{{1,4}})周?岁)(?:半|多)?(?:了|啦)*(?:的?(?:人|大叔|阿姨|女生|男生|老人))?{_END}"),
    _rule(Kind.AGE, rf"(?:我|俺|本人)今年(?:刚|都|已经)?(?P<value>\d{{2}}|[二三四五六七八九]?十[一二三四五六七八九]?|[二三四五六七八九]十){_END}"),
    _rule(Kind.BIRTHDAY, rf"(?:{_ME})?的?(?:阳历|阴历|农历)?(?:生日|出生日期)(?:就)?(?:是|在|[:：])(?P<value>(?:阳历|阴历|农历)?[\d年月日号一二三四五六七八九十正腊廿初/.\-]{{3,}}){_END}"),
    _rule(Kind.BIRTHDAY, rf"{_ME}(?:是|出生于|生于)*(?P<value>\d{{2,4}}年(?:\d{{1,2}}月(?:\d{{1,2}}[日号])?)?)(?:出生|生)?(?:的|人)?{_END}"),
    _rule(Kind.GENDER, rf"{_ME}(?:是|性别)(?:一?[个名位])?(?P<value>男生|女生|男的|女的|男性|女性|男孩子?|女孩子?)$"),
    _rule(Kind.NATIONALITY, rf"{_ME}的?(?:国籍)(?:是)?(?P<value>[\u4e00-\u9fff]{{1,8}}){_END}"),
    _rule(Kind.CONTACT, rf"(?:{_ME})?的?(?:电子)?(?:邮箱|邮件地址)(?:地址)?(?:是|[:：])?\s*(?P<value>[\w.+-]+@[\w-]+\.[\w.]+)"),
    _rule(Kind.PHONE, rf"(?:{_ME})?的?(?:电话号码|手机号码?|电话)(?:是|[:：])?\s*(?P<value>\+?[\d -]{{7,16}}\d)"),
    _rule(Kind.MARITAL, rf"{_ME}(?:目前|还)?(?:是)?(?P<value>单身|已婚|未婚|离婚|离异|订婚|丧偶){_END}"),
    _rule(Kind.MARITAL, rf"{_ME}(?:刚|去年|今年|上个月)?(?P<value>离婚|订婚)(?:了|啦|{words.NUMBER}年了?){_END}"),
    _rule(Kind.MARITAL, rf"{_ME}(?:刚|去年|今年|上个月)?(?:结婚|成家|领证)(?:了|啦|{words.NUMBER}多?年了?){_END}", "已婚"),
)
_WHERE = (
    _rule(Kind.HOME, rf"{_ME}{_NOT_NOW}(?:住在?|居住在|在){_X}(?:住|居住|生活)?{_END}", holds=False, shape=words.place),
    _rule(Kind.HOME, rf"{_ME}(?:离开|搬离|搬出)了?{_X}{_END}", holds=False, shape=lambda value: words.place(value) if words.is_place(words.place(value)) else ""),
    _rule(Kind.HOME, rf"{_ME}(?:从[^，]{{1,10}}?)?(?:搬家|搬|移居|移民|迁居|回|搬回)(?:到|去|来|至|回)+了?{_X}(?:住|生活|定居)?{_END}", shape=words.place),
    _rule(Kind.HOME, rf"{_ME}(?:和[^，在住]{{1,14}}?|跟[^，在住]{{1,14}}?|一家)?(?:一起)?(?:住在?|居住在|定居在|定居于|定居|家在|家住|常驻|旅居|人在|现居|生活在|的?(?:现居地|居住地|住址|地址)(?:是|在)){_X}(?:住|生活|定居)?{_END}", shape=words.place),
    _rule(Kind.HOME, rf"(?:{_ME})?(?:坐标|现坐标|人在)(?:是|在|[:：])?\s?{_X}{_END}", shape=words.known_place),
    _rule(Kind.HOME, rf"{_ME}在{_X}(?:定居|居住|生活|住)(?:了{words.NUMBER}多?个?[年月]了?)?{_END}", shape=words.place),
    _rule(Kind.ORIGIN, rf"(?:{_ME})?的?(?:老家|家乡|籍贯|祖籍)(?:就)?(?:在|是){_X}{_END}", shape=words.place),
    _rule(Kind.ORIGIN, rf"(?:{_ME})?的?(?:老家|家乡|籍贯|祖籍){_X}{_END}", shape=words.known_place),
    _rule(Kind.ORIGIN, rf"{_ME}(?:是)?(?:来自(?:于)?|出生在|出生于|生在|在(?=[^，]{{2,8}}(?:长大|出生)))(?:于)?(?P<value>[^\d，]{{2,10}}?)(?:长大|出生)?{_END}", shape=words.place),
    _rule(Kind.ORIGIN, rf"{_ME}是(?:土生土长的|地道的)?(?P<value>[\u4e00-\u9fff]{{2,6}})人{_END}", shape=lambda value: value if words.is_place(value) else ""),
)
_WORK = (
    _rule(Kind.EMPLOYER, rf"{_ME}离开了?{_X}(?:之后|以后|后)?{_END}", holds=False, shape=words.organisation),
    _rule(Kind.EMPLOYER, rf"{_ME}从{_X}(?:离职|辞职|离开|走)了?(?:之后|以后|后)?{_END}", holds=False, shape=words.organisation),
    _rule(Kind.EMPLOYER, rf"{_ME}{_NOT_NOW}在{_X}(?:工作|上班|干|做|任职){_END}", holds=False, shape=words.organisation),
    _rule(Kind.EMPLOYER, rf"{_ME}(?:已经|刚|上周|昨天|今天)*(?:辞职|离职|被裁员?|失业)了?{_END}", "", holds=False),
    _rule(Kind.EMPLOYER, rf"{_ME}(?:从[^，]{{1,14}}?)?(?:加入|入职|跳槽到?|换到|转到|加盟)了?{_X}(?:工作|上班)?(?:担任|当|做)(?P<job>[^，]{{2,12}}?){_END}", shape=words.organisation),
    _rule(Kind.EMPLOYER, rf"{_ME}(?:从[^，]{{1,14}}?)?(?:加入|入职|跳槽到?|换到|转到|加盟|就职于|任职于|供职于|就职在|服务于)了?{_X}(?:工作|上班)?{_END}", shape=words.organisation),
    _rule(Kind.EMPLOYER, rf"{_ME}在{_X}(?:工作|上班|任职|就职|实习|供职|(?:担任|当|做)[^，]{{0,12}}?(?:{words.JOB_END})){_END}", shape=words.organisation),
    _rule(Kind.EMPLOYER, rf"{_ME}的?(?:公司|雇主|单位)(?:是|叫){_X}{_END}", shape=words.organisation),
    _rule(Kind.WORKPLACE, rf"{_ME}在{_X}(?:工作|上班|办公|(?:担任|当|做)[^，]{{0,12}}?(?:{words.JOB_END})){_END}", shape=words.known_place),
    _rule(Kind.OCCUPATION, rf"{_ME}{_NOT_NOW}(?:是|当|做)(?:一?[名个位])?(?P<value>[^，]{{0,14}}?(?:{words.JOB_END})){_END}", holds=False, shape=words.job),
    _rule(Kind.OCCUPATION, rf"{_ME}(?:是|当|做|担任|任|转行做|改行做|转行当|成为了?|升职?(?:为|成|到)了?)(?:了)?(?:一?[名个位])?(?!{words.DEGREE_WORD})(?P<value>[^，不没]{{0,16}}?(?:{words.JOB_END})){_END}", shape=words.job),
    _rule(Kind.OCCUPATION, rf"(?:{_ME})?的?(?:工作|职业|职位|岗位)(?:是|[:：])(?:一?[名个位])?{_X}{_END}", shape=words.job),
    _rule(Kind.OCCUPATION, rf"{_ME}在(?!考虑|想|犹豫|打算|准备|计划|努力|学|找|应聘|面试)[^，]{{1,16}}?(?:担任|当|做|任)(?:一?[名个位])?(?P<value>[^，]{{0,12}}?(?:{words.JOB_END})){_END}", shape=words.job),
    _rule(Kind.OCCUPATION, rf"{_ME}(?:从[^，]{{1,14}}?)?(?:加入|入职|跳槽到?|换到|转到|加盟)了?[^，]{{1,16}}?(?:担任|当|做|任)(?:一?[名个位])?(?P<value>[^，]{{2,12}}?){_END}", shape=words.job),
    _rule(Kind.OCCUPATION, rf"{_ME}(?:从事|做)(?P<value>[^，]{{2,12}}?)(?:工作|行业|相关工作|这一行|这行)(?:的)?{_END}", shape=words.job),
    _rule(Kind.OCCUPATION, rf"{_ME}是(?:做|搞)(?P<value>[^，]{{2,12}}?)的$", shape=words.job),
)
_STUDY = (
    _rule(Kind.SCHOOL, rf"{_ME}(?:就读于|毕业于|考上了?|在|从)(?P<value>[^，]{{1,16}}?(?:大学|学院|中学|高中|小学|学校|分校|清华|北大|复旦|交大|浙大))(?:读书|上学|念书|读|上|念|学|就读|毕业|学习|的|[^，]{{0,10}}专业)?[^，]{{0,8}}$", shape=words.school),
    _rule(Kind.MAJOR, rf"{_ME}的?(?:主修|辅修|专业是|学的是|读的是|攻读|大学学的是|学的专业是){_X}(?:专业|系)?{_END}", shape=words.job),
    _rule(Kind.MAJOR, rf"{_ME}(?:在[^，]{{2,16}})?(?:学|读|念)(?P<value>[^，习的]{{2,12}}?)(?:专业|系)(?:的)?{_END}", shape=words.job),
    _rule(Kind.DEGREE, rf"{_ME}(?:是|在读|在上|在念|读|上|念|正读)(?:一?[名个位])?(?:[^，]{{1,12}}的)?(?P<value>{words.DEGREE_WORD})(?:在读|毕业|学历)?{_END}"),
)
_FAMILY = (
    _rule(Kind.FAMILY, rf"{_ME}(?:家|家里)?{_NOT_NOW}(?:有)?(?P<value>{words.KIN_WORD}){_END}", "没有{value}", holds=True),
    _rule(Kind.FAMILY, rf"{_ME}(?:家|家里)?有(?:了)?(?P<value>(?:{words.NUMBER}[个位名对]|个|一对)?[^，]{{0,4}}?(?:{words.KIN_WORD})(?:[，,]?(?:名?叫做?)[^，]{{1,10}})?){_END}"),
    _rule(Kind.FAMILY, rf"我们?(?:家)?的?(?P<kin>(?:[大小])?(?:{words.PARTNER}|{words.KIN_WORD}|妈妈?|爸爸?|母亲|父亲|爷爷|奶奶|外公|外婆))(?:的)?(?:名字)?(?:叫做?|名叫|是叫|的名字是){_X}{_END}", "{kin}叫{value}", about="kin", shape=words.person),
    _rule(Kind.PET, rf"{_ME}(?:家|家里)?{_NOT_NOW}(?:养|有)(?P<value>{words.ANIMAL}){_END}", holds=False),
    _rule(Kind.PET, rf"(?:我们?|咱)(?:家|的|家的)*(?P<value>{words.ANIMAL}|{PET_NOUN})[^，]{{0,6}}?(?:去世|死|走丢|不在|没|过世){_END}", holds=False, about="kin"),
    _rule(Kind.PET, rf"{_ME}(?:家|家里)?(?:现在)?(?:养了?|有|收养了?|领养了?|捡了?|买了)(?:着|过)?(?P<value>(?:{words.NUMBER}?[只条个匹头])?(?:名?叫(?:做)?[^，]{{1,10}}?的)?{words.ANIMAL}(?:[，,]?(?:它)?(?:的名字)?(?:名?叫做?|是)[^，的]{{1,10}})?){_END}", shape=words.animal),
    _rule(Kind.PET, rf"(?:我们?|咱)(?:家|的|家的)*(?P<kin>{words.ANIMAL}|{PET_NOUN})(?:的名字)?(?:叫做?|名叫|是叫|是){_X}{_END}", "{kin}叫{value}", about="kin", shape=words.person),
)
_TASTE = (
    _rule(Kind.LIKE, rf"{_ME}(?:以前|曾经|过去|小时候|原来){_VERY}(?:喜欢|爱|热爱){_X}{_END}", "喜欢{value}", holds=False, many=True, shape=words.thing),
    _rule(Kind.DISLIKE, rf"{_ME}(?:以前|曾经|过去|小时候|原来){_VERY}(?:讨厌|不喜欢|不爱){_X}{_END}", "讨厌{value}", holds=False, many=True, shape=words.thing),
    _rule(Kind.LIKE, rf"{_ME}(?:不再|再也不|已经不|现在不)(?:怎么|太|那么)?(?:喜欢|爱|热爱){_X}{_END}", "喜欢{value}", holds=False, many=True, shape=words.thing),
    _rule(Kind.DISLIKE, rf"{_ME}(?:不再|再也不|已经不|现在不|不)(?:那么|怎么)?(?:讨厌|反感|排斥){_X}{_END}", "讨厌{value}", holds=False, many=True, shape=words.thing),
    _rule(Kind.DISLIKE, rf"{_ME}{_VERY}(?P<verb>讨厌|厌恶|反感|痛恨|恨|受不了|不喜欢|不太喜欢|不怎么喜欢|不爱|不太爱|害怕|怕){_X}{_END}", "{verb}{value}", many=True, shape=words.thing),
    _rule(Kind.DISLIKE, rf"(?P<value>[^我你他她，]{{1,10}})我{_VERY}(?:一点也)?(?P<verb>讨厌|不喜欢|受不了|不爱|不爱吃|不吃){_END}", "{verb}{value}", shape=words.thing),
    _rule(Kind.LIKE, rf"(?:{_ME})?的?(?:兴趣)?(?:爱好|兴趣)(?:是|有|包括|[:：]){_X}{_END}", "喜欢{value}", many=True, shape=words.thing),
    _rule(Kind.LIKE, rf"{_ME}的?最爱(?:是){_X}{_END}", "最爱{value}", many=True, shape=words.thing),
    _rule(Kind.LIKE, rf"{_ME}最喜欢的(?P<noun>[^，是]{{1,10}})是{_X}{_END}", "最喜欢的{noun}是{value}", many=True, shape=words.thing),
    _rule(Kind.LIKE, rf"{_ME}{_VERY}(?:开始|变得)?(?P<verb>喜欢上|迷上|爱上|沉迷于?|热衷于?|喜欢|爱好|热爱|酷爱|偏爱|钟爱|爱)了?{_X}{_END}", "喜欢{value}", many=True, shape=words.thing),
    _rule(Kind.LIKE, rf"{_ME}对{_X}(?:很|非常|特别|比较|挺|蛮)*(?:感兴趣|有兴趣|着迷){_END}", "喜欢{value}", many=True, shape=words.thing),
    _rule(Kind.LIKE, rf"(?P<value>[^我你他她，]{{1,10}})我{_VERY}(?:喜欢|爱|爱吃|爱喝){_END}", "喜欢{value}", shape=words.thing),
)
_BODY = (
    _rule(Kind.ALLERGY, rf"{_ME}对{_X}{_NOT_NOW}过敏{_END}", "对{value}过敏", holds=False, many=True, shape=words.thing),
    _rule(Kind.ALLERGY, rf"{_ME}{_NOT_NOW}对{_X}过敏{_END}", "对{value}过敏", holds=False, many=True, shape=words.thing),
    _rule(Kind.ALLERGY, rf"{_ME}{_VERY}对(?P<value>[^，不没]+?)(?:{_VERY}|会)*过敏(?:严重)?{_END}", "对{value}过敏", many=True, shape=words.thing),
    _rule(Kind.ALLERGY, rf"{_ME}(?:有|患有)?(?:严重的?)?(?P<value>[^，不没对有我是]{{1,8}})过敏(?:症|体质)?{_END}", "对{value}过敏", many=True, shape=words.thing),
    _rule(Kind.ALLERGY, rf"(?P<value>[^我你他她，]{{1,8}})我(?:会|很)?过敏{_END}", "对{value}过敏", shape=words.thing),
    _rule(Kind.ALLERGY, rf"(?:{_ME})的?过敏(?:原|源|史)(?:是|有|[:：]){_X}{_END}", "对{value}过敏", many=True, shape=words.thing),
    _rule(Kind.DIET, rf"{_ME}(?:又|重新|也|已经)*(?:开始|恢复|可以|能)+(?:吃|喝)(?:回)?{_X}{_END}", holds=False, many=True, shape=words.thing),
    _rule(Kind.DIET, rf"{_ME}(?:又|重新)(?:吃|喝){_X}{_END}", holds=False, many=True, shape=words.thing),
    _rule(Kind.DIET, rf"{_ME}不是(?:一?个)?(?P<value>素食主义者|素食者|纯素食者|严格素食者){_END}", holds=False),
    _rule(Kind.DIET, rf"{_ME}{_NOT_NOW}(?P<value>吃素|吃纯素|戒糖|吃斋){_END}", "{value}", holds=False),
    _rule(Kind.DIET, rf"{_ME}(?:是|改|开始|坚持|只|长期|改成)*(?:一?个)?(?P<value>吃素|吃全素|吃斋|吃纯素|纯素|素食主义者|素食者|严格素食者|纯素食者|素食|吃清真|清真饮食|生酮饮食|低碳饮食|戒糖|无麸质饮食|戒酒|vegan)(?:主义)?(?:已经|都|快)*(?:{words.NUMBER}多?个?[年月]多?)?{_END}"),
    _rule(Kind.DIET, rf"{_ME}(?:不能|不太能|不怎么能|不可以|从不|从来不|没法|不|一点也?不|完全不)(?P<verb>吃|喝|碰)(?!亏|苦头?$|醋$|这|那|力|惊|香$|一套|闷)(?P<value>[^，不没完饱起下到早晚过]{{1,12}}?){_END}", "不{verb}{value}", many=True, shape=words.thing),
    _rule(Kind.HEALTH, rf"{_ME}(?:有|患有|得了|得过|确诊了?|患)(?P<value>[^，]{{0,8}}?(?:糖尿病|高血压|低血压|高血脂|哮喘|心脏病|胃病|胃炎|鼻炎|湿疹|偏头痛|失眠症?|抑郁症|焦虑症|关节炎|痛风|贫血|甲亢|甲减|癫痫|近视|色盲|乙肝|脂肪肝|颈椎病|腰椎间盘突出)){_END}"),
    _rule(Kind.HEALTH, rf"{_ME}(?:有)?(?P<value>乳糖不耐受?|麸质不耐受?|晕车|晕船|恐高){_END}"),
    _rule(Kind.LANGUAGE, rf"{_ME}的?(?:母语|第一语言)是(?P<value>{words.LANGUAGE}){_END}", "{value}（母语）"),
    _rule(Kind.LANGUAGE, rf"{_ME}(?:不会|不懂)(?:说|讲)?(?P<value>{words.LANGUAGE}){_END}", holds=False),
    _rule(Kind.LANGUAGE, rf"{_ME}(?:会|能|可以|能够)(?:说|讲|用)?{words.LEVEL}?(?P<value>{words.LANGUAGE}(?:[、和及跟与,]{{1,2}}{words.LEVEL}?{words.LANGUAGE})*){words.LEVEL}?{_END}", many=True, shape=words.tongue),
    _rule(Kind.LANGUAGE, rf"{_ME}(?:说|讲)(?P<value>{words.LANGUAGE}(?:[、和及跟与,]{{1,2}}{words.LANGUAGE})*){_END}", many=True),
    _rule(Kind.LANGUAGE, rf"{_ME}(?:在|开始|正在|最近在|自)*(?:学习?|自学)(?P<value>{words.LANGUAGE}){_END}", "{value}（在学）"),
)
GRAMMAR = Grammar((*_WHO, *_WHERE, *_WORK, *_STUDY, *_FAMILY, *_TASTE, *_BODY), re.compile(r"(?:、|以及|和|跟|与|及|还有|，|,|;)(?![^《]*》)(?![^“]*”)"), re.compile(r"(?:，|,)?(?:尤其|特别是|比如|例如|像(?!素)|包括)"), re.compile(r"(?:^我?|[，,]?)(?:而)?(?:并)?不是(?!很|太|特别|那么|因为|说|不|所有|只|我)(?P<no>[^，,。是]{1,16})$"))
# fmt: on
