"""What every ProfileCache keeps to; and, on real servers, that no trouble of theirs becomes a reader's error."""

from __future__ import annotations

import shutil
import ssl
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from engram.adapters.circuit import CircuitBreaker
from engram.adapters.elasticache_token import IamTokens
from engram.adapters.memory_cache import MemoryCache
from engram.adapters.sigv4 import AwsCredentials
from engram.adapters.valkey import ValkeyCache
from engram.domain.scope import Scope
from engram.ports import CacheEntry, ProfileCache
from tests.builders import MovableClock
from tests.certificates import Certificate, make_certificate
from tests.proxies import Fault, Proxy
from tests.servers import Server, free_port, redis_with_tls, valkey

ANN, BOB = Scope("shop", "ann"), Scope("shop", "bob")
PATIENT = 0.5
"""Seconds a call may take while the server is in trouble; the adapter's own timeout is 0.15."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = valkey(tmp_path_factory.mktemp("valkey")).start()
    yield server
    server.kill()


@pytest.fixture(scope="module")
def cluster_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Cluster mode on one node that holds every slot."""
    server = clustered(tmp_path_factory.mktemp("cluster")).start()
    admin(server, "CLUSTER", "ADDSLOTSRANGE", 0, 16383)
    wait_for_cluster(server)
    yield server
    server.kill()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    return make_certificate(tmp_path_factory.mktemp("tls"))


def clustered(folder: Path) -> Server:
    return valkey(folder, "--cluster-enabled", "yes", "--cluster-port", str(free_port()))


def admin(server: Server, *command: object) -> object:
    import redis

    with redis.Redis(port=server.port) as client:
        return client.execute_command(*command)


def cluster_port(node: Server) -> str:
    import redis

    with redis.Redis(port=node.port, decode_responses=True) as client:
        return str(client.config_get("cluster-port")["cluster-port"])


def wait_for_cluster(server: Server) -> None:
    end = time.monotonic() + 10
    while b"cluster_state:ok" not in bytes(str(admin(server, "CLUSTER", "INFO")), "ascii") and time.monotonic() < end:
        time.sleep(0.05)


def url_of(server: Server | Proxy) -> str:
    return f"redis://127.0.0.1:{server.port}"


def never_opening() -> CircuitBreaker:
    """So that a test sees the server and not the breaker."""
    return CircuitBreaker(failures=1_000_000)


@pytest.fixture(params=["memory", "valkey", "valkey in cluster mode", "valkey with TLS"])
def cache(request: pytest.FixtureRequest) -> Iterator[ProfileCache]:
    if request.param == "memory":
        yield MemoryCache()
        return
    name = "cluster_server" if "cluster" in request.param else "server"
    server: Server = request.getfixturevalue(name)
    admin(server, "FLUSHALL")
    if "TLS" not in request.param:
        yield ValkeyCache(url_of(server))
        return
    files: Certificate = request.getfixturevalue("certificate")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(files.certificate, files.key)
    proxy = Proxy(server.port, tls=context)
    yield ValkeyCache(f"rediss://127.0.0.1:{proxy.port}?ssl_ca_certs={files.certificate}")
    proxy.close()


def entry(epoch: int, version: int, payload: bytes = b"profile") -> CacheEntry:
    return CacheEntry(epoch, version, payload)


# The contract ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("payload", [b"", bytes(range(256)) * 100, b"1:2:3", "用户".encode()])
def test_a_profile_comes_back_byte_for_byte(cache: ProfileCache, payload: bytes) -> None:
    assert cache.get(ANN) is None
    assert cache.put(ANN, entry(2, 7, payload)) is True
    assert cache.get(ANN) == entry(2, 7, payload)


def test_users_do_not_see_each_other(cache: ProfileCache) -> None:
    cache.put(ANN, entry(0, 1))
    for other in (BOB, Scope("shop2", "ann"), Scope("shop", "Ann"), Scope("shop", "ann2")):
        assert cache.get(other) is None


