"""The `engram` command says in one line what it cannot do."""

from __future__ import annotations

import pytest

from infra.local.commands import main


@pytest.mark.parametrize("port", ["abc", "99999", "-1", "80 80"])
def test_a_port_that_is_none_is_refused_by_name(port, monkeypatch, capsys):
    """`make` hands its variables on in the environment, so `PORT=abc` arrives there too."""
    monkeypatch.setenv("PORT", port)
    with pytest.raises(SystemExit) as ended:
        main(["serve"])
    assert ended.value.code == 2
    assert capsys.readouterr().err.splitlines()[-1].endswith("a port is a number from 0 to 65535")
