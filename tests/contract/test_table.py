"""What every Table keeps to: one file on one machine and DynamoDB answer the same."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engram.adapters.sqlite import SqliteTable
from engram.domain.errors import ConditionFailed, InvalidInput, Throttled, TooLarge
from engram.domain.table import Absent, Check, Delete, EpochIs, IndexKey, Item, Key, Page, Put, VersionIs, Write
from engram.ports import Table
from tests.builders import MovableClock
from tests.servers import ministack_binary

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=[])),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(max_size=5), children, max_size=3),
    max_leaves=8,
)
sort_keys = st.text(st.sampled_from("abz#~é杭\U0001f600"), min_size=1, max_size=3)
shared_table = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture
def pk() -> str:
    """A partition that no other test writes to."""
    return f"T#{uuid.uuid4().hex}"


def all_pages(page: Callable[[Key | None], Page]) -> list[Item]:
    items, answer = [], page(None)
    items += answer.items
    while answer.cursor is not None:
        answer = page(answer.cursor)
        items += answer.items
    return items


def keys_of(items: list[Item]) -> list[str]:
    return [item.key.sk for item in items]


def well_formed(value: object) -> object:
    """Two lone surrogates that make a pair are that pair once they were written as JSON."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    if isinstance(value, list):
        return [well_formed(one) for one in value]
    if isinstance(value, dict):
        return {key: well_formed(one) for key, one in value.items()}
    return value


# One item ------------------------------------------------------------------------------------------


@shared_table
@given(body=st.dictionaries(st.text(max_size=5), json_values, max_size=4), blob=st.binary(max_size=40))
def test_an_item_comes_back_as_it_was_written(table: Table, body: dict[str, object], blob: bytes) -> None:
    key = Key(f"T#{uuid.uuid4().hex}", "row")
    item = Item(key, body, blob, 7, 3, None, IndexKey("list", "1"))
    table.write([item])
    found = table.get(key)
    assert found is not None
    assert found.body == well_formed(body)
    assert (found.blob, found.version, found.epoch, found.index) == (blob, 7, 3, IndexKey("list", "1"))


def test_what_is_not_there_is_none(table: Table, pk: str) -> None:
    assert table.get(Key(pk, "nothing")) is None
    assert table.batch_get([Key(pk, "nothing")]) == {}
    assert table.batch_get([]) == {}
    assert table.query(pk) == Page(())
    assert table.query_index(pk) == Page(())


def test_a_later_write_replaces_the_whole_item(table: Table, pk: str) -> None:
    key = Key(pk, "row")
    table.write([Item(key, {"a": 1}, b"x", 2, 2, None, IndexKey(pk, "1"))])
    table.write([Item(key, {"b": 1})])
    assert table.get(key) == Item(key, {"b": 1})
    assert table.query_index(pk).items == ()


def test_an_expired_item_is_gone_from_every_read(table: Table, pk: str, clock: MovableClock) -> None:
    key = Key(pk, "row")
    table.write([Item(key, expires_at=clock.unix() + 60, index=IndexKey(pk, "1"))])
    clock.go_on(59)
    assert table.get(key) is not None
    clock.go_on(1)
    assert table.get(key) is None
    assert table.batch_get([key]) == {}
    assert all_pages(lambda cursor: table.query(pk, cursor=cursor)) == []
    assert all_pages(lambda cursor: table.query_index(pk, cursor=cursor)) == []


def test_numbers_without_a_json_spelling_are_refused(table: Table, pk: str) -> None:
    with pytest.raises(InvalidInput):
        table.write([Item(Key(pk, "row"), {"score": float("nan")})])


@pytest.mark.parametrize("sk", ["", "x" * 1025, "杭" * 342, "\ud800"])
def test_a_key_that_the_table_cannot_hold_is_refused_with_our_words(table: Table, pk: str, sk: str) -> None:
    for call in (
        lambda: table.get(Key(pk, sk)),
        lambda: table.batch_get([Key(pk, sk)]),
        lambda: table.write([Item(Key(pk, sk))]),
        lambda: table.write(deletes=[Key(pk, sk)]),
        lambda: table.transact([Put(Item(Key(pk, sk)))]),
    ):
        with pytest.raises(InvalidInput):
            call()