@pytest.mark.parametrize(
    ("present", "offered", "kept"),
    [
        ((0, 1), (0, 2), True),
        ((0, 2), (0, 2), True),
        ((0, 2), (0, 1), False),
        ((1, 1), (0, 9), False),
        ((0, 9), (1, 1), True),
        ((0, 9), (0, 10), True),
        ((9, 0), (10, 0), True),
        ((0, 2**52), (0, 2**52 + 1), True),
        ((0, 2**52 + 1), (0, 2**52), False),
    ],
)
def test_only_the_newest_profile_is_kept(
    cache: ProfileCache, present: tuple[int, int], offered: tuple[int, int], kept: bool
) -> None:
    cache.put(ANN, entry(*present, b"present"))
    assert cache.put(ANN, entry(*offered, b"offered")) is True
    assert cache.get(ANN) == (entry(*offered, b"offered") if kept else entry(*present, b"present"))


def test_what_was_deleted_does_not_come_back_by_a_late_writer(cache: ProfileCache) -> None:
    cache.put(ANN, entry(3, 7))
    assert cache.forget(ANN, epoch=4) is True
    assert cache.get(ANN) is None
    cache.put(ANN, entry(3, 8, b"late"))
    assert cache.get(ANN) is None
    cache.put(ANN, entry(4, 1, b"new life"))
    assert cache.get(ANN) == entry(4, 1, b"new life")


def test_a_late_deletion_leaves_what_was_written_after_it(cache: ProfileCache) -> None:
    cache.put(ANN, entry(5, 1))
    cache.forget(ANN, epoch=5)
    cache.forget(ANN, epoch=4)
    assert cache.get(ANN) == entry(5, 1)
    cache.put(ANN, entry(4, 9))
    assert cache.get(ANN) == entry(5, 1)


def test_a_deletion_is_remembered_although_the_new_profile_is_gone(cache: ProfileCache) -> None:
    cache.forget(ANN, epoch=6)
    cache.put(ANN, entry(6, 1))
    cache.forget(ANN, epoch=7)
    cache.forget(ANN, epoch=2)
    cache.put(ANN, entry(6, 2))
    assert cache.get(ANN) is None


