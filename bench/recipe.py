"""How the weights of the recipe for people's chats are chosen: leave one conversation out. `python -m bench.recipe`.

Works on the library in this process (index and encoder, no service): the weights are raised and lowered one by one on
all LoCoMo conversations but one and judged on that one. What it prints is what the shipped recipe was rounded from.
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from bench.locomo import ANSWERABLE, questions_of, sessions_of
from bench.retrieval import Question, Turn, console
from engram.adapters.local_encoder import LocalEncoder
from engram.adapters.partition_index import PartitionIndex
from engram.adapters.sqlite import SqliteTable
from engram.domain.documents import Document, SearchQuery
from engram.domain.ids import content_hash
from engram.domain.models import Message, Role
from engram.domain.scope import Scope
from engram.recall.features import features_of
from engram.recall.fusion import rank
from engram.recall.indexing import documents_of_messages, embedding_text
from engram.recall.recipes import Recipe, recipe
from engram.resolve.models import ResolveContext
from engram.resolve.resolver import Resolver
from engram.resolve.shipped import default_catalogue
from engram.store.documents import SearchRows
from engram.text.vectors import to_float16

LEGS = ("lexical", "lexical_context", "lexical_window", "vector", "vector_window")
FEATURES = ("date", "moment", "question", "length")
CUTS = (5, 10, 20)
FIRST_STEP = 0.2
ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Judged:
    """One question: values of legs and features by document, the place of the next turn, and which are evidence."""

    conversation: str
    legs: np.ndarray[Any, Any]
    features: np.ndarray[Any, Any]
    speaker: np.ndarray[Any, Any]
    following: np.ndarray[Any, Any]
    evidence: np.ndarray[Any, Any]
    gold: int

    def recalls(self, weights: Sequence[float], fixed: Recipe) -> list[float]:
        """Recall at each cut under these weights of legs and features, and the next turn's share."""
        legs = self.legs @ np.asarray(weights[: len(LEGS)])
        followers = np.append(legs, 0.0)[self.following]
        features = self.features @ np.asarray(weights[len(LEGS) : -1])
        scores = legs + weights[-1] * followers + features + fixed.people.speaker * self.speaker
        found = self.evidence[np.argsort(-scores, kind="stable")].cumsum()
        return [float(found[min(cut, len(found)) - 1]) / self.gold for cut in CUTS]


class Bed:
    """Index, encoder and resolver in this process."""

    def __init__(self, folder: Path) -> None:
        self.encoder = LocalEncoder(cache=folder)
        self.index = PartitionIndex(rows=SearchRows(table=SqliteTable(folder / "recipe.db")))
        self.resolver = Resolver(default_catalogue(), self.encoder)
        self.ones = _all_ones(recipe())

    def tell(self, scope: Scope, sessions: dict[int, list[Turn]]) -> dict[str, str]:
        """Indexes the sessions; document id to mark."""
        documents: list[Document] = []
        marks: dict[str, str] = {}
        for number, turns in sessions.items():
            messages = [_message(turn, f"session-{number}", seq) for seq, turn in enumerate(turns)]
            made = documents_of_messages(messages)
            marks.update({document.doc_id: turn.mark for document, turn in zip(made, turns, strict=True)})
            documents += made
        vectors = self.encoder.embed([embedding_text(one) for one in documents], "document")
        self.index.upsert(
            scope,
            [
                replace(one, vector=to_float16(vector), encoder=self.encoder.id if vector else "")
                for one, vector in zip(documents, vectors, strict=True)
            ],
        )
        return marks

    def judge(self, scope: Scope, question: Question, marks: dict[str, str]) -> Judged:
        features = features_of(self.resolver.resolve(question.text, ResolveContext(now=question.now)))
        (vector,) = self.encoder.embed([features.meaning], "query")
        asked = SearchQuery(text=features.text, vector=vector, encoder=self.encoder.id)
        ranked = rank(self.index.search(scope, asked), features, self.ones)
        place = {(one.document.conversation_id, one.document.seq): at for at, one in enumerate(ranked)}
        after = [place.get((one.document.conversation_id, one.document.seq + 1), len(ranked)) for one in ranked]
        return Judged(
            conversation=scope.user_id,
            legs=np.array([[one.parts.get(name, 0.0) for name in LEGS] for one in ranked]),
            features=np.array([[one.parts.get(name, 0.0) for name in FEATURES] for one in ranked]),
            speaker=np.array([one.parts.get("speaker", 0.0) for one in ranked]),
            following=np.array(after),
            evidence=np.array([marks[one.document.doc_id] in question.gold for one in ranked]),
            gold=len(question.gold),
        )


