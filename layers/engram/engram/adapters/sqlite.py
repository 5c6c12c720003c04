"""Table on one SQLite file: the truth on one machine, durable at every answer (WAL, synchronous=FULL).

Reads borrow a connection from a pool, so they never wait for a writer; writes share one connection and one lock,
since SQLite has one writer anyway and waiting our turn is cheaper than being told that the file is busy.
"""

from __future__ import annotations

import json
import sqlite3
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from engram.domain.clock import Clock, system_clock
from engram.domain.errors import ConditionFailed, InvalidInput, Throttled, Unavailable
from engram.domain.table import (
    Absent,
    Check,
    Condition,
    Delete,
    EpochIs,
    IndexCursor,
    IndexKey,
    Item,
    Key,
    Page,
    Put,
    VersionIs,
    Write,
)
from engram.store.limits import (
    MAX_PAGE_BYTES,
    check_item,
    check_key,
    check_transaction,
    distinct,
    encode_body,
    last_of_each,
)

_SCHEMA = """
CREATE TABLE IF NOT EXISTS items (
  pk TEXT NOT NULL, sk TEXT NOT NULL, v INTEGER NOT NULL, e INTEGER NOT NULL, expires_at INTEGER,
  ipk TEXT, isk TEXT, body TEXT NOT NULL, blob BLOB NOT NULL, PRIMARY KEY (pk, sk)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_index ON items (ipk, isk, pk, sk) WHERE ipk IS NOT NULL;
CREATE INDEX IF NOT EXISTS by_expiry ON items (expires_at) WHERE expires_at IS NOT NULL;
"""
_COLUMNS = "pk, sk, v, e, expires_at, ipk, isk, body, blob"
_ALIVE = "(expires_at IS NULL OR expires_at > ?)"
_GET = f"SELECT {_COLUMNS} FROM items WHERE pk = ? AND sk = ? AND {_ALIVE}"
_PUT = f"INSERT OR REPLACE INTO items ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
_DELETE = "DELETE FROM items WHERE pk = ? AND sk = ?"
_STATE = f"SELECT v, e FROM items WHERE pk = ? AND sk = ? AND {_ALIVE}"
_PURGE = "DELETE FROM items WHERE (pk, sk) IN (SELECT pk, sk FROM items WHERE expires_at <= ? LIMIT 1000)"

_BUSY_MS = 10_000
"""Another process (the command line) may hold the file for a moment."""
_WRITES_BETWEEN_PURGES = 500
_MAX_IDLE_READERS = 16


