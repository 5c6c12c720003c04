"""The sample events for `sam local invoke`: one for each function, and its handler takes it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engram import bootstrap
from engram.access.scopes import ALL_SCOPES
from engram.bootstrap import Services
from engram.settings import Settings
from infra.local.functions import LoadedFunction
from infra.local.template import Service, read_service

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def service() -> Service:
    return read_service(ROOT / "template.yaml", parameters={}, physical={})


@pytest.fixture
def services(tmp_path: Path):
    made = Services(Settings(stack="embedded", data_dir=str(tmp_path), embedder="none"))
    bootstrap.use(made)
    yield made
    bootstrap.use(None)


def event_of(folder: str) -> Any:
    return json.loads((ROOT / "events" / f"{folder}.json").read_text())


def invoke(service: Service, folder: str, event: Any) -> Any:
    (function,) = [one for one in service.functions.values() if one.folder == f"functions/{folder}"]
    return LoadedFunction(function, root=ROOT, region="us-east-1")(event)


def test_there_is_one_event_for_each_function(service: Service):
    folders = {function.folder.removeprefix("functions/") for function in service.functions.values()}
    assert {path.stem for path in (ROOT / "events").glob("*.json")} == folders


@pytest.mark.parametrize(("folder", "status"), [("recall", 200), ("context", 200), ("ingestion", 202)])
def test_an_http_function_answers_its_event(service, services, folder, status):
    answer = invoke(service, folder, event_of(folder))
    assert answer["statusCode"] == status
    assert json.loads(answer["body"])


def test_the_management_event_asks_for_a_user_who_may_not_be_there_yet(service, services):
    answer = invoke(service, "management", event_of("management"))
    assert answer["statusCode"] == 404
    invoke(service, "ingestion", event_of("ingestion"))
    assert invoke(service, "management", event_of("management"))["statusCode"] == 200


def test_the_authorizer_refuses_the_sample_key_and_takes_a_real_one(service, services):
    event = event_of("authorizer")
    assert invoke(service, "authorizer", event) == {"isAuthorized": False}
    event["identitySource"] = [f"Bearer {services.api_keys.create('demo', scopes=ALL_SCOPES).text}"]
    answer = invoke(service, "authorizer", event)
    assert answer["isAuthorized"] is True
    assert answer["context"]["business_id"] == "demo"


def test_the_extractor_works_off_what_its_event_names(service, services):
    accepted = json.loads(invoke(service, "ingestion", event_of("ingestion"))["body"])
    event = event_of("extractor")
    event["Records"][0]["body"] = event["Records"][0]["body"].replace(
        "operation-of-the-ingestion", accepted["operation_id"]
    )
    assert invoke(service, "extractor", event) == {"batchItemFailures": []}
    recalled = event_of("recall")
    recalled["body"] = json.dumps({"query": "what is my dog called?", "user_id": "ann", "session_id": "s2"})
    assert "Biscuit" in invoke(service, "recall", recalled)["body"]


def test_an_operation_that_is_gone_is_not_asked_for_again(service, services):
    assert invoke(service, "extractor", event_of("extractor")) == {"batchItemFailures": []}


def test_the_sweep_has_nothing_to_do_on_an_empty_table(service, services):
    assert set(invoke(service, "maintenance", event_of("maintenance")).values()) == {0}
