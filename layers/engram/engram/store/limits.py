"""What the services we stand on refuse, refused here first and in our own words.

The rules are those of DynamoDB and SQS and hold on every adapter: what one machine accepts today must still
be accepted after `export` and `import` on AWS.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from engram.domain.errors import InvalidInput, TooLarge
from engram.domain.table import IndexKey, Item, Key, Put, Write

MAX_ITEM_BYTES = 400 * 1024
MAX_TRANSACTION_WRITES = 100
MAX_TRANSACTION_BYTES = 4 * 1024 * 1024
MAX_PARTITION_KEY_BYTES = 2_048
MAX_SORT_KEY_BYTES = 1_024
MAX_INDEX_SORT_KEY_BYTES = 1_024
MAX_BATCH_GET = 100
MAX_BATCH_WRITE = 25
MAX_PAGE_BYTES = 1024 * 1024
MAX_QUEUE_MESSAGE_BYTES = 1024 * 1024
MAX_BLOB_NAME_BYTES = 600
"""With the scope's prefix and in base 64 it stays below S3's 1,024 bytes."""

_NUMBER_BYTES = 21
"""Most that a number takes; the true size depends on its digits, and nothing is gained by being exact."""
_ITEM_OVERHEAD = sum(map(len, ("pk", "sk", "v", "e", "expires_at", "ipk", "isk", "body", "blob"))) + 3 * _NUMBER_BYTES
_SURROGATE = re.compile("[\ud800-\udfff]")
_QUEUE_REFUSES = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_GROUP_ID = re.compile(r"[A-Za-z0-9!-/:-@\[-`{-~]{1,128}\Z")


def encode_body(body: Mapping[str, Any]) -> str:
    """`body` as compact JSON that every adapter can keep: UTF-8 as it is, lone surrogates escaped.

    Raises:
        InvalidInput: a number that JSON has no spelling for.
    """
    try:
        text = json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError:
        raise InvalidInput("numbers must be finite") from None
    if text.isascii():
        return text
    return _SURROGATE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def check_key(key: Key) -> int:
    """Bytes of the key.

    Raises:
        InvalidInput: a part is empty, longer than the table takes, or not text that UTF-8 can spell.
    """
    return _part(key.pk, MAX_PARTITION_KEY_BYTES) + _part(key.sk, MAX_SORT_KEY_BYTES)


def check_item(item: Item, body: str) -> int:
    """Bytes the item takes, names included, when its body is written as `body`.

    Raises:
        InvalidInput: a key that the table does not take.
        TooLarge: over 400 KB.
    """
    size = _ITEM_OVERHEAD + check_key(item.key) + _index(item.index) + len(body.encode()) + len(item.blob)
    if size > MAX_ITEM_BYTES:
        raise TooLarge(f"an item may have {MAX_ITEM_BYTES} bytes; this one has {size}")
    return size


def check_transaction(writes: Sequence[Write], bodies: Mapping[Key, str]) -> None:
    """Whether `writes` can be one transaction; `bodies` are the encoded bodies of its puts.

    Raises:
        InvalidInput: no write at all, or two on one key.
        TooLarge: more than 100 writes, or more than 4 MB together.
    """
    if not writes:
        raise InvalidInput("a transaction needs at least one write")
    if len(writes) > MAX_TRANSACTION_WRITES:
        raise TooLarge(f"a transaction may have {MAX_TRANSACTION_WRITES} writes; this one has {len(writes)}")
    if len({write.key for write in writes}) != len(writes):
        raise InvalidInput("a transaction may write each key once")
    size = sum(
        check_item(write.item, bodies[write.key]) if isinstance(write, Put) else check_key(write.key)
        for write in writes
    )
    if size > MAX_TRANSACTION_BYTES:
        raise TooLarge(f"a transaction may have {MAX_TRANSACTION_BYTES} bytes; this one has {size}")


def last_of_each(puts: Sequence[Item], deletes: Sequence[Key]) -> list[Item]:
    """`puts` with only the last of each key: a batch that names a key twice is refused by DynamoDB.

    Raises:
        InvalidInput: a key is both put and deleted, which has no order in a batch.
    """
    last = {item.key: item for item in puts}
    if not last.keys().isdisjoint(deletes):
        raise InvalidInput("a batch may not put and delete the same key")
    return list(last.values())


def check_queue_message(group: str, body: str) -> None:
    """Whether a FIFO queue takes `body` in `group`.

    Raises:
        InvalidInput: characters that SQS refuses.
        TooLarge: over 1 MiB.
    """
    if not _GROUP_ID.match(group):
        raise InvalidInput("a message group is 1 to 128 ASCII letters, digits and punctuation")
    if not body or _QUEUE_REFUSES.search(body):
        raise InvalidInput("a queue message must hold text without control characters or lone surrogates")
    size = len(body.encode())
    if size > MAX_QUEUE_MESSAGE_BYTES:
        raise TooLarge(f"a queue message may have {MAX_QUEUE_MESSAGE_BYTES} bytes; this one has {size}")


def check_blob_name(name: str) -> str:
    """`name` unchanged if a blob can be kept under it.

    Raises:
        InvalidInput: empty, too long, or not text that UTF-8 can spell.
    """
    try:
        size = len(name.encode())
    except UnicodeEncodeError:
        raise InvalidInput("a blob name must not hold lone surrogates") from None
    if not 0 < size <= MAX_BLOB_NAME_BYTES:
        raise InvalidInput(f"a blob name must have 1 to {MAX_BLOB_NAME_BYTES} bytes; this one has {size}")
    return name


def distinct(keys: Iterable[Key]) -> list[Key]:
    """`keys` without repetitions, in their order: a batch that names a key twice is refused."""
    return list(dict.fromkeys(keys))


def _index(index: IndexKey | None) -> int:
    if index is None:
        return 0
    return _part(index.pk, MAX_PARTITION_KEY_BYTES) + _part(index.sk, MAX_INDEX_SORT_KEY_BYTES)


def _part(text: str, maximum: int) -> int:
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise InvalidInput("a key must not hold lone surrogates") from None
    if not 0 < size <= maximum:
        raise InvalidInput(f"a part of a key must have 1 to {maximum} bytes; this one has {size}")
    return size
