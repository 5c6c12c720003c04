"""The service on both stacks. A test that takes `service` runs on each; one that takes `embedded` on that one."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from infra.local.client import Client
from tests.services import RunningService, emulator_missing, running


def _start(stack: str, factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running(factory.mktemp(stack), stack=stack) as service:
        yield service


@pytest.fixture(scope="session")
def embedded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    yield from _start("embedded", tmp_path_factory)


@pytest.fixture(scope="session")
def emulated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    if why := emulator_missing():
        pytest.skip(why)
    yield from _start("emulated", tmp_path_factory)


@pytest.fixture(params=["embedded", "emulated"])
def service(request: pytest.FixtureRequest) -> RunningService:
    running_service: RunningService = request.getfixturevalue(request.param)
    return running_service


@pytest.fixture
def client(service: RunningService) -> Client:
    return service.client()


@pytest.fixture
def user() -> str:
    """A user whom the service has never seen."""
    return f"user-{uuid.uuid4().hex[:12]}"
