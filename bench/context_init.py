"""INIT of the built context function under Lambda's runtime interface emulator, and of the same with everything eager.

Both are built here, as `sam build` does it. Only `INIT REPORT` is believed. Needs a Python of the runtime's version.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path

from infra.local.child import free_port

ROOT = Path(__file__).resolve().parents[1]
RUNTIME = "3.13"
EAGER = """
import asyncio, boto3, pydantic, numpy, redis, opensearchpy, tiktoken, yaml
import aws_lambda_powertools.event_handler.openapi.models
from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.utilities.batch import SqsFifoPartialProcessor
import engram.adapters.dynamodb, engram.adapters.valkey, engram.adapters.opensearch, engram.adapters.s3
import engram.adapters.sqs, engram.adapters.local_encoder, engram.memobase.service, engram.recall.service
import engram.extraction.worker
boto3.client("dynamodb", region_name="us-east-1")
tiktoken.get_encoding("o200k_base")
"""
_REPORT = re.compile(r"INIT REPORT\(durationMs: ([0-9.]+)")


TARGETS = {
    "functions/context": "ContextFunction",
    "layers/engram": "EngramLayer",
    "layers/dependencies": "IntelDependenciesLayer",
}
"""Folder to what `sam build` makes of it, by the same make targets."""


def built(folder: Path) -> Path:
    """The function and its layers, built for this machine into `folder`."""
    for source, name in TARGETS.items():
        target = folder / name
        target.mkdir(parents=True)
        command = ["make", "--silent", "-C", str(ROOT / source), f"build-{name}", f"ARTIFACTS_DIR={target}"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return folder


def init_ms(*, times: int) -> dict[str, float]:
    """Median INIT in ms of the function as built and of the eager one. Empty where it cannot be measured."""
    emulator = _emulator()
    python = _runtime_python()
    if emulator is None or python is None:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        build = built(Path(folder) / "build")
        function = build / "ContextFunction"
        eager = Path(folder) / "eager"
        shutil.copytree(function, eager)
        (eager / "app.py").write_text(EAGER + (function / "app.py").read_text())
        subprocess.run([python, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", eager], check=True)
        found = {}
        for name, artefact in (("as built", function), ("everything eager", eager)):
            measured = [_one_init(emulator, python, artefact, build, Path(folder)) for _ in range(times)]
            found[name] = statistics.median(measured)
        return found


def _one_init(emulator: Path, python: str, artefact: Path, build: Path, scratch: Path) -> float:
    port, log = free_port(), scratch / "stderr"
    layers = [build / layer / "python" for layer in _layers(build)]
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": ":".join(map(str, [artefact, *layers, _runtime_client(python, scratch)])),
        "PYTHONDONTWRITEBYTECODE": "1",
        "_HANDLER": "app.handler",
        "LAMBDA_TASK_ROOT": str(artefact),
        "AWS_LAMBDA_FUNCTION_NAME": "context",
        "AWS_LAMBDA_FUNCTION_VERSION": "1",
        "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "512",
        "AWS_LAMBDA_FUNCTION_TIMEOUT": "30",
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "x",
        "AWS_SECRET_ACCESS_KEY": "x",
        "ENGRAM_DATA_DIR": str(scratch / "data"),
        "OPENBLAS_NUM_THREADS": "1",
        "TIKTOKEN_CACHE_DIR": next((str(build / one / "vocabulary") for one in _layers(build) if "Dep" in one), ""),
    }
    command = [
        str(emulator), "--log-level", "info",
        "--runtime-interface-emulator-address", f"127.0.0.1:{port}",
        "--runtime-api-address", f"127.0.0.1:{free_port()}",
        python, "-m", "awslambdaric", "app.handler",
    ]  # fmt: skip
    with log.open("wb") as stderr:
        process = subprocess.Popen(
            command, cwd=artefact, env=environment, stdout=stderr, stderr=stderr, start_new_session=True
        )
    try:
        return _reported(port, log)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _reported(port: int, log: Path) -> float:
    """Invokes once, which starts INIT, and reads its report."""
    url = f"http://127.0.0.1:{port}/2015-03-31/functions/function/invocations"
    end = time.monotonic() + 30
    while time.monotonic() < end:
        with contextlib.suppress(OSError):
            urllib.request.urlopen(url, data=json.dumps({}).encode(), timeout=30).read()
            said = log.read_text(errors="replace")
            found = _REPORT.search(said)
            if found and "INIT RTDONE(status: success" in said:
                return float(found[1])
        time.sleep(0.05)
    raise RuntimeError(f"no INIT that went well:\n{log.read_text(errors='replace')[-2000:]}")


def _layers(build: Path) -> list[str]:
    """Layers for this machine: the other architecture's dependencies are left out."""
    found = [one.name for one in sorted(build.iterdir()) if one.name.endswith("Layer") and (one / "python").is_dir()]
    return [name for name in found if not name.startswith("Arm")]


def _runtime_client(python: str, scratch: Path) -> Path:
    """awslambdaric for the runtime's Python, installed once."""
    target = scratch / "runtime-client"
    if not target.is_dir():
        uv = Path(sys.executable).with_name("uv")
        command = [uv, "pip", "install", "-q", "--python", python, "--target", target, "awslambdaric"]
        subprocess.run([str(part) for part in command], check=True)
    return target


def _emulator() -> Path | None:
    try:
        import samcli
    except ImportError:
        return None
    found = Path(samcli.__file__).parent / "local" / "rapid" / "aws-lambda-rie-x86_64"
    return found if found.exists() and os.uname().machine == "x86_64" else None


def _runtime_python() -> str | None:
    named = shutil.which(f"python{RUNTIME}")
    pyenv = sorted(Path.home().glob(f".pyenv/versions/{RUNTIME}.*/bin/python{RUNTIME}"))
    return str(pyenv[-1]) if pyenv else named
