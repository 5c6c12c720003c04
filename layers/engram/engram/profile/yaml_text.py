"""YAML with places: every mistake is named by its line, and nothing but plain values is made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

import yaml

from engram.domain.errors import InvalidInput

MAX_CHARACTERS = 64_000
MAX_DEPTH = 12


@dataclass(frozen=True, slots=True)
class Value:
    """A value and the line it stands on, counted from 1.

    Attributes:
        plain: dict of str to Value, list of Value, or a scalar.
    """

    plain: Any
    line: int

    @property
    def items(self) -> Mapping[str, Value]:
        found: Mapping[str, Value] = self.plain
        return found


class YamlMistake(InvalidInput):
    """What is wrong in a YAML text, and where."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(f"line {line}: {message}")
        self.line = line


def parse_yaml(text: str) -> Value | None:
    """The document in `text`; None if it is empty.

    Raises:
        YamlMistake: not YAML, more than one document, an alias, a key twice, or nested too deep. Names the line.
    """
    if len(text) > MAX_CHARACTERS:
        raise YamlMistake(f"the text is longer than {MAX_CHARACTERS} characters", 1)
    try:
        loader = yaml.SafeLoader(text)
        _refuse_aliases(text)
        node = loader.get_single_node()
        return _value(loader, node, 1) if node is not None else None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlMistake(error.problem or "not YAML", mark.line + 1 if mark else 1) from None
    except yaml.reader.ReaderError as error:
        raise YamlMistake("a character that YAML does not allow", text.count("\n", 0, error.position) + 1) from None
    except (ValueError, OverflowError, RecursionError):
        raise YamlMistake("a value that cannot be read", 1) from None


def _refuse_aliases(text: str) -> None:
    for event in yaml.parse(text, Loader=yaml.SafeLoader):
        if isinstance(event, yaml.AliasEvent):
            mark = event.start_mark
            raise YamlMistake("aliases are not taken", mark.line + 1 if mark is not None else 1)


def _value(loader: yaml.SafeLoader, node: yaml.Node, depth: int) -> Value:
    line = node.start_mark.line + 1
    if depth > MAX_DEPTH:
        raise YamlMistake("nested too deep", line)
    if isinstance(node, yaml.MappingNode):
        return Value(_mapping(loader, node, depth), line)
    if isinstance(node, yaml.SequenceNode):
        return Value([_value(loader, one, depth + 1) for one in node.value], line)
    return Value(loader.construct_object(node, deep=True), line)


def _mapping(loader: yaml.SafeLoader, node: yaml.MappingNode, depth: int) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for key, value in node.value:
        line = key.start_mark.line + 1
        if not isinstance(key, yaml.ScalarNode):
            raise YamlMistake("a key must be a word", line)
        if key.value in found:
            raise YamlMistake(f"{shown(key.value)} stands here twice", line)
        found[key.value] = Value(_value(loader, value, depth + 1).plain, line)
    return found


def text_of(value: Value, name: str, *, maximum: int) -> str:
    """A scalar as text. Raises YamlMistake."""
    if isinstance(value.plain, dict | list) or value.plain is None:
        mistake(f"{name} must be text", value)
    text = str(value.plain).strip()
    if len(text) > maximum:
        mistake(f"{name} takes at most {maximum} characters", value)
    return text


def flag_of(value: Value, name: str) -> bool:
    """A scalar as true or false. Raises YamlMistake."""
    if not isinstance(value.plain, bool):
        mistake(f"{name} must be true or false", value)
    return bool(value.plain)


def list_of(value: Value, name: str, *, maximum: int) -> list[Value]:
    """A list; nothing is an empty one. Raises YamlMistake."""
    if value.plain is None:
        return []
    if not isinstance(value.plain, list):
        mistake(f"{name} must be a list", value)
    if len(value.plain) > maximum:
        mistake(f"{name} takes at most {maximum} entries", value)
    return list(value.plain)


def keys_of(value: Value, name: str, known: tuple[str, ...]) -> Mapping[str, Value]:
    """A mapping that has no other keys than `known`. Raises YamlMistake."""
    if not isinstance(value.plain, dict):
        mistake(f"{name} must be a mapping", value)
    for key, one in value.items.items():
        if key not in known:
            mistake(f"unknown key {shown(key)}; known are {', '.join(known)}", one)
    return value.items


def mistake(message: str, value: Value) -> NoReturn:
    raise YamlMistake(message, value.line)


def shown(name: str) -> str:
    """A caller's word, short and plain enough to be repeated to it."""
    return "".join(char if char.isprintable() else "?" for char in name[:64])
