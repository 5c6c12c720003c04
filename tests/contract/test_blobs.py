"""What every BlobStore keeps to: whole contents, under any name, of one user and of nobody else."""

from __future__ import annotations

import uuid
from pathlib import Path

import pytest

from engram.adapters.folder import FolderBlobs
from engram.adapters.s3 import S3Blobs
from engram.domain.errors import InvalidInput, Unavailable
from engram.domain.scope import Scope
from engram.ports import BlobStore
from tests.contract.conftest import client
from tests.servers import free_port

ANN = Scope("shop", "ann")
NAMES = ["plain", "a/b", "../up", ".", "..", ".hidden", "A", "a", "会话#7", "x y\n?*:", "é", "e\u0301", "n" * 600]


@pytest.fixture(params=["folder", "s3"])
def blobs(request: pytest.FixtureRequest, tmp_path: Path) -> BlobStore:
    if request.param == "folder":
        return FolderBlobs(tmp_path / "blobs")
    bucket = f"engram-{uuid.uuid4().hex}"
    s3 = client("s3", request.getfixturevalue("aws"))
    s3().create_bucket(Bucket=bucket)
    return S3Blobs(bucket, client=s3)


def test_a_text_comes_back_byte_for_byte(blobs: BlobStore) -> None:
    data = bytes(range(256)) * 2_000
    blobs.put(ANN, "big", data)
    blobs.put(ANN, "empty", b"")
    assert blobs.get(ANN, "big") == data
    assert blobs.get(ANN, "empty") == b""
    assert blobs.get(ANN, "none") is None


def test_any_name_is_a_name_of_its_own(blobs: BlobStore) -> None:
    for name in NAMES:
        blobs.put(ANN, name, name.encode())
    assert blobs.names(ANN) == sorted(NAMES)
    assert [blobs.get(ANN, name) for name in NAMES] == [name.encode() for name in NAMES]


def test_a_second_put_replaces_the_first(blobs: BlobStore) -> None:
    blobs.put(ANN, "name", b"a longer text")
    blobs.put(ANN, "name", b"short")
    assert blobs.get(ANN, "name") == b"short"
    assert blobs.names(ANN) == ["name"]


def test_deleting_takes_what_is_named_and_nothing_else(blobs: BlobStore) -> None:
    for name in ("a", "b", "c"):
        blobs.put(ANN, name, b"x")
    blobs.delete(ANN, ["a", "c", "never was"])
    assert blobs.names(ANN) == ["b"]
    blobs.delete(ANN, [])
    blobs.delete(ANN, ["b"])
    blobs.delete(ANN, ["b"])
    assert blobs.names(ANN) == []


@pytest.mark.parametrize(
    "other",
    [Scope("shop", "ann2"), Scope("shop", "Ann"), Scope("shop2", "ann"), Scope("shop", "a/nn"), Scope("shop", "用户")],
)
def test_users_do_not_see_each_other(blobs: BlobStore, other: Scope) -> None:
    blobs.put(ANN, "name", b"ann's")
    assert blobs.get(other, "name") is None
    assert blobs.names(other) == []
    blobs.delete(other, ["name"])
    assert blobs.get(ANN, "name") == b"ann's"


def test_more_names_than_one_answer_holds_are_listed_and_deleted(blobs: BlobStore) -> None:
    names = [f"{number:04}" for number in range(1_050)]
    for name in names:
        blobs.put(ANN, name, b"x")
    assert blobs.names(ANN) == names
    blobs.delete(ANN, names)
    assert blobs.names(ANN) == []


@pytest.mark.parametrize("name", ["", "n" * 601, "会" * 201, "\ud800"])
def test_a_name_that_cannot_be_kept_is_refused(blobs: BlobStore, name: str) -> None:
    for call in (lambda: blobs.put(ANN, name, b"x"), lambda: blobs.get(ANN, name), lambda: blobs.delete(ANN, [name])):
        with pytest.raises(InvalidInput):
            call()


def test_nothing_is_left_of_a_user_whose_blobs_are_deleted(tmp_path: Path) -> None:
    blobs = FolderBlobs(tmp_path)
    blobs.put(ANN, "name", b"x")
    blobs.delete(ANN, ["name"])
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
    assert list((tmp_path / "shop").iterdir()) == []


def test_a_blob_that_was_not_written_whole_is_not_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blobs = FolderBlobs(tmp_path)
    blobs.put(ANN, "name", b"old")

    def no_space(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", no_space)
        with pytest.raises(Unavailable):
            blobs.put(ANN, "name", b"new")
    assert blobs.get(ANN, "name") == b"old"
    assert blobs.names(ANN) == ["name"]
    assert len(list(tmp_path.rglob("*"))) == 3


def test_a_store_that_does_not_answer_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "test")
    blobs = S3Blobs("bucket", client=client("s3", f"http://127.0.0.1:{free_port()}"))
    for call in (lambda: blobs.put(ANN, "a", b""), lambda: blobs.get(ANN, "a"), lambda: blobs.names(ANN)):
        with pytest.raises(Unavailable):
            call()
