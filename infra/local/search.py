"""`SEARCH=`: the user's own rows (partition), an OpenSearch node of this machine, or the URL of one elsewhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol
from urllib.parse import urlsplit

from engram.settings import FIELDS
from infra.local.folder import Folder, Refused
from infra.local.opensearch.assembly import NotPossible
from infra.local.opensearch.node import LocalNode
from infra.local.worker import Source

PARTITION, OPENSEARCH = "partition", "opensearch"


class Underlying(Protocol):
    """The stack that everything but the search stands on."""

    name: str
    environment: dict[str, str]
    physical: Mapping[str, str]
    parts: dict[str, str]
    ports: dict[str, int]

    def prepare(self, resources: Mapping[str, Any]) -> None: ...
    def source(self, queue: str) -> Source: ...
    def stop(self) -> None: ...


class WithOpenSearch:
    """A stack, and OpenSearch beside it. A node that was started here is stopped with it; another one goes on."""

    def __init__(self, stack: Underlying, choice: str, folder: Folder) -> None:
        self._stack = stack
        self._node: LocalNode | None = None
        url = choice if choice != OPENSEARCH else self._start(folder)
        self.name = stack.name
        self.physical = stack.physical
        self.environment = stack.environment | {FIELDS["search"]: OPENSEARCH, FIELDS["search_url"]: url}
        self.parts = stack.parts | {"opensearch": url}
        self.ports = stack.ports | {"opensearch": urlsplit(url).port or 443}

    def prepare(self, resources: Mapping[str, Any]) -> None:
        self._stack.prepare(resources)

    def source(self, queue: str) -> Source:
        return self._stack.source(queue)

    def stop(self) -> None:
        try:
            self._stack.stop()
        finally:
            if self._node is not None:
                self._node.stop()

    def _start(self, folder: Folder) -> str:
        node = LocalNode.of(folder.path)
        if node.answers():
            return node.url
        self._node = node
        try:
            return node.start()
        except NotPossible as reason:
            self._stack.stop()
            raise Refused(str(reason)) from None


def with_search(stack: Underlying, choice: str, folder: Folder) -> Underlying:
    """The stack as `choice` wants it.

    Raises:
        Refused: the choice is none, or the node cannot be had on this machine.
    """
    if choice == PARTITION:
        return stack
    if choice != OPENSEARCH and urlsplit(choice).scheme not in ("http", "https"):
        stack.stop()
        raise Refused(f"SEARCH is {PARTITION}, {OPENSEARCH} or the URL of an OpenSearch")
    return WithOpenSearch(stack, choice, folder)
