"""What a caller may ask of the context block: names, defaults and ranges, from a query string or a JSON body.

Written by hand and not as a pydantic model: this is the hot path, and it imports nothing it can do without.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from engram.context.budget import Budget
from engram.context.templates import MAX_TEMPLATE_CHARACTERS
from engram.domain.errors import InvalidInput
from engram.profile.truncation import TopicRules

MAX_TOKEN_SIZE = 1_000_000
MAX_DAYS = 36_500
MAX_TOPICS = 200
MAX_NAME_CHARACTERS = 256
MAX_CHATS = 1_000
MAX_CHATS_CHARACTERS = 1_000_000
ROLES = ("user", "assistant", "system", "tool")


@dataclass(frozen=True, slots=True)
class ChatTurn:
    """One turn of the present conversation."""

    role: str
    content: str


@dataclass(frozen=True, slots=True)
class ContextRequest:
    """One request for a block; the defaults are the API's.

    Attributes:
        max_token_size: of the whole rendered text (o200k_base), template included.
        prefer_topics: profile topics that come first, in this order.
        only_topics: if any, no other profile topic is shown.
        max_subtopic_size: profile rows of one topic; `topic_limits` wins over it for the topics it names.
        profile_event_ratio: share of the budget set aside for the profile, 0..1.
        chats: the present conversation. With it events are chosen by likeness to the last user turns, which costs
            an embedding (milliseconds on one machine, 50–300 ms and a fraction of a cent per thousand with a service).
        event_similarity_threshold: least cosine of an event to the chats, -1..1.
        time_range_in_days: only events that happened since then.
        customize_context_prompt: a template of the caller's own, with `{profile_section}` and `{event_section}`.
        full_profile_and_only_search_event: False with chats also filters the profile by relevance, which costs one
            call of a language model (0.5–5 s, tokens of the whole profile). If that fails the whole profile is served.
        fill_window_with_events: events may use what the profile left of its share.
        require_event_summary: only lines of events that have a summary.
    """

    max_token_size: int = 1000
    prefer_topics: tuple[str, ...] = ()
    only_topics: tuple[str, ...] = ()
    max_subtopic_size: int | None = None
    topic_limits: Mapping[str, int] = field(default_factory=dict)
    profile_event_ratio: float = 0.6
    chats: tuple[ChatTurn, ...] = ()
    event_similarity_threshold: float = 0.2
    time_range_in_days: int = 180
    customize_context_prompt: str | None = None
    full_profile_and_only_search_event: bool = True
    fill_window_with_events: bool = False
    require_event_summary: bool = False

    @property
    def budget(self) -> Budget:
        return Budget(self.max_token_size, self.profile_event_ratio, self.fill_window_with_events)

    @property
    def topics(self) -> TopicRules:
        return TopicRules(self.prefer_topics, self.only_topics, self.max_subtopic_size, self.topic_limits)


def from_query(given: Mapping[str, Sequence[str]]) -> ContextRequest:
    """A request from query parameters, each with all its values; of a repeated single value the last counts.

    Raises:
        InvalidInput: unknown name, or a value that cannot be; names the parameter.
    """
    values: dict[str, Any] = {}
    for name, several in given.items():
        field_name, parse = _find(_QUERY, name)
        values[field_name] = parse(name, several if name in _LISTS else several[-1])
    return ContextRequest(**values)


def from_json(body: object) -> ContextRequest:
    """A request from a JSON object with the same names. Chats and limits may also come as what they are.

    Raises:
        InvalidInput: not an object, unknown name, or a value that cannot be; names the parameter.
    """
    if not isinstance(body, Mapping):
        raise InvalidInput("body must be a JSON object", field="body")
    values: dict[str, Any] = {}
    for name, value in body.items():
        field_name, parse = _find(_JSON, name)
        if value is not None:
            values[field_name] = parse(name, value)
    return ContextRequest(**values)


Parse = Callable[[str, Any], Any]


def _find(known: Mapping[str, tuple[str, Parse]], name: str) -> tuple[str, Parse]:
    found = known.get(name)
    if found is None:
        shown = "".join(char if char.isprintable() else "?" for char in name[:64])
        raise InvalidInput(f"unknown parameter {shown}", field=shown)
    return found


def _whole(minimum: int, maximum: int) -> Parse:
    def parse(name: str, value: object) -> int:
        if isinstance(value, str) and value.lstrip("-").isascii() and value.lstrip("-").isdigit() and len(value) < 12:
            value = int(value)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if not isinstance(value, int) or isinstance(value, bool) or not minimum <= value <= maximum:
            raise InvalidInput(f"{name} must be a whole number from {minimum} to {maximum}", field=name)
        return value

    return parse


def _number(minimum: float, maximum: float) -> Parse:
    def parse(name: str, value: object) -> float:
        if isinstance(value, str):
            try:
                value = float(value)
            except ValueError:
                value = math.nan
        if not isinstance(value, int | float) or isinstance(value, bool) or not minimum <= value <= maximum:
            raise InvalidInput(f"{name} must be a number from {minimum:g} to {maximum:g}", field=name)
        return float(value)

    return parse


def _flag(name: str, value: object) -> bool:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        word = value.lower()
        if word in ("true", "1", "yes", "on"):
            return True
        if word in ("false", "0", "no", "off"):
            return False
    raise InvalidInput(f"{name} must be true or false", field=name)


def _names(name: str, value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) and one.strip() for one in value):
        raise InvalidInput(f"{name} must be a list of topic names, none of them empty", field=name)
    if len(value) > MAX_TOPICS or any(len(one) > MAX_NAME_CHARACTERS for one in value):
        rule = f"at most {MAX_TOPICS} names of at most {MAX_NAME_CHARACTERS} characters"
        raise InvalidInput(f"{name} takes {rule}", field=name)
    return tuple(value)


def _template(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise InvalidInput(f"{name} must be text", field=name)
    if len(value) > MAX_TEMPLATE_CHARACTERS:
        raise InvalidInput(f"{name} takes at most {MAX_TEMPLATE_CHARACTERS} characters", field=name)
    return value.encode("utf-8", "replace").decode()


def _limits(name: str, value: object) -> dict[str, int]:
    if not isinstance(value, Mapping) or len(value) > MAX_TOPICS:
        raise InvalidInput(f"{name} must be a JSON object of topic to whole number, at most {MAX_TOPICS}", field=name)
    limit = _whole(0, MAX_TOKEN_SIZE)
    return {str(topic): limit(name, one) for topic, one in value.items()}


def _chats(name: str, value: object) -> tuple[ChatTurn, ...]:
    if not isinstance(value, list | tuple) or len(value) > MAX_CHATS:
        raise InvalidInput(f"{name} must be a JSON list of at most {MAX_CHATS} messages", field=name)
    turns = tuple(_turn(name, one) for one in value)
    if sum(len(turn.content) for turn in turns) > MAX_CHATS_CHARACTERS:
        raise InvalidInput(f"{name} takes at most {MAX_CHATS_CHARACTERS} characters", field=name)
    return turns


def _turn(name: str, value: object) -> ChatTurn:
    role = value.get("role") if isinstance(value, Mapping) else None
    content = value.get("content") if isinstance(value, Mapping) else None
    if role not in ROLES or not isinstance(content, str):
        raise InvalidInput(f"{name} must hold messages with a role ({', '.join(ROLES)}) and a content", field=name)
    return ChatTurn(role, content)


def _json_text(parse: Parse) -> Parse:
    def parse_text(name: str, value: object) -> Any:
        if not isinstance(value, str):
            raise InvalidInput(f"{name} must be JSON as text", field=name)
        if not value.strip():
            return parse(name, {} if parse is _limits else [])
        try:
            decoded = json.loads(value, parse_constant=_no_constant)
        except (ValueError, RecursionError):
            raise InvalidInput(f"{name} must be valid JSON", field=name) from None
        return parse(name, decoded)

    return parse_text


def _no_constant(name: str) -> Any:
    raise ValueError(name)


_LISTS = frozenset({"prefer_topics", "only_topics"})
_QUERY: Mapping[str, tuple[str, Parse]] = {
    "max_token_size": ("max_token_size", _whole(0, MAX_TOKEN_SIZE)),
    "prefer_topics": ("prefer_topics", _names),
    "only_topics": ("only_topics", _names),
    "max_subtopic_size": ("max_subtopic_size", _whole(0, MAX_TOKEN_SIZE)),
    "topic_limits_json": ("topic_limits", _json_text(_limits)),
    "topic_limits": ("topic_limits", _json_text(_limits)),  # Memobase's client for TypeScript spells it so
    "profile_event_ratio": ("profile_event_ratio", _number(0, 1)),
    "chats_str": ("chats", _json_text(_chats)),
    "event_similarity_threshold": ("event_similarity_threshold", _number(-1, 1)),
    "time_range_in_days": ("time_range_in_days", _whole(0, MAX_DAYS)),
    "customize_context_prompt": ("customize_context_prompt", _template),
    "full_profile_and_only_search_event": ("full_profile_and_only_search_event", _flag),
    "fill_window_with_events": ("fill_window_with_events", _flag),
    "require_event_summary": ("require_event_summary", _flag),
}
_JSON: Mapping[str, tuple[str, Parse]] = {
    **_QUERY,
    "chats": ("chats", _chats),
    "topic_limits": ("topic_limits", _limits),
}
