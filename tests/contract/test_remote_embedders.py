"""The Embedder's contract on the remote adapters: order, purpose, dimension, what is empty, and a server that fails."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

import pytest

from engram.adapters.bedrock import BedrockEmbedder
from engram.adapters.json_http import Limits
from engram.adapters.openai_compatible import OpenAICompatibleEmbedder
from engram.domain.errors import ModelFailure, Throttled, Unavailable
from engram.ports import Embedder
from tests.contract.conftest import bedrock_client
from tests.model_server import Embeds, Fails, ModelServer, Raw

LIMITS = Limits(connect=0.5, read=0.6, total=1.2)


@pytest.fixture
def server(models: ModelServer) -> ModelServer:
    models.script = [Embeds(4)]
    return models


def bedrock(server: ModelServer, model: str) -> Embedder:
    return BedrockEmbedder(client=bedrock_client(server.url), model=model, dimension=4)


ADAPTERS: dict[str, Callable[[ModelServer], Embedder]] = {
    "cohere v4": lambda server: bedrock(server, "cohere.embed-v4:0"),
    "cohere v3": lambda server: bedrock(server, "cohere.embed-multilingual-v3"),
    "titan": lambda server: bedrock(server, "amazon.titan-embed-text-v2:0"),
    "openai": lambda server: OpenAICompatibleEmbedder(
        base_url=f"{server.url}/v1", api_key=lambda: "", model="e", dimension=4, limits=LIMITS, sleep=lambda _: None
    ),
}


@pytest.fixture(params=ADAPTERS)
def embedder(request: pytest.FixtureRequest, server: ModelServer) -> Embedder:
    return ADAPTERS[request.param](server)


def numbers(vector: bytes) -> tuple[float, ...]:
    return struct.unpack(f"<{len(vector) // 4}f", vector)


def test_vectors_are_little_endian_float32_of_unit_length_in_the_order_of_the_texts(embedder: Embedder) -> None:
    vectors = embedder.embed(["a", "bb", "ccc"], "document")
    assert [len(vector) for vector in vectors] == [16, 16, 16]
    assert all(math.isclose(math.hypot(*numbers(vector)), 1.0, rel_tol=1e-6) for vector in vectors)
    axes = [numbers(vector).index(1.0) for vector in vectors]
    assert axes in ([0, 1, 2], [1, 2, 3]), "one axis per text, in order"


def test_an_empty_text_has_no_vector_and_is_not_sent(embedder: Embedder, server: ModelServer) -> None:
    assert embedder.embed(["", "  ", "\n"], "document") == [b"", b"", b""]
    assert server.requests == []
    assert [len(vector) for vector in embedder.embed(["", "a", " "], "query")] == [0, 16, 0]


def test_awkward_texts_are_sent_in_a_form_the_service_takes(embedder: Embedder) -> None:
    vectors = embedder.embed(["\ud800", "\x00", "x" * 100_000, "杭州🎿"], "document")
    assert all(len(vector) == 16 for vector in vectors)


def test_many_texts_go_in_batches(server: ModelServer) -> None:
    assert len(ADAPTERS["cohere v4"](server).embed(["t"] * 200, "document")) == 200
    assert [len(request.body["texts"]) for request in server.requests] == [96, 96, 8]


def test_cohere_is_told_whether_it_reads_a_document_or_a_query(server: ModelServer) -> None:
    embedder = ADAPTERS["cohere v4"](server)
    embedder.embed(["a"], "document")
    embedder.embed(["a"], "query")
    assert [request.body["input_type"] for request in server.requests] == ["search_document", "search_query"]
    assert server.requests[0].body["output_dimension"] == 4


def test_another_dimension_than_configured_is_refused(embedder: Embedder, server: ModelServer) -> None:
    server.script = [Embeds(5)]
    with pytest.raises(ModelFailure) as failure:
        embedder.embed(["a"], "document")
    assert failure.value.code == "EMBEDDING_DIMENSION"


@pytest.mark.parametrize("adapter", ["cohere v4", "openai"])
def test_fewer_vectors_than_texts_are_refused_and_not_shifted(server: ModelServer, adapter: str) -> None:
    server.script = [Embeds(4, missing=1)]
    with pytest.raises(ModelFailure):
        ADAPTERS[adapter](server).embed(["a", "b", "c"], "document")


def test_a_throttled_embedder_may_be_asked_later(embedder: Embedder, server: ModelServer) -> None:
    server.script = [Fails(429, "ThrottlingException")]
    with pytest.raises(Throttled):
        embedder.embed(["a"], "document")
    assert len(server.requests) == 2


def test_a_failing_embedder_is_unavailable(embedder: Embedder, server: ModelServer) -> None:
    server.script = [Fails(500)]
    with pytest.raises(Unavailable):
        embedder.embed(["a"], "document")


def test_an_answer_that_is_no_embedding_is_a_failure_and_no_crash(embedder: Embedder, server: ModelServer) -> None:
    for body in (b"oops", b"[]", b'{"data": 3, "embeddings": 3, "embedding": "x"}'):
        server.script = [Raw(body)]
        with pytest.raises(ModelFailure):
            embedder.embed(["a"], "document")


def test_a_server_that_knows_no_dimensions_is_asked_without(server: ModelServer) -> None:
    server.script = [Fails(400), Embeds(4)]
    embedder = ADAPTERS["openai"](server)
    assert len(embedder.embed(["a"], "document")[0]) == 16
    embedder.embed(["b"], "document")
    assert [("dimensions" in request.body) for request in server.requests] == [True, False, False]


def test_the_id_names_model_and_dimension(embedder: Embedder) -> None:
    assert embedder.id.endswith("@4")
    assert embedder.dimension == 4
