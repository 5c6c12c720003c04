"""Amazon Bedrock: distillation and choices by Converse, embeddings by InvokeModel.

A model is held to its answer's form by a JSON schema, where it has none by a forced tool, else by the prompt alone.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from engram.adapters.aws import error_code, translated
from engram.adapters.chat import ChatDistiller, Form, FormLadder, FormRefused, Reply, Turn
from engram.adapters.vectors import sendable, unit_vector
from engram.domain.errors import ModelFailure, Throttled, Unavailable
from engram.ports import Purpose
from engram.prompts.answers import schema_of
from engram.prompts.prompt import Prompt

_COHERE_BATCH = 96
_COHERE_CHARACTERS = 2_048
_NOT_READY = frozenset({"ModelNotReadyException", "ServiceQuotaExceededException"})
_FAILED_INSIDE = frozenset({"ModelTimeoutException", "ModelErrorException"})
_DECLINED = frozenset({"content_filtered", "guardrail_intervened"})


class BedrockChat:
    """ChatModel on Converse.

    Args:
        client: makes or returns a `bedrock-runtime` client; its timeouts and attempts bound a call.
        model: model id or inference profile.
    """

    def __init__(self, *, client: Callable[[], Any], model: str) -> None:
        self._client = client
        self._model = model
        self._ladder = FormLadder()
        self.id = f"bedrock:{model}"

    def reply(self, prompt: Prompt, turns: Sequence[Turn]) -> Reply:
        """See `ChatModel.reply`."""
        return self._ladder.climb(lambda form: self._converse(prompt, turns, form))

    def _converse(self, prompt: Prompt, turns: Sequence[Turn], form: Form) -> Reply:
        from botocore.exceptions import ClientError

        call = {
            "modelId": self._model,
            "system": [{"text": prompt.system}],
            "messages": [{"role": turn.role, "content": [{"text": turn.text}]} for turn in turns],
            "inferenceConfig": {"maxTokens": prompt.max_tokens, "temperature": 0.0},
            **_held_to(form, prompt),
        }
        with translated("bedrock"):
            try:
                answer = self._client().converse(**call)
            except ClientError as error:
                _raise_own(error)
                raise
        return _read(answer)


def _held_to(form: Form, prompt: Prompt) -> dict[str, Any]:
    if form is Form.TEXT:
        return {}
    schema = schema_of(prompt.answer)
    if form is Form.SCHEMA:
        json_schema = {"name": prompt.name, "schema": json.dumps(schema)}
        return {"outputConfig": {"textFormat": {"type": "json_schema", "structure": {"jsonSchema": json_schema}}}}
    tool = {"name": prompt.name, "description": "Gives the answer.", "inputSchema": {"json": schema}}
    return {"toolConfig": {"tools": [{"toolSpec": tool}], "toolChoice": {"tool": {"name": prompt.name}}}}


def _raise_own(error: Exception) -> None:
    """What only this service says; the rest is left to the translation that all AWS adapters share."""
    code = error_code(error)
    if code == "ValidationException":
        raise FormRefused from None
    if code in _NOT_READY:
        raise Throttled(f"bedrock asks to come back later ({code})") from None
    if code in _FAILED_INSIDE:
        raise Unavailable(f"the model failed ({code})") from None


def _read(answer: dict[str, Any]) -> Reply:
    usage = answer.get("usage") or {}
    stop = answer.get("stopReason", "")
    blocks = ((answer.get("output") or {}).get("message") or {}).get("content") or []
    tools = [block["toolUse"].get("input") for block in blocks if "toolUse" in block]
    text = "".join(block["text"] for block in blocks if "text" in block)
    return Reply(
        tools[0] if tools else text,
        tokens_in=int(usage.get("inputTokens", 0)),
        tokens_out=int(usage.get("outputTokens", 0)),
        cut=stop == "max_tokens",
        refused=stop in _DECLINED,
    )


class BedrockDistiller(ChatDistiller):
    """Distiller on Bedrock."""

    def __init__(self, *, client: Callable[[], Any], model: str) -> None:
        super().__init__(BedrockChat(client=client, model=model))


class BedrockEmbedder:
    """Embedder on Bedrock: Cohere's models in batches of 96 texts, Titan's one text a call."""

    def __init__(self, *, client: Callable[[], Any], model: str, dimension: int) -> None:
        self._client = client
        self._model = model
        self.dimension = dimension
        self.id = f"bedrock:{model}@{dimension}"

    def embed(self, texts: Sequence[str], purpose: Purpose) -> list[bytes]:
        """See `Embedder.embed`.

        Raises:
            Unavailable, Throttled: may pass.
            ModelFailure: another dimension than configured, or a request this model does not take.
        """
        vectors = [b""] * len(texts)
        places = [place for place, text in enumerate(texts) if text.strip()]
        step = _COHERE_BATCH if "cohere" in self._model else 1
        for start in range(0, len(places), step):
            chosen = places[start : start + step]
            found = self._batch([sendable(texts[place]) for place in chosen], purpose)
            if len(found) != len(chosen):
                raise ModelFailure("the embedder answered another number of vectors than it was given texts")
            for place, numbers in zip(chosen, found, strict=True):
                vectors[place] = unit_vector(numbers, self.dimension)
        return vectors

    def _batch(self, texts: list[str], purpose: Purpose) -> list[list[float]]:
        if "cohere" in self._model:
            answer = self._invoke(self._cohere(texts, purpose))
            embeddings = answer.get("embeddings")
            found = embeddings.get("float") if isinstance(embeddings, dict) else embeddings
        else:
            answer = self._invoke({"inputText": texts[0], "dimensions": self.dimension, "normalize": True})
            found = [answer.get("embedding")]
        if not isinstance(found, list) or not all(isinstance(numbers, list) for numbers in found):
            raise ModelFailure("the embedder's answer holds no embeddings")
        return found

    def _cohere(self, texts: list[str], purpose: Purpose) -> dict[str, Any]:
        body: dict[str, Any] = {
            "texts": [text[:_COHERE_CHARACTERS] for text in texts],
            "input_type": "search_query" if purpose == "query" else "search_document",
            "embedding_types": ["float"],
        }
        if "v4" in self._model:
            return {**body, "output_dimension": self.dimension, "truncate": "RIGHT"}
        return {**body, "truncate": "END"}

    def _invoke(self, body: dict[str, Any]) -> dict[str, Any]:
        from botocore.exceptions import ClientError

        with translated("bedrock"):
            try:
                answer = self._client().invoke_model(
                    modelId=self._model,
                    body=json.dumps(body),
                    accept="application/json",
                    contentType="application/json",
                )
                read = json.loads(answer["body"].read())
            except ClientError as error:
                try:
                    _raise_own(error)
                except FormRefused:
                    raise ModelFailure("the embedder does not take the request") from None
                raise
            except ValueError:
                raise ModelFailure("the embedder's answer is not JSON") from None
        return read if isinstance(read, dict) else {}
