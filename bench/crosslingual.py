"""Chinese questions on English memories: MemoryBank's parallel users. `python -m bench.crosslingual`.

Only users whose two versions have the same number of turns are asked: there the labels of one hold for the other.
"""

from __future__ import annotations

from pathlib import Path

from bench.memorybank import CUTS, LIMIT, questions_of, told, users_of
from bench.retrieval import PlainBm25, Scores, main
from infra.local.client import Client


def run(client: Client, data: Path, tag: str) -> None:
    scores = Scores(CUTS)
    for chinese, english in zip(users_of(data, "zh"), users_of(data, "en"), strict=True):
        if len(chinese["turns"]) != len(english["turns"]):
            continue
        memory, turns = told(client, english, f"crosslingual-{tag}")
        plain = PlainBm25(turns)
        for question in questions_of(chinese["questions"], turns, "zh question, en memory"):
            scores.add(question, memory.ask(question, limit=LIMIT), plain.rank(question.text))
    scores.show("Across languages, evidence turns of one user")


if __name__ == "__main__":
    main(__doc__ or "", run)
