"""A model server that misbehaves on order. It speaks both protocols: OpenAI's, and Bedrock's Converse and InvokeModel.

A test puts behaviours into `script`; each request takes the next one, and the last one stays.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Says:
    """Answers with this text (or a value, as JSON).

    Attributes:
        cut: the token limit was reached.
        declined: the model will not answer.
        after: seconds before the first byte.
        dripping: seconds between two bytes.
    """

    content: Any
    cut: bool = False
    declined: bool = False
    after: float = 0.0
    dripping: float = 0.0

    @property
    def text(self) -> str:
        return self.content if isinstance(self.content, str) else json.dumps(self.content, ensure_ascii=False)


@dataclass(frozen=True)
class Fails:
    """Answers with a status. `code` is what Bedrock would call it."""

    status: int
    code: str = "InternalServerException"
    retry_after: str = ""


@dataclass(frozen=True)
class Raw:
    """Answers 200 with these bytes, whatever the protocol."""

    body: bytes


@dataclass(frozen=True)
class HangsUp:
    """Closes the connection without an answer."""


@dataclass(frozen=True)
class Embeds:
    """Answers vectors of this dimension: the n-th text points along axis n."""

    dimension: int
    missing: int = 0


@dataclass
class Received:
    path: str
    body: dict[str, Any]
    headers: dict[str, str]

    @property
    def form(self) -> str:
        """How the answer was asked to be held to its form."""
        if "response_format" in self.body or "outputConfig" in self.body:
            return "schema"
        return "tool" if "tools" in self.body or "toolConfig" in self.body else "text"

    @property
    def turns(self) -> list[str]:
        """The texts of the conversation, without the system's."""
        if "converse" in self.path:
            return [block["text"] for message in self.body["messages"] for block in message["content"]]
        return [message["content"] for message in self.body["messages"] if message["role"] != "system"]


@dataclass
class ModelServer:
    """Attributes:
    script: behaviours to come.
    refuses: forms that are answered with 400.
    requests: what came in.
    """

    script: list[Any] = field(default_factory=list)
    refuses: set[str] = field(default_factory=set)
    requests: list[Received] = field(default_factory=list)
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def next(self) -> Any:
        return self.script.pop(0) if len(self.script) > 1 else self.script[0]


@contextmanager
def model_server() -> Iterator[ModelServer]:
    """A server on a free port of 127.0.0.1, stopped at the end."""
    state = ModelServer()

    class Handler(_Handler):
        server_state = state

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=5)


class _Handler(BaseHTTPRequestHandler):
    server_state: ModelServer
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""

    def do_POST(self) -> None:
        state = self.server_state
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        received = Received(self.path, body, {name.lower(): value for name, value in self.headers.items()})
        state.requests.append(received)
        if received.form in state.refuses:
            self._fail(Fails(400, "ValidationException"))
            return
        behaviour = state.next()
        if isinstance(behaviour, HangsUp):
            self.close_connection = True
            self.connection.close()
        elif isinstance(behaviour, Fails):
            self._fail(behaviour)
        elif isinstance(behaviour, Raw):
            self._send(200, behaviour.body)
        elif isinstance(behaviour, Embeds):
            self._send(200, json.dumps(_embeddings(behaviour, received)).encode())
        else:
            time.sleep(behaviour.after)
            answer = _converse(behaviour, received) if "converse" in self.path else _completion(behaviour, received)
            self._send(200, json.dumps(answer).encode(), dripping=behaviour.dripping)

    def _fail(self, failure: Fails) -> None:
        body = json.dumps({"message": "the server says why", "error": {"message": "the server says why"}}).encode()
        extra = {"x-amzn-ErrorType": failure.code}
        self._send(
            failure.status, body, {**extra, **({"retry-after": failure.retry_after} if failure.retry_after else {})}
        )

    def _send(self, status: int, body: bytes, extra: dict[str, str] | None = None, *, dripping: float = 0.0) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        for name, value in (extra or {}).items():
            self.send_header(name, value)
        self.end_headers()
        try:
            if not dripping:
                self.wfile.write(body)
                return
            for byte in body:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                time.sleep(dripping)
        except OSError:
            self.close_connection = True


def _completion(behaviour: Says, received: Received) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": behaviour.text}
    if received.form == "tool":
        call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": behaviour.text}}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    if behaviour.declined:
        message = {"role": "assistant", "content": None, "refusal": "no"}
    reason = "length" if behaviour.cut else "stop"
    usage = {"prompt_tokens": 100, "completion_tokens": 20}
    return {"id": "x", "choices": [{"index": 0, "message": message, "finish_reason": reason}], "usage": usage}


def _converse(behaviour: Says, received: Received) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"text": behaviour.text}]
    if received.form == "tool":
        try:
            arguments = json.loads(behaviour.text)
        except ValueError:
            arguments = None
        if isinstance(arguments, dict):
            content = [{"toolUse": {"toolUseId": "t1", "name": "f", "input": arguments}}]
    stop = "max_tokens" if behaviour.cut else "content_filtered" if behaviour.declined else "end_turn"
    usage = {"inputTokens": 100, "outputTokens": 20, "totalTokens": 120}
    message = {"role": "assistant", "content": content}
    return {"output": {"message": message}, "stopReason": stop, "usage": usage, "metrics": {"latencyMs": 1}}


def _embeddings(behaviour: Embeds, received: Received) -> dict[str, Any]:
    def vector(place: int) -> list[float]:
        return [3.0 if axis == place % behaviour.dimension else 0.0 for axis in range(behaviour.dimension)]

    if "inputText" in received.body:
        return {"embedding": vector(len(received.body["inputText"])), "inputTextTokenCount": 3}
    texts = received.body.get("texts") or received.body.get("input")
    vectors = [vector(place) for place in range(len(texts) - behaviour.missing)]
    if "texts" in received.body:
        return {"embeddings": {"float": vectors}, "response_type": "embeddings_by_type"}
    return {"data": [{"index": place, "embedding": one} for place, one in reversed(list(enumerate(vectors)))]}
