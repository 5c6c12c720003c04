"""One compiled resolver per business, in this process, as current as the version that was read with the request."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Protocol

from engram.domain.models import Message
from engram.domain.table import Item, Key
from engram.resolve.catalogue import Catalogue
from engram.resolve.models import Resolution, ResolveContext, Subjects
from engram.store import keys
from engram.store.catalogue import CatalogueRows, Overlay

MAX_COMPILED = 32
"""Businesses with a catalogue of their own that one process keeps compiled."""


class CompiledResolver(Protocol):
    """A resolver made for one catalogue: reads queries, and conversations when they are written."""

    @property
    def catalogue(self) -> Catalogue: ...

    def resolve(self, query: str, context: ResolveContext) -> Resolution: ...

    def subjects(self, messages: Sequence[Message], context: ResolveContext) -> Subjects: ...

    def warm(self) -> None:
        """Loads what the first query would otherwise wait for."""


MakeResolver = Callable[[Catalogue], CompiledResolver]


class Resolvers:
    """Resolvers by business. A business that has changed nothing shares the shipped catalogue's.

    Args:
        shipped: makes the default catalogue; called once.
        make: compiles a resolver.
    """

    def __init__(self, *, rows: CatalogueRows, shipped: Callable[[], Catalogue], make: MakeResolver) -> None:
        self._rows = rows
        self._shipped = shipped
        self._make = make
        self._lock = threading.RLock()
        self._default: CompiledResolver | None = None
        self._own: OrderedDict[str, tuple[int, CompiledResolver]] = OrderedDict()

    def head_key(self, business_id: str) -> Key:
        """The row that a caller reads with its others and hands to `resolver`."""
        return keys.catalogue_head(business_id)

    def resolver(self, business_id: str, head: Item | None) -> CompiledResolver:
        """The resolver as of `head`. Compiles after a change: a get, a query and some tens of milliseconds."""
        if head is None:
            return self.default
        with self._lock:
            version, compiled = self._own.get(business_id, (0, None))
            if compiled is None or version < head.version:
                overlay = self._rows.overlay(business_id)
                version, compiled = overlay.version, self._compiled(overlay)
                self._own[business_id] = (version, compiled)
                if len(self._own) > MAX_COMPILED:
                    self._own.popitem(last=False)
            self._own.move_to_end(business_id)
            return compiled

    def current(self, business_id: str) -> CompiledResolver:
        """The resolver as of now. One get."""
        return self.resolver(business_id, self._rows.head(business_id))

    @property
    def default(self) -> CompiledResolver:
        """The shipped catalogue's."""
        with self._lock:
            if self._default is None:
                self._default = self._make(self._shipped())
            return self._default

    def _compiled(self, overlay: Overlay) -> CompiledResolver:
        if not (
            overlay.topics or overlay.entities or overlay.words or overlay.removed_topics or overlay.removed_entities
        ):
            return self.default
        return self._make(merged(self.default.catalogue, overlay))


def merged(shipped: Catalogue, overlay: Overlay) -> Catalogue:
    """The shipped catalogue with a business's changes."""
    return shipped.overlaid(
        topics=overlay.topics,
        entities=overlay.entities,
        removed_topics=overlay.removed_topics,
        removed_entities=overlay.removed_entities,
        ambiguous_heads=overlay.words,
    )
