"""Unit tests talk to nobody: sockets are off."""

import pytest
from pytest_socket import disable_socket


@pytest.fixture(autouse=True)
def _no_sockets():
    disable_socket(allow_unix_socket=True)
