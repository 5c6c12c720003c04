"""A model server that speaks OpenAI's protocol and is no model: embeddings by words, distillation by "I ..." sentences.

What it answers follows from what it is asked, so that work done twice gives the same rows.
"""

from __future__ import annotations

import hashlib
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

DIMENSION = 32
_WORD = re.compile(r"[a-z]+|[\u4e00-\u9fff]")
_STATEMENT = re.compile(r"I (?:am|live|work|like|have|own|keep)\b[^.!?]*")


class ModelStub:
    """Listens on 127.0.0.1. `calls` counts requests by path."""

    def __init__(self) -> None:
        self.calls: dict[str, int] = {}
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.port = int(self._server.server_address[1])
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        self.calls[path] = self.calls.get(path, 0) + 1
        if path.endswith("/embeddings"):
            return {"data": [{"index": i, "embedding": _embedding(text)} for i, text in enumerate(body["input"])]}
        content = json.dumps(_distilled(body["messages"][-1]["content"]))
        usage = {"prompt_tokens": 100, "completion_tokens": 20}
        return {"choices": [{"message": {"content": content}, "finish_reason": "stop"}], "usage": usage}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = 65_536  # head and body leave in one piece

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                data = json.dumps(stub.answer(self.path, body)).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: object) -> None:
                return

        return Handler


def _embedding(text: str) -> list[float]:
    """A bag of words, each in the place that its hash gives it."""
    numbers = [0.01] * DIMENSION
    for word in _WORD.findall(text.lower()):
        numbers[hashlib.sha256(word.encode()).digest()[0] % DIMENSION] += 1.0
    return numbers


def _distilled(prompt: str) -> dict[str, Any]:
    """One slot and one gist for each statement of the user, with its own words as evidence."""
    batch = json.loads(prompt[prompt.index("{") : prompt.rindex("}") + 1])
    rows = [
        (message["id"], statement.strip())
        for message in batch["messages"]
        if message["role"] == "user"
        for statement in _STATEMENT.findall(message["text"])
    ]
    cited = [(text, [{"message_id": identifier, "quote": text}]) for identifier, text in rows]
    slots = [
        {
            "action": "add",
            "topic": "basic_info",
            "sub_topic": text.split()[1],
            "content": text,
            "contradicts": "",
            "subject": "user",
            "kind": "fact",
            "valid_from": "",
            "citations": citations,
        }
        for text, citations in cited
    ]
    gists = [{"content": f"said: {text}", "happened_on": "", "citations": citations} for text, citations in cited]
    return {
        "summary": "",
        "slots": slots,
        "items": [],
        "gists": gists,
        "tags": [],
        "mentions": [],
        "flagged_message_ids": [],
    }
