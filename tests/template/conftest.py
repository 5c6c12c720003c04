"""The template as the tests read it: as written, and as SAM transforms it for each way of deploying."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from boto3.session import Session
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator
from samtranslator.yaml_helper import yaml_parse

from infra.local.template import load_yaml

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def written() -> dict[str, Any]:
    return load_yaml(ROOT / "template.yaml")


@pytest.fixture(scope="session")
def nested() -> dict[str, dict[str, Any]]:
    return {path.stem: load_yaml(path) for path in sorted((ROOT / "infra").glob("*.yaml"))}


@pytest.fixture(scope="session")
def transformed() -> dict[str, Any]:
    """What CloudFormation gets: every resource that SAM makes of the template, conditions kept."""
    document = yaml_parse((ROOT / "template.yaml").read_text())
    for resource in document["Resources"].values():
        if resource["Type"].startswith("AWS::Serverless::"):
            properties = resource["Properties"]
            for place in ("CodeUri", "ContentUri"):
                if place in properties:
                    properties[place] = "s3://bucket/key"
    result: dict[str, Any] = Translator({}, Parser(), boto_session=Session(region_name="eu-central-1")).translate(
        document, {}
    )
    return result


@pytest.fixture(scope="session")
def functions(written: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        name: spec["Properties"]
        for name, spec in written["Resources"].items()
        if spec["Type"] == "AWS::Serverless::Function"
    }
