"""The whole service in one process: gateway, functions, queue worker, schedule, on one of the stacks."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from infra.local.folder import Folder, Refused
from infra.local.functions import LoadedFunction
from infra.local.gateway import Gateway
from infra.local.routing import RouteTable
from infra.local.template import Service, read_service
from infra.local.worker import QueueWorker, Scheduler, Source
from infra.vocabulary import unpack

ROOT = Path(__file__).resolve().parents[2]
TEMPLATE = ROOT / "template.yaml"
HOST = "127.0.0.1"
REGION = "us-east-1"
_REQUEST_THREADS = 16
_SCHEDULE_AT_MOST_SECONDS = 5.0
"""A sweep costs next to nothing here, so an idle buffer or a lost operation need not wait for the template's minute."""
_FIRST_WORDS = "上次 the last time"


class Stack(Protocol):
    """What the functions stand on.

    Attributes:
        environment: overrides of the template's variables.
        physical: what `Ref` and `GetAtt` of the template's resources answer.
        parts: name of a part to where it is, for people.
        ports: name of a part to its port.
    """

    name: str
    environment: dict[str, str]
    physical: Mapping[str, str]
    parts: dict[str, str]
    ports: dict[str, int]

    def prepare(self, resources: Mapping[str, Any]) -> None: ...
    def source(self, queue: str) -> Source: ...
    def stop(self) -> None: ...


class LocalService:
    """Functions and what calls them. `gateway` is an ASGI application."""

    def __init__(self, folder: Folder, stack: Stack, *, parameters: Mapping[str, str]) -> None:
        self.folder = folder
        self.stack = stack
        self.declared = read_service(TEMPLATE, parameters=parameters, physical=_names(stack))
        stack.prepare(self.declared.resources)
        folder.write_private(folder.environment_file, json.dumps(_set_environment(self.declared, stack)))
        functions = {
            name: LoadedFunction(function, root=ROOT, region=REGION)
            for name, function in self.declared.functions.items()
            if (ROOT / function.folder / "app.py").exists()
        }
        self._executor = ThreadPoolExecutor(_REQUEST_THREADS, thread_name_prefix="function")
        self.gateway = Gateway(
            routes=RouteTable(self.declared.routes),
            functions=functions,
            authorizer=self.declared.authorizer,
            executor=self._executor,
        )
        self._workers = [
            QueueWorker(stack.source(function.spec.queue), function, region=REGION)
            for function in functions.values()
            if function.spec.queue
        ]
        self._schedulers = [
            Scheduler(
                functions[schedule.function], seconds=min(schedule.seconds, _SCHEDULE_AT_MOST_SECONDS), region=REGION
            )
            for schedule in self.declared.schedules
        ]

    def warm(self, business_id: str) -> None:
        """Loads what the first requests would wait for: on AWS a cold start, here a part of starting."""
        from engram.bootstrap import services
        from engram.domain.errors import EngramError
        from engram.text.tokens import count_tokens

        one = services()
        _ = (one.context, one.recall, one.ingestion, one.extractor)
        if one.embedder is not None:
            with suppress(EngramError):  # one that is not there is named in every answer that lacks it
                one.embedder.embed([_FIRST_WORDS], "query")
        one.resolvers.current(business_id).warm()
        count_tokens(_FIRST_WORDS)

    def start(self) -> None:
        """Starts working. What a killed process left unfinished is sent to the queue again, beside new requests."""
        threading.Thread(target=_resume, name="resume", daemon=True).start()
        for worker in self._workers:
            worker.start()
        for scheduler in self._schedulers:
            scheduler.start()

    def stop(self) -> None:
        for scheduler in self._schedulers:
            scheduler.stop()
        for worker in self._workers:
            worker.stop()
        self._executor.shutdown(wait=False, cancel_futures=True)
        self.folder.environment_file.unlink(missing_ok=True)
        self.stack.stop()


def _resume() -> None:
    from engram.bootstrap import services

    services().sweep.resume()


def _names(stack: Stack) -> dict[str, str]:
    pseudo = {"AWS::Region": REGION, "AWS::Partition": "aws", "AWS::URLSuffix": "amazonaws.com"}
    return pseudo | dict(stack.physical)


def _set_environment(declared: Service, stack: Stack) -> dict[str, str]:
    """The template's variables, under what the caller has set for this run, under what the stack needs.

    Returns those of them that a command beside this process needs to reach the same parts.
    """
    for name, value in declared.environment.items():
        os.environ.setdefault(name, value)
    os.environ.update(stack.environment)
    os.environ["TIKTOKEN_CACHE_DIR"] = str(unpack(ROOT / "build" / "vocabulary"))
    return {name: os.environ[name] for name in {*declared.environment, *stack.environment}}


def listen(port: int) -> socket.socket:
    """A socket on 127.0.0.1; port 0 takes a free one.

    Raises:
        Refused: the port is taken.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((HOST, port))
    except OSError as error:
        listener.close()
        raise Refused(f"port {port} cannot be used ({error.strerror}); choose another with PORT=") from None
    listener.listen(1024)
    listener.set_inheritable(False)
    return listener


def import_path() -> None:
    """Makes the library importable, as the layer does on AWS."""
    library = str(ROOT / "layers" / "engram")
    if library not in sys.path:
        sys.path.insert(0, library)
