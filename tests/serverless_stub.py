"""A search collection as OpenSearch Serverless keeps them: it gives ids itself, and knows no refresh, no routing,
no delete by query and no shards. Just enough of the query language for our adapter, strict about the rest.
"""

from __future__ import annotations

import fnmatch
import json
import math
import operator
import threading
import uuid
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

Source = dict[str, Any]


class Refused(Exception):
    """What the service answers to something it does not offer."""

    def __init__(self, status: int, kind: str) -> None:
        super().__init__(kind)
        self.status, self.kind = status, kind


class ServerlessStub:
    """Listens on 127.0.0.1.

    Attributes:
        lag: while True, what is written is not found; `catch_up` makes it so.
        requests: method, path and headers of each request.
    """

    def __init__(self) -> None:
        self.lag = False
        self.requests: list[tuple[str, str, Mapping[str, str], bytes]] = []
        self._indexes: dict[str, Source] = {}
        self._aliases: dict[str, str] = {}
        self._rows: dict[str, dict[str, Source]] = {}
        self._found: dict[str, dict[str, Source]] = {}
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def catch_up(self) -> None:
        self._found = {index: dict(rows) for index, rows in self._rows.items()}

    def forget_all(self) -> None:
        """As new."""
        with self._lock:
            for held in (self._indexes, self._aliases, self._rows, self._found):
                held.clear()
            self.requests.clear()

    def copies(self) -> list[Source]:
        return [row for rows in self._rows.values() for row in rows.values()]

    # Requests ---------------------------------------------------------------------------------------

    def answer(self, method: str, target: str, headers: Mapping[str, str], body: bytes) -> tuple[int, Any]:
        url = urlsplit(target)
        parts = [unquote(part) for part in url.path.split("/") if part]
        options = dict(parse_qsl(url.query))
        with self._lock:
            self.requests.append((method, target, headers, body))
            try:
                if "refresh" in options or "routing" in options:
                    raise Refused(400, "illegal_argument_exception")
                return 200, self._dispatch(method, parts, body)
            except Refused as refused:
                return refused.status, {
                    "error": {"type": refused.kind, "reason": refused.kind},
                    "status": refused.status,
                }

    def _dispatch(self, method: str, parts: list[str], body: bytes) -> Any:
        match (method, parts):
            case ("PUT", [index]):
                return self._create(index, json.loads(body))
            case ("GET", [pattern, "_mapping"]):
                return self._mapping(pattern)
            case ("PUT", [index, "_alias", alias]):
                self._aliases[alias] = index
                return {"acknowledged": True}
            case ("POST", ["_aliases"]):
                return self._move(json.loads(body))
            case ("POST", ["_bulk"]):
                return self._bulk(body)
            case ("POST", ["_msearch"]):
                lines = [json.loads(line) for line in body.splitlines()]
                return {
                    "responses": [self._search(h["index"], b, h) for h, b in zip(lines[::2], lines[1::2], strict=True)]
                }
            case ("POST", [index, "_search"]):
                return self._search(index, json.loads(body), {})
            case ("POST", [index, "_count"]):
                return {"count": len(self._matching(index, json.loads(body)["query"]))}
        raise Refused(404, "not_offered")

    def _create(self, index: str, body: Source) -> Source:
        if index in self._indexes:
            raise Refused(400, "resource_already_exists_exception")
        settings = body["settings"]["index"]
        if {"number_of_shards", "number_of_replicas", "gc_deletes", "refresh_interval"} & settings.keys():
            raise Refused(400, "illegal_argument_exception")
        embedding = body["mappings"]["properties"].get("embedding")
        if embedding and embedding["method"]["engine"] != "faiss":
            raise Refused(400, "illegal_argument_exception")
        self._indexes[index] = body["mappings"]
        self._rows[index], self._found[index] = {}, {}
        return {"acknowledged": True}

    def _mapping(self, pattern: str) -> Source:
        pattern = self._aliases.get(pattern, pattern)
        found = {name: {"mappings": one} for name, one in self._indexes.items() if fnmatch.fnmatch(name, pattern)}
        if not found and "*" not in pattern:
            raise Refused(404, "index_not_found_exception")
        return found

    def _move(self, body: Source) -> Source:
        for action in body["actions"]:
            if "add" in action:
                self._aliases[action["add"]["alias"]] = action["add"]["index"]
            else:
                self._aliases.pop(action["remove"]["alias"], None)
        return {"acknowledged": True}

    def _bulk(self, body: bytes) -> Source:
        lines = iter(body.splitlines())
        items = []
        for line in lines:
            ((name, address),) = json.loads(line).items()
            allowed = {"index": {"_index"}, "delete": {"_index", "_id"}}.get(name, set())
            if not address.keys() <= allowed:
                raise Refused(400, "document_id_not_supported")
            rows = self._rows[address["_index"]]
            if name == "index":
                rows[uuid.uuid4().hex] = self._strict(address["_index"], json.loads(next(lines)))
                items.append({"index": {"status": 201}})
            else:
                items.append({"delete": {"status": 200 if rows.pop(address["_id"], None) else 404}})
        if not self.lag:
            self.catch_up()
        return {"errors": any(item.get("delete", {}).get("status") == 404 for item in items), "items": items}

    def _strict(self, index: str, source: Source) -> Source:
        unknown = source.keys() - self._indexes[index]["properties"].keys()
        if unknown:
            raise Refused(400, "strict_dynamic_mapping_exception")
        return source

    # Queries ----------------------------------------------------------------------------------------

    def _search(self, index: str, body: Source, header: Source) -> Source:
        if header.keys() - {"index"}:
            raise Refused(400, "illegal_argument_exception")
        scored = self._matching(index, body["query"])
        rows = [{"_id": key, "_score": score, "_source": row} for key, (score, row) in scored.items()]
        if "sort" in body:
            fields = [next(iter(one)) for one in body["sort"]]
            for row in rows:
                row["sort"] = [row["_source"][field] for field in fields]
            rows = sorted(
                (row for row in rows if row["sort"] > body.get("search_after", [])), key=lambda row: row["sort"]
            )
        else:
            rows.sort(key=lambda row: -row["_score"])
        return {"timed_out": False, "_shards": {"failed": 0}, "hits": {"hits": rows[: body["size"]]}}

    def _matching(self, index: str, query: Source) -> dict[str, tuple[float, Source]]:
        if index not in self._found:
            raise Refused(404, "index_not_found_exception")
        if "knn" in query:
            return self._nearest(index, query["knn"]["embedding"])
        scored = {key: (_score(query, row), row) for key, row in self._found[index].items()}
        return {key: one for key, one in scored.items() if one[0] is not None}  # type: ignore[misc]

    def _nearest(self, index: str, clause: Source) -> dict[str, tuple[float, Source]]:
        allowed = [
            (key, row)
            for key, row in self._found[index].items()
            if "embedding" in row and _score(clause["filter"], row) is not None
        ]
        vector = clause["vector"]
        products = [(sum(map(operator.mul, vector, row["embedding"])), key, row) for key, row in allowed]
        products.sort(key=lambda one: -one[0])
        return {key: (1 + p if p >= 0 else 1 / (1 - p), row) for p, key, row in products[: clause["k"]]}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = 65_536  # head and body leave in one piece

            def _serve(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                status, answer = stub.answer(self.command, self.path, dict(self.headers.items()), body)
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_PUT = do_POST = do_HEAD = do_DELETE = _serve  # noqa: N815 - names of http.server

            def log_message(self, *_: object) -> None:
                return

        return Handler


def _score(query: Source, row: Source) -> float | None:
    """None where the row does not match; only what our adapter sends is understood."""
    ((kind, clause),) = query.items()
    match kind:
        case "bool":
            if clause.keys() - {"must", "filter", "must_not"}:
                raise Refused(400, "parsing_exception")
            if any(_score(one, row) is None for one in clause.get("filter", [])):
                return None
            if any(_score(one, row) is not None for one in clause.get("must_not", [])):
                return None
            scores = [_score(one, row) for one in clause.get("must", [])]
            return None if None in scores else sum(scores, 0.0)  # type: ignore[arg-type]
        case "term" | "terms":
            ((field, wanted),) = clause.items()
            held = row[field] if isinstance(row[field], list) else [row[field]]
            return 0.0 if set(held) & set(wanted if kind == "terms" else [wanted]) else None
        case "range":
            ((field, limits),) = clause.items()
            inside = limits.get("gte", -math.inf) <= row[field] < limits.get("lt", math.inf)
            return 0.0 if inside else None
        case "match":
            ((field, wanted),) = clause.items()
            common = set(row[field].split()) & set(wanted["query"].split())
            return float(len(common)) if common else None
    raise Refused(400, "parsing_exception")
