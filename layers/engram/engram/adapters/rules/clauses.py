"""A message cut into clauses, each with its subject and its mood.

Rules look at one clause at a time and only at what is asserted about a known subject: questions, hypotheticals,
reports and words that are not the author's own are sorted out here, once, for every rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import ModuleType
from unicodedata import category

from engram.adapters.rules import chinese_syntax, english_syntax
from engram.adapters.rules.folding import fold
from engram.extraction.provenance import Provenance

USER = "user"
ASSISTANT = "assistant"
UNKNOWN = "?"
_CJK = re.compile(r"[\u3400-\u9fff]")
_SENTENCE_END = re.compile(r"(?<=[。！？!?；\n])|(?<=[.;])(?=\s|$)")
_INTRODUCTION = re.compile(r"(?:I'm|I am|[Mm]y name(?:'s| is)) [A-Z][\w'-]+(?: [A-Z][\w'-]+)?")
_CLOSING = "。！？!?；;.，,、:：…~～)）\"'"
_OPENING = ",，、:：…-—–*•·(（\"'"
_LIST_MARK = re.compile(r"\d{1,2}[.)、]\s+|\d{1,2}[)、]")
_ABBREVIATION = re.compile(
    r"(?:(?:^|\n)\s*\d{1,2}\.|\b(?:mr|mrs|ms|dr|st|prof|e\.g|i\.e|vs|etc|no|[a-z])\.)$", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause, ready to be matched.

    Attributes:
        text: folded words, lead-in removed; a left-out subject is put in front ("我", "I ").
        offset: position in the message of `text[0]`; lower than `start` by what was put in front.
        start, end: span of the clause's own words in the message.
        subject: `user`, a relation word ("室友", "sister"), `assistant`, or `?` for anybody else.
        asserted: said as true, by the author, here and now.
    """

    text: str
    offset: int
    start: int
    end: int
    language: str
    subject: str
    asserted: bool

    def slice_of(self, message: str, start: int, end: int) -> str:
        """The message's own words under a span of `text`."""
        return message[max(self.start, self.offset + start) : max(self.start, self.offset + end)]


def clauses_of(message: str, provenance: Provenance) -> list[Clause]:
    """The clauses of a message that are the author's own, in order."""
    text = fold(message)
    subject = ""
    found: list[Clause] = []
    for start, end in sentences_of(text):
        clauses = [
            _clause(text, left, right)
            for left, right in _split(text, start, end)
            if text[left:right].strip() and provenance.is_own(left, right)
        ]
        sentence, subject = _with_subjects(clauses, subject)
        found += _with_moods(sentence, text[start:end])
    return found


def sentences_of(text: str) -> list[tuple[int, int]]:
    """Spans of the sentences, in order, with what ends them."""
    spans = []
    start = 0
    for match in _SENTENCE_END.finditer(text):
        if match.start() > start and not _ABBREVIATION.search(text[max(start, match.start() - 6) : match.start()]):
            spans.append((start, match.start()))
            start = match.start()
    if text[start:].strip():
        spans.append((start, len(text)))
    return spans


def by_sentence(sentences: list[tuple[int, int]], clauses: list[Clause]) -> Iterator[tuple[int, list[Clause]]]:
    """(end of the sentence, its clauses) for each sentence that has any; both in order."""
    position = 0
    for start, end in sentences:
        inside = []
        while position < len(clauses) and clauses[position].end <= end:
            if clauses[position].start >= start:
                inside.append(clauses[position])
            position += 1
        if inside:
            yield end, inside


def language_of(text: str) -> str:
    """`zh` if there is any Chinese character: English names stand in Chinese sentences, hardly the reverse."""
    return "zh" if _CJK.search(text) else "en"


def _split(text: str, start: int, end: int) -> list[tuple[int, int]]:
    syntax = chinese_syntax if _CJK.search(text, start, end) else english_syntax
    cuts = [match.span() for match in syntax.BREAK.finditer(text, start, end)]
    spans = []
    for left, right in cuts:
        spans.append((start, left))
        start = right
    return [*spans, (start, end)]


def _clause(text: str, start: int, end: int) -> Clause:
    while end > start and _surrounds(text[end - 1], _CLOSING):
        end -= 1
    while start < end and _surrounds(text[start], _OPENING):
        start += 1
    numbered = _LIST_MARK.match(text, start, end)
    start = numbered.end() if numbered else start
    language = language_of(text[start:end])
    syntax = chinese_syntax if language == "zh" else english_syntax
    body = start
    while (lead := syntax.LEAD_IN.match(text, body, end)) is not None and lead.end() > body:
        body = lead.end()
    return Clause(text[body:end], body, start, end, language, "", True)


def _surrounds(character: str, marks: str) -> bool:
    """White space, one of these marks, an emoji, or what joins and colours emoji."""
    return (
        character.isspace()
        or character in marks
        or (character > "\u2000" and (category(character) in ("So", "Sk") or character in "\u200d\ufe0f\u20e3"))
    )


def _with_subjects(clauses: list[Clause], subject: str) -> tuple[list[Clause], str]:
    """Each clause with its subject; one that names none has that of the clause before it."""
    done = []
    for clause in clauses:
        syntax = chinese_syntax if clause.language == "zh" else english_syntax
        named = syntax.subject_of(clause.text)
        if named is not None:
            subject = named
            done.append(replace(clause, subject=named))
            continue
        prefix = syntax.left_out_subject(clause.text)
        if prefix is None or (clause.text.isdigit() and not _introduces(done)):
            done.append(replace(clause, subject=UNKNOWN))
            continue
        holder = subject or USER
        if holder == USER:
            clause = replace(clause, text=prefix + clause.text, offset=clause.offset - len(prefix))
        done.append(replace(clause, subject=holder))
    return done, subject


def _introduces(done: list[Clause]) -> bool:
    """A bare number is an age only right after a name: "I'm Priya, 27"."""
    return bool(done) and _INTRODUCTION.fullmatch(done[-1].text) is not None


def _with_moods(clauses: list[Clause], sentence: str) -> list[Clause]:
    """Marks what is not asserted. A condition or a report colours the rest of its sentence, a tag question all."""
    asks = sentence.rstrip().endswith(("?", "？"))
    tagged = bool(clauses) and _syntax(clauses[-1]).TAG.fullmatch(_own_words(clauses[-1])) is not None
    done = []
    open_until_end = False
    for position, clause in enumerate(clauses):
        syntax = _syntax(clause)
        whole = fold(clause.text)
        open_until_end = open_until_end or syntax.OPENS_UNREAL.search(whole) is not None
        unreal = open_until_end or tagged or syntax.UNREAL.search(whole) is not None
        question = syntax.QUESTION.search(whole) is not None or (asks and position == len(clauses) - 1)
        done.append(replace(clause, asserted=not (unreal or question)))
    return done


def _own_words(clause: Clause) -> str:
    """The clause without the subject that was put in front."""
    return clause.text[max(0, clause.start - clause.offset) :]


def _syntax(clause: Clause) -> ModuleType:
    return chinese_syntax if clause.language == "zh" else english_syntax
