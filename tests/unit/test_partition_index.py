"""The index in memory stays true to the table: other writers, lost logs, crowds of users, a table that is down."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from engram.adapters.partition_index import PartitionIndex
from engram.adapters.sqlite import SqliteTable
from engram.domain.documents import Document, DocumentFilter, DocumentKind, SearchQuery
from engram.domain.errors import ConditionFailed, Throttled, Unavailable
from engram.domain.scope import Scope
from engram.domain.table import Key
from engram.store import keys
from engram.store.documents import LOG_KEPT, SearchRows
from tests.builders import MovableClock

ANN, BOB = Scope("shop", "ann"), Scope("shop", "bob")
START = datetime(2026, 3, 1, 9, tzinfo=UTC)


class CountingTable:
    """A table that counts its calls and fails those it is told to."""

    def __init__(self, table: SqliteTable) -> None:
        self._table = table
        self.calls: Counter[str] = Counter()
        self.failing: dict[str, Exception] = {}

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._table, name)

        def call(*arguments: Any, **named: Any) -> Any:
            self.calls[name] += 1
            if name in self.failing:
                raise self.failing[name]
            return method(*arguments, **named)

        return call


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


@pytest.fixture
def table(tmp_path: Path, clock: MovableClock) -> Iterator[CountingTable]:
    real = SqliteTable(tmp_path / "engram.db", clock=clock, page_bytes=20_000)
    yield CountingTable(real)
    real.close()


def process(table: CountingTable, clock: MovableClock, **options: Any) -> PartitionIndex:
    """An index as another process has it: its own copies, the same table."""
    return PartitionIndex(rows=SearchRows(table=table, clock=clock, pause=lambda _: None), **options)  # type: ignore[arg-type]


def message(seq: int, text: str, *, version: int = 1, conversation: str = "c") -> Document:
    return Document(
        doc_id=f"m:{conversation}:{seq}",
        kind=DocumentKind.MESSAGE,
        version=version,
        occurred_at=START + timedelta(minutes=seq),
        text=text,
        conversation_id=conversation,
        session_id=conversation,
        seq=seq,
        role="user",
    )


def found(index: PartitionIndex, text: str, scope: Scope = ANN) -> list[str]:
    return [hit.document.doc_id for hit in index.search(scope, SearchQuery(text=text)).legs.get("lexical", ())]


def test_a_search_sees_what_another_process_has_just_written(table: CountingTable, clock: MovableClock) -> None:
    reader, writer = process(table, clock), process(table, clock)
    writer.upsert(ANN, [message(0, "green tea")])
    assert found(reader, "tea") == ["m:c:0"]
    writer.upsert(ANN, [message(1, "black tea")])
    writer.delete(ANN, {"m:c:0": 1})
    assert found(reader, "tea") == ["m:c:1"]


def test_a_warm_search_costs_one_read(table: CountingTable, clock: MovableClock) -> None:
    index = process(table, clock)
    index.upsert(ANN, [message(seq, f"tea {seq}") for seq in range(50)])
    found(index, "tea")
    table.calls.clear()
    found(index, "tea")
    assert table.calls == {"get": 1}


def test_a_change_is_read_without_reading_the_rest_again(table: CountingTable, clock: MovableClock) -> None:
    reader, writer = process(table, clock), process(table, clock)
    writer.upsert(ANN, [message(seq, f"tea {seq} " * 200) for seq in range(50)])
    found(reader, "tea")
    writer.upsert(ANN, [message(7, "coffee", version=2)])
    table.calls.clear()
    assert found(reader, "coffee") == ["m:c:7"]
    assert table.calls == {"get": 1, "query": 1, "batch_get": 1}


def test_a_copy_older_than_the_log_is_read_anew(table: CountingTable, clock: MovableClock) -> None:
    reader, writer = process(table, clock), process(table, clock)
    writer.upsert(ANN, [message(0, "tea"), message(1, "tea")])
    assert len(found(reader, "tea")) == 2
    writer.delete(ANN, {"m:c:0": 1})
    clock.go_on(LOG_KEPT.total_seconds() + 1)
    assert found(reader, "tea") == ["m:c:1"]


def test_a_user_deleted_and_begun_anew_shows_nothing_of_before(table: CountingTable, clock: MovableClock) -> None:
    reader, writer = process(table, clock), process(table, clock)
    writer.upsert(ANN, [message(0, "secret tea")])
    assert found(reader, "secret") == ["m:c:0"]
    writer.delete_all(ANN)
    writer.upsert(ANN, [message(0, "harmless tea")])
    assert found(reader, "secret") == []
    assert found(reader, "harmless") == ["m:c:0"]


def test_nothing_is_left_of_a_deleted_user_but_other_rows(table: CountingTable, clock: MovableClock) -> None:
    index = process(table, clock)
    for number in range(3):
        index.upsert(ANN, [message(seq, f"tea {number}", version=number + 1) for seq in range(120)])
    index.delete_all(ANN)
    assert table.query(keys.user_partition(ANN)).items == ()


def test_twenty_writers_of_one_user_lose_nothing(table: CountingTable, clock: MovableClock) -> None:
    rows = SearchRows(table=table, clock=clock)  # type: ignore[arg-type]
    index = PartitionIndex(rows=rows)
    writers = [
        threading.Thread(
            target=index.upsert, args=(ANN, [message(seq, "tea", conversation=f"c{number}") for seq in range(5)])
        )
        for number in range(20)
    ]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert index.count(ANN) == 100
    assert len(found(index, "tea")) == 100
    assert rows.head(ANN).version == 20


def test_searches_and_writes_at_once_end_in_the_truth(table: CountingTable, clock: MovableClock) -> None:
    index, failures = process(table, clock), []

    def read() -> None:
        for _ in range(40):
            if index.search(ANN, SearchQuery(text="tea")).missing:
                failures.append("missing")

    readers = [threading.Thread(target=read) for _ in range(4)]
    for reader in readers:
        reader.start()
    for seq in range(30):
        index.upsert(ANN, [message(seq, "tea")])
    for reader in readers:
        reader.join()
    assert not failures
    assert len(found(index, "tea")) == 30


def test_copies_stay_within_their_bound(table: CountingTable, clock: MovableClock) -> None:
    index = process(table, clock, max_bytes=60_000)
    users = [Scope("shop", f"u{number}") for number in range(10)]
    for user in users:
        index.upsert(user, [message(seq, f"tea {seq}") for seq in range(10)])
        assert len(found(index, "tea", user)) == 10
    table.calls.clear()
    assert len(found(index, "tea", users[-1])) == 10
    assert table.calls["query"] == 0
    assert len(found(index, "tea", users[0])) == 10
    assert table.calls["query"] > 0


@pytest.mark.parametrize("failing", ["get", "query"])
def test_a_table_that_is_down_is_named_and_not_raised(table: CountingTable, clock: MovableClock, failing: str) -> None:
    index = process(table, clock)
    index.upsert(ANN, [message(0, "tea")])
    table.failing[failing] = Unavailable("down")
    result = index.search(ANN, SearchQuery(text="tea", vector=b"\0" * 16, encoder="toy@4"))
    assert result.missing == ("lexical", "vector")
    assert not any(result.legs.values())
    table.failing.clear()
    assert found(index, "tea") == ["m:c:0"]


def test_words_without_vectors_lack_the_leg_and_what_has_no_words_lacks_nothing(
    table: CountingTable, clock: MovableClock
) -> None:
    index = process(table, clock)
    query = SearchQuery(vector=bytes(2047) + b"\x3f", encoder="toy@512")
    index.upsert(ANN, [message(0, "😀😀")])
    assert index.search(ANN, query).missing == ()
    index.upsert(ANN, [message(1, "dogs")])
    assert index.search(ANN, query).missing == ("vector",)


def test_a_change_of_items_is_seen_where_messages_were_searched_before(
    table: CountingTable, clock: MovableClock
) -> None:
    index = process(table, clock)
    items = DocumentFilter(kinds=(DocumentKind.GIST, DocumentKind.MEMORY))
    index.upsert(ANN, [message(0, "a dog")])
    assert index.search(ANN, SearchQuery(text="dog", where=items)).legs["lexical"] == ()
    index.upsert(ANN, [replace(message(0, "Ann's dog"), doc_id="g:1", kind=DocumentKind.GIST)])
    found = index.search(ANN, SearchQuery(text="dog", where=items)).legs["lexical"]
    assert [hit.document.doc_id for hit in found] == ["g:1"]
    assert len(index.search(ANN, SearchQuery(text="dog")).legs["lexical"]) == 2
    index.delete(ANN, {"g:1": 1})
    assert index.search(ANN, SearchQuery(text="dog", where=items)).legs["lexical"] == ()


def test_a_writer_that_never_gets_its_turn_says_so(table: CountingTable, clock: MovableClock) -> None:
    index = process(table, clock)
    table.failing["transact"] = ConditionFailed(0)
    with pytest.raises(Throttled):
        index.upsert(ANN, [message(0, "tea")])


def test_a_history_of_ten_thousand_messages_is_written_counted_and_erased(
    table: CountingTable, clock: MovableClock
) -> None:
    index = process(table, clock)
    index.upsert(ANN, [message(seq, f"I own grinder no. {seq}") for seq in range(10_050)])
    index.upsert(BOB, [message(0, "I own a kettle")])
    assert index.count(ANN) == 10_050
    assert found(index, "10049") == ["m:c:10049"]
    index.delete_all(ANN)
    assert index.count(ANN) == 0
    assert found(index, "kettle", BOB) == ["m:c:0"]


def test_the_terms_of_another_release_are_made_again(table: CountingTable, clock: MovableClock) -> None:
    index = process(table, clock)
    index.upsert(ANN, [message(0, "walking")])
    (row,) = table.query(keys.user_partition(ANN), start=keys.DOCUMENTS, end=keys.end_of(keys.DOCUMENTS)).items
    table.write(puts=[replace(row, body={**row.body, "terms": "nonsense", "analysis": 0})])
    assert found(index, "walk") == ["m:c:0"]
    assert found(index, "nonsense") == []


def test_a_turn_deleted_between_two_others_makes_them_no_neighbours(table: CountingTable, clock: MovableClock) -> None:
    index = process(table, clock)
    index.upsert(ANN, [message(0, "which hotel?"), message(1, "the old one"), message(2, "thanks")])
    index.delete(ANN, {"m:c:1": 1})
    legs = index.search(ANN, SearchQuery(text="hotel")).legs
    assert [hit.document.doc_id for hit in legs["lexical_context"]] == ["m:c:0"]
    assert all(hit.document.previous == "" for hits in legs.values() for hit in hits)


def row_keys(table: CountingTable, scope: Scope) -> Sequence[Key]:
    return [item.key for item in table.query(keys.user_partition(scope)).items]


def test_ids_that_hold_the_separator_stay_apart(table: CountingTable, clock: MovableClock) -> None:
    index = process(table, clock)
    strange = Scope("shop", "a#b%23")
    index.upsert(strange, [message(0, "tea", conversation="x#y"), message(0, "tea", conversation="x%23y")])
    assert sorted(found(index, "tea", strange)) == ["m:x#y:0", "m:x%23y:0"]
    assert len(set(row_keys(table, strange))) == 4
    index.delete(strange, {"m:x#y:0": 1})
    assert found(index, "tea", strange) == ["m:x%23y:0"]
