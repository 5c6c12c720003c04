"""OpenSearch beyond the search contract: encoders beside each other, Serverless, signatures, and every trouble."""

from __future__ import annotations

import json
import math
import struct
import time
import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from engram.adapters.circuit import CircuitBreaker
from engram.adapters.opensearch import OpenSearchIndex
from engram.adapters.opensearch_client import SearchClient
from engram.adapters.opensearch_index import index_body
from engram.domain.documents import Document, DocumentFilter, DocumentKind, SearchQuery
from engram.domain.errors import EngramError, InvalidInput, Throttled, Unavailable
from engram.domain.scope import Scope
from infra.local.opensearch.node import LocalNode
from tests.proxies import Fault, Proxy
from tests.serverless_stub import ServerlessStub
from tests.servers import ROOT, free_port

ANN, BOB = Scope("shop", "ann"), Scope("shop", "bob")
ENCODER, DIMENSION = "toy@4", 4
QUERY = SearchQuery(text="Hangzhou 攻略", encoder=ENCODER, limit=10)


def unit(*numbers: float) -> tuple[float, ...]:
    length = math.sqrt(sum(number * number for number in numbers))
    return tuple(number / length for number in numbers)


def stored(*numbers: float) -> bytes:
    return struct.pack(f"<{len(numbers)}e", *unit(*numbers))


def asked(*numbers: float) -> bytes:
    return struct.pack(f"<{len(numbers)}f", *unit(*numbers))


def message(number: int, text: str = "Hangzhou travel guide", **changes: Any) -> Document:
    document = Document(
        doc_id=f"m:c:{number}",
        kind=DocumentKind.MESSAGE,
        version=1,
        occurred_at=datetime(2026, 7, 1, tzinfo=UTC) + timedelta(days=number),
        text=text,
        conversation_id="c",
        session_id="s",
        seq=number,
        role="user",
        speaker="Ann",
        vector=stored(1, number, 0, 0),
        encoder=ENCODER,
    )
    return replace(document, **changes)


def index_at(url: str, alias: str = "", **options: Any) -> OpenSearchIndex:
    given = {
        "encoder": ENCODER,
        "dimension": DIMENSION,
        "refresh": True,
        "alias": alias or f"t-{uuid.uuid4().hex[:12]}",
    }
    return OpenSearchIndex(client=SearchClient(url), **(given | options))


def texts(index: OpenSearchIndex, query: SearchQuery = QUERY, leg: str = "lexical", scope: Scope = ANN) -> list[str]:
    return [hit.document.text for hit in index.search(scope, query).legs[leg]]


@pytest.fixture
def stub() -> Iterator[ServerlessStub]:
    stub = ServerlessStub()
    yield stub
    stub.close()


@pytest.fixture(params=["node", "serverless"])
def index(request: pytest.FixtureRequest) -> OpenSearchIndex:
    if request.param == "node":
        return index_at(request.getfixturevalue("opensearch_url"), shards=3)
    stub: ServerlessStub = request.getfixturevalue("stub")
    return index_at(stub.url, serverless=True, refresh=False)


# On a node and where ids, refresh and delete-by-query do not exist -----------------------------------


def test_what_is_written_is_found_by_words_and_by_vector_as_it_was(index: OpenSearchIndex) -> None:
    moment = datetime(1931, 2, 3, 4, 5, 6, 789_123, tzinfo=UTC)
    document = message(
        3, "帮我出一个杭州旅游攻略", occurred_at=moment, entity_ids=("E1", "E2"), topic_ids=("T",), previous="早"
    )
    index.upsert(ANN, [document, message(1, "something else", vector=stored(0, 0, 0, 1))])
    result = index.search(ANN, replace(QUERY, text="杭州攻略", vector=asked(1, 3, 0, 0)))
    assert result.missing == ()
    assert set(result.legs) == {"lexical", "lexical_context", "vector"}
    for leg in result.legs.values():
        assert leg[0].document == replace(document, vector=b"")
    assert result.legs["vector"][0].score == pytest.approx(1.0, abs=1e-3)
    assert result.legs["vector"][1].score == pytest.approx(0.0, abs=1e-3)


def test_the_highest_version_stays_whatever_comes_last(index: OpenSearchIndex) -> None:
    for version in (2, 5, 3, 5):
        index.upsert(ANN, [message(0, f"Hangzhou version {version}", version=version)])
    assert texts(index) == ["Hangzhou version 5"]
    assert index.count(ANN) == 1
    index.delete(ANN, {"m:c:0": 4})
    assert texts(index) == ["Hangzhou version 5"]
    index.delete(ANN, {"m:c:0": 5, "m:c:77": 1})
    assert index.count(ANN) == 0