def test_an_item_over_400_kb_is_refused_and_one_just_below_is_kept(table: Table, pk: str) -> None:
    key = Key(pk, "row")
    with pytest.raises(TooLarge):
        table.write([Item(key, {"text": "杭" * 136_600})])
    assert table.get(key) is None
    table.write([Item(key, {"text": "x" * 404_000})])
    found = table.get(key)
    assert found is not None
    assert len(found.body["text"]) == 404_000


# Many items ----------------------------------------------------------------------------------------


def test_any_number_of_items_is_written_read_and_deleted(table: Table, pk: str) -> None:
    keys = [Key(pk, f"{number:03}") for number in range(230)]
    table.write([Item(key, {"n": number}) for number, key in enumerate(keys)])
    found = table.batch_get([*keys, *keys, Key(pk, "none")])
    assert [found[key].body["n"] for key in keys] == list(range(230))
    table.write([Item(keys[0], {"n": "new"})], keys[1:])
    assert [item.body["n"] for item in all_pages(lambda cursor: table.query(pk, cursor=cursor))] == ["new"]


def test_the_last_of_two_puts_of_one_key_is_kept(table: Table, pk: str) -> None:
    table.write([Item(Key(pk, "row"), {"n": 1}), Item(Key(pk, "row"), {"n": 2})], [Key(pk, "x"), Key(pk, "x")])
    assert table.query(pk).items[0].body == {"n": 2}


def test_a_key_cannot_be_put_and_deleted_in_one_batch(table: Table, pk: str) -> None:
    with pytest.raises(InvalidInput):
        table.write([Item(Key(pk, "row"))], [Key(pk, "row")])


@shared_table
@given(
    stored=st.sets(sort_keys, max_size=12),
    start=st.just("") | sort_keys,
    end=st.none() | sort_keys,
    forward=st.booleans(),
    limit=st.none() | st.integers(1, 4),
    data=st.data(),
)
def test_a_query_answers_like_a_sorted_list(
    table: Table, stored: set[str], start: str, end: str | None, forward: bool, limit: int | None, data: st.DataObject
) -> None:
    pk = f"T#{uuid.uuid4().hex}"
    table.write([Item(Key(pk, sk)) for sk in stored] + [Item(Key(pk + "0", "a"))])
    begin = data.draw(st.none() | sort_keys, label="cursor")
    wanted = sorted((sk for sk in stored if start <= sk and (end is None or sk < end)), key=str.encode)
    if not forward:
        wanted.reverse()
    if begin is not None:
        wanted = [sk for sk in wanted if (sk > begin if forward else sk < begin)]

    def page(cursor: Key | None) -> Page:
        answer = table.query(
            pk, start=start, end=end, forward=forward, limit=limit, cursor=cursor or (begin and Key(pk, begin)) or None
        )
        assert limit is None or len(answer.items) <= limit
        return answer

    assert keys_of(all_pages(page)) == wanted


def test_pages_end_before_they_are_large(table: Table, pk: str) -> None:
    table.write([Item(Key(pk, f"{number:02}"), {"text": "x" * 300_000}) for number in range(6)])
    first = table.query(pk)
    assert first.cursor is not None
    assert len(first.items) < 6
    assert keys_of(all_pages(lambda cursor: table.query(pk, cursor=cursor))) == [f"{n:02}" for n in range(6)]


@pytest.mark.parametrize("limit", [0, -1])
def test_a_limit_below_one_is_refused(table: Table, pk: str, limit: int) -> None:
    with pytest.raises(InvalidInput):
        table.query(pk, limit=limit)
    with pytest.raises(InvalidInput):
        table.query_index(pk, limit=limit)


# The sparse index ----------------------------------------------------------------------------------