class SqliteTable:
    """Table on the SQLite file at `path`, which is made if need be.

    Args:
        path: the file; its folder must exist.
        clock: what expiry is measured by.
        page_bytes: a page of a query ends when its bodies reach this size, as it does in DynamoDB.
    """

    def __init__(self, path: str | Path, *, clock: Clock = system_clock, page_bytes: int = MAX_PAGE_BYTES) -> None:
        self._path = str(path)
        self._clock = clock
        self._page_bytes = page_bytes
        self._readers: deque[sqlite3.Connection] = deque()
        self._lock = threading.Lock()
        self._writes = 0
        with _translated():
            self._writer = self._connect()
            self._writer.executescript(_SCHEMA)

    def get(self, key: Key) -> Item | None:
        check_key(key)
        with self._reading() as connection:
            row = connection.execute(_GET, (key.pk, key.sk, self._now())).fetchone()
        return None if row is None else _item(row)

    def batch_get(self, keys: Sequence[Key]) -> dict[Key, Item]:
        now, found = self._now(), {}
        with self._reading() as connection:
            for key in distinct(keys):
                check_key(key)
                row = connection.execute(_GET, (key.pk, key.sk, now)).fetchone()
                if row is not None:
                    found[key] = _item(row)
        return found

    def query(
        self,
        pk: str,
        *,
        start: str = "",
        end: str | None = None,
        forward: bool = True,
        limit: int | None = None,
        cursor: Key | None = None,
    ) -> Page:
        bounds, values = ["pk = ?", "sk >= ?"], [pk, start]
        if end is not None:
            bounds.append("sk < ?")
            values.append(end)
        if cursor is not None:
            bounds.append("sk > ?" if forward else "sk < ?")
            values.append(cursor.sk)
        order = "sk" if forward else "sk DESC"
        return self._page(bounds, values, order, limit, lambda item: item.key)

    def query_index(
        self, pk: str, *, start: str = "", end: str | None = None, limit: int | None = None, cursor: Key | None = None
    ) -> Page:
        bounds, values = ["ipk = ?", "isk >= ?"], [pk, start]
        if end is not None:
            bounds.append("isk < ?")
            values.append(end)
        if cursor is not None:
            bounds.append("(isk, pk, sk) > (?, ?, ?)")
            values += [self._stood_at(cursor).sk, cursor.pk, cursor.sk]
        return self._page(bounds, values, "isk, pk, sk", limit, _index_cursor)

    def write(self, puts: Sequence[Item] = (), deletes: Sequence[Key] = ()) -> None:
        rows = [_row(item) for item in last_of_each(puts, deletes)]
        for key in deletes:
            check_key(key)
        if not rows and not deletes:
            return
        with self._writing() as connection:
            connection.executemany(_DELETE, deletes)
            connection.executemany(_PUT, rows)
        if deletes:
            self._forget_the_log()

    def transact(self, writes: Sequence[Write]) -> None:
        bodies = {write.key: encode_body(write.item.body) for write in writes if isinstance(write, Put)}
        check_transaction(writes, bodies)
        now = self._now()
        with self._writing() as connection:
            for index, write in enumerate(writes):
                if write.condition is not None and not _holds(connection, write.key, write.condition, now):
                    raise ConditionFailed(index)
            for write in writes:
                _apply(connection, write, bodies)

    def close(self) -> None:
        """Closes the file. Calls still running end with Unavailable."""
        with self._lock:
            self._writer.close()
        while self._readers:
            self._readers.pop().close()

    def _page(
        self,
        bounds: Sequence[str],
        values: Sequence[str],
        order: str,
        limit: int | None,
        cursor_of: Callable[[Item], Key],
    ) -> Page:
        """Rows that meet `bounds`, up to `limit` and the page size; one row more tells whether any is left."""
        if limit is not None and limit < 1:
            raise InvalidInput("limit must be at least 1", field="limit")
        sql = f"SELECT {_COLUMNS} FROM items WHERE {' AND '.join(bounds)} AND {_ALIVE} ORDER BY {order}"
        items: list[Item] = []
        size = 0
        with self._reading() as connection:
            rows = connection.execute(sql, (*values, self._now()))
            try:
                for row in rows:
                    if items and (len(items) == limit or size >= self._page_bytes):
                        return Page(tuple(items), cursor_of(items[-1]))
                    items.append(_item(row))
                    size += len(row[7]) + len(row[8])
            finally:
                rows.close()
        return Page(tuple(items))

    def _stood_at(self, cursor: Key) -> IndexKey:
        """Where in the index the page before ended, even if the item has moved or gone since."""
        if isinstance(cursor, IndexCursor):
            return cursor.stood_at
        item = self.get(cursor)
        if item is None or item.index is None:
            raise InvalidInput("the cursor points at an item that is no longer listed", field="cursor")
        return item.index

    def _now(self) -> int:
        return int(self._clock().timestamp())

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False, timeout=_BUSY_MS / 1000)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA secure_delete = ON")  # what is deleted is overwritten, not only unlinked
        connection.execute("PRAGMA cache_size = -16000")
        return connection

    def _forget_the_log(self) -> None:
        """Empties the write-ahead log, which still holds the pages as they were before rows were deleted.

        Busy readers keep it for now; the next deletion or checkpoint takes it then.
        """
        with _translated(), self._lock:
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with _translated():
            try:
                connection = self._readers.pop()
            except IndexError:
                connection = self._connect()
            try:
                yield connection
            finally:
                if len(self._readers) < _MAX_IDLE_READERS:
                    self._readers.append(connection)
                else:
                    connection.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """One transaction on the writer: on disk when it ends, undone if anything is raised."""
        with _translated(), self._lock:
            connection = self._writer
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                self._purge(connection)
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise

    def _purge(self, connection: sqlite3.Connection) -> None:
        """Removes expired rows now and then, as DynamoDB's TTL does; reads do not depend on it."""
        self._writes += 1
        if self._writes % _WRITES_BETWEEN_PURGES == 0:
            connection.execute(_PURGE, (self._now(),))


@contextmanager
def _translated() -> Iterator[None]:
    """SQLite's errors as ours. Without their texts: those may quote a statement's values."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            raise Throttled("the table is busy") from None
        raise Unavailable(f"the table cannot be used ({error.sqlite_errorname})") from None
    except sqlite3.ProgrammingError:
        raise Unavailable("the table is closed") from None
    except sqlite3.DatabaseError as error:
        raise Unavailable(f"the table cannot be used ({error.sqlite_errorname})") from None


def _row(item: Item) -> tuple[Any, ...]:
    body = encode_body(item.body)
    check_item(item, body)
    return _columns(item, body)


def _columns(item: Item, body: str) -> tuple[Any, ...]:
    ipk, isk = item.index or (None, None)
    return (*item.key, item.version, item.epoch, item.expires_at, ipk, isk, body, item.blob)


def _item(row: tuple[Any, ...]) -> Item:
    pk, sk, version, epoch, expires_at, ipk, isk, body, blob = row
    index = None if ipk is None else IndexKey(ipk, isk)
    return Item(Key(pk, sk), json.loads(body), blob, version, epoch, expires_at, index)


def _index_cursor(item: Item) -> Key:
    assert item.index is not None
    return IndexCursor.of(item.key, item.index)


def _holds(connection: sqlite3.Connection, key: Key, condition: Condition, now: int) -> bool:
    state = connection.execute(_STATE, (key.pk, key.sk, now)).fetchone()
    match condition:
        case Absent():
            return state is None
        case VersionIs(version):
            return state is not None and bool(state[0] == version)
        case EpochIs(epoch):
            return epoch == 0 if state is None else bool(state[1] == epoch)


def _apply(connection: sqlite3.Connection, write: Write, bodies: dict[Key, str]) -> None:
    match write:
        case Put(item=item):
            connection.execute(_PUT, _columns(item, bodies[item.key]))
        case Delete(key=key):
            connection.execute(_DELETE, key)
        case Check():
            pass
