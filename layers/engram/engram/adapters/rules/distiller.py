"""The default distiller: patterns in English and Chinese, no model. It leaves out what it is not sure of.

What it cannot read stays where it was said: every message is kept and can be recalled.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from engram.adapters.rules import chinese, english
from engram.adapters.rules.changes import ChangeWriter
from engram.adapters.rules.clauses import Clause, by_sentence, clauses_of, sentences_of
from engram.adapters.rules.corrections import correction
from engram.adapters.rules.grammar import Grammar, read
from engram.adapters.rules.happenings import gists, plans
from engram.adapters.rules.others import items_about_others
from engram.adapters.rules.requests import wishes
from engram.adapters.rules.since import with_since
from engram.adapters.rules.statements import Statement
from engram.adapters.rules.tags import tags_of
from engram.context.templates import BLOCK_MARKERS
from engram.domain.models import Message, Role
from engram.extraction.models import Distillation, DistillationRequest, GistDraft, ItemDraft, SlotChange
from engram.extraction.provenance import provenance_of

_GRAMMARS: dict[str, Grammar] = {"en": english.GRAMMAR, "zh": chinese.GRAMMAR}
MAX_CHARACTERS = 20_000
"""Of one message: beyond it, it is a document and not somebody talking about themselves."""
MAX_CLAUSES = 400
MAX_SUMMARY_GISTS = 3


class RulesDistiller:
    """Distiller by rules. Deterministic, needs no network, costs no tokens."""

    id = "rules@1"

    def distil(self, request: DistillationRequest) -> Distillation:
        """Reads the user's own, asserted words."""
        batch = _Batch(request)
        for message in request.messages:
            if message.role is Role.USER:
                batch.read(message)
        summary = "；" if request.language == "zh" else "; "
        return Distillation(
            slots=tuple(batch.slots),
            gists=tuple(batch.gists),
            items=tuple(batch.items),
            summary=summary.join(gist.content for gist in batch.gists[:MAX_SUMMARY_GISTS]),
            tags=tags_of(request.taxonomy, batch.own_words, batch.planned),
            flagged=tuple(batch.flagged),
        )


class _Batch:
    """What was read so far of one batch."""

    def __init__(self, request: DistillationRequest) -> None:
        self._writer = ChangeWriter(request)
        self._taxonomy = request.taxonomy
        self._zone = _zone(request.timezone)
        self.slots: list[SlotChange] = []
        self.gists: list[GistDraft] = []
        self.items: list[ItemDraft] = []
        self.flagged: list[str] = []
        self.own_words: list[str] = []
        self.planned: list[str] = []

    def read(self, message: Message) -> None:
        text = message.content[:MAX_CHARACTERS]
        provenance = provenance_of(text, extra_markers=BLOCK_MARKERS)
        if provenance.instructs:
            self.flagged.append(message.message_id)
        clauses = clauses_of(text, provenance)[:MAX_CLAUSES]
        said = message.created_at.astimezone(self._zone).date()
        statements = [with_since(one, text, said, self._zone) for one in read(clauses, _GRAMMARS, text)]
        planned = list(plans(clauses, message, self._zone))
        wished = list(_wishes(clauses, text))
        self.slots += dict.fromkeys(self._changes(message, clauses, [*statements, *planned, *wished]))
        self.items += dict.fromkeys(items_about_others(clauses, statements, message, self._taxonomy))
        self.gists += gists(sentences_of(text), clauses, message, self._zone)
        self.own_words += [text[clause.start : clause.end] for clause in clauses if clause.asserted]
        self.planned += [plan.content for plan in planned if plan.holds]

    def _changes(self, message: Message, clauses: list[Clause], statements: list[Statement]) -> Iterator[SlotChange]:
        """What the message takes back, then what it says."""
        text = message.content[:MAX_CHARACTERS]
        for end, inside in by_sentence(sentences_of(text), clauses):
            left, right = inside[0].start, inside[-1].end
            taken_back = correction(text[left : max(right, min(end, right + 1))], left)
            if taken_back is not None and all(clause.asserted or clause.language == "en" for clause in inside):
                yield from self._writer.corrected(message, taken_back)
        yield from self._writer.changes(message, statements)


def _wishes(clauses: list[Clause], text: str) -> list[Statement]:
    found = []
    for end, inside in by_sentence(sentences_of(text), clauses):
        left, right = inside[0].start, inside[-1].end
        found += [
            Statement(wish.kind, wish.value, wish.content, left, right, wish.holds)
            for wish in wishes(text[left : max(right, min(end, right + 1))])
        ]
    return found


def _zone(name: str) -> tzinfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return UTC