def test_of_writers_at_the_same_time_the_newest_wins(cache: ProfileCache) -> None:
    def write(first: int) -> None:
        for version in range(first, 60, 6):
            cache.put(ANN, entry(0, version, str(version).encode()))

    threads = [threading.Thread(target=write, args=(first,)) for first in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert cache.get(ANN) == entry(0, 59, b"59")


# Time and room ---------------------------------------------------------------------------------------


def test_a_profile_is_not_served_longer_than_its_time(server: Server) -> None:
    now = [0.0]
    local = MemoryCache(ttl_seconds=10, tombstone_seconds=20, monotonic=lambda: now[0])
    local.put(ANN, entry(0, 1))
    local.forget(BOB, epoch=3)
    now[0] = 9.9
    assert local.get(ANN) is not None
    now[0] = 10.0
    assert local.get(ANN) is None
    local.put(BOB, entry(2, 1))
    assert local.get(BOB) is None
    now[0] = 20.0
    local.put(BOB, entry(2, 1))
    assert local.get(BOB) == entry(2, 1)
    shared = ValkeyCache(url_of(server), ttl_seconds=1)
    shared.put(ANN, entry(0, 2**40))
    assert shared.get(ANN) is not None
    time.sleep(1.1)
    assert shared.get(ANN) is None


def test_profiles_not_used_for_longest_make_room() -> None:
    cache = MemoryCache(max_bytes=5_000)
    for number in range(4):
        cache.put(Scope("shop", f"u{number}"), entry(0, 1, b"x" * 1_000))
    cache.get(Scope("shop", "u0"))
    cache.put(Scope("shop", "u4"), entry(0, 1, b"x" * 1_000))
    held = [number for number in range(5) if cache.get(Scope("shop", f"u{number}"))]
    assert held == [0, 2, 3, 4]
    cache.put(ANN, entry(0, 1, b"x" * 10_000))
    assert cache.get(ANN) is None


def test_a_server_that_evicts_costs_misses_and_nothing_else(tmp_path: Path) -> None:
    server = valkey(tmp_path, "--maxmemory", "4mb", "--maxmemory-policy", "allkeys-lru").start()
    try:
        cache = ValkeyCache(url_of(server))
        scopes = [Scope("shop", f"user-{number}") for number in range(600)]
        assert all(cache.put(scope, entry(0, 1, scope.user_id.encode() * 2_000)) for scope in scopes)
        found = [cache.get(scope) for scope in scopes]
        assert 0 < sum(one is not None for one in found) < 600
        expected = [entry(0, 1, scope.user_id.encode() * 2_000) for scope in scopes]
        assert all(one is None or one == wanted for one, wanted in zip(found, expected, strict=True))
    finally:
        server.kill()


def test_a_full_server_does_not_go_on_serving_what_it_could_not_replace(tmp_path: Path) -> None:
    server = valkey(tmp_path, "--maxmemory-policy", "noeviction").start()
    try:
        cache = ValkeyCache(url_of(server))
        assert cache.put(ANN, entry(0, 1, b"old"))
        assert cache.put(BOB, entry(0, 1, b"old"))
        admin(server, "CONFIG", "SET", "maxmemory", "1")
        assert cache.get(ANN) == entry(0, 1, b"old")
        assert cache.put(ANN, entry(0, 2, b"new")) is True
        assert cache.get(ANN) is None
        cache.forget(BOB, epoch=1)
        assert cache.get(BOB) is None
        assert cache.forget(Scope("shop", "never seen"), epoch=1) is False
        admin(server, "CONFIG", "SET", "maxmemory", "0")
        assert cache.put(ANN, entry(0, 2, b"new"))
        assert cache.get(ANN) == entry(0, 2, b"new")
    finally:
        server.kill()


# Who may come in -------------------------------------------------------------------------------------


def test_a_password_opens_and_a_wrong_one_is_a_miss(tmp_path: Path) -> None:
    server = valkey(tmp_path, "--requirepass", "open sesame").start()
    try:
        right = ValkeyCache(f"redis://:open%20sesame@127.0.0.1:{server.port}")
        assert right.put(ANN, entry(0, 1))
        assert right.get(ANN) == entry(0, 1)
        for url in (f"redis://:wrong@127.0.0.1:{server.port}", url_of(server)):
            wrong = ValkeyCache(url)
            assert wrong.get(ANN) is None
            assert wrong.put(ANN, entry(0, 9)) is False
        assert right.get(ANN) == entry(0, 1)
    finally:
        server.kill()


def test_a_certificate_of_another_authority_is_a_miss(server: Server, certificate: Certificate, tmp_path: Path) -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate.certificate, certificate.key)
    proxy = Proxy(server.port, tls=context)
    other = make_certificate(tmp_path)
    cache = ValkeyCache(f"rediss://127.0.0.1:{proxy.port}?ssl_ca_certs={other.certificate}")
    assert cache.put(ANN, entry(0, 1)) is False
    assert cache.get(ANN) is None
    proxy.close()


@pytest.mark.skipif(
    redis_with_tls() is None, reason="no redis-server or valkey-server on this machine: its own TLS is not tried"
)
def test_tls_and_a_user_with_a_password_on_a_server_that_speaks_tls_itself(
    tmp_path: Path, certificate: Certificate
) -> None:
    files = {name: shutil.copy(getattr(certificate, name), tmp_path) for name in ("certificate", "key")}
    port = free_port()
    options = ["--tls-port", str(port), "--tls-cert-file", files["certificate"], "--tls-key-file", files["key"]]
    options += ["--tls-ca-cert-file", files["certificate"], "--tls-auth-clients", "no"]
    options += ["--user", "engram", "on", ">secret", "~engram:*", "+@all"]
    server = valkey(tmp_path, *options, binary=redis_with_tls() or "").start()
    try:
        address = f"127.0.0.1:{port}?ssl_ca_certs={certificate.certificate}"
        cache = ValkeyCache(f"rediss://engram:secret@{address}")
        assert cache.put(ANN, entry(1, 1))
        assert cache.get(ANN) == entry(1, 1)
        assert cache.forget(ANN, epoch=2)
        assert ValkeyCache(f"rediss://engram:guess@{address}").put(ANN, entry(3, 3)) is False
        assert cache.get(ANN) is None
    finally:
        server.kill()


