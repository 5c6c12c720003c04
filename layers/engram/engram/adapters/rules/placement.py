"""Where each kind of statement belongs in a business's taxonomy.

Names are tried in order until the taxonomy knows one. In a taxonomy that is not strict the first name in the
taxonomy's language stands in for one it lacks; a strict taxonomy that has none of them refuses the statement.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from engram.adapters.rules.statements import FactKind
from engram.profile.taxonomy import Taxonomy, attribute_unify


class Place(NamedTuple):
    topic: str
    sub_topic: str


def _places(*names: str) -> tuple[Place, ...]:
    return tuple(Place(*name.split("::")) for name in names)


ENGLISH: Mapping[FactKind, tuple[Place, ...]] = {
    FactKind.NAME: _places("basic_info::name"),
    FactKind.NICKNAME: _places("basic_info::preferred_name", "basic_info::nickname"),
    FactKind.ADDRESS: _places("basic_info::preferred_name", "basic_info::nickname"),
    FactKind.AGE: _places("basic_info::age", "demographics::age"),
    FactKind.BIRTHDAY: _places("basic_info::birthday", "basic_info::birth_date", "basic_info::date_of_birth"),
    FactKind.GENDER: _places("basic_info::gender", "demographics::gender"),
    FactKind.HOME: _places(
        "basic_info::city", "contact_info::city", "basic_info::location", "demographics::city", "basic_info::residence"
    ),
    FactKind.ORIGIN: _places("basic_info::hometown", "demographics::hometown", "basic_info::birthplace"),
    FactKind.NATIONALITY: _places("basic_info::nationality", "demographics::nationality"),
    FactKind.OCCUPATION: _places("work::title", "work::occupation", "work::job_title", "work::position"),
    FactKind.EMPLOYER: _places("work::company", "work::employer"),
    FactKind.WORKPLACE: _places("work::location", "work::workplace"),
    FactKind.SCHOOL: _places("education::school", "education::university"),
    FactKind.MAJOR: _places("education::major", "education::field_of_study"),
    FactKind.DEGREE: _places("education::degree", "education::level"),
    FactKind.MARITAL: _places("demographics::marital_status", "basic_info::marital_status"),
    FactKind.FAMILY: _places("demographics::family", "demographics::household", "life_event::family"),
    FactKind.PET: _places("demographics::pets", "lifestyle::pets", "interest::pets", "life_event::pets"),
    FactKind.LIKE: _places("interest::likes", "interest::hobbies", "interest::hobby", "interest::other"),
    FactKind.LIKE_FOOD: _places("interest::foods", "interest::food", "lifestyle::food_preferences", "interest::likes"),
    FactKind.DISLIKE: _places("interest::dislikes", "psychological::dislikes", "lifestyle::dislikes"),
    FactKind.DISLIKE_FOOD: _places("interest::dislikes", "lifestyle::food_dislikes", "lifestyle::diet"),
    FactKind.ALLERGY: _places("health::allergies", "lifestyle::allergies", "health::allergy", "lifestyle::health"),
    FactKind.DIET: _places("lifestyle::diet", "lifestyle::dietary_preferences", "health::diet"),
    FactKind.HEALTH: _places("health::conditions", "lifestyle::health", "lifestyle::health_conditions"),
    FactKind.LANGUAGE: _places("basic_info::languages", "basic_info::language_spoken", "basic_info::language"),
    FactKind.PLAN: _places("life_event::plans", "psychological::goals", "life_event::plan"),
    FactKind.INSTRUCTION: _places("assistant::instructions", "preferences::instructions"),
    FactKind.ANSWER_LANGUAGE: _places("assistant::language", "assistant::instructions", "preferences::language"),
    FactKind.CONTACT: _places("contact_info::email"),
    FactKind.PHONE: _places("contact_info::phone"),
}

CHINESE: Mapping[FactKind, tuple[Place, ...]] = {
    FactKind.NAME: _places("基本信息::姓名", "基本信息::用户姓名", "基本信息::名字"),
    FactKind.NICKNAME: _places("基本信息::昵称", "基本信息::称呼"),
    FactKind.ADDRESS: _places("基本信息::昵称", "基本信息::称呼"),
    FactKind.AGE: _places("基本信息::年龄", "人口统计::年龄", "基本信息::用户年龄"),
    FactKind.BIRTHDAY: _places("基本信息::生日", "基本信息::出生日期"),
    FactKind.GENDER: _places("基本信息::性别", "人口统计::性别"),
    FactKind.HOME: _places(
        "基本信息::居住城市", "基本信息::城市", "联系方式::城市", "基本信息::居住地", "基本信息::现居地"
    ),
    FactKind.ORIGIN: _places("基本信息::家乡", "基本信息::籍贯", "人口统计::家乡"),
    FactKind.NATIONALITY: _places("基本信息::国籍", "人口统计::国籍"),
    FactKind.OCCUPATION: _places("工作::职位", "工作::职业", "工作::岗位"),
    FactKind.EMPLOYER: _places("工作::公司", "工作::雇主", "工作::单位"),
    FactKind.WORKPLACE: _places("工作::工作地点", "工作::地点"),
    FactKind.SCHOOL: _places("教育::学校", "教育背景::学校"),
    FactKind.MAJOR: _places("教育::专业", "教育背景::专业"),
    FactKind.DEGREE: _places("教育::学历", "教育::学位", "教育背景::学位"),
    FactKind.MARITAL: _places("人口统计::婚姻状况", "人口统计信息::婚姻状况", "基本信息::婚姻状况"),
    FactKind.FAMILY: _places("人口统计::家庭", "人口统计::家庭成员", "人口统计::家庭情况"),
    FactKind.PET: _places("人口统计::宠物", "生活方式::宠物", "兴趣爱好::宠物"),
    FactKind.LIKE: _places("兴趣爱好::爱好", "兴趣::爱好", "兴趣爱好::喜好", "兴趣爱好::其他"),
    FactKind.LIKE_FOOD: _places(
        "兴趣爱好::美食", "兴趣爱好::食物", "兴趣爱好::饮食", "生活方式::饮食偏好", "兴趣爱好::爱好"
    ),
    FactKind.DISLIKE: _places("兴趣爱好::不喜欢", "兴趣爱好::讨厌", "兴趣爱好::厌恶"),
    FactKind.DISLIKE_FOOD: _places("兴趣爱好::不喜欢", "生活方式::忌口", "生活方式::饮食"),
    FactKind.ALLERGY: _places("健康::过敏", "生活方式::过敏", "健康::过敏史", "健康::过敏原"),
    FactKind.DIET: _places("生活方式::饮食", "生活方式::饮食习惯", "生活方式::饮食偏好", "健康::饮食"),
    FactKind.HEALTH: _places("健康::健康状况", "生活方式::健康状况", "健康::疾病"),
    FactKind.LANGUAGE: _places("基本信息::语言", "基本信息::使用语言", "基本信息::掌握语言"),
    FactKind.PLAN: _places("人生大事::计划", "生活事件::计划", "心理::目标"),
    FactKind.INSTRUCTION: _places("助手偏好::指令", "偏好::指令"),
    FactKind.ANSWER_LANGUAGE: _places("助手偏好::回答语言", "助手偏好::指令", "偏好::语言"),
    FactKind.CONTACT: _places("联系方式::邮箱"),
    FactKind.PHONE: _places("联系方式::电话"),
}


def place_of(kind: FactKind, taxonomy: Taxonomy) -> Place | None:
    """Topic and sub-topic for `kind`, as the taxonomy spells them; None when a strict taxonomy has no place for it."""
    own, other = (CHINESE, ENGLISH) if taxonomy.language == "zh" else (ENGLISH, CHINESE)
    candidates = own[kind] + other[kind]
    for candidate in candidates:
        if taxonomy.find(candidate.topic, candidate.sub_topic) is not None:
            return Place(attribute_unify(candidate.topic), attribute_unify(candidate.sub_topic))
    by_sub_topic = _same_sub_topic_elsewhere(candidates, taxonomy)
    if by_sub_topic is not None:
        return by_sub_topic
    return None if taxonomy.strict else own[kind][0]


def _same_sub_topic_elsewhere(candidates: tuple[Place, ...], taxonomy: Taxonomy) -> Place | None:
    """A business may keep `allergies` under a topic of its own: the sub-topic's name decides."""
    for candidate in candidates:
        wanted = attribute_unify(candidate.sub_topic)
        for topic in taxonomy.topics:
            if any(attribute_unify(sub.name) == wanted for sub in topic.sub_topics):
                return Place(attribute_unify(topic.name), wanted)
    return None
