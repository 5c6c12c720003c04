"""Asking a chat model for an answer of a given form: one call, at most one repair, then failure.

A provider says how its protocol asks for a form; what is asked, how an answer is read and what makes it unusable is
the same for all, and stands here and in `prompts`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel

from engram.domain.errors import ModelFailure
from engram.extraction.models import Distillation, DistillationRequest
from engram.prompts import versions
from engram.prompts.answers import ChoiceAnswer, DistillationAnswer, FilterAnswer, Unusable, parse_arguments
from engram.prompts.choosing import choice_prompt, filter_prompt
from engram.prompts.distil import distil_prompt, distillation_of
from engram.prompts.prompt import Prompt
from engram.text.language import language_of

Answer = TypeVar("Answer", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Turn:
    role: str
    text: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What a provider answered.

    Attributes:
        content: text, or the arguments of a forced tool call.
        cut: the answer reached its token limit.
        refused: the provider or the model declined to answer; asking again is no use.
    """

    content: Any
    tokens_in: int = 0
    tokens_out: int = 0
    cut: bool = False
    refused: bool = False


class Form(Enum):
    """How an answer is held to its form, strictest first."""

    SCHEMA = "schema"
    TOOL = "tool"
    TEXT = "text"


class FormRefused(Exception):
    """The model does not take the request in this form."""


class FormLadder:
    """Models differ in the forms they take. What one refuses is remembered: the ladder is climbed down once."""

    def __init__(self) -> None:
        self._form = Form.SCHEMA

    def climb(self, call: Callable[[Form], Reply]) -> Reply:
        """The reply in the strictest form that is taken.

        Raises:
            ModelFailure: every form is refused, so it is the request and not the form.
        """
        forms = list(Form)
        for form in forms[forms.index(self._form) :]:
            try:
                reply = call(form)
            except FormRefused:
                continue
            self._form = form
            return reply
        raise ModelFailure("the model refuses the request in every form")


class ChatModel(Protocol):
    """One provider's chat call.

    Attributes:
        id: `provider:model`.
    """

    id: str

    def reply(self, prompt: Prompt, turns: Sequence[Turn]) -> Reply:
        """Asks for an answer of `prompt`'s form; `turns` begin with its data.

        Raises:
            Throttled, Unavailable: may pass.
            ModelFailure: the provider refuses this request, whatever form is asked for.
        """


@dataclass(frozen=True, slots=True)
class Usage:
    tokens_in: int = 0
    tokens_out: int = 0

    def plus(self, reply: Reply) -> Usage:
        return replace(self, tokens_in=self.tokens_in + reply.tokens_in, tokens_out=self.tokens_out + reply.tokens_out)


def ask(chat: ChatModel, prompt: Prompt, answer: type[Answer]) -> tuple[Answer, Usage]:
    """The answer to `prompt` and what it cost, a repair included.

    Raises:
        ModelFailure: declined, or unusable even after one repair.
        Unavailable, Throttled: may pass.
    """
    turns = [Turn("user", prompt.user)]
    usage = Usage()
    reason = ""
    for _ in range(2):
        reply = chat.reply(prompt, turns)
        usage = usage.plus(reply)
        if reply.refused:
            raise ModelFailure("the model declined to answer")
        try:
            found = parse_arguments(reply.content, prompt.answer)
            assert isinstance(found, answer)
            return found, usage
        except Unusable as unusable:
            reason = "it was cut off; answer more briefly" if reply.cut else str(unusable)
        shown = reply.content if isinstance(reply.content, str) else "{}"
        turns = [turns[0], Turn("assistant", shown[:_SHOWN_CHARACTERS] or "{}"), Turn("user", prompt.repair(reason))]
    raise ModelFailure(f"the model's answer cannot be used after one repair: {reason}")


_SHOWN_CHARACTERS = 8_000
"""Of a broken answer, shown again with the request to repair it."""


class ChatDistiller:
    """Distiller on a chat model: one structured call per batch."""

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat
        self.id = f"{chat.id}/{versions.DISTIL}"

    def distil(self, request: DistillationRequest) -> Distillation:
        """Raises ModelFailure (unusable answer, after one repair), Throttled or Unavailable (may pass)."""
        answer, usage = ask(self._chat, distil_prompt(request), DistillationAnswer)
        return distillation_of(answer, request, tokens_in=usage.tokens_in, tokens_out=usage.tokens_out)


class ChatProfileFilter:
    """ProfileFilter on a chat model. Notes get short ids in the prompt: fewer tokens, and none to mistype."""

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat

    def choose(self, chats: Sequence[tuple[str, str]], slots: Mapping[str, str]) -> frozenset[str]:
        """Ids of the relevant slots. An id that is not among `slots` is ignored.

        Raises:
            ModelFailure, Unavailable: see `ask`.
        """
        if not slots or not chats:
            return frozenset(slots)
        numbered = {f"n{number}": one for number, one in enumerate(slots, start=1)}
        prompt = filter_prompt(chats, {short: slots[one] for short, one in numbered.items()}, _language(chats[-1][1]))
        answer, _ = ask(self._chat, prompt, FilterAnswer)
        return frozenset(numbered[one] for one in answer.ids if one in numbered)


class ChatChooser:
    """CandidateChooser on a chat model: picks one of the ids it was given, or none."""

    def __init__(self, chat: ChatModel) -> None:
        self._chat = chat

    def choose(self, text: str, mention: str, candidates: Mapping[str, str]) -> str | None:
        """Raises ModelFailure, Unavailable: see `ask`."""
        if not candidates:
            return None
        answer, _ = ask(self._chat, choice_prompt(text, mention, candidates, _language(text)), ChoiceAnswer)
        return answer.id if answer.id in candidates else None


def _language(text: str) -> str:
    return "en" if language_of(text) == "en" else "zh"
