"""API keys: what is not exactly a key that holds now opens nothing."""

from __future__ import annotations

import hmac
import json
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.access import api_keys as module
from engram.access.api_keys import ApiKeys, bearer
from engram.access.pepper_file import pepper_from
from engram.access.scopes import ALL_SCOPES, KeyScope, parse_scopes
from engram.adapters.sqlite import SqliteTable
from engram.domain.errors import InvalidInput, NotFound
from engram.store import keys
from tests.builders import MovableClock

PEPPER = b"p" * 32


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


@pytest.fixture
def table(tmp_path, clock):
    table = SqliteTable(tmp_path / "keys.sqlite", clock=clock)
    yield table
    table.close()


@pytest.fixture
def api_keys(table, clock) -> ApiKeys:
    return ApiKeys(table, pepper=lambda: PEPPER, clock=clock)


def test_a_key_opens_its_own_business_with_its_scopes(api_keys):
    key = api_keys.create("acme-2", scopes=(KeyScope.READ, KeyScope.WRITE))
    assert key.text.startswith("sk-acme-2-")
    found = api_keys.verify(key.text)
    assert (found.business_id, found.scopes) == ("acme-2", (KeyScope.READ, KeyScope.WRITE))


def test_the_table_never_holds_a_key(api_keys, table):
    key = api_keys.create("acme", scopes=ALL_SCOPES, label="phone app").text
    secret = key.rsplit("-", 1)[1]
    items = table.query(keys.business_partition("acme")).items
    stored = json.dumps([(item.key, dict(item.body)) for item in items])
    assert secret not in stored
    assert len(items) == 1


def forgeries(key: str) -> list[str]:
    business, secret = key[3:].rsplit("-", 1)
    swapped = secret[1] + secret[0] + secret[2:]
    return [
        "",
        "sk-",
        f"sk-{business}-",
        key[:-1],
        key + "A",
        key[:-1] + ("A" if key[-1] != "A" else "B"),
        key.upper(),
        key.replace("sk-", "pk-"),
        f" {key}",
        f"{key}\n",
        f"{key}\x00",
        f"sk-other-{secret}",
        f"sk-{business}-{swapped}" if swapped != secret else f"sk-{business}-{secret[::-1]}",
        f"sk-{business}-{'A' * 10_000}",
        f"sk-{business}#KEY-{secret}",
        f"sk-*-{secret}",
        f"sk--{secret}",
        secret,
        "用户" * 30,
        "\ud800" * 40,
    ]


@pytest.mark.parametrize("number", range(20))
def test_a_forged_key_opens_nothing(api_keys, number):
    key = api_keys.create("acme", scopes=ALL_SCOPES).text
    api_keys.create("other", scopes=ALL_SCOPES)
    assert api_keys.verify(forgeries(key)[number]) is None
    assert api_keys.verify(key) is not None


@given(st.text(max_size=300))
def test_no_text_is_a_key_by_chance(text):
    class Empty:
        def get(self, key):
            return None

    assert ApiKeys(Empty(), pepper=lambda: PEPPER, clock=MovableClock()).verify(text) is None


def test_a_record_moved_to_another_business_opens_nothing(api_keys, table):
    key = api_keys.create("acme", scopes=ALL_SCOPES)
    (item,) = table.query(keys.business_partition("acme")).items
    stolen = f"sk-other-{key.text.rsplit('-', 1)[1]}"
    from dataclasses import replace

    table.write([replace(item, key=keys.api_key("other", key.record.key_id))])
    assert api_keys.verify(stolen) is None


def test_a_key_of_another_pepper_opens_nothing(api_keys, table, clock):
    foreign = ApiKeys(table, pepper=lambda: b"q" * 32, clock=clock).create("acme", scopes=ALL_SCOPES)
    assert api_keys.verify(foreign.text) is None


def test_an_expired_key_opens_nothing_from_that_moment_on(api_keys, clock):
    key = api_keys.create("acme", scopes=ALL_SCOPES, expires_at=clock() + timedelta(hours=1)).text
    clock.go_on(3599)
    assert api_keys.verify(key) is not None
    clock.go_on(1)
    assert api_keys.verify(key) is None


