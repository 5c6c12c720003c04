"""One spelling for the grammar: half width, straight quotes, simplified characters.

Every character stays one character, so a span of the folded text is the same span of the message.
"""

from __future__ import annotations

_TRADITIONAL = (
    "對過歲嗎養貓說講學習業師員醫護長經總監歡愛討厭與們請後從現國語給為離開職設計會記來個麼這讓應該種東見還無點電時間寵兒媽爺孫歷實際術環劃準備結"
    "產區縣廣臺灣歸誰幾號週絕亂頭條隻雙寫讀書畢碩專畫飛機買賣賽練運動樂聽難處邊裡裏臉親戀單獨關係場廠館鄉島橋鎮園體壓減葷雞魚蝦鴨豬麥麵飯麩質潔鹹濃約試"
)
_SIMPLIFIED = (
    "对过岁吗养猫说讲学习业师员医护长经总监欢爱讨厌与们请后从现国语给为离开职设计会记来个么这让应该种东见还无点电时间宠儿妈爷孙历实际术环划准备结"
    "产区县广台湾归谁几号周绝乱头条只双写读书毕硕专画飞机买卖赛练运动乐听难处边里里脸亲恋单独关系场厂馆乡岛桥镇园体压减荤鸡鱼虾鸭猪麦面饭麸质洁咸浓约试"
)
_TABLE = {
    **{ord(old): ord(new) for old, new in zip(_TRADITIONAL, _SIMPLIFIED, strict=True)},
    **{code: code - 0xFEE0 for code in range(0xFF10, 0xFF5B) if chr(code - 0xFEE0).isalnum()},
    ord("’"): ord("'"),
    ord("‘"): ord("'"),
    ord("ʼ"): ord("'"),
    0x3000: ord(" "),
    0xA0: ord(" "),
}


def fold(text: str) -> str:
    """`text` in one spelling, of the same length."""
    return text.translate(_TABLE)
