"""The SearchIndex contract, on every adapter: what is found, what is filtered, whose it is, and what goes again."""

from __future__ import annotations

import math
import struct
import uuid
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from engram.adapters.dynamodb import DynamoTable
from engram.adapters.opensearch import OpenSearchIndex
from engram.adapters.opensearch_client import SearchClient
from engram.adapters.partition_index import PartitionIndex
from engram.adapters.sqlite import SqliteTable
from engram.domain.documents import Document, DocumentFilter, DocumentKind, SearchQuery
from engram.domain.scope import Scope
from engram.ports import SearchIndex
from engram.store.documents import SearchRows
from tests.contract.conftest import client

ENCODER, DIMENSION = "toy@4", 4
START = datetime(2026, 3, 1, 9, tzinfo=UTC)


@pytest.fixture(params=["sqlite", "dynamodb", "opensearch"])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SearchIndex]:
    if request.param == "opensearch":
        url = request.getfixturevalue("opensearch_url")
        alias = f"t-{uuid.uuid4().hex[:12]}"
        yield OpenSearchIndex(client=SearchClient(url), encoder=ENCODER, dimension=DIMENSION, refresh=True, alias=alias)
        return
    if request.param == "dynamodb":
        url, name = request.getfixturevalue("aws"), request.getfixturevalue("dynamo_name")
        yield PartitionIndex(rows=SearchRows(table=DynamoTable(name, client=client("dynamodb", url))))
        return
    table = SqliteTable(tmp_path / "engram.db", page_bytes=20_000)
    yield PartitionIndex(rows=SearchRows(table=table))
    table.close()


@pytest.fixture
def ann() -> Scope:
    return Scope("shop", f"ann-{uuid.uuid4().hex}")


def unit(*numbers: float) -> list[float]:
    length = math.sqrt(sum(number * number for number in numbers))
    return [number / length for number in numbers]


def stored(*numbers: float) -> bytes:
    return struct.pack("<4e", *unit(*numbers))


def asked(*numbers: float) -> bytes:
    return struct.pack("<4f", *unit(*numbers))


def message(seq: int, text: str, *, vector: bytes = b"", conversation: str = "c", **changes: Any) -> Document:
    document = Document(
        doc_id=f"m:{conversation}:{seq}",
        kind=DocumentKind.MESSAGE,
        version=1,
        occurred_at=START + timedelta(minutes=seq),
        text=text,
        conversation_id=conversation,
        session_id=conversation,
        seq=seq,
        role="user",
        speaker="Ann",
        vector=vector,
        encoder=ENCODER if vector else "",
    )
    return replace(document, **changes)


def found(index: SearchIndex, scope: Scope, text: str = "", leg: str = "lexical", **query: Any) -> list[str]:
    result = index.search(scope, SearchQuery(text=text, encoder=ENCODER, **query))
    return [hit.document.doc_id for hit in result.legs.get(leg, ())]


def test_words_are_found_in_their_other_forms(index: SearchIndex, ann: Scope) -> None:
    index.upsert(ann, [message(0, "We went hiking near the lakes"), message(1, "The soup was cold")])
    assert found(index, ann, "hike lake")[:1] == ["m:c:0"]


def test_chinese_is_found_by_a_part_of_what_was_said(index: SearchIndex, ann: Scope) -> None:
    index.upsert(ann, [message(0, "周末去了西湖边喝龙井茶"), message(1, "今天加班到很晚")])
    assert found(index, ann, "龙井")[:1] == ["m:c:0"]


def test_a_short_answer_is_found_by_the_question_before_it(index: SearchIndex, ann: Scope) -> None:
    question = message(0, "Which platform does the train leave from?")
    answer = message(1, "Number four", previous=question.text, role="assistant")
    index.upsert(ann, [question, answer, message(2, "Thanks"), message(3, "Lunch at noon", conversation="d")])
    result = index.search(ann, SearchQuery(text="train platform"))
    assert "m:c:1" in {hit.document.doc_id for hits in result.legs.values() for hit in hits}


def test_lexical_scores_are_positive_and_best_first(index: SearchIndex, ann: Scope) -> None:
    index.upsert(ann, [message(seq, f"tea {'tea ' * seq}and water number {seq}") for seq in range(6)])
    hits = index.search(ann, SearchQuery(text="tea water")).legs["lexical"]
    scores = [hit.score for hit in hits]
    assert len(scores) == 6
    assert scores == sorted(scores, reverse=True)
    assert min(scores) > 0


