"""Chinese word lists that the rules choose by: occupations, animals, places, and what a value may not be."""

# ruff: noqa: E501  (a pattern reads best on one line)
from __future__ import annotations

import re

NUMBER = r"[零一二两三四五六七八九十百\d]+"
JOB_END = (
    r"工程师|架构师|设计师|程序员|程序猿|开发者|开发人员|老师|教师|教练|教授|讲师|医生|大夫|牙医|兽医|医师|药师|药剂师|护士|护师|律师|法官|检察官|会计|会计师|审计师|精算师|分析师|咨询师|策划|运营|销售|客服|采购|行政|前台|文员"
    r"|经理|总监|主管|主任|总裁|副总裁|助理|秘书|顾问|翻译|司机|飞行员|空姐|空乘|船长|船员|厨师|厨子|面包师|咖啡师|调酒师|服务员|记者|编辑|作家|作者|编剧|导演|演员|歌手|音乐人|音乐家|钢琴家|画家|插画师|摄影师|摄像师|模特|主播|博主|网红|UP主|up主"
    r"|公务员|警察|民警|军人|士兵|消防员|农民|工人|木匠|电工|水管工|裁缝|理发师|美容师|化妆师|快递员|外卖员|保安|保姆|月嫂|老板|店主|创业者|创始人|自由职业者|自由撰稿人|企业家|投资人|交易员|银行职员|职员|白领|科学家|研究员|学者|博士后|建筑师|测绘师|考古学家|心理学家|心理医生|社工|志愿者|图书管理员|图书馆员|导游|教务|产品|产品经理|数据科学家|算法|测试|运维|前端|后端|CEO|CTO|CFO|COO|HR|PM|DBA|SRE|[a-zA-Z ]*(?:engineer|developer|designer|manager|analyst|scientist)|全职妈妈|全职爸爸|家庭主妇|学生"
)
DEGREE_WORD = r"大学生|本科生|研究生|硕士生|博士生|硕士研究生|博士研究生|高中生|初中生|小学生|中学生|大专生|留学生|大[一二三四五](?:学生|新生)?|研[一二三](?:学生)?|博[一二三四五]|高[一二三](?:学生)?|初[一二三](?:学生)?|应届(?:毕业)?生|硕士|博士|本科|大专|MBA"
ANIMAL = r"[\u4e00-\u9fff]{0,4}(?:猫咪?|狗狗?|犬|兔子?|仓鼠|鹦鹉|乌龟|金鱼|龙猫|荷兰猪|豚鼠|刺猬|蜥蜴|蛇|柯基|金毛|哈士奇|拉布拉多|泰迪|柴犬|边牧|萨摩耶|比熊|博美|法斗|布偶|英短|美短|橘猫|狸花|加菲|暹罗|马|羊驼|鸽子|鸭子|鱼)"
KIN_WORD = r"女儿|儿子|孩子|小孩|宝宝|哥哥|姐姐|弟弟|妹妹|双胞胎(?:女儿|儿子|兄弟|姐妹|妹妹|弟弟)?|孙子|孙女|兄弟|姐妹|娃|兄弟姐妹"
PARTNER = r"老公|丈夫|先生|老婆|妻子|太太|媳妇|爱人|对象|男朋友|男友|女朋友|女友|未婚夫|未婚妻"
LANGUAGE = r"(?:普通话|国语|汉语|中文|粤语|广东话|闽南语|闽南话|客家话|上海话|四川话|东北话|吴语|英语|英文|日语|日文|韩语|韩文|法语|法文|德语|德文|西班牙语|西语|葡萄牙语|葡语|意大利语|俄语|俄文|阿拉伯语|泰语|越南语|印尼语|马来语|印地语|荷兰语|瑞典语|挪威语|丹麦语|芬兰语|波兰语|捷克语|土耳其语|希腊语|希伯来语|波斯语|拉丁语|手语|世界语|[\u4e00-\u9fff]{1,4}语)"
LEVEL = r"(?:一点点?|一些|流利的?|流利地?|简单的?|基础的?|熟练的?|得?很好|得?不错|得?很流利)"
NUTRITION = r"吃|喝|菜|肉|鱼|虾|蟹|海鲜|水果|蔬菜|甜品|甜食|零食|蛋糕|巧克力|冰淇淋|咖啡|拿铁|美式|奶茶|茶|酒|啤酒|红酒|可乐|饮料|果汁|火锅|烧烤|烤|面条|面食|炒面|汤面|拌面|牛肉面|拉面|米饭|米粉|饺子|寿司|披萨|汉堡|炸鸡|辣|榴莲|香菜|芒果|草莓|苹果|香蕉|西瓜|葡萄|花生|牛奶|豆腐|豆浆|鸡蛋|芝士|奶酪|面包|粥|汤|糖|醋|蒜|葱|姜|苦瓜|茄子|番茄|西红柿|土豆|胡萝卜|芹菜|青椒|洋葱|蘑菇|内脏|羊肉|牛肉|猪肉|鸡肉|料理|美食|小吃|臭豆腐|螺蛳粉|麻辣烫"
PLACES = frozenset(
    "中国 美国 英国 日本 韩国 法国 德国 意大利 西班牙 葡萄牙 荷兰 比利时 瑞士 瑞典 挪威 芬兰 丹麦 俄罗斯 加拿大 澳大利亚 澳洲 新西兰 新加坡 马来西亚 泰国 越南 印度 印尼 菲律宾 巴西 墨西哥 阿根廷 埃及 南非 迪拜 "
    "北京 上海 广州 深圳 杭州 苏州 南京 成都 重庆 武汉 西安 天津 长沙 郑州 青岛 大连 厦门 宁波 无锡 济南 合肥 福州 昆明 贵阳 南宁 南昌 太原 石家庄 沈阳 哈尔滨 长春 呼和浩特 兰州 西宁 银川 乌鲁木齐 拉萨 海口 三亚 珠海 佛山 东莞 中山 惠州 "
    "常州 徐州 南通 扬州 镇江 温州 绍兴 嘉兴 金华 台州 泉州 漳州 桂林 丽江 大理 洛阳 开封 烟台 威海 香港 澳门 台湾 台北 台中 台南 高雄 新竹 广东 广西 福建 浙江 江苏 山东 山西 河南 河北 湖南 湖北 江西 安徽 四川 云南 贵州 陕西 甘肃 青海 辽宁 吉林 黑龙江 海南 内蒙古 宁夏 新疆 西藏 东北 "
    "东京 大阪 京都 横滨 名古屋 札幌 福冈 神户 首尔 釜山 曼谷 清迈 吉隆坡 雅加达 河内 胡志明市 马尼拉 孟买 新德里 纽约 洛杉矶 旧金山 西雅图 芝加哥 波士顿 华盛顿 硅谷 湾区 加州 温哥华 多伦多 蒙特利尔 伦敦 曼彻斯特 爱丁堡 巴黎 里昂 柏林 慕尼黑 法兰克福 汉堡 罗马 米兰 马德里 巴塞罗那 里斯本 阿姆斯特丹 布鲁塞尔 苏黎世 日内瓦 斯德哥尔摩 "
    "哥本哈根 奥斯陆 赫尔辛基 莫斯科 悉尼 墨尔本 布里斯班 奥克兰 都柏林 维也纳 布拉格".split()
)
_SURNAMES = "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文"
_PLACE_END = re.compile(r"[\u4e00-\u9fff]{1,8}(?:市|省|县|区|州|岛|镇|村|乡|国)$")
_NOT_A_PLACE = re.compile(
    r"这|那|哪|我|你|他|她|它|酒店|宾馆|民宿|公司|学校|宿舍|附近|旁边|隔壁|楼|家|医院|房|公寓|出租|别墅|外面|一起|一个|同一|很|自己|爸|妈|父母|亲戚|朋友|郊区|市区|市中心|城里|乡下|农村$|海边|山上|心里|梦|国外|外地|老家|中间|对面|里$|上$|下$"
)
_PLACE_TAIL = re.compile(
    rf"(?:已经|都|也|快|有|大概|将近|了)*{NUMBER}多?个?(?:年|月|天|周)多?了?$|(?:这边|那边|那里|这里|工作|生活|了|呢|啊|呀|的|这座城市|这个城市|市区)$"
)
_CONJUNCTION_END = re.compile(r"(?:回答|回复|答案|的人|的时候|的话|的事|与否)$")