def test_the_index_lists_only_items_that_stand_in_it_in_order(table: Table, pk: str) -> None:
    table.write([Item(Key(pk, f"row{n}"), index=IndexKey(pk, f"{n:02}") if n % 2 else None) for n in range(10)])
    table.write([Item(Key(pk, "elsewhere"), index=IndexKey(pk + "0", "01"))])
    assert keys_of(list(table.query_index(pk).items)) == ["row1", "row3", "row5", "row7", "row9"]
    assert keys_of(list(table.query_index(pk, start="03", end="07").items)) == ["row3", "row5"]
    assert table.query_index(pk, start="05", end="05").items == ()


def test_an_item_leaves_the_index_when_it_is_rewritten_without_it_or_deleted(table: Table, pk: str) -> None:
    first, second, third = (Item(Key(pk, f"row{n}"), index=IndexKey(pk, f"{n:02}")) for n in range(3))
    table.write([first, second, third])
    table.transact([Put(Item(first.key)), Delete(second.key), Put(Item(third.key, index=IndexKey(pk, "99")))])
    listed = table.query_index(pk).items
    assert [(item.key.sk, item.index) for item in listed] == [("row2", IndexKey(pk, "99"))]


@pytest.mark.parametrize("limit", [1, 2, 3, 50])
def test_pages_of_the_index_go_on_although_items_move_meanwhile(table: Table, pk: str, limit: int) -> None:
    """A sweep changes each item that it is given: that must not make it lose its place."""
    table.write([Item(Key(pk, f"row{n:02}"), index=IndexKey(pk, "same" if n < 5 else f"t{n}")) for n in range(10)])
    seen: list[str] = []
    cursor: Key | None = None
    while True:
        page = table.query_index(pk, end="~", limit=limit, cursor=cursor)
        seen += keys_of(list(page.items))
        table.write([Item(item.key, index=IndexKey(pk, "~moved")) for item in page.items])
        cursor = page.cursor
        if cursor is None:
            break
    assert sorted(seen) == [f"row{n:02}" for n in range(10)]


def test_a_cursor_of_an_item_that_is_no_longer_listed_is_refused(table: Table, pk: str) -> None:
    with pytest.raises(InvalidInput):
        table.query_index(pk, cursor=Key(pk, "gone"))


def test_a_cursor_rebuilt_from_its_key_goes_on_where_the_item_stands(table: Table, pk: str) -> None:
    table.write([Item(Key(pk, f"row{n}"), index=IndexKey(pk, f"{n}")) for n in range(4)])
    assert keys_of(list(table.query_index(pk, cursor=Key(pk, "row1")).items)) == ["row2", "row3"]


# Transactions --------------------------------------------------------------------------------------


def state(version: int, epoch: int) -> Callable[[Key], Item]:
    return lambda key: Item(key, version=version, epoch=epoch)


@pytest.mark.parametrize(
    ("present", "condition", "holds"),
    [
        (None, Absent(), True),
        (None, VersionIs(1), False),
        (None, VersionIs(0), False),
        (None, EpochIs(0), True),
        (None, EpochIs(1), False),
        (state(4, 2), Absent(), False),
        (state(4, 2), VersionIs(4), True),
        (state(4, 2), VersionIs(3), False),
        (state(4, 2), EpochIs(2), True),
        (state(4, 2), EpochIs(0), False),
        (state(0, 0), EpochIs(0), True),
        (state(0, 0), VersionIs(0), True),
    ],
)
@pytest.mark.parametrize("kind", ["put", "delete", "check"])
def test_a_condition_decides_alone_whether_a_transaction_goes_through(
    table: Table,
    pk: str,
    kind: str,
    present: Callable[[Key], Item] | None,
    condition: Absent | VersionIs | EpochIs,
    holds: bool,
) -> None:
    key, other = Key(pk, "row"), Key(pk, "other")
    if present is not None:
        table.write([present(key)])
    writes: dict[str, Write] = {
        "put": Put(Item(key, {"new": True}, version=9), condition),
        "delete": Delete(key, condition),
        "check": Check(key, condition),
    }
    before = table.get(key)
    if not holds:
        with pytest.raises(ConditionFailed) as failure:
            table.transact([Put(Item(other)), writes[kind]])
        assert failure.value.index == 1
        assert table.get(other) is None
        assert table.get(key) == before
        return
    table.transact([Put(Item(other)), writes[kind]])
    assert table.get(other) is not None
    after = {"put": Item(key, {"new": True}, version=9), "delete": None, "check": before}
    assert table.get(key) == after[kind]