def test_vector_scores_are_cosines(index: SearchIndex, ann: Scope) -> None:
    vectors = {"m:c:0": (1, 0, 0, 0), "m:c:1": (1, 1, 0, 0), "m:c:2": (0, 0, 1, 0), "m:c:3": (-1, 0, 0, 0)}
    index.upsert(
        ann, [message(seq, f"text {seq}", vector=stored(*vector)) for seq, vector in enumerate(vectors.values())]
    )
    hits = index.search(ann, SearchQuery(vector=asked(1, 0, 0, 0), encoder=ENCODER)).legs["vector"]
    cosines = {hit.document.doc_id: hit.score for hit in hits}
    assert [hit.document.doc_id for hit in hits] == ["m:c:0", "m:c:1", "m:c:2", "m:c:3"]
    assert cosines == pytest.approx({"m:c:0": 1, "m:c:1": math.sqrt(0.5), "m:c:2": 0, "m:c:3": -1}, abs=2e-3)


def test_vectors_come_back_as_they_were_stored_and_only_where_they_are_wanted(index: SearchIndex, ann: Scope) -> None:
    index.upsert(ann, [message(0, "tea", vector=stored(1, 0, 0, 0)), message(1, "rice", vector=stored(0, 1, 0, 1))])
    query = SearchQuery(vector=asked(1, 0.2, 0, 0), encoder=ENCODER)
    assert index.search(ann, query).vectors == {}
    given = index.search(ann, replace(query, vectors=True)).vectors
    kept = {"m:c:0": stored(1, 0, 0, 0), "m:c:1": stored(0, 1, 0, 1)}
    assert given == (kept if index.name == "partition" else {})  # OpenSearch keeps them for searching alone


def test_vectors_of_another_encoder_are_not_compared_and_this_is_said(index: SearchIndex, ann: Scope) -> None:
    index.upsert(ann, [message(0, "only words", vector=stored(1, 0, 0, 0))])
    result = index.search(ann, SearchQuery(text="words", vector=asked(1, 0, 0, 0), encoder="other@4"))
    assert "vector" in result.missing
    assert not result.legs.get("vector")
    assert [hit.document.doc_id for hit in result.legs["lexical"]] == ["m:c:0"]


def test_the_nearest_vectors_of_other_users_do_not_displace_mine(index: SearchIndex, ann: Scope) -> None:
    crowd = Scope("shop", f"crowd-{uuid.uuid4().hex}")
    index.upsert(crowd, [message(seq, f"nearer {seq}", vector=stored(1, 0, 0, seq / 1e4)) for seq in range(300)])
    index.upsert(ann, [message(0, "mine", vector=stored(0, 1, 0.2, 0))])
    assert found(index, ann, leg="vector", vector=asked(1, 0, 0, 0), limit=5) == ["m:c:0"]


def test_a_filter_narrows_before_the_best_are_taken(index: SearchIndex, ann: Scope) -> None:
    many = [message(seq, "green tea", topic_ids=("A",), vector=stored(1, 0, 0, 0)) for seq in range(200)]
    few = [message(seq, "some tea", topic_ids=("B",), vector=stored(0, 1, 0, 0), conversation="d") for seq in range(3)]
    index.upsert(ann, [*many, *few])
    where = DocumentFilter(topic_ids=("B",))
    for leg in ("lexical", "vector"):
        hits = found(index, ann, "green tea", leg=leg, vector=asked(1, 0, 0, 0), where=where, limit=3)
        assert sorted(hits) == ["m:d:0", "m:d:1", "m:d:2"]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (DocumentFilter(kinds=(DocumentKind.GIST,)), {"g:1"}),
        (DocumentFilter(kinds=(DocumentKind.MESSAGE, DocumentKind.MEMORY)), {"m:c:0", "m:c:1", "m:d:0", "i:1"}),
        (DocumentFilter(conversation_ids=("d", "none")), {"m:d:0"}),
        (DocumentFilter(exclude_session_id="c"), {"m:d:0", "g:1", "i:1"}),
        (DocumentFilter(entity_ids=("E1",)), {"m:c:0"}),
        (DocumentFilter(entity_ids=("E1", "E2")), {"m:c:0", "m:c:1"}),
        (DocumentFilter(entity_ids=("E1",), topic_ids=("T9",)), set()),
        (DocumentFilter(roles=("assistant",)), {"m:c:1"}),
        (DocumentFilter(start=START + timedelta(minutes=1), kinds=(DocumentKind.MESSAGE,)), {"m:c:1"}),
        (DocumentFilter(end=START + timedelta(minutes=1), kinds=(DocumentKind.MESSAGE,)), {"m:c:0", "m:d:0"}),
        (DocumentFilter(start=START, end=START), set()),
    ],
)
def test_every_condition_holds_for_every_hit(
    index: SearchIndex, ann: Scope, where: DocumentFilter, expected: set[str]
) -> None:
    apart = {"conversation_id": "", "session_id": "", "role": "", "speaker": ""}
    index.upsert(
        ann,
        [
            message(0, "blue tea", entity_ids=("E1",)),
            message(1, "blue tea", entity_ids=("E2",), role="assistant"),
            message(0, "blue tea", conversation="d"),
            message(-1, "blue tea", doc_id="g:1", kind=DocumentKind.GIST, **apart),
            message(-1, "blue tea", doc_id="i:1", kind=DocumentKind.MEMORY, **apart),
        ],
    )
    assert set(found(index, ann, "tea", where=where)) == expected


