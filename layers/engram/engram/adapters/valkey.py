"""ProfileCache on Valkey or Redis: one GET to read, one small script to write. Every failure is a miss.

Two keys of one user share a hash tag, hence a cluster slot: the entry, and the tombstone that a deletion leaves.
redis-py takes 0.4 s to import and is imported at the first call.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from typing import Any, TypeVar

from engram.adapters.circuit import CircuitBreaker
from engram.adapters.elasticache_token import IamTokens
from engram.domain.scope import Scope
from engram.ports import CacheEntry

_PUT = """
local fence = tonumber(redis.call('GET', KEYS[2]) or '0')
if tonumber(ARGV[1]) < fence then return 0 end
local epoch, version = string.match(redis.call('GETRANGE', KEYS[1], 0, 63), '^(%d+):(%d+):')
if epoch and (tonumber(epoch) > tonumber(ARGV[1])
  or (tonumber(epoch) == tonumber(ARGV[1]) and tonumber(version) > tonumber(ARGV[2]))) then return 0 end
redis.call('SET', KEYS[1], ARGV[1] .. ':' .. ARGV[2] .. ':' .. ARGV[3], 'EX', ARGV[4])
return 1
"""
_FORGET = """
local epoch = string.match(redis.call('GETRANGE', KEYS[1], 0, 63), '^(%d+):%d+:')
if epoch and tonumber(epoch) < tonumber(ARGV[1]) then redis.call('DEL', KEYS[1]) end
local fence = tonumber(redis.call('GET', KEYS[2]) or '0')
redis.call('SET', KEYS[2], string.format('%.0f', math.max(fence, tonumber(ARGV[1]))), 'EX', ARGV[2])
return 1
"""
_MAX_REDIRECTIONS = 3

_T = TypeVar("_T")


class ValkeyCache:
    """Profiles on the server at `url`.

    A server in cluster mode may answer that a key is elsewhere: that is followed and remembered here, since all our
    commands are about one slot. The topology that a cluster client loads at its start would cost more than it saves.

    Args:
        url: `redis://` or, with TLS, `rediss://`; may hold user and password, and redis-py's options as a query.
        ttl_seconds: how long an entry is served without being written again.
        tombstone_seconds: how long a deletion is remembered; longer than any writer can be late.
        timeout_seconds: for connecting and for each answer.
        tokens: IAM credentials instead of user and password.
        breaker: keeps calls away from a server that does not answer.
    """

    def __init__(
        self,
        url: str,
        *,
        ttl_seconds: int = 1_200,
        tombstone_seconds: int = 86_400,
        timeout_seconds: float = 0.15,
        tokens: IamTokens | None = None,
        breaker: CircuitBreaker | None = None,
    ) -> None:
        self._url = url
        self._ttl = ttl_seconds
        self._tombstone_ttl = tombstone_seconds
        self._timeout = timeout_seconds
        self._tokens = tokens
        self._breaker = breaker or CircuitBreaker()
        self._clients: dict[tuple[str, int] | None, Any] = {}
        self._slots: dict[int, tuple[str, int]] = {}
        self._lock = threading.Lock()

    def get(self, scope: Scope) -> CacheEntry | None:
        key, _ = _keys(scope)
        value = self._ask(key, lambda client: client.get(key), otherwise=None)
        return _entry(value) if value else None

    def put(self, scope: Scope, entry: CacheEntry) -> bool:
        keys = _keys(scope)
        arguments = (entry.epoch, entry.version, entry.payload, self._ttl)
        answered = self._ask(keys[0], lambda client: client.eval(_PUT, 2, *keys, *arguments), otherwise=None)
        return answered is not None or self._drop(keys[0])

    def forget(self, scope: Scope, *, epoch: int) -> bool:
        keys = _keys(scope)
        arguments = (epoch, self._tombstone_ttl)
        answered = self._ask(keys[0], lambda client: client.eval(_FORGET, 2, *keys, *arguments), otherwise=None)
        if answered is None:
            self._drop(keys[0])
        return answered is not None

    def _drop(self, key: str) -> bool:
        """Removes the entry that could not be replaced. A server that is full refuses writes and still deletes."""
        return self._ask(key, lambda client: client.delete(key), otherwise=None) is not None

    def _ask(self, key: str, command: Callable[[Any], _T], *, otherwise: _T) -> _T:
        """The command's answer, or `otherwise` when there is none for whatever reason."""
        if not self._breaker.allows():
            return otherwise
        from redis.exceptions import AuthenticationError, RedisError, ResponseError

        try:
            answer = self._follow(key, command)
        except ResponseError:
            self._breaker.succeeded()  # it refuses (full, read-only, moving), but it answers
            return otherwise
        except (RedisError, OSError, ValueError) as error:
            if self._tokens is not None and isinstance(error, AuthenticationError):
                self._tokens.forget()
            self._breaker.failed()
            self._slots.clear()  # a node that has gone is not asked again
            return otherwise
        self._breaker.succeeded()
        return answer

    def _follow(self, key: str, command: Callable[[Any], _T]) -> _T:
        """Sends the command to the node that holds the key's slot, as far as it is known, and goes where it is told."""
        from redis.crc import key_slot
        from redis.exceptions import MovedError

        slot = key_slot(key.encode())
        for _ in range(_MAX_REDIRECTIONS):
            try:
                return command(self._client(self._slots.get(slot)))
            except MovedError as moved:
                self._slots[slot] = (moved.host, moved.port)
        return command(self._client(self._slots.get(slot)))

    def _client(self, node: tuple[str, int] | None) -> Any:
        """A client of the node, or of the address in the URL."""
        client = self._clients.get(node)
        if client is None:
            with self._lock:
                client = self._clients.get(node) or self._connect(node)
                self._clients[node] = client
        return client

    def _connect(self, node: tuple[str, int] | None) -> Any:
        import redis
        from redis.backoff import NoBackoff
        from redis.connection import parse_url
        from redis.retry import Retry

        options: dict[str, Any] = {
            "socket_timeout": self._timeout,
            "socket_connect_timeout": self._timeout,
            "retry": Retry(NoBackoff(), 1, supported_errors=(redis.ConnectionError,)),  # a connection that went stale
            "max_connections": 64,
            "protocol": 2,
            "driver_info": None,  # saves two round trips on each new connection
        } | parse_url(self._url)  # type: ignore[no-untyped-call]  # redis-py leaves it untyped
        if node is not None:
            options |= {"host": node[0] or options.get("host"), "port": node[1]}
        if self._tokens is not None:
            options["credential_provider"] = self._tokens
        return redis.Redis(connection_pool=redis.ConnectionPool(**options))


def _keys(scope: Scope) -> tuple[str, str]:
    """Entry and tombstone of a user. Hashed, since keys show in the server's own logs."""
    user = hashlib.sha256(f"{scope.business_id}\x1f{scope.user_id}".encode()).hexdigest()[:40]
    return f"engram:{{{user}}}:profile", f"engram:{{{user}}}:deleted"


def _entry(value: bytes) -> CacheEntry | None:
    """None for anything that `put` did not write."""
    epoch, first, rest = value.partition(b":")
    version, second, payload = rest.partition(b":")
    if not (first and second and epoch.isdigit() and version.isdigit()):
        return None
    return CacheEntry(int(epoch), int(version), payload)