def test_a_token_that_has_run_out_is_made_anew_when_the_connection_has_to_be_opened_again(tmp_path: Path) -> None:
    clock = MovableClock()
    keys = [AwsCredentials("FIRST", "secret")]
    tokens = IamTokens("app", "my-cache", region="eu-west-1", credentials=lambda: keys[0], clock=clock)

    def accept_only_the_present_token() -> None:
        """As ElastiCache does: a token opens a connection; it is not looked at again."""
        admin(server, "ACL", "SETUSER", "app", "reset", "on", ">" + tokens.get_credentials()[1], "~*", "+@all")
        admin(server, "CLIENT", "KILL", "USER", "app")

    server = valkey(tmp_path).start()
    try:
        cache = ValkeyCache(url_of(server), tokens=tokens, breaker=never_opening())
        accept_only_the_present_token()
        assert cache.put(ANN, entry(0, 1))
        clock.go_on(16 * 60)
        assert cache.get(ANN) == entry(0, 1)
        accept_only_the_present_token()
        assert cache.get(ANN) == entry(0, 1)
        admin(server, "ACL", "SETUSER", "app", "resetpass", ">something else")
        admin(server, "CLIENT", "KILL", "USER", "app")
        keys[0] = AwsCredentials("SECOND", "secret")
        assert cache.get(ANN) is None
        accept_only_the_present_token()
        assert cache.get(ANN) == entry(0, 1)
        assert "SECOND" in tokens.get_credentials()[1]
    finally:
        server.kill()


# Troubles ---------------------------------------------------------------------------------------------


def timed_miss(cache: ValkeyCache) -> float:
    """Seconds that three calls take, all of which must miss."""
    start = time.monotonic()
    assert cache.get(ANN) is None
    assert cache.put(ANN, entry(0, 2**40)) is False
    assert cache.forget(BOB, epoch=1) is False
    return time.monotonic() - start


@pytest.mark.parametrize("fault", [Fault.CUT, Fault.SILENT, Fault.SLOW, Fault.GARBAGE])
def test_trouble_on_the_way_is_a_miss_in_time_and_passes(server: Server, fault: Fault) -> None:
    proxy = Proxy(server.port)
    cache = ValkeyCache(url_of(proxy), breaker=never_opening())
    admin(server, "FLUSHALL")
    assert cache.put(ANN, entry(0, 1))
    proxy.break_with(fault)
    assert timed_miss(cache) < 5 * PATIENT
    proxy.repair()
    assert cache.put(ANN, entry(1, 2))
    assert cache.get(ANN) == entry(1, 2)
    proxy.close()


def test_a_server_that_accepts_and_never_answers_is_soon_left_alone_and_asked_again_later(tmp_path: Path) -> None:
    server = valkey(tmp_path).start()
    now = [0.0]
    breaker = CircuitBreaker(failures=3, open_seconds=5, monotonic=lambda: now[0])
    cache = ValkeyCache(url_of(server), breaker=breaker)
    assert cache.put(ANN, entry(0, 1))
    server.pause()
    try:
        for _ in range(3):
            assert cache.get(ANN) is None
        start = time.monotonic()
        assert [cache.get(ANN) for _ in range(200)] == [None] * 200
        assert time.monotonic() - start < 0.1
        now[0] = 5.0
        assert cache.get(ANN) is None  # the probe, which fails
        server.go_on()
        assert cache.get(ANN) is None  # not asked
        now[0] = 10.0
        assert cache.get(ANN) == entry(0, 1)
        assert cache.get(ANN) == entry(0, 1)
    finally:
        server.kill()


