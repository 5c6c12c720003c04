"""Which sub-topics hold one value at a time, whoever wrote the change: a second employer replaces the first."""

from __future__ import annotations

from engram.profile.taxonomy import attribute_unify

_SINGLE = frozenset(
    attribute_unify(name)
    for name in (
        "name preferred_name nickname age gender birthday birth_date date_of_birth city location residence hometown "
        "birthplace nationality marital_status title occupation job_title position company employer school university "
        "major degree email phone address country time_zone language tone "
        "姓名 名字 昵称 称呼 年龄 性别 生日 出生日期 居住城市 城市 居住地 现居地 家乡 籍贯 国籍 婚姻状况 "
        "职位 职业 岗位 公司 雇主 单位 工作地点 学校 专业 学历 学位 邮箱 电话 地址 国家 时区 回答语言 语气"
    ).split()
)


def holds_one(sub_topic: str) -> bool:
    """Whether a new value of this sub-topic replaces the old one."""
    return attribute_unify(sub_topic) in _SINGLE
