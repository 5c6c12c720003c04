"""One build for all tests of this folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from infra.build_layer import ROOT
from tests.built.runtime import LAYER, missing


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that `sam build` made."""
    if why := missing():
        pytest.skip(why)
    folder = tmp_path_factory.mktemp("built")
    done = subprocess.run(
        [
            Path(sys.executable).with_name("sam"),
            "build",
            "--build-dir",
            folder,
            "--template-file",
            ROOT / "template.yaml",
        ],
        cwd=ROOT,
        env={**os.environ, "SAM_CLI_TELEMETRY": "0", "AWS_DEFAULT_REGION": "us-east-1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


@pytest.fixture(scope="session")
def layers(built: Path) -> list[Path]:
    """What is under /opt/python for this machine's architecture."""
    return [built / LAYER / "python", built / "EngramLayer" / "python"]
