"""Fixtures of Memobase's calls: an installation without an encoder, and a user of it."""

from __future__ import annotations

import pytest

from engram import bootstrap
from engram.bootstrap import Services
from engram.settings import Settings
from tests.builders import MovableClock
from tests.http_calls import USER, MemobaseCalls


@pytest.fixture
def clock():
    return MovableClock()


@pytest.fixture
def services(tmp_path, clock):
    made = Services(Settings(data_dir=str(tmp_path), embedder="none"), clock=clock)
    bootstrap.use(made)
    yield made
    bootstrap.use(None)


@pytest.fixture
def calls(services):
    return MemobaseCalls()


@pytest.fixture
def user(calls):
    return calls.ok("POST", "/users", body={"data": {"plan": "pro"}, "id": USER})["id"]
