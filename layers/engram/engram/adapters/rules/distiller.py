"""The default distiller: patterns in English and Chinese, no model. It leaves out what it is not sure of.

What it cannot read stays where it was said: every message is kept and can be recalled.
"""

from __future__ import annotations

from engram.adapters.rules import chinese, english
from engram.adapters.rules.changes import ChangeWriter
from engram.adapters.rules.clauses import clauses_of
from engram.adapters.rules.grammar import Grammar, read
from engram.domain.models import Role
from engram.extraction.models import Distillation, DistillationRequest, SlotChange
from engram.extraction.provenance import provenance_of

_GRAMMARS: dict[str, Grammar] = {"en": english.GRAMMAR, "zh": chinese.GRAMMAR}
MAX_CHARACTERS = 20_000
"""Of one message: beyond it, it is a document and not somebody talking about themselves."""


class RulesDistiller:
    """Distiller by rules. Deterministic, needs no network, costs no tokens."""

    id = "rules@1"

    def distil(self, request: DistillationRequest) -> Distillation:
        """Reads the user's own, asserted words."""
        writer = ChangeWriter(request)
        slots: list[SlotChange] = []
        flagged: list[str] = []
        for message in request.messages:
            if message.role is not Role.USER:
                continue
            provenance = provenance_of(message.content[:MAX_CHARACTERS])
            if provenance.instructs:
                flagged.append(message.message_id)
            clauses = clauses_of(message.content[:MAX_CHARACTERS], provenance)
            slots += writer.changes(message, read(clauses, _GRAMMARS, message.content))
        return Distillation(slots=tuple(slots), flagged=tuple(flagged))