def run(data: Path) -> None:
    fixed = recipe()
    with tempfile.TemporaryDirectory() as folder:
        judged = _judged(Bed(Path(folder)), data)
    people = fixed.people
    start = [*(people.fused[leg] for leg in LEGS), people.date, people.moment, people.question, people.length]
    start.append(people.next_turn)
    held_out: list[list[float]] = []
    for left_out in sorted({one.conversation for one in judged}):
        weights = climb([one for one in judged if one.conversation != left_out], start, fixed)
        recalls = [one.recalls(weights, fixed) for one in judged if one.conversation == left_out]
        held_out += recalls
        console.print(f"{left_out}: {_line(recalls)}   {_named(weights)}")
    console.print(f"held out: {_line(held_out)}")
    console.print(f"shipped:  {_line([one.recalls(start, fixed) for one in judged])}   {_named(start)}")


def climb(judged: Sequence[Judged], weights: Sequence[float], fixed: Recipe) -> list[float]:
    """Weights after `ROUNDS` of raising and lowering each in turn while the mean of the recalls grows."""
    best, current, step = _mean(judged, weights, fixed), list(weights), FIRST_STEP
    for _ in range(ROUNDS):
        for place in range(len(current)):
            for change in (step, -step):
                while current[place] + change >= 0:
                    tried = [*current[:place], current[place] + change, *current[place + 1 :]]
                    reached = _mean(judged, tried, fixed)
                    if reached <= best + 1e-5:
                        break
                    best, current = reached, tried
        step /= 2
    return current


def _judged(bed: Bed, data: Path) -> list[Judged]:
    judged = []
    for sample in json.loads((data / "locomo" / "dev.json").read_text(encoding="utf-8")):
        scope = Scope("bench", sample["sample_id"])
        sessions = sessions_of(sample["conversation"])
        marks = bed.tell(scope, sessions)
        turns = [turn for session in sessions.values() for turn in session]
        questions = [one for one in questions_of(sample["qa"], turns) if one.group in ANSWERABLE]
        judged += [bed.judge(scope, question, marks) for question in questions]
    return judged


def _all_ones(shipped: Recipe) -> Recipe:
    """A recipe under which the parts of a score are the values themselves (a question's is negative)."""
    ones = dict.fromkeys(LEGS, 1.0)
    people = replace(
        shipped.people, fused=ones, speaker=1.0, date=1.0, moment=1.0, question=1.0, length=1.0, next_turn=0.0
    )
    return replace(shipped, people=people)


def _message(turn: Turn, session_id: str, seq: int) -> Message:
    return Message(
        turn.mark,
        session_id,
        session_id,
        seq,
        Role(turn.role),
        turn.text,
        content_hash(turn.text),
        turn.at,
        name=turn.name,
    )


def _mean(judged: Sequence[Judged], weights: Sequence[float], fixed: Recipe) -> float:
    return float(np.mean([one.recalls(weights, fixed) for one in judged]))


def _line(recalls: Sequence[Sequence[float]]) -> str:
    means = np.mean(recalls, axis=0)
    return "  ".join(f"R@{cut} {mean:.3f}" for cut, mean in zip(CUTS, means, strict=True))


def _named(weights: Sequence[float]) -> str:
    return " ".join(f"{name}={value:.2f}" for name, value in zip((*LEGS, *FEATURES, "next"), weights, strict=True))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=os.environ.get("ENGRAM_DATA", "../shared/data"), help="data folder")
    run(Path(parser.parse_args().data))
