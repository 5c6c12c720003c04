"""Table on DynamoDB, through the low-level client.

It translates and bounds: items to attributes, our closed set of conditions to expressions, cancelled transactions
to the write that lost. What the service would refuse is refused before it is sent (`store.limits`).
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from engram.adapters.aws import LazyClient, error_code, translated
from engram.domain.clock import Clock, system_clock
from engram.domain.errors import ConditionFailed, EngramError, InvalidInput, Throttled
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
    MAX_BATCH_GET,
    MAX_BATCH_WRITE,
    check_item,
    check_key,
    check_transaction,
    distinct,
    encode_body,
    last_of_each,
)

INDEX_NAME = "by_index"
"""The sparse index: `ipk` and `isk`, all attributes projected. The template declares it under this name."""

_ATTEMPTS = 5
_PAUSE_SECONDS = 0.05
_PART = "the table"
_GONE = "attribute_not_exists(pk) OR expires_at <= :now"
_ALIVE = "(attribute_not_exists(expires_at) OR expires_at > :now)"
_CONFLICTS = frozenset({"TransactionConflict", "ThrottlingError", "ProvisionedThroughputExceeded"})

_T = TypeVar("_T")
Attributes = dict[str, dict[str, Any]]


class DynamoTable:
    """Table on the DynamoDB table `name` with keys `pk` and `sk`, TTL on `expires_at` and the sparse index.

    Args:
        client: makes or returns the low-level client.
        clock: what expiry is measured by; the service's own TTL removes rows days later.
    """

    def __init__(self, name: str, *, client: LazyClient, clock: Clock = system_clock) -> None:
        self._name = name
        self._client = client
        self._clock = clock

    def get(self, key: Key) -> Item | None:
        check_key(key)
        with translated(_PART):
            answer = self._client().get_item(TableName=self._name, Key=_address(key), ConsistentRead=True)
        attributes = answer.get("Item")
        return self._alive(_item(attributes)) if attributes else None

    def batch_get(self, keys: Sequence[Key]) -> dict[Key, Item]:
        for key in keys:
            check_key(key)
        found: dict[Key, Item] = {}
        for chunk in _chunks(distinct(keys), MAX_BATCH_GET):
            for attributes in self._batch_get([_address(key) for key in chunk]):
                item = self._alive(_item(attributes))
                if item is not None:
                    found[item.key] = item
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
        bounds = _Range("pk", "sk", pk, start, end)
        if bounds.empty or (cursor is not None and bounds.ends_before(cursor.sk, forward=forward)):
            return Page(())
        if cursor is not None and bounds.begins_after(cursor.sk, forward=forward):
            cursor = None
        begin = _address(cursor) if cursor else None
        items, last = self._query(bounds, {"ConsistentRead": True, "ScanIndexForward": forward}, limit, begin)
        return Page(items, _key(last) if last else None)

    def query_index(
        self, pk: str, *, start: str = "", end: str | None = None, limit: int | None = None, cursor: Key | None = None
    ) -> Page:
        bounds = _Range("ipk", "isk", pk, start, end)
        if bounds.empty:
            return Page(())
        begin = None
        if cursor is not None:
            stood_at = self._stood_at(cursor)
            if bounds.ends_before(stood_at.sk, forward=True):
                return Page(())
            if not bounds.begins_after(stood_at.sk, forward=True):
                begin = _address(cursor) | {"ipk": {"S": stood_at.pk}, "isk": {"S": stood_at.sk}}
        items, last = self._query(bounds, {"IndexName": INDEX_NAME}, limit, begin)
        return Page(items, IndexCursor.of(_key(last), IndexKey(last["ipk"]["S"], last["isk"]["S"])) if last else None)

    def write(self, puts: Sequence[Item] = (), deletes: Sequence[Key] = ()) -> None:
        requests: list[dict[str, Any]] = [
            {"PutRequest": {"Item": _checked(item)}} for item in last_of_each(puts, deletes)
        ]
        for key in distinct(deletes):
            check_key(key)
            requests.append({"DeleteRequest": {"Key": _address(key)}})
        for chunk in _chunks(requests, MAX_BATCH_WRITE):
            self._batch_write(chunk)

    def transact(self, writes: Sequence[Write]) -> None:
        bodies = {write.key: encode_body(write.item.body) for write in writes if isinstance(write, Put)}
        check_transaction(writes, bodies)
        now = str(self._now())
        actions = [_action(self._name, write, bodies, now) for write in writes]
        for attempt in range(_ATTEMPTS):
            conflict = self._transact(actions)
            if conflict is None:
                return
            if attempt + 1 < _ATTEMPTS:
                _pause(attempt)
        raise Throttled(f"other writers kept a transaction from going through ({conflict})")

    def _transact(self, actions: Sequence[Mapping[str, Any]]) -> str | None:
        """None when it went through; the reason when it met another transaction and nothing was written."""
        from botocore.exceptions import ClientError

        with translated(_PART):
            try:
                self._client().transact_write_items(TransactItems=actions)
            except ClientError as error:
                if error_code(error) != "TransactionCanceledException":
                    raise
                return _passing_reason(error)
        return None

    def _query(
        self, bounds: _Range, options: Mapping[str, Any], limit: int | None, begin: Attributes | None
    ) -> tuple[tuple[Item, ...], Attributes | None]:
        if limit is not None and limit < 1:
            raise InvalidInput("limit must be at least 1", field="limit")
        request: dict[str, Any] = {"TableName": self._name, **bounds.condition(), **options}
        if limit is not None:
            request["Limit"] = limit
        if begin is not None:
            request["ExclusiveStartKey"] = begin
        with translated(_PART):
            answer = self._client().query(**request)
        items = [self._alive(_item(row)) for row in answer["Items"] if bounds.holds(row)]
        return tuple(item for item in items if item is not None), answer.get("LastEvaluatedKey")

    def _batch_get(self, keys: Sequence[Attributes]) -> Iterator[Attributes]:
        """Rows of up to 100 keys; what the service leaves out (16 MB, throttling) is asked for again."""
        attempt = 0
        while keys:
            request = {self._name: {"Keys": keys, "ConsistentRead": True}}
            with translated(_PART):
                answer = self._client().batch_get_item(RequestItems=request)
            yield from answer["Responses"].get(self._name, [])
            left = answer.get("UnprocessedKeys", {}).get(self._name, {}).get("Keys", [])
            attempt = _next_attempt(attempt, progress=len(left) < len(keys), left=len(left))
            keys = left

    def _batch_write(self, requests: Sequence[Mapping[str, Any]]) -> None:
        attempt = 0
        while requests:
            with translated(_PART):
                answer = self._client().batch_write_item(RequestItems={self._name: requests})
            left = answer.get("UnprocessedItems", {}).get(self._name, [])
            attempt = _next_attempt(attempt, progress=len(left) < len(requests), left=len(left))
            requests = left

    def _stood_at(self, cursor: Key) -> IndexKey:
        """Where in the index the page before ended, even if the item has moved or gone since."""
        if isinstance(cursor, IndexCursor):
            return cursor.stood_at
        item = self.get(cursor)
        if item is None or item.index is None:
            raise InvalidInput("the cursor points at an item that is no longer listed", field="cursor")
        return item.index

    def _alive(self, item: Item) -> Item | None:
        return item if item.expires_at is None or item.expires_at > self._now() else None

    def _now(self) -> int:
        return int(self._clock().timestamp())


class _Range:
    """`start <= sort key < end` in one partition. DynamoDB has no half-open range: the row at `end` is dropped here."""

    def __init__(self, partition: str, sort: str, pk: str, start: str, end: str | None) -> None:
        self._partition, self._sort, self._pk = partition, sort, pk
        self._start, self._end = start, end
        self.empty = not pk or (end is not None and end <= start)

    def condition(self) -> dict[str, Any]:
        """The arguments of a Query that say it."""
        values = {":pk": {"S": self._pk}}
        text = f"{self._partition} = :pk"
        if self._start and self._end is not None:
            text += f" AND {self._sort} BETWEEN :start AND :end"
        elif self._start:
            text += f" AND {self._sort} >= :start"
        elif self._end is not None:
            text += f" AND {self._sort} < :end"
        if self._start:
            values[":start"] = {"S": self._start}
        if self._end is not None:
            values[":end"] = {"S": self._end}
        return {"KeyConditionExpression": text, "ExpressionAttributeValues": values}

    def ends_before(self, sort_key: str, *, forward: bool) -> bool:
        """Whether nothing of the range comes after `sort_key`."""
        return (self._end is not None and sort_key >= self._end) if forward else sort_key <= self._start

    def begins_after(self, sort_key: str, *, forward: bool) -> bool:
        """Whether all of the range comes after `sort_key`. DynamoDB refuses to start outside of the range."""
        if forward:
            return sort_key < self._start
        # With both ends given the condition is BETWEEN, which holds the end itself: a page may have stopped there.
        return self._end is not None and (sort_key > self._end or (sort_key == self._end and not self._start))

    def holds(self, row: Attributes) -> bool:
        return self._end is None or str(row[self._sort]["S"]) != self._end


def _address(key: Key) -> Attributes:
    return {"pk": {"S": key.pk}, "sk": {"S": key.sk}}


def _key(row: Attributes) -> Key:
    return Key(row["pk"]["S"], row["sk"]["S"])


def _checked(item: Item) -> Attributes:
    body = encode_body(item.body)
    check_item(item, body)
    return _attributes(item, body)


def _attributes(item: Item, body: str) -> Attributes:
    row = _address(item.key) | {"v": {"N": str(item.version)}, "e": {"N": str(item.epoch)}, "body": {"S": body}}
    if item.blob:
        row["blob"] = {"B": item.blob}
    if item.expires_at is not None:
        row["expires_at"] = {"N": str(item.expires_at)}
    if item.index is not None:
        row |= {"ipk": {"S": item.index.pk}, "isk": {"S": item.index.sk}}
    return row


def _item(row: Attributes) -> Item:
    return Item(
        _key(row),
        json.loads(row["body"]["S"]),
        bytes(row["blob"]["B"]) if "blob" in row else b"",
        int(row["v"]["N"]),
        int(row["e"]["N"]),
        int(row["expires_at"]["N"]) if "expires_at" in row else None,
        IndexKey(row["ipk"]["S"], row["isk"]["S"]) if "ipk" in row else None,
    )


def _action(table: str, write: Write, bodies: Mapping[Key, str], now: str) -> dict[str, Any]:
    conditions = _expression(write.condition, now) if write.condition is not None else {}
    match write:
        case Put(item=item):
            return {"Put": {"TableName": table, "Item": _attributes(item, bodies[item.key]), **conditions}}
        case Delete(key=key):
            return {"Delete": {"TableName": table, "Key": _address(key), **conditions}}
        case Check(key=key):
            return {"ConditionCheck": {"TableName": table, "Key": _address(key), **conditions}}


def _expression(condition: Condition, now: str) -> dict[str, Any]:
    """A row past its expiry counts as none, although it may stand there for days."""
    values = {":now": {"N": now}}
    match condition:
        case Absent():
            text = _GONE
        case VersionIs(version):
            text, values[":v"] = f"v = :v AND {_ALIVE}", {"N": str(version)}
        case EpochIs(epoch):
            text, values[":e"] = f"e = :e AND {_ALIVE}", {"N": str(epoch)}
            if epoch == 0:
                text = f"{_GONE} OR ({text})"
    return {"ConditionExpression": text, "ExpressionAttributeValues": values}


def _passing_reason(error: Exception) -> str:
    """Why a cancelled transaction may go through if sent again.

    Raises:
        ConditionFailed: it will not, since a condition did not hold.
        EngramError: it will not, since the service cannot keep one of the writes.
    """
    response: dict[str, Any] = getattr(error, "response", {})
    codes = [str(reason.get("Code", "None")) for reason in response.get("CancellationReasons", [])]
    if "ConditionalCheckFailed" in codes:
        raise ConditionFailed(codes.index("ConditionalCheckFailed")) from None
    for code in codes:
        if code in _CONFLICTS:
            return code
    raise EngramError(f"{_PART} refused a transaction ({', '.join(sorted(set(codes)))})") from None


def _next_attempt(attempt: int, *, progress: bool, left: int) -> int:
    """Number of the next attempt at what is left, after a pause if nothing went through in this one."""
    if not left or progress:
        return 0
    if attempt + 1 >= _ATTEMPTS:
        raise Throttled(f"{_PART} left {left} rows of a batch undone")
    _pause(attempt)
    return attempt + 1


def _pause(attempt: int, *, sleep: Callable[[float], None] = time.sleep) -> None:
    """Exponential, with full jitter: writers that met once should not meet again."""
    sleep(random.uniform(0, _PAUSE_SECONDS * 2**attempt))


def _chunks(rows: Sequence[_T], size: int) -> Iterator[Sequence[_T]]:
    for first in range(0, len(rows), size):
        yield rows[first : first + size]
