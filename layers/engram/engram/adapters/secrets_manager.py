"""Texts from AWS Secrets Manager, held for five minutes: a rotated secret is taken up without a deployment."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from engram.adapters.aws import LazyClient, translated
from engram.domain.errors import Unavailable

HOLD_SECONDS = 300.0


class SecretsManagerSecret:
    """One secret, read when first asked for.

    Args:
        secret_id: name or ARN.
        client: makes or returns the low-level client.
    """

    def __init__(self, secret_id: str, *, client: LazyClient, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._secret_id = secret_id
        self._client = client
        self._monotonic = monotonic
        self._held: tuple[float, str] | None = None
        self._lock = threading.Lock()

    def __call__(self) -> str:
        """The secret's text.

        Raises:
            Unavailable: Secrets Manager does not answer, and nothing is held from before.
        """
        with self._lock:
            now = self._monotonic()
            if self._held is not None and now < self._held[0]:
                return self._held[1]
            try:
                text = self._read()
            except Unavailable:
                if self._held is None:
                    raise
                text = self._held[1]
            self._held = (now + HOLD_SECONDS, text)
            return text

    def _read(self) -> str:
        with translated("the secret"):
            text: str = self._client().get_secret_value(SecretId=self._secret_id)["SecretString"]
        return text
