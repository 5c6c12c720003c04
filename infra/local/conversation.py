"""The conversation that the product was made for, played through the HTTP API."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from infra.local.client import Client

ASK_FOR_GUIDE = "帮我出一个杭州旅游攻略。"
GUIDE = """杭州三日游攻略

第一天 西湖经典线
早上从断桥残雪出发,沿白堤走到平湖秋月,中午在楼外楼吃西湖醋鱼和东坡肉;
下午坐手划船到三潭印月,傍晚登雷峰塔看夕照。

第二天 灵隐与茶园
八点前到灵隐寺和飞来峰,人少;中午在法喜寺吃素面;
下午去龙井村喝茶,沿九溪十八涧徒步到钱塘江边。

第三天 运河与市集
上午西溪湿地坐摇橹船,下午逛河坊街和南宋御街,晚上在拱宸桥看大运河夜景。

交通:地铁一号线到龙翔桥站,景区内骑车最方便。住宿:湖滨或南山路。预算:三天两晚人均约一千八百元。"""
ABOUT_ME = "我对花生过敏，住在东京，是后端工程师。"
NOTED = "好的,我记住了:花生过敏、住在东京、后端工程师。"
IN_ENGLISH = "Could you explain what a B-tree index is? I need it for a code review on Friday."
EXPLAINED = "A B-tree keeps keys sorted in wide, shallow nodes, so a lookup reads only a few pages."
ASK_AGAIN = "上次我们聊天杭州游玩攻略再给我一下"


@dataclass(frozen=True, slots=True)
class Step:
    """One call and what came back. `kind` says how to show it."""

    kind: str
    said: str
    answer: Any
    ms: float


def play(client: Client, *, new_id: Callable[[], str] = lambda: uuid.uuid4().hex[:6]) -> Iterator[Step]:
    """Plays it for a user who did not exist before, step by step."""
    user = f"traveller-{new_id()}"
    yield _recall(client, user, f"{user}-1", ASK_FOR_GUIDE)
    yield _say(client, user, f"{user}-1", ASK_FOR_GUIDE, GUIDE)
    yield _say(client, user, f"{user}-2", ABOUT_ME, NOTED)
    yield _say(client, user, f"{user}-3", IN_ENGLISH, EXPLAINED, flush=True)
    yield _recall(client, user, f"{user}-4", ASK_AGAIN)
    context = client.context(user)
    yield Step("context", f"GET /api/v1/users/context/{user}", context.body, context.ms)


def _recall(client: Client, user: str, session: str, query: str) -> Step:
    answer = client.call(
        "POST",
        "/v1/memory/recall",
        {"query": query, "user_id": user, "session_id": session, "timezone": "Asia/Shanghai"},
    )
    return Step("recall", query, answer.body, answer.ms)


def _say(client: Client, user: str, session: str, text: str, reply: str, *, flush: bool = False) -> Step:
    """One exchange: the user's words and the assistant's, ingested and followed until they are worked off."""
    request = {
        "request_id": f"{session}-turn-1",
        "user_id": user,
        "session_id": session,
        "messages": [{"role": "user", "content": text}, {"role": "assistant", "content": reply}],
        "flush": flush,
    }
    answer = client.call("POST", "/v1/memory/ingestions", request)
    operation = client.wait(answer.body["operation_id"]) if answer.status == 202 else answer.body
    return Step("ingestion", text, operation, answer.ms)