def test_deleting_everything_of_a_user_leaves_others_whole_beyond_ten_thousand(index: OpenSearchIndex) -> None:
    many = [message(number, f"note {number}", vector=b"") for number in range(10_050)]
    index.upsert(ANN, many)
    others = [Scope("shop", "ann2"), Scope("shop2", "ann"), Scope("shop", "an")]
    for other in others:
        index.upsert(other, [message(0)])
    assert index.count(ANN) == 10_050
    index.delete_all(ANN)
    assert [index.count(scope) for scope in (ANN, *others)] == [0, 1, 1, 1]


def test_a_users_only_memory_is_found_among_thousands_of_nearer_ones_of_others(index: OpenSearchIndex) -> None:
    for user in range(5):
        scope = Scope("shop", f"crowd-{user}")
        index.upsert(scope, [message(number, vector=stored(1, number / 1e6, 0, 0)) for number in range(400)])
    index.upsert(ANN, [message(0, "mine", vector=stored(0, 0, 1, 0))])
    result = index.search(ANN, replace(QUERY, vector=asked(1, 0, 0, 0), limit=5))
    assert [hit.document.text for hit in result.legs["vector"]] == ["mine"]


def test_filters_apply_before_the_best_are_taken(index: OpenSearchIndex) -> None:
    a = [message(number, topic_ids=("A",), vector=stored(1, 0, 0, 0)) for number in range(200)]
    b = [message(number, topic_ids=("B",), vector=stored(0, 0, 0, 1)) for number in range(200, 203)]
    index.upsert(ANN, [*a, *b])
    where = DocumentFilter(topic_ids=("B",))
    result = index.search(ANN, replace(QUERY, vector=asked(1, 0, 0, 0), limit=3, where=where))
    for leg in ("lexical", "vector"):
        assert sorted(hit.document.seq for hit in result.legs[leg]) == [200, 201, 202]


def test_every_filter_is_kept_to_the_microsecond(index: OpenSearchIndex) -> None:
    noon = datetime(2026, 7, 1, 12, tzinfo=UTC)
    tick = timedelta(microseconds=1)
    variants = [
        message(0, occurred_at=noon - tick),
        message(1, occurred_at=noon),
        message(2, occurred_at=noon + timedelta(hours=1) - tick),
        message(3, occurred_at=noon + timedelta(hours=1)),
        message(4, occurred_at=noon, kind=DocumentKind.GIST),
        message(5, occurred_at=noon, role="assistant"),
        message(6, occurred_at=noon, session_id="present"),
        message(7, occurred_at=noon, conversation_id="other"),
        message(8, occurred_at=noon, entity_ids=("E",)),
    ]
    index.upsert(ANN, variants)

    def found(**conditions: Any) -> list[int]:
        result = index.search(ANN, replace(QUERY, vector=asked(1, 0, 0, 0), where=DocumentFilter(**conditions)))
        lexical, vector = (sorted(hit.document.seq for hit in result.legs[leg]) for leg in ("lexical", "vector"))
        assert lexical == vector
        return lexical

    assert found(start=noon, end=noon + timedelta(hours=1)) == [1, 2, 4, 5, 6, 7, 8]
    assert found(kinds=(DocumentKind.GIST,)) == [4]
    assert found(roles=("assistant", "tool")) == [5]
    assert found(exclude_session_id="present") == [0, 1, 2, 3, 4, 5, 7, 8]
    assert found(conversation_ids=("other", "none")) == [7]
    assert found(entity_ids=("E", "F"), roles=("user",)) == [8]
    assert found(entity_ids=("F",)) == []


@pytest.mark.parametrize(
    "text",
    ['"} OR 1', "type:*", "*", "\x00", "\ud800", "a AND (b", "\\", "{{x}}", "攻略" * 5_000, "\U0001f600", "the of"],
)
def test_what_looks_like_syntax_is_text(index: OpenSearchIndex, text: str) -> None:
    index.upsert(ANN, [message(0, "Hangzhou"), message(1, text[:8_000], speaker=text[:300], session_id=text[:100])])
    index.upsert(BOB, [message(0, text[:8_000])])
    result = index.search(ANN, replace(QUERY, text=text, where=DocumentFilter(roles=("user",))))
    assert result.missing == ()
    assert (
        index.search(ANN, replace(QUERY, text=text, where=DocumentFilter(roles=(text[:100] or "x",)))).legs["lexical"]
        == ()
    )
    assert index.count(ANN) == 2


