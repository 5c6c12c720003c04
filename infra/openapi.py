"""Writes `openapi.json` from the code that serves: routes from the functions' resolvers, bodies from what they decode.

`python -m infra.openapi` writes it; `--check` fails if the file in the repository is not what the code says.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from engram import __version__
from engram.access.scopes import needed_by
from engram.api.described import models_of
from infra.local.functions import load_module
from infra.local.template import Service, read_service

ROOT = Path(__file__).resolve().parent.parent
FILE = ROOT / "openapi.json"
_DECODERS = {"body_of": "body", "query_of": "query"}
_PARAMETER = re.compile(r"<(\w+)>")


def document(service: Service) -> dict[str, Any]:
    """The OpenAPI 3.1 document of every route in the template."""
    declared = {(route.function, route.method, route.path) for route in service.routes}
    operations = [
        (path, method, function, route)
        for function in sorted({route.function for route in service.routes})
        for (method, path), route in _routes(service, function)
        if {(function, method, _gateway_path(path)), (function, "ANY", _gateway_path(path))} & declared
    ]
    operations.sort(key=lambda one: (one[0], one[1]))
    models = sorted({model for *_, route in operations for model in _decoded(route).values()}, key=lambda m: m.__name__)
    _, schemas = models_json_schema(
        [(model, "validation") for model in models], ref_template="#/components/schemas/{model}"
    )
    paths: dict[str, dict[str, Any]] = {}
    for served_path, method, function, route in operations:
        shown = _PARAMETER.sub(r"{\1}", served_path)
        paths.setdefault(shown, {})[method.lower()] = _operation(served_path, method, function, route)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Engram", "version": __version__, "license": {"name": "Apache-2.0"}},
        "security": [{"key": []}],
        "paths": paths,
        "components": {
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer", "description": "sk-<business>-<secret>"}},
            "schemas": {**schemas.get("$defs", {}), "Problem": _PROBLEM},
        },
    }


def _routes(service: Service, name: str) -> Iterator[tuple[tuple[str, str], Callable[..., Any]]]:
    app = load_module(service.functions[name], root=ROOT).app
    for route in app.declared_routes:
        yield (route.method, route.path), route.func


def _operation(path: str, method: str, function: str, route: Callable[..., Any]) -> dict[str, Any]:
    inner = inspect.unwrap(route)
    decoded = _decoded(route)
    operation: dict[str, Any] = {
        "operationId": f"{function}.{inner.__name__}.{method.lower()}",
        "summary": (inspect.getdoc(inner) or inner.__name__.replace("_", " ")).split("\n")[0],
        "x-engram-scope": needed_by(route, method).value,
        "parameters": [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
            for name in _PARAMETER.findall(path)
        ],
        "responses": _responses(path),
    }
    if "query" in decoded:
        operation["parameters"] += _query_parameters(decoded["query"])
    if "body" in decoded:
        schema = {"$ref": f"#/components/schemas/{decoded['body'].__name__}"}
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}}}
    return operation


def _responses(path: str) -> dict[str, Any]:
    if path.startswith("/api/v1"):
        return {"200": {"description": "Memobase's envelope: data, errno (0 for success), errmsg"}}
    problem = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    return {"2XX": {"description": "done or accepted"}, "default": {"description": "a problem", "content": problem}}


def _query_parameters(model: type[BaseModel]) -> list[dict[str, Any]]:
    schema = model.model_json_schema(ref_template="#/components/schemas/{model}")
    required = set(schema.get("required", ()))
    return [
        {"name": name, "in": "query", "required": name in required, "schema": one}
        for name, one in schema.get("properties", {}).items()
    ]


def _decoded(route: Callable[..., Any]) -> dict[str, type[BaseModel]]:
    """The models that a route decodes with (`body_of(app, Model)`, `query_of(app, Model)`) or is described by."""
    inner = inspect.unwrap(route)
    found: dict[str, type[BaseModel]] = models_of(inner)
    for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(inner)))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _DECODERS:
            model = node.args[1]
            if isinstance(model, ast.Name):
                found[_DECODERS[node.func.id]] = inner.__globals__[model.id]
    return found


def _gateway_path(path: str) -> str:
    """As the template spells it: a verb behind a parameter is part of the parameter's segment."""
    return re.sub(r"(?<=\}):\w+", "", _PARAMETER.sub(r"{\1}", path))


_PROBLEM = {
    "type": "object",
    "description": "RFC 9457",
    "required": ["type", "title", "status", "code", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string"},
        "detail": {"type": "string"},
        "field": {"type": "string"},
    },
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    arguments = parser.parse_args()
    text = (
        json.dumps(
            document(read_service(ROOT / "template.yaml", parameters={}, physical={})), indent=1, ensure_ascii=False
        )
        + "\n"
    )
    if not arguments.check:
        FILE.write_text(text)
        return 0
    if FILE.exists() and FILE.read_text() == text:
        return 0
    sys.stderr.write("openapi.json is not what the code says: run `make openapi`\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
