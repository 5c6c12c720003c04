"""A built function under the runtime interface emulator: Lambda's protocol, without Docker and without AWS."""

from __future__ import annotations

import json
import os
import platform
import re
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from infra.build_layer import ROOT, RUNTIME, runtime_python, uv_program
from infra.local.child import free_port
from infra.local.functions import FunctionError
from infra.local.template import Function

ARCHITECTURE = {"x86_64": "x86_64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine(), "")
LAYER = {"x86_64": "IntelDependenciesLayer", "arm64": "ArmDependenciesLayer"}.get(ARCHITECTURE, "")


def missing() -> str:
    """Why built functions cannot run here; empty if they can."""
    if sys.platform != "linux" or not ARCHITECTURE:
        return "the runtime interface emulator runs on Linux, x86_64 or arm64"
    try:
        runtime_python()
    except SystemExit:
        return f"no Python {RUNTIME} here, which is what the functions are built for"
    return ""


def emulator() -> str:
    import samcli

    return str(Path(samcli.__file__).parent / "local" / "rapid" / f"aws-lambda-rie-{ARCHITECTURE}")


def runtime_client(folder: Path) -> Path:
    """`awslambdaric` for the runtime's Python, which need not be the one that runs the tests."""
    if not (folder / "awslambdaric").exists():
        wanted = re.findall(r"^(?:awslambdaric|simplejson|snapshot-restore-py)==\S+", _pinned(), re.MULTILINE)
        command = [uv_program() or "uv", "pip", "install", "--quiet", "--python", runtime_python(), "--no-deps"]
        subprocess.run([*command, "--target", str(folder), *wanted], check=True)
    return folder


def _pinned() -> str:
    return (ROOT / "requirements" / "dev.txt").read_text()


class BuiltFunction:
    """One execution environment of one built function: it serves one event at a time, as Lambda's do."""

    def __init__(
        self, function: Function, *, artifact: Path, path: str, environment: Mapping[str, str], log: Path
    ) -> None:
        self.spec = function
        self._port = free_port()
        self._log = log
        self._one_at_a_time = threading.Lock()
        command = [
            emulator(),
            "--log-level",
            "info",
            "--runtime-interface-emulator-address",
            f"127.0.0.1:{self._port}",
            "--runtime-api-address",
            f"127.0.0.1:{free_port()}",
            runtime_python(),
            "-m",
            "awslambdaric",
            function.handler,
        ]
        name = function.folder.rsplit("/", 1)[-1]
        lambda_environment = {
            "PATH": os.environ["PATH"],
            "HOME": "/tmp",
            "PYTHONPATH": path,
            "_HANDLER": function.handler,
            "LAMBDA_TASK_ROOT": str(artifact),
            "AWS_LAMBDA_FUNCTION_NAME": name,
            "AWS_LAMBDA_FUNCTION_VERSION": "1",
            "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": str(function.memory),
            "AWS_LAMBDA_FUNCTION_TIMEOUT": str(int(function.timeout)),
            "AWS_REGION": "us-east-1",
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                command,
                cwd=artifact,
                env={**lambda_environment, **environment},
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def __call__(self, event: dict[str, Any]) -> Any:
        """The function's answer.

        Raises:
            FunctionError: it raised, or ran out of time: both arrive as an answer with an error in it.
        """
        url = f"http://127.0.0.1:{self._port}/2015-03-31/functions/function/invocations"
        request = urllib.request.Request(url, data=json.dumps(event).encode())
        with self._one_at_a_time:
            answer = json.loads(self._send(request) or b"null")
        if isinstance(answer, dict) and "errorType" in answer:
            raise FunctionError(f"{self.spec.name}: {answer['errorType']} {answer.get('errorMessage', '')}")
        return answer

    def _send(self, request: urllib.request.Request) -> bytes:
        end = time.monotonic() + 20
        while True:
            try:
                with urllib.request.urlopen(request, timeout=60) as response:
                    content: bytes = response.read()
                    return content
            except OSError:
                if time.monotonic() > end or self._process.poll() is not None:
                    raise
                time.sleep(0.05)

    @property
    def log(self) -> str:
        return self._log.read_text(errors="replace")

    @property
    def init_ms(self) -> float:
        """The time to the first event, by the runtime's own report."""
        found = re.findall(r"INIT REPORT\(durationMs: ([\d.]+)\)|INIT_REPORT[^\n]*?durationMs: ([\d.]+)", self.log)
        return float(next(value for value in found[0] if value)) if found else float("nan")

    def stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(5)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