def test_a_query_of_two_thousand_words_still_finds(index: OpenSearchIndex) -> None:
    index.upsert(ANN, [message(0, "the zebra crossing"), message(1, "nothing of it")])
    words = " ".join(["zebra", *(f"word{number}" for number in range(2_000))])
    assert texts(index, replace(QUERY, text=words)) == ["the zebra crossing"]


def test_an_index_that_is_not_there_is_missing_and_not_empty(index: OpenSearchIndex) -> None:
    result = index.search(ANN, replace(QUERY, vector=asked(1, 0, 0, 0)))
    assert (dict(result.legs), result.missing) == ({}, ("lexical", "vector"))
    assert index.count(ANN) == 0
    index.delete(ANN, {"m:c:0": 1})
    index.delete_all(ANN)


def test_nothing_asked_is_nothing_answered(index: OpenSearchIndex) -> None:
    index.upsert(ANN, [message(0)])
    assert index.search(ANN, SearchQuery()).legs == {}
    index.upsert(ANN, [])
    index.delete(ANN, {})


# Encoders beside each other ---------------------------------------------------------------------------


def other_encoder(index_alias: str, url: str, **options: Any) -> OpenSearchIndex:
    return index_at(url, index_alias, encoder="other@2", dimension=2, **options)


@pytest.fixture(params=["node", "serverless"])
def place(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    """URL of a cluster and what an index on it needs."""
    if request.param == "node":
        return request.getfixturevalue("opensearch_url"), {}
    return request.getfixturevalue("stub").url, {"serverless": True, "refresh": False}


def test_another_encoder_gets_an_index_of_its_own_and_searches_say_what_is_missing(
    place: tuple[str, dict[str, Any]],
) -> None:
    url, options = place
    alias = f"t-{uuid.uuid4().hex[:12]}"
    old = index_at(url, alias, **options)
    old.upsert(ANN, [message(0, "Hangzhou before")])
    new = other_encoder(alias, url, **options)
    query = replace(QUERY, encoder="other@2", vector=asked(1, 0))
    assert texts(new, query) == ["Hangzhou before"]
    assert new.search(ANN, query).missing == ("vector",)

    after = message(1, "Hangzhou after", encoder="other@2", vector=stored(1, 0))
    new.upsert(ANN, [after])
    assert sorted(texts(new, query)) == ["Hangzhou after", "Hangzhou before"]
    assert new.search(ANN, query).missing == ("vector",)

    new.upsert(ANN, [message(0, "Hangzhou before", encoder="other@2", vector=stored(0, 1))])
    new.promote()
    result = new.search(ANN, query)
    assert result.missing == ()
    assert [hit.document.text for hit in result.legs["vector"]] == ["Hangzhou after", "Hangzhou before"]
    new.delete_all(ANN)
    assert old.count(ANN) == new.count(ANN) == 0


def test_vectors_of_another_encoder_stay_out_of_the_index(index: OpenSearchIndex) -> None:
    foreign = message(1, encoder="other@4", vector=stored(1, 0, 0, 0))
    empty = message(2, vector=b"")
    zero = message(3, vector=bytes(8))
    index.upsert(ANN, [message(0), foreign, empty, zero])
    result = index.search(ANN, replace(QUERY, vector=asked(1, 0, 0, 0)))
    assert [hit.document.seq for hit in result.legs["vector"]] == [0]
    assert len(result.legs["lexical"]) == 4


def test_without_an_encoder_words_are_searched(place: tuple[str, dict[str, Any]]) -> None:
    url, options = place
    index = index_at(url, encoder="", dimension=0, **options)
    index.upsert(ANN, [message(0)])
    assert texts(index) == ["Hangzhou travel guide"]
    assert index.search(ANN, replace(QUERY, vector=asked(1, 0, 0, 0))).missing == ("vector",)


def test_an_installation_whose_name_begins_like_ours_is_left_alone(opensearch_url: str) -> None:
    alias = f"t-{uuid.uuid4().hex[:12]}"
    ours, theirs = index_at(opensearch_url, alias), index_at(opensearch_url, alias + "-prod")
    ours.upsert(ANN, [message(0)])
    theirs.upsert(ANN, [message(0)])
    ours.delete_all(ANN)
    assert (ours.count(ANN), theirs.count(ANN)) == (0, 1)


def test_an_index_that_was_dropped_is_made_again_by_the_next_write(opensearch_url: str) -> None:
    alias = f"t-{uuid.uuid4().hex[:12]}"
    index = index_at(opensearch_url, alias)
    index.upsert(ANN, [message(0)])
    client = SearchClient(opensearch_url)()
    client.indices.delete(index=f"{alias}-*")
    assert index.search(ANN, QUERY).missing == ("lexical",)
    index.upsert(ANN, [message(1)])
    assert [hit.document.seq for hit in index.search(ANN, QUERY).legs["lexical"]] == [1]


# Serverless -------------------------------------------------------------------------------------------


def test_doubles_that_could_not_be_found_yet_are_one_hit_and_are_removed_later(stub: ServerlessStub) -> None:
    index = index_at(stub.url, serverless=True, refresh=False)
    index.upsert(ANN, [message(9)])
    stub.lag = True
    for version in (1, 2, 2):
        index.upsert(ANN, [message(0, f"Hangzhou {version}", version=version)])
    assert index.count(ANN) == 1
    stub.catch_up()
    assert index.count(ANN) == 4
    assert sorted(texts(index, replace(QUERY, limit=2))) == ["Hangzhou 2", "Hangzhou travel guide"]
    stub.lag = False
    index.upsert(ANN, [message(0, "Hangzhou 3", version=3)])
    assert index.count(ANN) == 2


def test_a_deletion_that_came_too_early_is_seen_in_the_count_and_done_again(stub: ServerlessStub) -> None:
    index = index_at(stub.url, serverless=True, refresh=False)
    stub.lag = True
    index.upsert(ANN, [message(0)])
    index.delete_all(ANN)
    stub.catch_up()
    assert index.count(ANN) == 1
    stub.lag = False
    index.delete_all(ANN)
    assert index.count(ANN) == 0
    assert stub.copies() == []


def test_serverless_cannot_be_told_to_refresh() -> None:
    with pytest.raises(InvalidInput):
        index_at("http://127.0.0.1:1", serverless=True, refresh=True)


@pytest.mark.parametrize("service", ["es", "aoss"])
def test_requests_are_signed_for_the_service(stub: ServerlessStub, service: str) -> None:
    from botocore.credentials import Credentials

    keys = Credentials("AKIDEXAMPLE", "secret", "session")
    client = SearchClient(stub.url, service=service, region="eu-west-1", credentials=lambda: keys)
    index = OpenSearchIndex(client=client, alias="signed", encoder=ENCODER, dimension=DIMENSION, serverless=True)
    index.upsert(Scope("shop", "用户"), [message(0, "签名 with “quotes”")])
    assert index.search(Scope("shop", "用户"), QUERY).missing == ()
    assert len(stub.requests) > 4
    for method, path, headers, body in stub.requests:
        assert f"/eu-west-1/{service}/aws4_request" in headers["Authorization"]
        assert headers["Authorization"] == signature_of(method, stub.url + path, headers, body, keys, service)


def signature_of(method: str, url: str, headers: Any, body: bytes, keys: Any, service: str) -> str:
    """What botocore signs when it is given the request as it arrived."""
    import hashlib

    from botocore.auth import SigV4Auth
    from botocore.awsrequest import AWSRequest

    assert headers["X-Amz-Content-SHA256"] == hashlib.sha256(body).hexdigest()
    names = headers["Authorization"].split("SignedHeaders=")[1].split(",")[0].split(";")
    signed = {
        name: value for name, value in headers.items() if name.lower() in names and name.lower() != "authorization"
    }
    request = AWSRequest(method, url, headers=signed, data=body)
    signer = SigV4Auth(keys, service, "eu-west-1")
    request.context["timestamp"] = headers["X-Amz-Date"]
    text = signer.string_to_sign(request, signer.canonical_request(request))
    credential = f"AKIDEXAMPLE/{signer.credential_scope(request)}"
    parts = f"SignedHeaders={';'.join(names)}, Signature={signer.signature(text, request)}"
    return f"AWS4-HMAC-SHA256 Credential={credential}, {parts}"


# Troubles ---------------------------------------------------------------------------------------------


def never_opening() -> CircuitBreaker:
    return CircuitBreaker(failures=1_000_000)


@pytest.mark.parametrize("fault", [Fault.CUT, Fault.SILENT, Fault.SLOW, Fault.GARBAGE])
def test_trouble_on_the_way_is_named_within_the_deadline_and_passes(stub: ServerlessStub, fault: Fault) -> None:
    proxy = Proxy(stub.port, slow_seconds=2.0)
    url = f"http://127.0.0.1:{proxy.port}"
    index = OpenSearchIndex(
        client=SearchClient(url, timeout_seconds=0.5), alias="t", encoder=ENCODER, dimension=DIMENSION,
        serverless=True, breaker=never_opening(),
    )  # fmt: skip
    index.upsert(ANN, [message(0)])
    query = replace(QUERY, vector=asked(1, 0, 0, 0), deadline_ms=300)
    assert index.search(ANN, query).missing == ()
    proxy.break_with(fault)
    start = time.monotonic()
    result = index.search(ANN, query)
    assert time.monotonic() - start < 1.0
    assert (dict(result.legs), result.missing) == ({}, ("lexical", "vector"))
    for call in (lambda: index.upsert(ANN, [message(1)]), lambda: index.count(ANN), lambda: index.delete_all(ANN)):
        with pytest.raises(Unavailable):
            call()
    proxy.repair()
    assert index.search(ANN, query).missing == ()
    index.upsert(ANN, [message(1)])
    proxy.close()


def test_a_cluster_that_is_down_is_not_asked_again_and_again() -> None:
    proxy = Proxy(free_port())
    now = [0.0]
    breaker = CircuitBreaker(failures=3, open_seconds=5, monotonic=lambda: now[0])
    index = index_at(f"http://127.0.0.1:{proxy.port}", breaker=breaker)
    for _ in range(20):
        assert index.search(ANN, QUERY).missing == ("lexical",)
    asked_before = proxy.connections
    assert asked_before <= 6
    now[0] = 5.0
    index.search(ANN, QUERY)
    assert proxy.connections > asked_before
    proxy.close()


def test_a_node_that_is_killed_in_the_middle_of_searches_costs_legs_and_no_error(opensearch_node: LocalNode) -> None:
    index = index_at(opensearch_node.start(), breaker=never_opening())
    index.upsert(ANN, [message(number) for number in range(20)])
    query = replace(QUERY, vector=asked(1, 0, 0, 0), deadline_ms=500)
    assert index.search(ANN, query).missing == ()
    opensearch_node.kill()
    result = index.search(ANN, query)
    assert (dict(result.legs), result.missing) == ({}, ("lexical", "vector"))
    with pytest.raises(Unavailable):
        index.upsert(ANN, [message(99)])
    opensearch_node.start()
    index.upsert(ANN, [message(99)])
    assert index.count(ANN) == 21


@pytest.mark.parametrize(
    ("status", "raised"), [(429, Throttled), (503, Unavailable), (403, Unavailable), (400, EngramError)]
)
def test_a_refusal_is_ours_and_quotes_nothing(
    stub: ServerlessStub, monkeypatch: pytest.MonkeyPatch, status: int, raised: type[EngramError]
) -> None:
    index = index_at(stub.url, serverless=True, refresh=False)
    index.upsert(ANN, [message(0)])
    answer = {"error": {"type": "some_exception", "reason": "failed to parse CANARY"}, "status": status}
    monkeypatch.setattr(stub, "answer", lambda *_: (status, answer))
    with pytest.raises(raised) as error:
        index.upsert(ANN, [message(0, "CANARY")])
    assert "CANARY" not in str(error.value)
    assert error.value.retryable is (status != 400)


def test_a_document_that_the_index_refuses_is_not_taken_for_kept(
    stub: ServerlessStub, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = index_at(stub.url, serverless=True, refresh=False)
    index.upsert(ANN, [message(0)])
    error = {"type": "mapper_parsing_exception", "reason": "CANARY"}
    answers = {429: Throttled, 503: Unavailable, 400: EngramError}
    for status, raised in answers.items():
        item = {"index": {"status": status, "error": error}}
        monkeypatch.setattr(stub, "_bulk", lambda _, item=item: {"errors": True, "items": [item]})
        with pytest.raises(raised) as caught:
            index.upsert(ANN, [message(1)])
        assert "CANARY" not in str(caught.value)


# The mapping ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("serverless", [False, True])
def test_the_mapping_for_people_is_the_one_that_is_used(serverless: bool) -> None:
    name = "serverless" if serverless else "domain"
    kept = json.loads((ROOT / "infra" / "mappings" / f"documents.{name}.json").read_text())
    assert kept == index_body("engram", "usem3@512", 512, serverless=serverless)
