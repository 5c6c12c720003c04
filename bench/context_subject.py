"""The user that the context is measured on: 40 slots and 200 gists of lengths as they occur, always the same ones."""

from __future__ import annotations

import random
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

SLOTS, EVENTS, LINES_OF_EVENT = 40, 20, 10
USER = "5a0d9c0e-7f0b-4a51-8d7e-3f6a3c1f0b77"

_TOPICS = ("work", "interest", "lifestyle", "health", "education", "basic_info", "psychological", "life_event")
_WORDS = (
    "tea river engineer mountain Tokyo garden swimming Kyoto piano deadline sister hospital bicycle winter paper "
    "杭州 旅游 花生 过敏 工程师 周末 妹妹 医院 项目 攻略 咖啡 钢琴"
).split()


def import_bodies(now: datetime | None = None) -> list[dict[str, Any]]:
    """Bodies of `POST /api/v1/users/import/{user_id}` that make the user, small enough for one call each."""
    source = random.Random(7)
    now = now or datetime.now(UTC)
    rows = [_slot(source, number, now) for number in range(SLOTS)]
    events = [_event(source, number, now) for number in range(EVENTS)]
    return [{"profiles": rows}, {"events": events[:10]}, {"events": events[10:]}]


def _slot(source: random.Random, number: int, now: datetime) -> dict[str, Any]:
    return {
        "id": str(uuid.uuid5(uuid.NAMESPACE_OID, f"slot {number}")),
        "content": _sentence(source, 8, 24),
        "attributes": {"topic": _TOPICS[number % len(_TOPICS)], "sub_topic": f"fact_{number}"},
        "updated_at": (now - timedelta(hours=number)).isoformat(),
    }


def _event(source: random.Random, number: int, now: datetime) -> dict[str, Any]:
    lines = "\n".join(f"- {_sentence(source, 8, 20)}" for _ in range(LINES_OF_EVENT))
    return {
        "id": str(uuid.uuid5(uuid.NAMESPACE_OID, f"event {number}")),
        "event_data": {"event_tip": lines},
        "created_at": (now - timedelta(days=number)).isoformat(),
    }


def _sentence(source: random.Random, least: int, most: int) -> str:
    return " ".join(source.choices(_WORDS, k=source.randint(least, most)))
