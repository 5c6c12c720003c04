"""One installation on the AWS adapters with a proxy before each dependency, so that each can be broken at each call.

The clock stands still and ids are derived, so two runs of the same story end in the same state, whatever failed on
the way: that is what a run with a fault is compared with.
"""

from __future__ import annotations

import contextlib
import json
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from engram import bootstrap
from engram.adapters.aws import LazyClient
from engram.adapters.circuit import CircuitBreaker
from engram.adapters.dynamodb import INDEX_NAME, DynamoTable
from engram.adapters.json_http import Limits
from engram.adapters.openai_compatible import OpenAICompatibleDistiller, OpenAICompatibleEmbedder
from engram.adapters.opensearch import OpenSearchIndex
from engram.adapters.opensearch_client import SearchClient
from engram.adapters.sqs import SqsQueue
from engram.adapters.valkey import ValkeyCache
from engram.bootstrap import Services
from engram.domain.scope import Scope
from engram.settings import Settings
from infra.local.events import queue_event
from infra.local.sqs_source import SqsMessage
from tests.builders import MovableClock
from tests.embedded import Answer, Embedded, function_module
from tests.model_stub import DIMENSION, ModelStub
from tests.proxies import Fault, Proxy
from tests.serverless_stub import ServerlessStub
from tests.servers import EMULATOR_CREDENTIALS, aws_emulator, valkey

DEPENDENCIES = ("dynamodb", "sqs", "opensearch", "valkey", "embedder", "model")
FAULTS = (Fault.CUT, Fault.SILENT, Fault.SLOW, Fault.GARBAGE)
CALLS = ("ingest", "work", "recall", "context", "delete")

DEADLINE_MS = 400
SLOW_SECONDS = 1.0
ANN = Scope("acme", "ann")

_AWS: dict[str, Any] = {"region": "us-east-1", "connect_timeout": 0.3, "read_timeout": 0.5, "attempts": 2}
_LIMITS = Limits(connect=0.3, read=0.3, total=0.3)
_DELIVERIES = 30
"""More than a story needs: work that fails for ever must not keep a test for ever."""
_KEY_ATTRIBUTES = ("pk", "sk", "ipk", "isk")


@dataclass(frozen=True)
class Outcome:
    """What a call answered while something was broken."""

    status: int
    seconds: float
    answer: Answer | None = None

    @property
    def words(self) -> str:
        """In a few words, for a table."""
        if self.answer is None:
            return "done" if self.status == 200 else "comes again"
        body = self.answer.json if self.answer.text else {}
        degraded = body.get("execution_status") == "DEGRADED" or (body.get("data") or {}).get("degraded")
        code = f" {body['code']}" if self.status >= 400 and "code" in body else ""
        return f"{self.status}{' degraded' if degraded else ''}{code}"


class FaultBed:
    """The servers and the proxies. Shared by all installations; each of these has its own table, queue and index."""

    def __init__(self, aws: str, cache_port: int) -> None:
        aws_port = int(aws.rsplit(":", 1)[1])
        self.aws = aws
        self.search = ServerlessStub()
        self.model = ModelStub()
        targets = {
            "dynamodb": aws_port,
            "sqs": aws_port,
            "opensearch": self.search.port,
            "valkey": cache_port,
            "embedder": self.model.port,
            "model": self.model.port,
        }
        self.proxies = {name: Proxy(port, slow_seconds=SLOW_SECONDS) for name, port in targets.items()}

    def url(self, dependency: str) -> str:
        return f"http://127.0.0.1:{self.proxies[dependency].port}"

    def direct(self, service: str) -> Any:
        """A client that goes around the proxies, for the test itself."""
        return LazyClient(service, region=_AWS["region"], endpoint_url=self.aws, read_timeout=20.0)()

    def close(self) -> None:
        for proxy in self.proxies.values():
            proxy.close()
        self.search.close()
        self.model.close()


@contextlib.contextmanager
def fault_bed(folder: Path) -> Iterator[FaultBed]:
    """Starts everything, and stops it."""
    cache = valkey(folder).start()
    try:
        with pytest.MonkeyPatch.context() as patch, aws_emulator(folder) as aws:
            for name, value in EMULATOR_CREDENTIALS.items():
                patch.setenv(name, value)
            bed = FaultBed(aws, cache.port)
            yield bed
            bed.close()
    finally:
        cache.kill()


