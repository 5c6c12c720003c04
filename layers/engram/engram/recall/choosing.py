"""The last step of understanding a query, where a model is set for it: it picks what an ambiguous mention denotes.

Asked once per recall, about all mentions at a time, under one deadline. It picks among the candidates; what it does not
decide (late, down, nonsense, an id that is no candidate) stays ambiguous, and all candidates take part in the search.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from engram.domain.models import MentionStatus
from engram.ports import CandidateChooser
from engram.recall.deadline import WORKERS, Guard, Pending
from engram.resolve.catalogue import Catalogue, names_of
from engram.resolve.models import Candidate, Mention, Resolution

CHOOSER = "chooser"
"""How a bundle names it among the parts that did not answer."""

MAX_ASKED = WORKERS
"""Mentions of one query that the model is asked about: each is a call, and they are made side by side."""

SHOWN_CHARACTERS = 1_600
_REACH = 400
"""Characters of the query on either side of a mention; what was said just before fills the rest."""
_NAMES = 4
"""Of an entity, in whatever languages it has them: what tells the model which thing it is."""


@dataclass(frozen=True, slots=True)
class Settled:
    """A resolution after the model has spoken, and whether it failed to about any mention."""

    resolution: Resolution
    missing: bool = False


class Choices:
    """Asks a model about ambiguous mentions. Shared between threads; a question that was answered is not asked again.

    Args:
        deadline_ms: for all questions of one query together.
    """

    def __init__(
        self, *, chooser: CandidateChooser, deadline_ms: float, seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._chooser = chooser
        self._guard = Guard("choose", empty="", deadline_ms=deadline_ms, rests_after_nonsense=False, seconds=seconds)

    def settled(self, resolution: Resolution, recent: Sequence[str], catalogue: Catalogue) -> Settled:
        """`resolution` with the ambiguous mentions linked that the model decides. Without any, nothing is asked.

        Args:
            recent: messages of the present conversation, oldest first.
        """
        open_mentions = [
            one for one in (*resolution.entities, *resolution.topics) if one.status is MentionStatus.AMBIGUOUS
        ][:MAX_ASKED]
        if not open_mentions:
            return Settled(resolution)
        asked: dict[str, Pending[str]] = {}
        keys = [self._ask(resolution.query, one, recent, catalogue, asked) for one in open_mentions]
        answers = {key: pending.result() or "" for key, pending in asked.items()}
        linked = [_linked(one, answers[key]) for one, key in zip(open_mentions, keys, strict=True)]
        late = sum(asked[key].missing for key in keys)
        decided = sum(one.status is MentionStatus.LINKED for one in linked)
        line = f"model: asked about {len(linked)} ambiguous mentions, decided {decided}, no usable answer about {late}"
        by_mention = dict(zip(map(id, open_mentions), linked, strict=True))
        settled = replace(
            resolution,
            entities=tuple(by_mention.get(id(one), one) for one in resolution.entities),
            topics=tuple(by_mention.get(id(one), one) for one in resolution.topics),
            trace=(*resolution.trace, line),
        )
        return Settled(settled, missing=late > 0)

    def _ask(
        self,
        query: str,
        mention: Mention,
        recent: Sequence[str],
        catalogue: Catalogue,
        asked: dict[str, Pending[str]],
    ) -> str:
        """Begins to ask about `mention`, the same question once; its key."""
        shown = _surroundings(query, mention, recent)
        offered = {one.id: _described(one, catalogue) for one in mention.candidates}
        key = _key(shown, mention.text, offered)
        if key not in asked:
            asked[key] = self._guard.start(key, lambda: self._chooser.choose(shown, mention.text, offered) or "")
        return key


def _linked(mention: Mention, chosen: str) -> Mention:
    best = next((one for one in mention.candidates if one.id == chosen), None)
    if best is None:
        return mention
    return replace(mention, status=MentionStatus.LINKED, id=best.id, name=best.name, type=best.type, found_by="model")


def _described(candidate: Candidate, catalogue: Catalogue) -> str:
    if candidate.id in catalogue.topics:
        return ": ".join((candidate.name, *catalogue.topics[candidate.id].descriptions.values()))
    entity = catalogue.entities.get(candidate.id)
    names = dict.fromkeys((candidate.name, *(names_of(entity) if entity is not None else ())))
    return f"{', '.join(list(names)[:_NAMES])} ({candidate.type})"


def _surroundings(query: str, mention: Mention, recent: Sequence[str]) -> str:
    """The query around the mention, after what was said before it. A mention taken over stands in the latter."""
    start = max(mention.start, 0)
    shown = query[max(0, start - _REACH) : max(mention.end, 0) + _REACH]
    before = "\n".join(one for one in recent if one != query)
    room = SHOWN_CHARACTERS - len(shown)
    return f"{before[-room:]}\n{shown}" if before and room > 0 else shown


def _key(shown: str, words: str, offered: Mapping[str, str]) -> str:
    """A digest: what a user wrote is not kept here."""
    asked = json.dumps([shown, words, list(offered.items())])
    return hashlib.sha256(asked.encode()).hexdigest()
