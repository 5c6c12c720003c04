"""From a ranking to the candidates of an answer: scores that can be compared, what is kept, what stands first. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

from engram.domain.models import Conversation, MessageRef, Role
from engram.recall.fusion import Ranked
from engram.recall.replies import is_request
from engram.recall.selection import Selection
from engram.recall.verification import Candidate, ref_of

FEW = 60
"""Messages of a short history. Of a long one only the nearest are ranked, and its tail is worth having: one wanted
turn in twenty is below `LEAST` there, none in a short one, where nine in ten of the others are."""

LEAST = 0.2
"""Relevance of the least message that is shown of a short history."""

HEAD = 20
"""Of a ranking: if none of these is relevant, nothing is. With 5 one answerable question in 60 finds nothing, with 20
one in 250, and unrelated ones find as little (bench data)."""

ANSWERED = 5
"""First requests of a ranking whose answers are read with them: long answers are ranked far below what they answer."""

ANSWERS = 0.5
"""Share of its request's score that an answer gets which is not ranked, or far below it."""

Scores = dict[MessageRef, float]


def scaled(ranked: Sequence[Ranked]) -> Scores:
    """Scores of a ranking in 0..1, in its order."""
    if not ranked:
        return {}
    top, last = ranked[0].score, ranked[-1].score
    if len(ranked) <= FEW:
        last = min(last, 0.0)  # The last of a few may be as good as the first.
    width = top - last
    best = max(one.relevance for one in ranked[:HEAD])
    return {ref_of(one.document): round(best * ((one.score - last) / width if width > 0 else 1.0), 6) for one in ranked}


def merged(ranked: Sequence[Ranked], scores: Scores, fresh: Scores) -> tuple[Candidate, ...]:
    """The ranking with the fresh messages in their places."""
    refs = [ref_of(one.document) for one in ranked]
    candidates = [Candidate(ref, scores[ref], one) for ref, one in zip(refs, ranked, strict=True)]
    candidates += [Candidate(ref, score) for ref, score in fresh.items() if ref not in scores]
    return tuple(sorted(candidates, key=lambda one: -one.score))


def telling(ranked: Sequence[Ranked], meant: Collection[str] = ()) -> Sequence[Ranked]:
    """Without what has nothing to do with the question, where so little was said that all of it is in the ranking.

    Args:
        meant: conversations that are kept as they are.
    """
    if len(ranked) > FEW:
        return ranked
    return [one for one in ranked if one.relevance >= LEAST or one.document.conversation_id in meant]


def covering(chosen: Sequence[Conversation], merged: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """The best of each conversation first, so that none is left out, then the rest by score."""
    best: dict[str, Candidate] = {}
    for one in merged:
        best.setdefault(one.ref.conversation_id, one)
    first = [best.get(one.conversation_id) or Candidate(MessageRef(one.conversation_id, 0), 0.0) for one in chosen]
    taken = {one.ref for one in first}
    return (*first, *(one for one in merged if one.ref not in taken))


def chosen_first(selection: Selection, merged: Sequence[Candidate]) -> tuple[Candidate, ...]:
    """What was found in the chosen conversation, then what was found elsewhere: the cue names no one conversation."""
    chosen = {one.conversation_id for one in selection.conversations}
    if not chosen:
        return ()
    halved = [replace(one, score=(one.score + (one.ref.conversation_id in chosen)) / 2) for one in merged]
    return tuple(sorted(halved, key=lambda one: -one.score))


def with_answers(candidates: Sequence[Candidate], conversations: Iterable[Conversation]) -> tuple[Candidate, ...]:
    """`candidates`, best first, with what was answered to the first requests right behind these, so that it is read."""
    if not any(_is_by(Role.ASSISTANT, one) for one in candidates):
        return tuple(candidates)
    ends = {one.conversation_id: one.next_seq for one in conversations}
    known = {one.ref: one for one in candidates}
    answers: dict[MessageRef, Candidate] = {}
    for one in [one for one in candidates[: 2 * ANSWERED] if _asks(one)][:ANSWERED]:
        ref = replace(one.ref, seq=one.ref.seq + 1)
        answer = known.get(ref, Candidate(ref, 0.0))
        if ref.seq < ends.get(ref.conversation_id, 0) and not _is_by(Role.USER, answer):
            answers[one.ref] = replace(answer, score=max(answer.score, one.score * ANSWERS))
    moved = {one.ref for one in answers.values()}
    kept = (one for one in candidates if one.ref not in moved)
    return tuple(two for one in kept for two in (one, answers.get(one.ref)) if two is not None)


def _asks(one: Candidate) -> bool:
    return one.hit is not None and _is_by(Role.USER, one) and is_request(one.hit.document.text, alone=False)


def _is_by(role: Role, one: Candidate) -> bool:
    return one.hit is not None and one.hit.document.role == role.value
