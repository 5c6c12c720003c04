"""A rule is data: a kind, a pattern over one clause, and how to say what it found. Both languages' tables use it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from engram.adapters.rules.clauses import UNKNOWN, USER, Clause
from engram.adapters.rules.statements import SINGLE, FactKind, Statement

_OPENING_CHARACTERS = 12
_TASTES = frozenset({FactKind.LIKE, FactKind.DISLIKE})
"""One clause says one of them: "no longer like" ends a liking and is not yet a dislike."""

Shape = Callable[[str], str]
"""Trims a matched value, or refuses it with an empty string."""


@dataclass(frozen=True, slots=True)
class Rule:
    """One way to say one thing.

    Attributes:
        pattern: matched from the start of the clause, in any case; its group `value` is what is said.
        content: how the slot says it, with `{value}`.
        holds: False if the words deny it or end it.
        many: the value may be a list, each part a statement of its own.
        shape: trims or refuses each value.
        about: `user`, or `kin` for what a clause about a relation or a pet says of the user's life.
        after: only in a message that has already said something of this kind.
        opening: only where a message begins, as people introduce themselves.
        explicit: not where the subject was left out ("a dish, called mapo tofu").
    """

    kind: FactKind
    pattern: str
    content: str = "{value}"
    holds: bool = True
    many: bool = False
    shape: Shape = str.strip
    about: str = USER
    after: FactKind | None = None
    opening: bool = False
    explicit: bool = False


@dataclass(frozen=True, slots=True)
class Grammar:
    """The rules of one language, how it joins the parts of a list, and what begins an aside after one.

    Attributes:
        denial: "not sushi" after "ramen", in the same clause or as the next: its group `no` is taken back.
    """

    rules: tuple[Rule, ...]
    list_break: re.Pattern[str]
    aside: re.Pattern[str]
    denial: re.Pattern[str]


def read(clauses: Iterable[Clause], grammars: dict[str, Grammar], message: str) -> list[Statement]:
    """What the asserted clauses say, in order; per clause the first rule of a kind wins."""
    found: list[Statement] = []
    before: list[Statement] = []
    for clause in clauses:
        said, before = before, []
        if not clause.asserted:
            continue
        grammar = grammars[clause.language]
        found += _denied(clause, said, grammar, message)
        kinds: set[FactKind] = set()
        for rule in grammar.rules:
            if rule.kind in kinds or not _applies(rule, clause, found):
                continue
            statements = list(_statements(rule, clause, grammar, message))
            if statements:
                kinds |= _TASTES if rule.kind in _TASTES else {rule.kind}
                found += statements
                before += statements
    return found


def _denied(clause: Clause, said: list[Statement], grammar: Grammar, message: str) -> Iterator[Statement]:
    """What a clause "not sushi" takes back of the kind that the clause before it speaks of."""
    match = grammar.denial.match(clause.text)
    if match is None or clause.subject not in (USER, UNKNOWN):
        return
    for kind in dict.fromkeys(one.kind for one in said if one.holds and one.kind not in SINGLE):
        yield Statement(kind, clause.slice_of(message, *match.span("no")), "", clause.start, clause.end, holds=False)


def _applies(rule: Rule, clause: Clause, found: list[Statement]) -> bool:
    if rule.about == USER and clause.subject != USER:
        return False
    if rule.about == "kin" and clause.subject in ("assistant", ""):
        return False
    if rule.explicit and clause.offset < clause.start:
        return False
    if rule.opening and clause.start > _OPENING_CHARACTERS:
        return False
    return rule.after is None or any(statement.kind is rule.after for statement in found)


def _statements(rule: Rule, clause: Clause, grammar: Grammar, message: str) -> Iterator[Statement]:
    match = _compiled(rule.pattern).match(clause.text)
    if match is None:
        return
    groups = match.re.groupindex
    value = clause.slice_of(message, *match.span("value")) if "value" in groups and match["value"] else ""
    if "value" in groups and not value:
        return
    denied = grammar.denial.search(value) if rule.many and rule.holds else None
    if denied is not None:
        yield Statement(rule.kind, rule.shape(denied["no"]), "", clause.start, clause.end, holds=False)
        value = value[: denied.start()]
    words = {name: clause.slice_of(message, *match.span(name)) for name in groups if name != "value" and match[name]}
    parts = grammar.list_break.split(grammar.aside.split(value, maxsplit=1)[0]) if rule.many else [value]
    for position, part in enumerate(parts):
        shaped = rule.shape(part) if part else ""
        if "value" in groups and not shaped:
            if position == 0:
                return
            continue
        content = rule.content.format_map(_Words({"value": shaped, **words}))
        yield Statement(rule.kind, shaped, " ".join(content.split()), clause.start, clause.end, rule.holds)


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    """At first use: all patterns of both languages together take half a second to compile."""
    return re.compile(pattern, re.IGNORECASE)


class _Words(dict[str, str]):
    def __missing__(self, key: str) -> str:
        return ""
