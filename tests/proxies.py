"""A TCP proxy that stands before a dependency and can cut it off, slow it down, silence it or spoil what it says."""

from __future__ import annotations

import contextlib
import selectors
import socket
import ssl
import threading
import time
from enum import StrEnum


class Fault(StrEnum):
    """What the proxy does to connections, from the next byte on.

    NONE passes everything on. CUT closes. SILENT accepts and never answers. SLOW holds each answer back. GARBAGE
    answers with bytes that are no answer.
    """

    NONE = "none"
    CUT = "cut"
    SILENT = "silent"
    SLOW = "slow"
    GARBAGE = "garbage"


class Proxy:
    """Listens on 127.0.0.1 and forwards to `target`; with `tls`, it speaks TLS to its clients."""

    def __init__(self, target: int, *, tls: ssl.SSLContext | None = None, slow_seconds: float = 1.0) -> None:
        self.fault = Fault.NONE
        self.connections = 0
        self._target = target
        self._tls = tls
        self._slow_seconds = slow_seconds
        self._open: set[socket.socket] = set()
        self._closed = False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def break_with(self, fault: Fault) -> None:
        """From now on; connections that are open are cut where the fault is CUT."""
        self.fault = fault
        if fault is Fault.CUT:
            self._drop_all()

    def repair(self) -> None:
        """From now on everything passes; connections of the time before are cut, since they may hold half an answer."""
        self.fault = Fault.NONE
        self._drop_all()

    def close(self) -> None:
        self._closed = True
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()  # wakes the listener up
        self._listener.close()
        self._drop_all()

    def _drop_all(self) -> None:
        for connection in list(self._open):
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def _accept(self) -> None:
        while not self._closed:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, raw: socket.socket) -> None:
        with contextlib.suppress(OSError), contextlib.ExitStack() as stack:
            client = stack.enter_context(self._tls.wrap_socket(raw, server_side=True) if self._tls else raw)
            self._remember(stack, client)
            if self.fault is Fault.CUT:
                return
            server = stack.enter_context(socket.create_connection(("127.0.0.1", self._target), timeout=10))
            self._remember(stack, server)
            self._relay(client, server)

    def _remember(self, stack: contextlib.ExitStack, connection: socket.socket) -> None:
        # Without this a small answer in two pieces waits 40 ms for an acknowledgement.
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._open.add(connection)
        stack.callback(self._open.discard, connection)

    def _relay(self, client: socket.socket, server: socket.socket) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(client, selectors.EVENT_READ)
            selector.register(server, selectors.EVENT_READ)
            while not self._closed and self.fault is not Fault.CUT:
                for key, _ in selector.select(timeout=0.5):
                    source = key.fileobj
                    assert isinstance(source, socket.socket)
                    data = _read(source)
                    if not data:
                        return
                    if source is client:
                        server.sendall(data)
                    else:
                        self._answer(client, data)

    def _answer(self, client: socket.socket, data: bytes) -> None:
        if self.fault is Fault.SLOW:
            time.sleep(self._slow_seconds)
        if self.fault is Fault.GARBAGE:
            data = b"\x00\xffno answer at all\r\n" * 3
        if self.fault is not Fault.SILENT:
            client.sendall(data)


def _read(source: socket.socket) -> bytes:
    """All that is there; TLS may hold decrypted bytes that a selector does not see."""
    data = source.recv(65_536)
    while isinstance(source, ssl.SSLSocket) and source.pending():
        data += source.recv(source.pending())
    return data
