"""From settings to services. The only package that knows adapters; each part is made when it is first asked for.

Imports stand inside the properties on purpose: a function loads what it uses, and a read that the cache answers
never loads boto3, numpy or a tokenizer.
"""

from __future__ import annotations

import os
import threading

from engram.bootstrap.writing import Writing
from engram.settings import Settings


class Services(Writing):
    """Everything one process needs."""


_lock = threading.Lock()
_services: Services | None = None


def services() -> Services:
    """The services of this process, from its environment. Parsed at the first call, not at import."""
    global _services
    if _services is None:
        with _lock:
            if _services is None:
                from engram.observability import configure

                configure()
                _services = Services(Settings.parse(os.environ))
    return _services


def use(replacement: Services | None) -> None:
    """Puts other services in place, or none so that the next call parses the environment again."""
    global _services
    with _lock:
        _services = replacement