class BrokenInstallation(Embedded):
    """An installation on the bed. `story` is what happens to its user; `state` is what is left of it."""

    def __init__(self, bed: FaultBed) -> None:
        self.bed = bed
        self.clock = MovableClock()
        self.business = ANN.business_id
        self._name = uuid.uuid4().hex[:12]
        self._sqs, self._dynamodb = bed.direct("sqs"), bed.direct("dynamodb")
        self._queue_url = self._make_queue()
        self._make_table()
        self.services = Services(self._settings(), clock=self.clock)
        self.services.__dict__.update(self._parts())

    # What can be done while something is broken -------------------------------------------------------

    def ingest(self, number: int, text: str, *, flush: bool = False) -> Outcome:
        body = {
            "request_id": f"request-{number}",
            "user_id": ANN.user_id,
            "session_id": "s1",
            "messages": [{"role": "user", "content": text, "message_id": f"m{number}"}],
            "flush": flush,
        }
        return self._timed("ingestion", "POST /v1/memory/ingestions", body=body)

    def recall(self, query: str) -> Outcome:
        body = {"query": query, "user_id": ANN.user_id, "session_id": "asking"}
        return self._timed("recall", "POST /v1/memory/recall", body=body)

    def context(self) -> Outcome:
        return self._timed("context", "GET /api/v1/users/context/<user_id>", user_id=ANN.user_id)

    def delete(self) -> Outcome:
        return self._timed("management", "DELETE /v1/users/<user_id>", user_id=ANN.user_id)

    def work(self) -> Outcome:
        """One delivery of what is in the queue; status 200 if the extractor acknowledged all of it."""
        messages = self._receive()
        start = time.monotonic()
        failed = self._extract(messages)
        return Outcome(500 if failed else 200, time.monotonic() - start)

    # The rest of the story ----------------------------------------------------------------------------

    def settle(self) -> None:
        """What a repaired installation does by itself: the sweep sends again, and the queue is worked off."""
        for _ in range(6):
            self.clock.go_on(120)
            bootstrap.use(self.services)
            try:
                swept = function_module("maintenance").handler({}, None)
            finally:
                bootstrap.use(None)
            for _ in range(_DELIVERIES):
                if not (messages := self._receive()):
                    break
                self._extract(messages)
            if not (swept["resent"] or swept["repaired"]):
                return

    def state(self) -> dict[str, Any]:
        """Everything that is kept of the user, without times, versions and counters of attempts."""
        rows = [item for item in self._scan() if item["pk"]["S"].startswith("U#")]
        return {
            "rows": sorted(_essence(row) for row in rows if not _passing(row["sk"]["S"])),
            "search": sorted(
                (one["doc_id"], one["text"], "embedding" in one)
                for one in self.bed.search.copies()
                if self._is_mine(one)
            ),
            "recall": self._evidence("what do I keep?"),
            "context": _text_of(self.context()),
        }

    def _evidence(self, query: str) -> list[str]:
        answer = self.recall(query).answer
        assert answer is not None
        return [row["text"] for row in answer.json["evidence"]]

    def _is_mine(self, source: dict[str, Any]) -> bool:
        return bool(source["business_id"] == self.business)

    def _timed(self, function: str, route: str, **arguments: Any) -> Outcome:
        start = time.monotonic()
        answer = self.call(function, route, **arguments)
        return Outcome(answer.status, time.monotonic() - start, answer)

    def _receive(self) -> list[SqsMessage]:
        found = self._sqs.receive_message(
            QueueUrl=self._queue_url, MaxNumberOfMessages=10, MessageSystemAttributeNames=["All"]
        )
        return [
            SqsMessage(
                group=one["Attributes"]["MessageGroupId"],
                body=one["Body"],
                receipt=one["ReceiptHandle"],
                receive_count=int(one["Attributes"]["ApproximateReceiveCount"]),
                message_id=one["MessageId"],
                sent_at=0,
                sequence=0,
            )
            for one in found.get("Messages", ())
        ]

    def _extract(self, messages: list[SqsMessage]) -> bool:
        if not messages:
            return False
        bootstrap.use(self.services)
        try:
            answer = function_module("extractor").handler(queue_event(messages, queue="q", region="us-east-1"), None)
        finally:
            bootstrap.use(None)
        failed = {one["itemIdentifier"] for one in answer["batchItemFailures"]}
        for one in messages:
            if one.message_id in failed:
                self._sqs.change_message_visibility(
                    QueueUrl=self._queue_url, ReceiptHandle=one.receipt, VisibilityTimeout=0
                )
            else:
                self._sqs.delete_message(QueueUrl=self._queue_url, ReceiptHandle=one.receipt)
        return bool(failed)

    def _scan(self) -> Iterator[dict[str, Any]]:
        for page in self._dynamodb.get_paginator("scan").paginate(TableName=self._name):
            yield from page["Items"]

    def _make_queue(self) -> str:
        attributes = {"FifoQueue": "true", "VisibilityTimeout": "30"}
        return str(self._sqs.create_queue(QueueName=f"{self._name}.fifo", Attributes=attributes)["QueueUrl"])

    def _make_table(self) -> None:
        schema = [
            [{"AttributeName": pk, "KeyType": "HASH"}, {"AttributeName": sk, "KeyType": "RANGE"}]
            for pk, sk in (("pk", "sk"), ("ipk", "isk"))
        ]
        self._dynamodb.create_table(
            TableName=self._name,
            BillingMode="PAY_PER_REQUEST",
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in _KEY_ATTRIBUTES],
            KeySchema=schema[0],
            GlobalSecondaryIndexes=[
                {"IndexName": INDEX_NAME, "KeySchema": schema[1], "Projection": {"ProjectionType": "ALL"}}
            ],
        )

    def _settings(self) -> Settings:
        return Settings(
            stack="aws",
            endpoint_url=self.bed.aws,
            table=self._name,
            queue_url=self._queue_url,
            search="opensearch",
            search_url=self.bed.url("opensearch"),
            cache="valkey",
            embedder="openai_compatible",
            embedder_dimension=DIMENSION,
            distiller="openai_compatible",
            pepper="a pepper for tests only",
            deadline_ms=DEADLINE_MS,
        )

    def _parts(self) -> dict[str, Any]:
        """The adapters, each through its proxy, impatient, and without breakers that would hide the fault."""
        bed = self.bed
        embedder = OpenAICompatibleEmbedder(
            base_url=bed.url("embedder"), api_key=str, model="stub", dimension=DIMENSION, limits=_LIMITS, sleep=_at_once
        )
        return {
            "table": DynamoTable(
                self._name, client=LazyClient("dynamodb", endpoint_url=bed.url("dynamodb"), **_AWS), clock=self.clock
            ),
            "queue": SqsQueue(self._queue_url, client=LazyClient("sqs", endpoint_url=bed.url("sqs"), **_AWS)),
            "remote_index": OpenSearchIndex(
                client=SearchClient(bed.url("opensearch"), timeout_seconds=0.5),
                alias=self._name,
                encoder=embedder.id,
                dimension=DIMENSION,
                serverless=True,
                breaker=_never_opening(),
            ),
            "cache": ValkeyCache(f"redis://127.0.0.1:{bed.proxies['valkey'].port}", breaker=_never_opening()),
            "embedder": embedder,
            "distiller": OpenAICompatibleDistiller(
                base_url=bed.url("model"), api_key=str, model="stub", limits=_LIMITS, sleep=_at_once
            ),
        }