def test_the_highest_version_is_kept_whatever_the_order(index: SearchIndex, ann: Scope) -> None:
    index.upsert(ann, [message(0, "second thoughts", version=2)])
    index.upsert(ann, [message(0, "first thoughts", version=1)])
    assert found(index, ann, "second") == ["m:c:0"]
    assert found(index, ann, "first") == []
    index.upsert(ann, [message(0, "third thoughts", version=3)])
    assert found(index, ann, "second") == []
    assert index.count(ann) == 1


def test_writing_the_same_twice_leaves_one(index: SearchIndex, ann: Scope) -> None:
    for _ in range(2):
        index.upsert(ann, [message(0, "once"), message(1, "twice")])
    assert index.count(ann) == 2
    assert found(index, ann, "once") == ["m:c:0"]


def test_what_a_conversation_is_about_can_be_learnt_later(index: SearchIndex, ann: Scope) -> None:
    index.upsert(ann, [message(0, "the usual guide")])
    index.upsert(ann, [message(0, "the usual guide", entity_ids=("E7",))])
    assert found(index, ann, "guide", where=DocumentFilter(entity_ids=("E7",))) == ["m:c:0"]


def test_a_deletion_reaches_up_to_its_version(index: SearchIndex, ann: Scope) -> None:
    index.upsert(ann, [message(0, "old tea", version=1), message(1, "new tea", version=5)])
    index.delete(ann, {"m:c:0": 1, "m:c:1": 4, "m:c:9": 1})
    assert found(index, ann, "tea") == ["m:c:1"]
    assert index.count(ann) == 1


def test_deleting_all_leaves_everybody_else(index: SearchIndex, ann: Scope) -> None:
    others = [Scope("shop", f"{ann.user_id}0"), Scope("bank", ann.user_id)]
    for scope in (ann, *others):
        index.upsert(scope, [message(seq, f"grinder number {seq}") for seq in range(37)])
    assert index.count(ann) == 37
    index.delete_all(ann)
    assert index.count(ann) == 0
    assert found(index, ann, "grinder") == []
    assert [index.count(scope) for scope in others] == [37, 37]
    index.upsert(ann, [message(0, "a new grinder")])
    assert found(index, ann, "grinder") == ["m:c:0"]


def test_a_user_nobody_knows_has_no_hits(index: SearchIndex, ann: Scope) -> None:
    result = index.search(ann, SearchQuery(text="anything", vector=asked(1, 0, 0, 0), encoder=ENCODER))
    assert not any(result.legs.values())
    assert index.count(ann) == 0


@pytest.mark.parametrize(
    "text",
    ['"} OR 1', "*", "type:admin AND (", "\x00", "🙂🙂", "的", "?", "a" * 10_000, "tea " * 5_000, "\\", "\ud800 tea"],
)
def test_no_query_is_syntax(index: SearchIndex, ann: Scope, text: str) -> None:
    index.upsert(ann, [message(0, "plain tea")])
    hits = found(index, ann, text)
    assert hits == (["m:c:0"] if "tea" in text else [])


def test_texts_come_back_as_they_were_given(index: SearchIndex, ann: Scope) -> None:
    written = message(0, 'Curly "quotes", {braces}, 龙井 🍵\n\ttabs', entity_ids=("E#1",), topic_ids=("T%",))
    index.upsert(ann, [written])
    (hit,) = index.search(ann, SearchQuery(text="quotes")).legs["lexical"]
    got = hit.document
    assert (got.text, got.speaker, got.role, got.seq) == (written.text, "Ann", "user", 0)
    assert (got.occurred_at, got.entity_ids, got.topic_ids) == (written.occurred_at, ("E#1",), ("T%",))


def test_legs_are_answered_only_where_they_are_asked(index: SearchIndex, ann: Scope) -> None:
    index.upsert(ann, [message(0, "tea", vector=stored(1, 0, 0, 0))])
    assert not index.search(ann, SearchQuery(text="tea")).legs.get("vector")
    assert not index.search(ann, SearchQuery(vector=asked(1, 0, 0, 0), encoder=ENCODER)).legs.get("lexical")


def test_a_limit_bounds_each_leg(index: SearchIndex, ann: Scope) -> None:
    index.upsert(ann, [message(seq, f"tea {seq}", vector=stored(1, seq, 0, 0)) for seq in range(30)])
    result = index.search(ann, SearchQuery(text="tea", vector=asked(1, 0, 0, 0), encoder=ENCODER, limit=7))
    assert {len(hits) for hits in result.legs.values() if hits} == {7}
