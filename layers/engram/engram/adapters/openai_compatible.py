"""Servers that speak OpenAI's protocol (OpenAI, Ollama, vLLM, llama.cpp, …): distillation, choices and embeddings.

What such servers support differs: JSON schema first, then a forced function, then plain JSON; and embeddings with or
without a wanted dimension. What a server refuses is remembered.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from engram.adapters.chat import ChatDistiller, Form, FormLadder, FormRefused, Reply, Turn
from engram.adapters.json_http import JsonClient, Limits, Refused
from engram.adapters.vectors import sendable, unit_vector
from engram.domain.errors import ModelFailure
from engram.ports import Purpose
from engram.prompts.answers import schema_of
from engram.prompts.prompt import Prompt

_BATCH = 64


class OpenAICompatibleChat:
    """ChatModel on `/chat/completions`."""

    def __init__(
        self,
        *,
        base_url: str,
        api_key: Callable[[], str],
        model: str,
        limits: Limits = Limits(),  # noqa: B008  (frozen)
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._http = JsonClient(base_url=base_url, api_key=api_key, limits=limits, sleep=sleep)
        self._model = model
        self._ladder = FormLadder()
        self.id = f"openai:{model}"

    def reply(self, prompt: Prompt, turns: Sequence[Turn]) -> Reply:
        """See `ChatModel.reply`."""
        return self._ladder.climb(lambda form: self._complete(self._call(prompt, turns, form)))

    def _complete(self, call: dict[str, Any]) -> Reply:
        try:
            return _read(self._http.post("chat/completions", call))
        except Refused:
            raise FormRefused from None

    def _call(self, prompt: Prompt, turns: Sequence[Turn], form: Form) -> dict[str, Any]:
        return {
            "model": self._model,
            "messages": [
                {"role": "system", "content": prompt.system},
                *({"role": turn.role, "content": turn.text} for turn in turns),
            ],
            "max_tokens": prompt.max_tokens,
            "temperature": 0,
            **_held_to(form, prompt),
        }


def _held_to(form: Form, prompt: Prompt) -> dict[str, Any]:
    if form is Form.TEXT:
        return {}
    schema = schema_of(prompt.answer)
    if form is Form.SCHEMA:
        json_schema = {"name": prompt.name, "strict": True, "schema": schema}
        return {"response_format": {"type": "json_schema", "json_schema": json_schema}}
    function = {"name": prompt.name, "description": "Gives the answer.", "parameters": schema}
    return {
        "tools": [{"type": "function", "function": function}],
        "tool_choice": {"type": "function", "function": {"name": prompt.name}},
    }


def _read(answer: dict[str, Any]) -> Reply:
    """Raises ModelFailure: not an answer of this protocol."""
    try:
        choice = answer["choices"][0]
        message = choice["message"]
        calls = message.get("tool_calls") or []
        content = calls[0]["function"]["arguments"] if calls else _text(message.get("content"))
        usage = answer.get("usage") or {}
        return Reply(
            content,
            tokens_in=int(usage.get("prompt_tokens") or 0),
            tokens_out=int(usage.get("completion_tokens") or 0),
            cut=choice.get("finish_reason") == "length",
            refused=bool(message.get("refusal")) or choice.get("finish_reason") == "content_filter",
        )
    except (KeyError, IndexError, TypeError, AttributeError, ValueError):
        raise ModelFailure("the model server's answer is not a chat completion") from None


def _text(content: Any) -> str:
    """Some servers answer a list of parts."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


class OpenAICompatibleDistiller(ChatDistiller):
    """Distiller on such a server."""

    def __init__(
        self,
        *,
        base_url: str,
        api_key: Callable[[], str],
        model: str,
        limits: Limits = Limits(),  # noqa: B008  (frozen)
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        super().__init__(
            OpenAICompatibleChat(base_url=base_url, api_key=api_key, model=model, limits=limits, sleep=sleep)
        )


class OpenAICompatibleEmbedder:
    """Embedder on `/embeddings`."""

    def __init__(
        self,
        *,
        base_url: str,
        api_key: Callable[[], str],
        model: str,
        dimension: int,
        limits: Limits = Limits(read=10.0, total=20.0),  # noqa: B008  (frozen)
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._http = JsonClient(base_url=base_url, api_key=api_key, limits=limits, sleep=sleep)
        self._model = model
        self._says_dimension = True
        self.dimension = dimension
        self.id = f"openai:{model}@{dimension}"

    def embed(self, texts: Sequence[str], purpose: Purpose) -> list[bytes]:
        """See `Embedder.embed`. The protocol knows no purpose: documents and queries are embedded alike.

        Raises:
            Unavailable, Throttled: may pass.
            ModelFailure: another dimension than configured, or not an answer of this protocol.
        """
        vectors = [b""] * len(texts)
        places = [place for place, text in enumerate(texts) if text.strip()]
        for start in range(0, len(places), _BATCH):
            chosen = places[start : start + _BATCH]
            for place, numbers in zip(chosen, self._batch([sendable(texts[one]) for one in chosen]), strict=True):
                vectors[place] = unit_vector(numbers, self.dimension)
        return vectors

    def _batch(self, texts: list[str]) -> list[list[float]]:
        body: dict[str, Any] = {"model": self._model, "input": texts, "encoding_format": "float"}
        try:
            wanted = {"dimensions": self.dimension} if self._says_dimension else {}
            answer = self._http.post("embeddings", {**body, **wanted})
        except Refused:
            if not self._says_dimension:
                raise ModelFailure("the model server refuses to embed") from None
            self._says_dimension = False
            return self._batch(texts)
        try:
            rows = sorted(answer["data"], key=lambda row: int(row["index"]))
            found = [row["embedding"] for row in rows]
        except (KeyError, TypeError, ValueError):
            raise ModelFailure("the model server's answer holds no embeddings") from None
        if len(found) != len(texts) or not all(isinstance(numbers, list) for numbers in found):
            raise ModelFailure("the model server answered another number of embeddings than it was given texts")
        return found
