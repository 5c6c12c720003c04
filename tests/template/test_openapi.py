"""openapi.json says what the code serves."""

import json
from pathlib import Path

import pytest

from infra import openapi
from infra.local.template import read_service


@pytest.fixture(scope="module")
def generated():
    return openapi.document(read_service(openapi.ROOT / "template.yaml", parameters={}, physical={}))


def test_the_document_in_the_repository_is_the_one_that_the_code_makes(generated):
    assert json.loads(Path(openapi.FILE).read_text()) == generated, "run `make openapi`"


def test_every_route_of_the_template_is_described(generated):
    described = set(generated["paths"])
    served = read_service(openapi.ROOT / "template.yaml", parameters={}, physical={}).routes
    assert {route.path for route in served} <= described | {path.partition(":")[0] for path in described}


def test_every_schema_that_is_named_is_there(generated):
    text = json.dumps(generated)
    named = {part.split('"')[0] for part in text.split("#/components/schemas/")[1:]}
    assert named <= set(generated["components"]["schemas"])
