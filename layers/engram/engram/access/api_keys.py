"""API keys `sk-<business>-<secret>`: made once, shown once, and kept only as an HMAC.

The HMAC's key (the pepper) is not in the table: whoever reads the table can neither use nor forge a key.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from engram.access.scopes import KeyScope
from engram.domain.clock import Clock, from_text, to_text
from engram.domain.errors import InvalidInput, NotFound
from engram.domain.scope import check_business_id
from engram.domain.table import Item
from engram.ports import Table
from engram.store import keys

Pepper = Callable[[], bytes]
"""Gives the secret key of the HMAC."""

NewSecret = Callable[[], str]
"""Gives the secret part of a new key: 43 or more of A-Z, a-z, 0-9."""

MIN_PEPPER_BYTES = 16
MAX_KEY_CHARACTERS = 256
_FORM = re.compile(r"sk-(?P<business>[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?)-(?P<secret>[A-Za-z0-9]{32,128})\Z")
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_SECRET_CHARACTERS = 43


def random_secret() -> str:
    """256 bits from the system's source, in characters that a double click selects as one word."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(_SECRET_CHARACTERS))


@dataclass(frozen=True, slots=True)
class ApiKey:
    """What is known of a key. The key itself is not kept.

    Attributes:
        key_id: names the record, for lists and revocation; tells nothing of the secret.
        label: the maker's note of what it is for.
    """

    business_id: str
    key_id: str
    scopes: tuple[KeyScope, ...]
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    label: str = ""

    def holds_at(self, now: datetime) -> bool:
        """Whether it is neither revoked nor expired."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


@dataclass(frozen=True, slots=True)
class NewApiKey:
    """A key at the only moment at which its text exists here."""

    text: str
    record: ApiKey


class ApiKeys:
    """Makes, verifies, lists and revokes keys.

    Args:
        pepper: asked at each use, so that a rotated secret is taken up.
    """

    def __init__(self, table: Table, *, pepper: Pepper, clock: Clock, new_secret: NewSecret = random_secret) -> None:
        self._table = table
        self._pepper = pepper
        self._clock = clock
        self._new_secret = new_secret

    def create(
        self,
        business_id: str,
        *,
        scopes: tuple[KeyScope, ...],
        expires_at: datetime | None = None,
        label: str = "",
    ) -> NewApiKey:
        """A new key of the business, which need not have existed before.

        Raises:
            InvalidInput: a business id that cannot serve, no scope, an expiry that has passed, a long label.
        """
        check_business_id(business_id)
        if not scopes:
            raise InvalidInput("a key needs at least one scope", field="scopes")
        now = self._clock()
        if expires_at is not None and expires_at <= now:
            raise InvalidInput("expires must be in the future", field="expires")
        if len(label) > 100:
            raise InvalidInput("label must be at most 100 characters", field="label")
        text = f"sk-{business_id}-{self._new_secret()}"
        key_id, proof = self._digests(text)
        record = ApiKey(business_id, key_id, scopes, created_at=now, expires_at=expires_at, label=label)
        self._table.write(puts=[_item(record, proof)])
        return NewApiKey(text, record)

    def verify(self, text: str) -> ApiKey | None:
        """The record of a key that holds now; None for any other text, whatever is wrong with it."""
        match = _FORM.match(text) if len(text) <= MAX_KEY_CHARACTERS else None
        if match is None:
            return None
        key_id, proof = self._digests(text)
        item = self._table.get(keys.api_key(match["business"], key_id))
        stored = "" if item is None else str(item.body["proof"])
        if not hmac.compare_digest(stored.encode(), proof.encode()) or item is None:
            return None
        record = _record(match["business"], key_id, item.body)
        return record if record.holds_at(self._clock()) else None

    def revoke(self, business_id: str, key_id: str) -> ApiKey:
        """Ends a key. A gateway that holds an answer goes on using it for the authorizer's time to live.

        Raises:
            NotFound: the business has no such key.
        """
        check_business_id(business_id)
        item = self._table.get(keys.api_key(business_id, key_id))
        if item is None:
            raise NotFound("the business has no such key", field="key_id")
        body = {"revoked_at": to_text(self._clock()), **item.body}
        self._table.write(puts=[Item(item.key, body, version=item.version + 1)])
        return _record(business_id, key_id, body)

    def list(self, business_id: str) -> tuple[ApiKey, ...]:
        """Every key of the business, revoked and expired ones included."""
        check_business_id(business_id)
        found: list[ApiKey] = []
        cursor = None
        while True:
            page = self._table.query(
                keys.business_partition(business_id),
                start=keys.API_KEYS,
                end=keys.end_of(keys.API_KEYS),
                cursor=cursor,
            )
            found += [_record(business_id, item.key.sk.removeprefix(keys.API_KEYS), item.body) for item in page.items]
            cursor = page.cursor
            if cursor is None:
                return tuple(found)

    def _digests(self, text: str) -> tuple[str, str]:
        """Where the record stands and what proves the key: two HMACs of the whole key, kept apart by their first word.

        The whole key is under them, business included: a secret does not serve another business.
        """
        pepper = self._pepper()
        if len(pepper) < MIN_PEPPER_BYTES:
            raise InvalidInput(f"the pepper of API keys must have at least {MIN_PEPPER_BYTES} bytes")
        name = hmac.new(pepper, b"name:" + text.encode(), hashlib.sha256).hexdigest()[:32]
        return name, hmac.new(pepper, b"proof:" + text.encode(), hashlib.sha256).hexdigest()


def bearer(header: str) -> str:
    """The key in an `Authorization` header; empty if it is not of the form `Bearer <key>`."""
    scheme, _, text = header.strip().partition(" ")
    return text.strip() if scheme.lower() == "bearer" else ""


def _item(record: ApiKey, proof: str) -> Item:
    body = {
        "proof": proof,
        "scopes": list(record.scopes),
        "created_at": to_text(record.created_at),
        "label": record.label,
    }
    if record.expires_at is not None:
        body["expires_at"] = to_text(record.expires_at)
    return Item(keys.api_key(record.business_id, record.key_id), body)


def _record(business_id: str, key_id: str, body: Mapping[str, Any]) -> ApiKey:
    return ApiKey(
        business_id=business_id,
        key_id=key_id,
        scopes=tuple(KeyScope(scope) for scope in body["scopes"]),
        created_at=from_text(body["created_at"]),
        expires_at=_moment(body.get("expires_at")),
        revoked_at=_moment(body.get("revoked_at")),
        label=body.get("label", ""),
    )


def _moment(text: str | None) -> datetime | None:
    return from_text(text) if text else None
