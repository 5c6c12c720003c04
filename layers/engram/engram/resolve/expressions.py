"""A small language of cues: which words of a text, together, say that something is meant.

`a&b` needs both, `a|b` either, `<place>` a linked entity of that type. Latin words match whole, `word*` as a beginning;
Chinese words must stand on word borders. All cues of a catalogue are looked up in one pass over the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from engram.resolve.borders import stands_alone
from engram.text.language import has_han, is_han
from engram.text.segment import words

CUE_MARGIN = 4.0
"""Cues are ordinary words, more often beside others that they could be joined to."""
CUE_SCORE = -9.0
"""Logarithm of the probability given to cue words that the dictionary lacks: a plain compound."""
_LATIN_WORD = re.compile(r"[a-z0-9]+(?:'[a-z]+)?[+#]*")
_TYPE = re.compile(r"\s*<(\w+)>\s*")
HEAD_NOUNS = frozenset("药猫狗书歌菜车房税花酒店片")
"""Single characters that also count at the end of a longer word: 降压药 is a 药, 运送 is no 送."""
_SUFFIXED = 4

Owner = TypeVar("Owner")
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Expression:
    """A conjunction of alternatives; `types` are entity types of which one of each group must be there."""

    groups: tuple[tuple[str, ...], ...]
    types: tuple[str, ...]


def parse(source: str) -> Expression:
    """Reads one expression. `eat in <place>` is `eat in&<place>`."""
    types = tuple(_TYPE.findall(source))
    groups: list[tuple[str, ...]] = []
    for part in source.split("&"):
        alternatives = tuple(atom for atom in (_TYPE.sub(" ", piece).strip() for piece in part.split("|")) if atom)
        if alternatives:
            groups.append(alternatives)
    return Expression(tuple(groups), types)


@dataclass(frozen=True, slots=True)
class Found(Generic[Owner]):
    """An expression that holds: whose it is, and the spans of the words that made it hold."""

    owner: Owner
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class CueText:
    """A folded text prepared for looking up cues: its Latin words and Han words with their spans."""

    text: str
    latin: tuple[tuple[str, int, int], ...]
    han: tuple[Span, ...]


def cue_text(text: str) -> CueText:
    latin = tuple((match.group(), match.start(), match.end()) for match in _LATIN_WORD.finditer(text))
    han: list[Span] = []
    for run in _HAN_RUN.finditer(text):
        han.extend((run.start() + first, run.start() + last) for first, last in words(run.group()))
    return CueText(text, latin, tuple(han))


_HAN_RUN = re.compile(r"[\u3400-\u9fff]+")


@dataclass
class CueIndex(Generic[Owner]):
    """Expressions of many owners, entered by their words."""

    _expressions: list[tuple[Owner, Expression]] = field(default_factory=list)
    _han: dict[str, list[str]] = field(default_factory=dict)
    _latin: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)
    _prefixes: dict[str, list[tuple[str, ...]]] = field(default_factory=dict)
    _by_atom: dict[str, list[int]] = field(default_factory=dict)

    @classmethod
    def build(cls, cues: Mapping[Owner, Sequence[str]]) -> CueIndex[Owner]:
        index: CueIndex[Owner] = cls()
        for owner, sources in cues.items():
            for source in sources:
                index._add(owner, parse(source.lower()))
        return index

    def _add(self, owner: Owner, expression: Expression) -> None:
        if not expression.groups:
            return
        number = len(self._expressions)
        self._expressions.append((owner, expression))
        for atom in {atom for group in expression.groups for atom in group}:
            if atom not in self._by_atom:
                self._by_atom[atom] = []
                self._file(atom)
        for atom in set(expression.groups[0]):
            self._by_atom[atom].append(number)

    def _file(self, atom: str) -> None:
        if has_han(atom):
            self._han.setdefault(atom[0], []).append(atom)
            return
        parts = atom.rstrip("*")
        tokens = tuple(_LATIN_WORD.findall(parts))
        if not tokens:
            return
        entry = (atom, *tokens)
        if len(tokens) == 1 and atom.endswith("*"):
            self._prefixes.setdefault(tokens[0], []).append(entry)
        else:
            self._latin.setdefault(tokens[0].rstrip("*"), []).append(entry)

    def find(
        self, cues: CueText, types: Iterable[str] = (), *, without: Sequence[Span] = (), names: Sequence[Span] = ()
    ) -> list[Found[Owner]]:
        """Expressions that hold in the text, given the types of its entities. Words that touch `without` say nothing,
        nor does what is only a part of one of the `names` (书 in 飞书)."""
        atoms = self._atoms(cues, without, names)
        present = frozenset(types)
        found: list[Found[Owner]] = []
        for number in dict.fromkeys(number for atom in atoms for number in self._by_atom[atom]):
            owner, expression = self._expressions[number]
            spans = _holds(expression, atoms, present)
            if spans:
                found.append(Found(owner, spans))
        return found

    def _atoms(self, cues: CueText, without: Sequence[Span], names: Sequence[Span]) -> dict[str, list[Span]]:
        atoms: dict[str, list[Span]] = {}
        for atom, start, end in (*self._latin_atoms(cues), *self._han_atoms(cues)):
            touched = any(start < last and first < end for first, last in without)
            if not touched and not any(part_of((start, end), name) for name in names):
                atoms.setdefault(atom, []).append((start, end))
        return atoms

    def _latin_atoms(self, cues: CueText) -> Iterable[tuple[str, int, int]]:
        tokens = cues.latin
        for at, (token, start, end) in enumerate(tokens):
            bare = token.removesuffix("'s")
            for form in dict.fromkeys((token, bare)):
                for atom, *parts in self._latin.get(form, ()):
                    last = _follows(tokens, at, parts, open_ended=atom.endswith("*"))
                    if last is not None:
                        yield atom, start, last
            for length in range(1, len(bare) + 1):
                if len(bare) - length <= _SUFFIXED:
                    for atom, *_parts in self._prefixes.get(bare[:length], ()):
                        yield atom, start, end

    def _han_atoms(self, cues: CueText) -> Iterable[tuple[str, int, int]]:
        text = cues.text
        singles = {first for first, last in cues.han if last - first == 1}
        endings = {last - 1 for first, last in cues.han if last - first > 1}
        for start, character in enumerate(text):
            for atom in self._han.get(character, ()):
                end = start + len(atom)
                if not text.startswith(atom, start):
                    continue
                if len(atom) == 1:
                    if start in singles or (start in endings and atom in HEAD_NOUNS):
                        yield atom, start, end
                elif stands_alone(text, start, end, name_score=CUE_SCORE, margin=CUE_MARGIN):
                    yield atom, start, end


def part_of(span: Span, name: Span) -> bool:
    """Whether a span lies within a longer one."""
    return name[0] <= span[0] and span[1] <= name[1] and span != name


def _follows(tokens: Sequence[tuple[str, int, int]], at: int, parts: Sequence[str], *, open_ended: bool) -> int | None:
    if at + len(parts) > len(tokens):
        return None
    for offset, part in enumerate(parts):
        token = tokens[at + offset][0]
        last = offset == len(parts) - 1
        if token == part or token.removesuffix("'s") == part:
            continue
        if not (last and open_ended and token.startswith(part) and len(token) - len(part) <= _SUFFIXED):
            return None
    return tokens[at + len(parts) - 1][2]


def _holds(expression: Expression, atoms: Mapping[str, list[Span]], types: frozenset[str]) -> tuple[Span, ...]:
    if any(kind not in types for kind in expression.types):
        return ()
    spans: list[Span] = []
    for group in expression.groups:
        options = [span for atom in group for span in atoms.get(atom, ())]
        fresh = [span for span in options if not any(span[0] < last and first < span[1] for first, last in spans)]
        if not fresh:
            return ()
        spans.append(max(fresh, key=lambda span: span[1] - span[0]))
    return tuple(spans)


def weight(text: str, spans: Iterable[Span]) -> int:
    """Letters in these spans, a Han character counting as three: how much of the text speaks."""
    places = {at for first, last in spans for at in range(first, last)}
    return sum(3 if is_han(text[at]) else 1 for at in places if not text[at].isspace())
