"""The distillation prompt: what a batch looks like to a model, and what its answer means to us."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, time, tzinfo
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from engram.domain.models import EventTag, MemoryKind, Message, Role
from engram.extraction.models import (
    Citation,
    Distillation,
    DistillationRequest,
    GistDraft,
    ItemDraft,
    SlotAction,
    SlotChange,
)
from engram.profile.taxonomy import Taxonomy, read_out
from engram.prompts.answers import CitationRow, DistillationAnswer, GistRow, ItemRow, SlotRow
from engram.prompts.prompt import Prompt, data, filled, texts

MAX_ANSWER_TOKENS = 4_096
MAX_WORDS = 40
MAX_MESSAGE_CHARACTERS = 16_000
"""Of one message; an assistant's message is cut at a quarter of it: what it says never becomes a fact."""


def distil_prompt(request: DistillationRequest) -> Prompt:
    """The call for one batch."""
    own = texts(request.language)
    taxonomy = request.taxonomy
    strictness = own.STRICT if taxonomy.strict else own.OPEN
    strictness += (own.VALIDATE if taxonomy.validate else "") + _exceptions(request)
    theme = taxonomy.event_theme_requirement
    system = filled(
        own.DISTIL,
        {
            "max_words": str(MAX_WORDS),
            "strictness": strictness,
            "taxonomy": read_out(taxonomy),
            "tags": _tags(taxonomy) or own.NO_TAGS,
            "theme": filled(own.THEME, {"theme": theme}) if theme else "",
        },
    )
    return Prompt(system, _batch(request), DistillationAnswer, "distillation", MAX_ANSWER_TOKENS, request.language)


def _exceptions(request: DistillationRequest) -> str:
    """Sub-topics that set `validate_value` otherwise than the business's `profile_validate_mode`."""
    taxonomy, own = request.taxonomy, texts(request.language)
    names = [
        f"{topic.name}::{sub.name}"
        for topic in taxonomy.topics
        for sub in topic.sub_topics
        if taxonomy.validates(topic.name, sub.name) != taxonomy.validate
    ]
    sentence = own.ANY_VALUE if taxonomy.validate else own.CHECKED
    return filled(sentence, {"names": ", ".join(names)}) if names else ""


def _tags(taxonomy: Taxonomy) -> str:
    return "\n".join(
        f"- {tag.name}: {tag.description}" if tag.description else f"- {tag.name}" for tag in taxonomy.event_tags
    )


def _batch(request: DistillationRequest) -> str:
    zone = zone_of(request.timezone)
    return data(
        {
            "time_zone": request.timezone,
            "closed_topics": list(request.topic_ids),
            "present_slots": [
                {"topic": slot.topic, "sub_topic": slot.sub_topic, "content": slot.content} for slot in request.slots
            ],
            "messages": [_message(message, zone) for message in request.messages],
        }
    )


def _message(message: Message, zone: tzinfo) -> dict[str, Any]:
    limit = MAX_MESSAGE_CHARACTERS if message.role is Role.USER else MAX_MESSAGE_CHARACTERS // 4
    shown = {
        "id": message.message_id,
        "role": message.role.value,
        "time": message.created_at.astimezone(zone).isoformat(timespec="minutes"),
        "text": message.content[:limit],
    }
    return {**shown, "name": message.name} if message.name else shown


def zone_of(name: str) -> tzinfo:
    """The zone of an IANA name; UTC for a name that is none."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return UTC


def distillation_of(
    answer: DistillationAnswer, request: DistillationRequest, *, tokens_in: int, tokens_out: int
) -> Distillation:
    """A model's answer as a proposal. Nothing is believed here: `extraction.accept` examines every row."""
    zone = zone_of(request.timezone)
    return Distillation(
        slots=tuple(_change(row, zone) for row in answer.slots),
        gists=tuple(_gist(row, request, zone) for row in answer.gists),
        items=tuple(_item(row, zone) for row in answer.items),
        summary=answer.summary,
        tags=tuple(EventTag(tag.tag, tag.value) for tag in answer.tags),
        mentions=tuple(answer.mentions),
        flagged=tuple(answer.flagged_message_ids),
        tokens_in=tokens_in,
        tokens_out=tokens_out,
    )


def _change(row: SlotRow, zone: tzinfo) -> SlotChange:
    return SlotChange(
        SlotAction(row.action),
        row.topic,
        row.sub_topic,
        row.content,
        _citations(row.citations),
        kind=MemoryKind(row.kind),
        subject=row.subject or "user",
        contradicts=row.contradicts,
        valid_from=_moment(row.valid_from, zone),
    )


def _item(row: ItemRow, zone: tzinfo) -> ItemDraft:
    return ItemDraft(
        MemoryKind(row.kind),
        row.content,
        _citations(row.citations),
        subject=row.subject or "user",
        topic=row.topic,
        sub_topic=row.sub_topic,
        valid_from=_moment(row.valid_from, zone),
    )


def _gist(row: GistRow, request: DistillationRequest, zone: tzinfo) -> GistDraft:
    """Undated, it happened when it was said: at the time of the first message it cites, else of the newest."""
    said = {message.message_id: message.created_at for message in request.messages}
    cited = [said[citation.message_id] for citation in row.citations if citation.message_id in said]
    newest = max(said.values(), default=datetime.min.replace(tzinfo=UTC))
    happened = _moment(row.happened_on, zone) or next(iter(cited), newest)
    return GistDraft(row.content, happened, _citations(row.citations))


def _citations(rows: Iterable[CitationRow]) -> tuple[Citation, ...]:
    return tuple(Citation(row.message_id, row.quote) for row in rows)


def _moment(text: str, zone: tzinfo) -> datetime | None:
    """A date as noon there, a date with a time as it is; None for anything else."""
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    if len(text.strip()) == len("2026-01-01"):
        moment = datetime.combine(moment.date(), time(12))
    return moment if moment.tzinfo else moment.replace(tzinfo=zone)