def is_place(word: str) -> bool:
    """A known place, or a word that ends as administrative names do."""
    return (
        word in PLACES
        or any(word.startswith(place) for place in PLACES if len(word) <= len(place) + 3)
        or (_PLACE_END.match(word) is not None and _NOT_A_PLACE.search(word) is None)
    )


def place(value: str) -> str:
    """A place name without what follows it ("东京三年了"); "" for 这里, 公司附近 and the like."""
    value = value.strip()
    for _ in range(3):
        value = _PLACE_TAIL.sub("", value)
    head = re.split(r"的|而?不是|不在", value)[0]
    if not 1 < len(head) <= 14 or _NOT_A_PLACE.search(head):
        return ""
    return head


def thing(value: str) -> str:
    """What is liked, disliked or avoided; "" for pronouns, people and clauses."""
    value = re.sub(r"(?:了|啊|呀|哦|哈|啦|呢|噢|的|得很|极了|得不行|之类|等等|等)+$", "", value.strip(" 　。，!！~"))
    if not 0 < len(value) <= 24 or _CONJUNCTION_END.search(value):
        return ""
    if re.match(
        r"(?:好$|死|迟到|误会|忘|来不及|打扰|麻烦|影响|晚了|丢|错过|你|您|他|她|它|这|那|我|自己|上?了?一个?(?:人|女|男|帅|美)|上了|过|了|的|一个人$|某|谁|什么|人家|别人|为|被|让|把|得|着|对方|和我|跟我|就|吗|不|没|在|从|里面|其中|当中|整个|片中|和|跟|与)",
        value,
    ):
        return ""
    return value