def test_a_server_that_is_restarted_costs_its_content_and_no_error(tmp_path: Path) -> None:
    server = valkey(tmp_path).start()
    cache = ValkeyCache(url_of(server), breaker=never_opening())
    try:
        assert cache.put(ANN, entry(0, 1))
        server.kill()
        assert timed_miss(cache) < PATIENT
        server.start()
        assert cache.get(ANN) is None
        assert cache.put(ANN, entry(0, 2))
        assert cache.get(ANN) == entry(0, 2)
    finally:
        server.kill()


@pytest.mark.parametrize(
    "url", ["redis://127.0.0.1:{port}", "redis://no-such-host.invalid:6379", "redis://" + "x" * 70]
)
def test_an_address_where_nobody_is_costs_misses(url: str) -> None:
    cache = ValkeyCache(url.format(port=free_port()))
    timed_miss(cache)


def test_what_somebody_else_wrote_at_our_key_is_a_miss_and_is_replaced(server: Server) -> None:
    admin(server, "FLUSHALL")
    cache = ValkeyCache(url_of(server), breaker=never_opening())
    cache.put(ANN, entry(0, 1))
    (key,) = list(admin(server, "KEYS", "*"))  # type: ignore[call-overload]
    for value in (b"", b"nonsense", b"1:", b"1:x:payload", b"-1:2:payload"):
        admin(server, "SET", key, value)
        assert cache.get(ANN) is None
        assert cache.put(ANN, entry(0, 1))
        assert cache.get(ANN) == entry(0, 1)
    admin(server, "DEL", key)
    admin(server, "RPUSH", key, "a list")
    assert cache.get(ANN) is None
    assert cache.put(ANN, entry(0, 1)) is True
    assert cache.get(ANN) is None
    assert cache.put(ANN, entry(0, 1)) is True
    assert cache.get(ANN) == entry(0, 1)


def test_keys_on_the_server_hold_nothing_of_an_id(server: Server) -> None:
    admin(server, "FLUSHALL")
    cache = ValkeyCache(url_of(server))
    scope = Scope("shop", "secret-name-用户")
    cache.put(scope, entry(0, 1))
    cache.forget(BOB, epoch=1)
    keys = [bytes(key).decode() for key in list(admin(server, "KEYS", "*"))]  # type: ignore[call-overload]
    assert len(keys) == 2
    assert not any("secret" in key or "bob" in key or "shop" in key or "用户" in key for key in keys)


# Cluster mode -----------------------------------------------------------------------------------------


def test_a_key_that_lives_on_another_node_is_found_there(tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("one", "two")]
    for folder in folders:
        folder.mkdir()
    nodes = [clustered(folder) for folder in folders]
    try:
        for node in nodes:
            node.start()
        admin(nodes[0], "CLUSTER", "ADDSLOTSRANGE", 0, 8000)
        admin(nodes[1], "CLUSTER", "ADDSLOTSRANGE", 8001, 16383)
        admin(nodes[0], "CLUSTER", "MEET", "127.0.0.1", nodes[1].port, cluster_port(nodes[1]))
        for node in nodes:
            wait_for_cluster(node)
        cache = ValkeyCache(url_of(nodes[0]), breaker=never_opening())
        scopes = [Scope("shop", f"user-{number}") for number in range(40)]
        assert all(cache.put(scope, entry(1, 1, scope.user_id.encode())) for scope in scopes)
        assert [cache.get(scope) for scope in scopes] == [entry(1, 1, scope.user_id.encode()) for scope in scopes]
        assert min(int(str(admin(node, "DBSIZE"))) for node in nodes) > 0
        assert all(cache.forget(scope, epoch=2) for scope in scopes)
        assert [cache.get(scope) for scope in scopes] == [None] * 40
        nodes[1].kill()
        found = [cache.get(scope) for scope in scopes]
        assert found == [None] * 40
    finally:
        for node in nodes:
            node.kill()
