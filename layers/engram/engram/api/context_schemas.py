"""The parameters of the context and of a profile read, described. They are decoded in `engram.context.request`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field

from engram.context.request import MAX_DAYS, MAX_TOKEN_SIZE, MAX_TOPICS
from engram.context.templates import MAX_TEMPLATE_CHARACTERS

Topics = Annotated[list[str], Field(max_length=MAX_TOPICS)]
CHATS = (
    "The present conversation as OpenAI messages. With it, events are chosen by likeness to the last user turns, which "
    "costs one embedding: milliseconds with the local encoder, 50–300 ms and its price with a service."
)
LIMITS = "Rows of single topics, `{topic: number}`; wins over max_subtopic_size for the topics it names."


class ProfileFilters(BaseModel):
    """What may be asked of the profile."""

    model_config = ConfigDict(extra="forbid")

    prefer_topics: Topics = Field(default=[], description="Topics that come first, in this order.")
    only_topics: Topics = Field(default=[], description="If any, no other topic is shown.")
    max_subtopic_size: int | None = Field(default=None, ge=0, le=MAX_TOKEN_SIZE, description="Rows of one topic.")


class ProfileReadQuery(ProfileFilters):
    """`GET /api/v1/users/profile/{user_id}`."""

    topk: int | None = Field(default=None, ge=0, description="Rows at most.")
    topic_limits: str | None = Field(default=None, description="Another name of topic_limits_json.")
    max_token_size: int | None = Field(default=None, ge=0, description="o200k_base tokens of the rendered lines.")
    topic_limits_json: str | None = Field(default=None, description=f"{LIMITS} As JSON.")
    chats_str: str | None = Field(
        default=None,
        description="Keeps rows that bear on this conversation (JSON list of messages). Costs one call of a language "
        "model: 0.5–5 s and the tokens of the profile. Without a model, or if it fails, all rows are given.",
    )


class ContextParameters(ProfileFilters):
    """What a context block may be asked for. Topic names compare in lower case with underscores."""

    max_token_size: int = Field(
        default=1000,
        ge=0,
        le=MAX_TOKEN_SIZE,
        description="o200k_base tokens of the whole text, template included. Never exceeded.",
    )
    profile_event_ratio: float = Field(
        default=0.6, ge=0, le=1, description="Share of max_token_size that is set aside for the profile."
    )
    event_similarity_threshold: float = Field(
        default=0.2, ge=-1, le=1, description="With chats: least cosine of an event."
    )
    time_range_in_days: int = Field(
        default=180, ge=0, le=MAX_DAYS, description="Only events that happened since then, whenever they were told."
    )
    customize_context_prompt: str | None = Field(
        default=None,
        max_length=MAX_TEMPLATE_CHARACTERS,
        description="A template of your own. `{profile_section}` and `{event_section}` are replaced, nothing else is.",
    )
    full_profile_and_only_search_event: bool = Field(
        default=True,
        description="False, with chats, also filters the profile by relevance. The price is one call of a language "
        "model on this request: 0.5–5 s and the tokens of the whole profile. If it fails, or no model is configured, "
        "the whole profile is served and `degraded` names profile_filter.",
    )
    fill_window_with_events: bool = Field(
        default=False, description="Events may also use what the profile left of its share."
    )
    require_event_summary: bool = Field(default=False, description="Only lines of events that have a summary.")


class ContextQuery(ContextParameters):
    """`GET /api/v1/users/context/{user_id}`. Lists are repeated parameters."""

    topic_limits: str | None = Field(default=None, description="Another name of topic_limits_json.")
    topic_limits_json: str | None = Field(default=None, description=f"{LIMITS} As JSON.")
    chats_str: str | None = Field(default=None, description=f"{CHATS} As JSON.")


class ContextBody(ContextParameters):
    """`POST /api/v1/users/context/{user_id}`: the same names; chats and limits may also come as what they are."""

    topic_limits_json: str | None = Field(default=None, description=f"{LIMITS} As JSON.")
    chats_str: str | None = Field(default=None, description=f"{CHATS} As JSON.")
    topic_limits: dict[str, int] | None = Field(default=None, description=LIMITS)
    chats: list[dict[str, Any]] | None = Field(default=None, description=CHATS)
