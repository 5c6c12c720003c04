"""The routes of the template and those that the functions' resolvers declare are the same, and each stands once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from engram.api.resolver import HttpResolver, route_key
from infra.local.functions import LoadedFunction
from infra.local.service import REGION
from infra.local.template import Service, read_service

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def service() -> Service:
    return read_service(ROOT / "template.yaml", parameters={}, physical={})


@pytest.fixture(scope="module")
def declared(service: Service) -> dict[str, set[str]]:
    """Function to the routes its resolver declares, spelled as the gateway does."""
    return {name: _declared_by(service, name) for name in service.functions}


def _declared_by(service: Service, name: str) -> set[str]:
    loaded = LoadedFunction(service.functions[name], root=ROOT, region=REGION)
    app: Any = getattr(loaded.module, "app", None)
    if not isinstance(app, HttpResolver):
        return set()
    return {route_key(route.method, route.path) for route in (*app._static_routes, *app._dynamic_routes)}


def test_the_template_lists_every_route_of_the_resolvers(service: Service, declared):
    for name, routes in declared.items():
        listed = {route.key for route in service.routes if route.function == name}
        any_paths = {key.removeprefix("ANY ") for key in listed if key.startswith("ANY ")}
        missing = {key for key in routes if key not in listed and key.split(" ", 1)[1] not in any_paths}
        assert missing == set(), name


def test_every_route_of_the_template_leads_somewhere(service: Service, declared):
    for route in service.routes:
        answered = {key.split(" ", 1)[0] for key in declared[route.function] if key.split(" ", 1)[1] == route.path}
        assert route.method in answered or (route.method == "ANY" and len(answered) >= 2), route.key


def test_no_route_is_listed_twice(service: Service):
    keys = Counter((route.method, route.path) for route in service.routes)
    assert [key for key, count in keys.items() if count > 1] == []
    paths_of_any = {route.path for route in service.routes if route.method == "ANY"}
    assert [route.key for route in service.routes if route.method != "ANY" and route.path in paths_of_any] == []