def test_the_first_condition_that_fails_is_named(table: Table, pk: str) -> None:
    table.write([Item(Key(pk, "a")), Item(Key(pk, "b"))])
    with pytest.raises(ConditionFailed) as failure:
        table.transact(
            [Check(Key(pk, "a"), VersionIs(1)), Check(Key(pk, "b"), Absent()), Put(Item(Key(pk, "c")), VersionIs(1))]
        )
    assert failure.value.index == 1


@pytest.mark.parametrize(
    ("condition", "holds"), [(Absent(), True), (EpochIs(0), True), (VersionIs(1), False), (EpochIs(5), False)]
)
def test_an_expired_item_counts_as_none_in_a_condition(
    table: Table, pk: str, clock: MovableClock, condition: Absent | VersionIs | EpochIs, holds: bool
) -> None:
    key = Key(pk, "row")
    table.write([Item(key, version=1, epoch=5, expires_at=clock.unix())])
    if holds:
        table.transact([Put(Item(key, {"new": True}), condition)])
        assert table.get(key) == Item(key, {"new": True})
    else:
        with pytest.raises(ConditionFailed):
            table.transact([Put(Item(key), condition)])


def test_a_hundred_writes_go_through_together_and_one_more_is_refused(table: Table, pk: str) -> None:
    writes = [Put(Item(Key(pk, f"{number:03}")), Absent()) for number in range(101)]
    with pytest.raises(TooLarge):
        table.transact(writes)
    assert table.query(pk, limit=1).items == ()
    table.transact(writes[:100])
    assert len(all_pages(lambda cursor: table.query(pk, cursor=cursor))) == 100


def test_a_transaction_over_four_megabytes_is_refused(table: Table, pk: str) -> None:
    with pytest.raises(TooLarge):
        table.transact([Put(Item(Key(pk, f"{number:02}"), {"text": "x" * 390_000})) for number in range(11)])
    assert table.query(pk, limit=1).items == ()


def test_an_empty_transaction_and_two_writes_of_one_key_are_refused(table: Table, pk: str) -> None:
    for writes in ([], [Put(Item(Key(pk, "row"))), Check(Key(pk, "row"), Absent())]):
        with pytest.raises(InvalidInput):
            table.transact(writes)


def test_of_writers_at_the_same_time_none_is_lost(request: pytest.FixtureRequest, table: Table, pk: str) -> None:
    if "dynamodb" in request.node.name and ministack_binary() is None:
        pytest.skip("moto's transactions are not atomic between threads: install ministack to run this")
    key, writers, rounds = Key(pk, "counter"), 6, 5
    table.write([Item(key, {"n": 0}, version=1)])

    def add_one() -> None:
        while True:
            item = table.get(key)
            assert item is not None
            after = Item(key, {"n": item.body["n"] + 1}, version=item.version + 1)
            try:
                return table.transact([Put(after, VersionIs(item.version))])
            except (ConditionFailed, Throttled):
                continue

    threads = [threading.Thread(target=lambda: [add_one() for _ in range(rounds)]) for _ in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    item = table.get(key)
    assert item is not None
    assert (item.body["n"], item.version) == (writers * rounds, 1 + writers * rounds)


def test_what_is_deleted_from_the_file_is_not_left_in_its_bytes(tmp_path):
    """One machine: SQLite keeps deleted rows in free pages and in its log unless it is told not to."""
    table = SqliteTable(tmp_path / "engram.sqlite")
    key = Key("U#acme#u1", "MSG#c#1")
    table.write([Item(key, {"content": "I can't eat hazelnuts"})])
    table.write(deletes=[key])
    for file in tmp_path.iterdir():
        assert b"hazelnuts" not in file.read_bytes(), file.name
