"""Reads template.yaml: functions, routes, queue and environment, with the template's own conditions and parameters.

The template is the only list of what runs; nothing here names a route, a function or a variable.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

NO_VALUE = "AWS::NoValue"


class _Loader(yaml.SafeLoader):  # type: ignore[misc,unused-ignore]  # typed where PyYAML's stubs are
    """YAML with CloudFormation's short forms: `!Ref X` reads as `{"Ref": "X"}`."""


def _short_form(loader: _Loader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    name = suffix if suffix in ("Ref", "Condition") else f"Fn::{suffix}"
    if isinstance(node, yaml.ScalarNode):
        scalar: Any = loader.construct_scalar(node)
        return {name: scalar.split(".", 1) if suffix == "GetAtt" else scalar}
    if isinstance(node, yaml.SequenceNode):
        return {name: loader.construct_sequence(node, deep=True)}
    return {name: loader.construct_mapping(node, deep=True)}


_Loader.add_multi_constructor("!", _short_form)


def load_yaml(path: Path) -> dict[str, Any]:
    """A CloudFormation template as plain data."""
    document: dict[str, Any] = yaml.load(path.read_text(encoding="utf-8"), Loader=_Loader)
    return document


@dataclass(frozen=True, slots=True)
class Route:
    """One way into a function. `method` may be `ANY`; `path` has `{name}` segments."""

    method: str
    path: str
    function: str
    authorized: bool

    @property
    def key(self) -> str:
        return f"{self.method} {self.path}"


@dataclass(frozen=True, slots=True)
class Schedule:
    """A function to call every `seconds`."""

    function: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Function:
    """One function as the template declares it. `queue` is the logical id of the queue it consumes, if any."""

    name: str
    folder: str
    handler: str
    timeout: float
    memory: int
    queue: str = ""
    batch_size: int = 0


@dataclass(frozen=True, slots=True)
class Authorizer:
    """The function that turns a key into a business, and how long its answers hold for one identity source."""

    function: str
    headers: tuple[str, ...]
    ttl_seconds: float


@dataclass(frozen=True, slots=True)
class Service:
    """Everything of the template that one machine needs."""

    functions: Mapping[str, Function]
    routes: tuple[Route, ...]
    schedules: tuple[Schedule, ...]
    authorizer: Authorizer
    environment: Mapping[str, str]
    resources: Mapping[str, Any] = field(repr=False)


class Evaluator:
    """Works out intrinsic functions. `physical` gives what `Ref` and `GetAtt` (as `Id.Attribute`) answer."""

    def __init__(self, document: Mapping[str, Any], parameters: Mapping[str, str], physical: Mapping[str, str]) -> None:
        self._conditions = document.get("Conditions", {})
        self._mappings = document.get("Mappings", {})
        self._names = {name: spec.get("Default", "") for name, spec in document.get("Parameters", {}).items()}
        unknown = set(parameters) - set(self._names)
        if unknown:
            raise KeyError(f"template.yaml has no parameter {', '.join(sorted(unknown))}")
        self._names |= dict(parameters) | dict(physical)

    def value(self, node: Any) -> Any:
        """`node` with every intrinsic function replaced; what is `AWS::NoValue` is left out."""
        if isinstance(node, dict):
            if len(node) == 1:
                name, argument = next(iter(node.items()))
                if name == "Ref" or name.startswith("Fn::") or name == "Condition":
                    return self._call(name, argument)
            worked_out = {key: self.value(inner) for key, inner in node.items()}
            return {key: inner for key, inner in worked_out.items() if inner != NO_VALUE}
        if isinstance(node, list):
            return [inner for inner in map(self.value, node) if inner != NO_VALUE]
        return node

    def holds(self, condition: str) -> bool:
        return bool(self.value(self._conditions[condition]))

    def _name(self, name: str) -> str:
        return name if name == NO_VALUE else self._names.get(name, name)

    def _call(self, name: str, argument: Any) -> Any:
        match name:
            case "Ref":
                return self._name(argument)
            case "Condition":
                return self.holds(argument)
            case "Fn::GetAtt":
                return self._name(".".join(argument))
            case "Fn::Sub":
                text, names = (argument, {}) if isinstance(argument, str) else (argument[0], self.value(argument[1]))
                return re.sub(r"\$\{([^!}]+)\}", lambda found: str(names.get(found[1], self._name(found[1]))), text)
            case "Fn::If":
                return self.value(argument[1] if self.holds(argument[0]) else argument[2])
            case "Fn::Equals":
                left, right = self.value(argument)
                return left == right
            case "Fn::Not":
                return not self.value(argument[0])
            case "Fn::And":
                return all(self.value(part) for part in argument)
            case "Fn::Or":
                return any(self.value(part) for part in argument)
            case "Fn::Join":
                return str(argument[0]).join(map(str, self.value(argument[1])))
            case "Fn::Select":
                return self.value(argument[1])[int(argument[0])]
            case "Fn::FindInMap":
                outer, first, second = self.value(argument)
                return self._mappings[outer][first][second]
        raise ValueError(f"template.yaml uses {name}, which one machine does not know")


def read_service(path: Path, *, parameters: Mapping[str, str], physical: Mapping[str, str]) -> Service:
    """The service that `path` declares, with these parameters, standing on these resources."""
    document = load_yaml(path)
    evaluate = Evaluator(document, parameters, physical)
    resources = {
        name: evaluate.value(spec)
        for name, spec in document["Resources"].items()
        if "Condition" not in spec or evaluate.holds(spec["Condition"])
    }
    defaults = evaluate.value(document["Globals"]["Function"])
    environment = dict(defaults.get("Environment", {}).get("Variables", {}))
    functions: dict[str, Function] = {}
    routes: list[Route] = []
    schedules: list[Schedule] = []
    declared = document["Resources"]
    for name, spec in resources.items():
        if spec["Type"] != "AWS::Serverless::Function":
            continue
        properties = {**defaults, **spec["Properties"]}
        environment |= spec["Properties"].get("Environment", {}).get("Variables", {})
        events = properties.get("Events", {})
        queue: Mapping[str, Any] = next(
            (event["Properties"] for event in events.values() if event["Type"] == "SQS"), {}
        )
        functions[name] = Function(
            name=name,
            folder=properties["CodeUri"].rstrip("/"),
            handler=properties["Handler"],
            timeout=float(properties["Timeout"]),
            memory=int(properties["MemorySize"]),
            queue=_queue_id(declared[name]) if queue else "",
            batch_size=int(queue.get("BatchSize", 0)),
        )
        routes += [_route(name, event["Properties"]) for event in events.values() if event["Type"] == "HttpApi"]
        schedules += [
            Schedule(name, _seconds(event["Properties"]))
            for event in events.values()
            if event["Type"] in ("Schedule", "ScheduleV2")
        ]
    return Service(
        functions=functions,
        routes=tuple(routes),
        schedules=tuple(schedules),
        authorizer=_authorizer(document),
        environment={name: str(value) for name, value in environment.items()},
        resources=resources,
    )


def _queue_id(function: Mapping[str, Any]) -> str:
    events = function["Properties"]["Events"].values()
    source = next(event for event in events if event["Type"] == "SQS")["Properties"]["Queue"]
    logical: str = source["Fn::GetAtt"][0]
    return logical


def _route(function: str, properties: Mapping[str, Any]) -> Route:
    authorized = properties.get("Auth", {}).get("Authorizer") != "NONE"
    return Route(properties["Method"].upper(), properties["Path"], function, authorized)


def _authorizer(document: Mapping[str, Any]) -> Authorizer:
    api = next(spec for spec in document["Resources"].values() if spec["Type"] == "AWS::Serverless::HttpApi")
    auth = api["Properties"]["Auth"]
    spec = auth["Authorizers"][auth["DefaultAuthorizer"]]
    return Authorizer(
        function=spec["FunctionArn"]["Ref"].removesuffix(".Alias"),
        headers=tuple(header.lower() for header in spec["Identity"]["Headers"]),
        ttl_seconds=float(spec["Identity"]["ReauthorizeEvery"]),
    )


_UNIT_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86400}


def _seconds(properties: Mapping[str, Any]) -> float:
    expression: str = properties.get("Schedule") or properties["ScheduleExpression"]
    match = re.fullmatch(r"rate\((\d+) (second|minute|hour|day)s?\)", expression)
    if match is None:
        raise ValueError(f"one machine reads rate(…) schedules only, not {expression}")
    return float(int(match[1]) * _UNIT_SECONDS[match[2]])
