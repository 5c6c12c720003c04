"""The answers models give, as pydantic models, and the JSON schema that is sent along.

The schema keeps to what every provider's structured output accepts: no defaults, no bounds, no references, every
property required, nothing else allowed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError


class _Row(BaseModel):
    model_config = ConfigDict(extra="ignore", str_strip_whitespace=True)


class CitationRow(_Row):
    message_id: str
    quote: str


class SlotRow(_Row):
    action: Literal["add", "update", "append", "drop"]
    topic: str
    sub_topic: str
    content: str
    contradicts: str = ""
    subject: str = "user"
    kind: Literal["fact", "preference", "instruction", "plan", "relationship"] = "fact"
    valid_from: str = ""
    citations: list[CitationRow]


class ItemRow(_Row):
    kind: Literal["fact", "preference", "instruction", "plan", "relationship"]
    subject: str = "user"
    content: str
    topic: str = ""
    sub_topic: str = ""
    valid_from: str = ""
    citations: list[CitationRow]


class GistRow(_Row):
    content: str
    happened_on: str = ""
    citations: list[CitationRow]


class TagRow(_Row):
    tag: str
    value: str


class DistillationAnswer(_Row):
    """What a model reads out of a batch."""

    summary: str = ""
    slots: list[SlotRow]
    items: list[ItemRow] = Field(default_factory=list)
    gists: list[GistRow]
    tags: list[TagRow] = Field(default_factory=list)
    mentions: list[str] = Field(default_factory=list)
    flagged_message_ids: list[str] = Field(default_factory=list)


class FilterAnswer(_Row):
    """Ids of the notes that matter."""

    ids: list[str]


class ChoiceAnswer(_Row):
    """The id of the chosen candidate, or ""."""

    id: str


class Unusable(Exception):
    """An answer that is not of its form; the argument says why in words that hold nothing of the answer."""


def schema_of(answer: type[BaseModel]) -> dict[str, Any]:
    """The JSON schema of an answer, in the subset that structured outputs share."""
    full = answer.model_json_schema()
    definitions = full.pop("$defs", {})
    plain = _plain(full, definitions)
    assert isinstance(plain, dict)
    return plain


def _plain(node: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(node, list):
        return [_plain(each, definitions) for each in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        return _plain(definitions[node["$ref"].rsplit("/", 1)[-1]], definitions)
    if node.get("type") == "object":
        properties = {name: _plain(each, definitions) for name, each in node["properties"].items()}
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }
    return {
        name: _plain(each, definitions)
        for name, each in node.items()
        if name not in ("title", "default", "description")
    }


def parse(text: str, answer: type[BaseModel]) -> BaseModel:
    """The first object in `text` that has the form, whatever prose, fences or other objects stand around it.

    Raises:
        Unusable: no complete JSON object in it, or none of this form.
    """
    reason = "it holds no complete JSON object"
    for number, found in enumerate(_objects_in(text)):
        try:
            return answer.model_validate(found)
        except ValidationError as error:
            reason = reason if number else f"it does not have the required form at {_places(error, answer)}"
    raise Unusable(reason)


def _places(error: ValidationError, answer: type[BaseModel]) -> str:
    """Where the form is not met, by our own field names: a key of the answer may hold anybody's words."""
    known = set(answer.model_fields)
    places = [str(problem["loc"][0]) for problem in error.errors() if problem["loc"] and problem["loc"][0] in known]
    return ", ".join(dict.fromkeys(places)) or "the top"


def parse_arguments(value: Any, answer: type[BaseModel]) -> BaseModel:
    """The same for a tool call's arguments, which some protocols give as an object and some as text.

    Raises:
        Unusable: likewise.
    """
    return parse(value if isinstance(value, str) else json.dumps(value), answer)


_MAX_STARTS = 20
"""How many opening braces are tried in an answer full of prose."""


def _objects_in(text: str) -> Iterator[dict[str, Any]]:
    decoder = json.JSONDecoder(strict=False)
    position = text.find("{")
    for _ in range(_MAX_STARTS):
        if position < 0:
            return
        try:
            found, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = position + 1
        else:
            if isinstance(found, dict):
                yield found
        position = text.find("{", end)
