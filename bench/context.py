"""How fast the context is, for a user of 40 slots and 200 gists and a budget of 1,000 tokens.

`python -m bench.context [--handler] [--http] [--init]` (all by default). Numbers of one machine: compare ratios.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from bench.context_init import init_ms
from bench.context_subject import USER, import_bodies
from infra.local.client import Client
from infra.vocabulary import unpack
from tests.servers import ROOT, valkey
from tests.services import running

MEMOBASE_MS, MEMOBASE_PER_SECOND = 58.0, 17.0
"""Memobase's own server, same user, same kind of machine: p50 of one client, requests per second of eight."""

PATH = f"/api/v1/users/context/{USER}"
CHATS = json.dumps([{"role": "user", "content": "what did my sister say about the trip to Kyoto?"}])
console = Console()


@contextmanager
def started_valkey(folder: Path) -> Iterator[Any]:
    """A client of a Valkey server of its own."""
    import redis

    server = valkey(folder)
    server.start()
    try:
        yield redis.Redis(port=server.port)
    finally:
        server.stop()


def percentiles(samples: Sequence[float]) -> tuple[float, float]:
    ordered = sorted(samples)
    return statistics.median(ordered), ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))]


def timed(call: Callable[[], Any], times: int) -> list[float]:
    for _ in range(min(20, times)):
        call()
    samples = []
    for _ in range(times):
        start = time.perf_counter()
        call()
        samples.append((time.perf_counter() - start) * 1000)
    return samples


def handler_table(folder: Path, times: int) -> Table:
    """The handler alone, in this process, on a real Valkey."""
    from engram import bootstrap
    from engram.bootstrap import Services
    from engram.domain.scope import Scope
    from engram.settings import Settings
    from tests.embedded import function_module
    from tests.http_calls import MemobaseCalls
    from tests.http_calls_event import event_of

    table = Table(title="handler, in process, real Valkey", title_justify="left")
    _columns(table, "p50 ms", "p99 ms", "commands", "bytes in", "bytes out")
    with started_valkey(folder) as server:
        url = f"redis://127.0.0.1:{server.connection_pool.connection_kwargs['port']}"
        services = Services(Settings(data_dir=str(folder / "data"), cache="valkey", cache_url=url))
        bootstrap.use(services)
        calls = MemobaseCalls()
        for body in import_bodies():
            calls.ok("POST", "/users/import/{user_id}", user_id=USER, body=body)
        handle = function_module("context").handler
        hit = event_of("GET", "/api/v1/users/context/{user_id}", user_id=USER)
        chats = event_of("GET", "/api/v1/users/context/{user_id}", user_id=USER, query={"chats_str": CHATS})
        scope = Scope("acme", USER)

        def miss() -> None:
            server.flushall()
            handle(hit, None)

        services.hot_profiles.write_through(scope)
        for name, call in (("hit", lambda: handle(hit, None)), ("hit, with chats", lambda: handle(chats, None))):
            call()
            before = _traffic(server)
            samples = timed(call, times)
            after = _traffic(server)
            done = len(samples) + min(20, times)
            per_call = [(new - old) / done for old, new in zip(before, after, strict=True)]
            table.add_row(name, *_ms(samples), *(f"{value:.1f}" for value in per_call))
        table.add_row("miss", *_ms(timed(miss, max(times // 5, 20))), "", "", "")
        bootstrap.use(None)
    return table


def _traffic(server: Any) -> tuple[int, int, int]:
    """Commands, bytes in and bytes out so far, less than one command's own."""
    stats = server.info("stats")
    return stats["total_commands_processed"], stats["total_net_input_bytes"], stats["total_net_output_bytes"]


def http_table(folder: Path, times: int) -> Table:
    """Over HTTP on one machine, as an application would call it."""
    table = Table(title="over HTTP on one machine", title_justify="left")
    _columns(table, "clients", "p50 ms", "p99 ms", "requests/s", "against Memobase")
    _serve(table, "embedded", folder / "embedded", {}, times)
    with started_valkey(folder) as server:
        port = server.connection_pool.connection_kwargs["port"]
        environment = {"ENGRAM_CACHE": "valkey", "ENGRAM_CACHE_URL": f"redis://127.0.0.1:{port}"}
        _serve(table, "embedded, Valkey", folder / "valkey", environment, times)
    return table


def _serve(table: Table, name: str, folder: Path, environment: dict[str, str], times: int) -> None:
    with running(folder, environment=environment) as service:
        client = Client(service.url, service.api_key)
        for body in import_bodies():
            assert client.call("POST", f"/api/v1/users/import/{USER}", body).body["errno"] == 0
        for clients in (1, 8):
            samples, seconds = _load(lambda: Client(service.url, service.api_key), clients, times)
            p50, p99 = percentiles(samples)
            rate = len(samples) / seconds
            ratio = (
                f"{MEMOBASE_MS / p50:.0f}x quicker" if clients == 1 else f"{rate / MEMOBASE_PER_SECOND:.0f}x as many"
            )
            table.add_row(name, str(clients), f"{p50:.2f}", f"{p99:.2f}", f"{rate:.0f}", ratio)


def _load(connect: Callable[[], Client], clients: int, times: int) -> tuple[list[float], float]:
    samples: list[float] = []

    def one() -> None:
        client = connect()
        mine = [client.call("GET", PATH) for _ in range(times)]
        assert all(answer.status == 200 and answer.body["data"]["tokens"]["events"] for answer in mine)
        samples.extend(answer.ms for answer in mine)

    connect().call("GET", PATH)
    threads = [threading.Thread(target=one) for _ in range(clients)]
    start = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return samples, time.perf_counter() - start


def init_table(times: int) -> Table:
    table = Table(title="INIT under the runtime interface emulator, built artefacts", title_justify="left")
    _columns(table, "median ms", "of eager")
    found = init_ms(times=times)
    if not found:
        table.add_row("not measured: needs python3.13 and the emulator of aws-sam-cli on x86_64", "", "")
    for name, ms in found.items():
        table.add_row(name, f"{ms:.0f}", f"{ms / found['everything eager']:.0%}")
    return table


def _columns(table: Table, *names: str) -> None:
    table.add_column("")
    for name in names:
        table.add_column(name, justify="right")


def _ms(samples: Sequence[float]) -> tuple[str, str]:
    p50, p99 = percentiles(samples)
    return f"{p50:.2f}", f"{p99:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("handler", "http", "init"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--times", type=int, default=500)
    chosen = parser.parse_args()
    every = not (chosen.handler or chosen.http or chosen.init)
    os.environ["TIKTOKEN_CACHE_DIR"] = str(unpack(ROOT / "build" / "vocabulary"))
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory() as folder:
        if chosen.handler or every:
            console.print(handler_table(Path(folder), chosen.times))
        if chosen.http or every:
            console.print(http_table(Path(folder), chosen.times))
    if chosen.init or every:
        console.print(init_table(5))


if __name__ == "__main__":
    main()