def person(value: str) -> str:
    """A personal name; "" for what follows 叫 in other senses (叫外卖, 叫他)."""
    value = re.split(r"[^\w·\- ]", value.strip(" “”\"'「」『』。，"))[0].strip()
    if (
        re.match(
            r"(?:了|他|她|它|你|我|外卖|车|个|人|大家|什么|这|那|不|做|作|停|滴滴|醒|救|《|起来|写错|拼错|打错|念错|读错|很|太|好听|难听|有点|里面?有|来自|取自)",
            value,
        )
        or not 0 < len(value) <= 20
    ):
        return ""
    return value


def called(value: str) -> str:
    """How somebody wants to be called; "" for what somebody is called to do (叫我起床)."""
    to_do = re.match(
        r"(?:怎么|怎样|如何|为什么|起床|起来|去|来|吃|喝|帮|一声|一下|回|过去|过来|早|赶|等|看|想|走|滚|出|下|上|加班|开会|睡|醒|学|写|买|拿|送)",
        value.strip(),
    )
    return "" if to_do else person(value)


def tongue(value: str) -> str:
    """A language without how well it is spoken."""
    return re.sub(rf"^{LEVEL}", "", value.strip())


def job(value: str) -> str:
    """An occupation without its measure word; "" for how somebody is addressed (陈医生)."""
    if len(value) <= 3 and re.fullmatch(
        rf"[{_SURNAMES}](?:医生|老师|教授|律师|大夫|经理|总监|主任|老板)", value.strip()
    ):
        return ""
    value = re.sub(r"^(?:一?[名个位]|做)", "", value.strip())
    value = re.sub(r"(?:的|了|呢|啊|工作|一职|职位|岗位|这一行|这行|行业)$", "", value)
    return value if 1 < len(value) <= 24 and not re.match(r"(?:这|那|你|他|她|不|没|好|什么)", value) else ""


def organisation(value: str) -> str:
    """An employer; "" for places and for words that name none (公司, 家里)."""
    value = re.sub(r"^(?:一?家|一?所|一?个)?(?:叫做?|名叫)?", "", value.strip())
    value = re.sub(r"(?:了|的|那边|这边|(?<=[\u4e00-\u9fff]{2})里面?)$", "", value)
    vague = re.match(
        r"(?:公司|家里?|外面|这|那|你|他|她|本地|外地|一起|群聊?|微信群|群里|会议|讨论|俱乐部|健身房|会员|社团|直播间|互联网|国企|外企|私企|学校|医院|银行|大厂|线上|网上|办公室|户外|新公司|别的|其他|同一|现在|以前)$",
        value,
    )
    if (
        not 1 < len(value) <= 24
        or vague
        or is_place(value)
        or re.match(
            r"(?:我|这|那|你|他|她|它|不|没|看|找|考虑|学|读|听|写|玩|想|准备|开始|努力|忙|等|家|用|为|帮|一起|一边)",
            value,
        )
    ):
        return ""
    return value


def animal(value: str) -> str:
    return (
        ""
        if re.search(r"(?:马上|蛇年|马年|吃鱼)", value)
        else re.sub(r"^[只条个匹头](?=[\u4e00-\u9fff]{2})", "", value.strip())
    )


def edible(value: str) -> bool:
    return (
        re.search(NUTRITION, value) is not None
        and re.search(r"葡萄牙|钓鱼|摸鱼|金鱼|养鱼|鳄鱼|下棋|吃鸡|吃瓜|喝彩|醋意|茶道课|鱼缸", value) is None
    )


_NO_NAME_END = "座帅人生师员家手者工长女男民族党控粉迷派型血子丝狗猫货领痴盲宅兵商医的客户主"


def introduced(value: str) -> str:
    """我是王小明: a surname and one or two characters that do not make it a role."""
    known = 2 <= len(value) <= 3 and value[0] in _SURNAMES and value[-1] not in _NO_NAME_END
    return value if known and not is_place(value) else ""


def known_place(value: str) -> str:
    found = place(value)
    return found if is_place(found) else ""


def school(value: str) -> str:
    """The name of a school; "" for what is done at one (上大学)."""
    return "" if re.search(r"(?:上|读|念|考|去)(?:大学|高中|中学|小学|学校)$", value) else value.strip()