def test_a_revoked_key_opens_nothing_and_stays_listed(api_keys):
    key = api_keys.create("acme", scopes=ALL_SCOPES)
    other = api_keys.create("acme", scopes=ALL_SCOPES)
    api_keys.revoke("acme", key.record.key_id)
    assert api_keys.verify(key.text) is None
    assert api_keys.verify(other.text) is not None
    assert {found.key_id for found in api_keys.list("acme")} == {key.record.key_id, other.record.key_id}


def test_revoking_twice_keeps_the_first_moment(api_keys, clock):
    key = api_keys.create("acme", scopes=ALL_SCOPES)
    first = api_keys.revoke("acme", key.record.key_id).revoked_at
    clock.go_on(60)
    assert api_keys.revoke("acme", key.record.key_id).revoked_at == first


def test_one_business_cannot_revoke_or_list_keys_of_another(api_keys):
    key = api_keys.create("acme", scopes=ALL_SCOPES)
    with pytest.raises(NotFound):
        api_keys.revoke("other", key.record.key_id)
    assert api_keys.list("other") == ()


def test_proofs_are_compared_in_constant_time(api_keys, monkeypatch):
    compared = []
    monkeypatch.setattr(module.hmac, "compare_digest", lambda a, b: compared.append((a, b)) or hmac_equal(a, b))
    key = api_keys.create("acme", scopes=ALL_SCOPES).text
    assert api_keys.verify(key) is not None
    assert api_keys.verify(key[:-1] + ("A" if key[-1] != "A" else "B")) is None
    assert len(compared) == 2


def hmac_equal(a: bytes, b: bytes) -> bool:
    return hmac.new(b"k", a, "sha256").digest() == hmac.new(b"k", b, "sha256").digest()


def test_a_weak_pepper_is_refused(table, clock):
    weak = ApiKeys(table, pepper=lambda: b"short", clock=clock)
    with pytest.raises(InvalidInput):
        weak.create("acme", scopes=ALL_SCOPES)


@pytest.mark.parametrize("business", ["", "*", "ACME", "a b", "a/b", "a#b", "-a", "a-", "x" * 41, "用户", None])
def test_a_business_that_cannot_stand_in_a_key_is_refused(api_keys, business):
    with pytest.raises(InvalidInput):
        api_keys.create(business, scopes=ALL_SCOPES)


def test_keys_with_no_scope_or_a_past_expiry_are_refused(api_keys, clock):
    with pytest.raises(InvalidInput):
        api_keys.create("acme", scopes=())
    with pytest.raises(InvalidInput):
        api_keys.create("acme", scopes=ALL_SCOPES, expires_at=clock())


def test_two_keys_are_never_the_same(api_keys):
    texts = {api_keys.create("acme", scopes=ALL_SCOPES).text for _ in range(50)}
    assert len(texts) == 50


@pytest.mark.parametrize(
    ("header", "key"),
    [
        ("Bearer sk-a-b", "sk-a-b"),
        ("bearer sk-a-b", "sk-a-b"),
        ("  Bearer   sk-a-b ", "sk-a-b"),
        ("sk-a-b", ""),
        ("Basic sk-a-b", ""),
        ("Bearer", ""),
        ("", ""),
        ("Bearersk-a-b", ""),
    ],
)
def test_only_a_bearer_header_carries_a_key(header, key):
    assert bearer(header) == key


def test_scopes_are_read_from_a_list_and_unknown_ones_are_refused():
    assert parse_scopes("write, read") == (KeyScope.READ, KeyScope.WRITE)
    for text in ("", "root", "read,root", ","):
        with pytest.raises(InvalidInput):
            parse_scopes(text)


def test_the_pepper_is_made_once_for_its_owner_only(tmp_path):
    path = tmp_path / "pepper"
    first, second = pepper_from(path)(), pepper_from(path)()
    assert first == second
    assert len(first) >= 32
    assert path.stat().st_mode & 0o077 == 0
    assert list(tmp_path.iterdir()) == [path]
