"""What is sent to a model: instructions that we wrote, data that others wrote, and the form of the answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from pydantic import BaseModel

from engram.prompts import chinese, english


@dataclass(frozen=True, slots=True)
class Prompt:
    """One call.

    Attributes:
        system: our instructions; the same for many calls, so that a provider can cache it.
        user: the data, as JSON: no text inside can end it or look like an instruction of ours.
        answer: the pydantic model of the answer.
        name: of the answer's form, for the protocol.
        max_tokens: of the answer. A quota is reserved for it, so it is kept tight.
    """

    system: str
    user: str
    answer: type[BaseModel]
    name: str
    max_tokens: int
    language: str

    def repair(self, reason: str) -> str:
        """What to say after an answer that could not be used."""
        return filled(texts(self.language).REPAIR, {"reason": reason})


def texts(language: str) -> ModuleType:
    """The texts in `language`; English for a language we have none in."""
    return chinese if language == "zh" else english


def filled(text: str, values: Mapping[str, str]) -> str:
    """`text` with each `{name}` replaced literally and once: braces inside a value mean nothing."""
    parts = [text]
    for name, value in values.items():
        hole = f"{{{name}}}"
        parts = [piece for part in parts for piece in _split(part, hole, value)]
    return "".join(parts)


class _Value(str):
    """A part that is already filled in."""


def _split(part: str, hole: str, value: str) -> list[str]:
    if isinstance(part, _Value) or hole not in part:
        return [part]
    before, after = part.split(hole, 1)
    return [before, _Value(value), after]


def data(value: Any) -> str:
    """JSON as a model reads it: letters of every script as they are, lone surrogates made harmless."""
    return json.dumps(value, ensure_ascii=False, indent=None).encode("utf-8", "replace").decode()
