"""Engram's values in Memobase's shapes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from engram.domain.clock import to_text
from engram.domain.models import Event, Gist, Operation, ProfileSlot, User
from engram.extraction import outcome


def user_view(user: User) -> dict[str, Any]:
    return {
        "id": user.user_id,
        "data": dict(user.data) or None,
        "created_at": _time(user.created_at),
        "updated_at": _time(user.updated_at),
    }


def listed_user_view(user: User, *, business_id: str, profile_count: int, event_count: int) -> dict[str, Any]:
    return {
        "id": user.user_id,
        "project_id": business_id,
        "additional_fields": dict(user.data) or None,
        "profile_count": profile_count,
        "event_count": event_count,
        "created_at": _time(user.created_at),
        "updated_at": _time(user.updated_at),
    }


def slot_view(slot: ProfileSlot) -> dict[str, Any]:
    return {
        "id": slot.id,
        "content": slot.content,
        "attributes": {**slot.attributes, "topic": slot.topic, "sub_topic": slot.sub_topic},
        "created_at": _time(slot.created_at),
        "updated_at": _time(slot.updated_at),
    }


def event_view(event: Event, *, similarity: float | None = None) -> dict[str, Any]:
    view = {
        "id": event.id,
        "event_data": event_data(event),
        "created_at": _time(event.created_at),
        "updated_at": _time(event.updated_at),
    }
    return view if similarity is None else {**view, "similarity": similarity}


def event_data(event: Event) -> dict[str, Any]:
    delta = [
        {"content": one.content, "attributes": {"topic": one.topic, "sub_topic": one.sub_topic}} for one in event.delta
    ]
    tags = [{"tag": one.tag, "value": one.value} for one in event.tags]
    return {"profile_delta": delta, "event_tip": event.summary or None, "event_tags": tags or None}


def gist_view(gist: Gist, *, similarity: float) -> dict[str, Any]:
    return {
        "id": gist.id,
        "gist_data": {"content": gist.content},
        "created_at": _time(gist.created_at),
        "updated_at": _time(gist.created_at),
        "similarity": similarity,
    }


def blob_view(body: Mapping[str, Any], data: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "blob_type": body["type"],
        "blob_data": dict(data),
        "fields": body.get("fields"),
        "created_at": body.get("said_at") or body["created_at"],
        "updated_at": body["created_at"],
    }


def _time(moment: datetime) -> str:
    return to_text(moment)


def outcome_view(operation: Operation) -> dict[str, Any]:
    """What a distillation changed, by ids."""
    result = operation.result or {}
    return {
        "event_id": result.get(outcome.EVENT),
        "add_profiles": list(result.get(outcome.ADDED, ())),
        "update_profiles": list(result.get(outcome.UPDATED, ())),
        "delete_profiles": list(result.get(outcome.DELETED, ())),
    }
