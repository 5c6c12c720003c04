"""The two small prompts that only choose: which notes bear on a conversation, and which candidate a mention means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engram.prompts.answers import ChoiceAnswer, FilterAnswer
from engram.prompts.prompt import Prompt, data, texts

MAX_CHAT_CHARACTERS = 2_000
MAX_CHATS = 12


def filter_prompt(chats: Sequence[tuple[str, str]], notes: Mapping[str, str], language: str) -> Prompt:
    """Which of `notes` (short id to line) help with the end of `chats` (role, content; oldest first)."""
    shown = [{"role": role, "text": content[:MAX_CHAT_CHARACTERS]} for role, content in chats[-MAX_CHATS:]]
    body = data({"notes": [{"id": one, "note": note} for one, note in notes.items()], "conversation": shown})
    return Prompt(texts(language).FILTER, body, FilterAnswer, "relevant_notes", 512, language)


def choice_prompt(text: str, mention: str, candidates: Mapping[str, str], language: str) -> Prompt:
    """Which of `candidates` (id to name and description) `mention` denotes in `text`."""
    body = data(
        {
            "text": text[:MAX_CHAT_CHARACTERS],
            "words": mention,
            "candidates": [{"id": one, "is": what} for one, what in candidates.items()],
        }
    )
    return Prompt(texts(language).CHOOSE, body, ChoiceAnswer, "choice", 64, language)