def _never_opening() -> CircuitBreaker:
    return CircuitBreaker(failures=1_000_000)


def _at_once(_: float) -> None:
    """No pause between two attempts."""


def story(bed: FaultBed, call: str, dependency: str = "", fault: Fault = Fault.NONE) -> tuple[Outcome, dict[str, Any]]:
    """One user's story in which `call` meets the fault: what it answered, and the state after the repair."""
    bed.search.forget_all()
    one = BrokenInstallation(bed)
    one.ingest(1, "I live in Hangzhou. I keep a dog called Biscuit.", flush=True)
    one.settle()
    one.context()
    one.recall("what do I keep?")
    if call != "ingest":
        one.ingest(2, "I like hazelnuts. I work in a library.", flush=True)
    if call not in ("ingest", "work"):
        one.settle()
        one.context()
    if dependency:
        bed.proxies[dependency].break_with(fault)
    try:
        outcome = _perform(one, call)
    finally:
        if dependency:
            bed.proxies[dependency].repair()
    if outcome.status >= 500 and call in ("ingest", "delete"):
        _perform(one, call)  # the caller's retry
    one.settle()
    return outcome, one.state()


def _perform(one: BrokenInstallation, call: str) -> Outcome:
    match call:
        case "ingest":
            return one.ingest(2, "I like hazelnuts. I work in a library.", flush=True)
        case "work":
            return one.work()
        case "recall":
            return one.recall("what do I like, and where do I work?")  # not asked before: an answer may be remembered
        case "context":
            return one.context()
    return one.delete()


_COUNTERS = ("OP#", "REQ#", "USAGE#", "USER", "VECHEAD", "VECLOG#", "SESS#", "LAGGING")
"""Rows that say how the work went, not what is remembered."""
_CONTENT = ("content", "text", "topic", "sub_topic", "title", "entity_ids", "topic_ids", "role", "message_ids")


def _passing(sort_key: str) -> bool:
    return sort_key.startswith(_COUNTERS)


def _essence(row: dict[str, Any]) -> str:
    """Kind and content of a row: what a user would say is in it."""
    body = json.loads(row["body"]["S"])
    kind = row["sk"]["S"].partition("#")[0]
    # A row's subjects are those of its conversation when it was written; a rebuild knows what came later.
    left_out = {"entity_ids", "topic_ids"} if kind == "VEC" else set()
    said = {name: body[name] for name in _CONTENT if name in body and name not in left_out}
    return json.dumps([kind, said, "blob" in row], ensure_ascii=False, sort_keys=True)


def _text_of(outcome: Outcome) -> str:
    assert outcome.answer is not None
    return str(outcome.answer.json["data"]["context"])
