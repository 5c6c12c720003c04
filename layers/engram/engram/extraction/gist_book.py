"""The gists of a batch beside those that are there: what was said before gets more evidence, not another line.

"I'm at Contoso" told five times is one line of what happened. A run told every Sunday is one line each, because it
was another run: only a repeated statement about the user, or the same words on the same day, repeat a gist.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import UTC, datetime

from engram.context.lines import gist_line
from engram.domain.ids import derived_id
from engram.domain.models import Evidence, Gist
from engram.extraction.accept import AcceptedGist
from engram.extraction.elements import normal
from engram.extraction.item_book import ItemBook, with_evidence
from engram.extraction.shortening import TokenCounter, bounded


class GistBook:
    """Gists by what they say, with every change of this merge. Ids follow from the operation and their position."""

    def __init__(
        self, known: Iterable[Gist], items: ItemBook, *, operation_id: str, now: datetime, count_tokens: TokenCounter
    ) -> None:
        self._by_words: dict[str, list[Gist]] = {}
        for gist in known:
            self._by_words.setdefault(normal(gist.content), []).append(gist)
        self._items = items
        self._operation_id = operation_id
        self._now = now
        self._count_tokens = count_tokens
        self._supported: dict[str, Gist] = {}
        self._made: dict[str, Gist] = {}

    @property
    def made(self) -> tuple[Gist, ...]:
        """New lines."""
        return tuple(self._made.values())

    @property
    def puts(self) -> tuple[Gist, ...]:
        """All that has to be written."""
        return (*self._supported.values(), *self._made.values())

    def add(self, row: AcceptedGist, *, event_id: str) -> None:
        content = bounded(row.draft.content, self._count_tokens)
        there = self._repeated(content, row)
        if there is not None:
            self._support(there, row.evidence)
            return
        gist = Gist(
            derived_id(self._operation_id, "gist", len(self._made)),
            event_id,
            content,
            self._count_tokens(gist_line(content, row.draft.happened_at, UTC)),
            row.draft.happened_at,
            self._now,
            evidence=row.evidence,
        )
        self._made[gist.id] = gist
        self._by_words.setdefault(normal(content), []).append(gist)

    def overtake(self) -> None:
        """Marks the lines that state only what this merge has ended: "hates durian" beside "likes durian" misleads."""
        for gist in [one for each in self._by_words.values() for one in each]:
            present = self._made.get(gist.id) or self._supported.get(gist.id) or gist
            if present.overtaken or not self._items.were_closed(present.evidence):
                continue
            self._write(replace(present, overtaken=True), before=gist)

    def _write(self, gist: Gist, *, before: Gist) -> None:
        if gist.id in self._made:
            self._made[gist.id] = gist
        else:
            self._supported[gist.id] = replace(gist, version=before.version + 1)

    def _repeated(self, content: str, row: AcceptedGist) -> Gist | None:
        """The line that already says this, if it is being said again and has not happened again."""
        candidates = self._by_words.get(normal(content), [])
        day = row.draft.happened_at.date()
        same_day = next((one for one in candidates if one.happened_at.date() == day), None)
        if same_day is not None or not candidates:
            return same_day
        return candidates[0] if self._items.only_repeats(row.evidence) else None

    def _support(self, gist: Gist, evidence: tuple[Evidence, ...]) -> None:
        present = self._made.get(gist.id) or self._supported.get(gist.id) or gist
        united = with_evidence(present.evidence, evidence)
        if united != present.evidence or present.overtaken:
            self._write(replace(present, evidence=united, overtaken=False), before=gist)
