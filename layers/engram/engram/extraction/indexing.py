"""The index stage: what was said becomes findable. No model is needed, so it follows the 202 within moments.

Search rows are written before the commit that ends the stage. Killed in between, the messages are still pending,
a read still finds them in the table, and the redelivered operation writes the same rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Protocol

from engram.domain.clock import Clock, to_text
from engram.domain.documents import Document
from engram.domain.errors import ConditionFailed, Throttled, Unavailable
from engram.domain.models import Conversation, Message, MessageRef, Operation, OperationStatus
from engram.domain.scope import Scope
from engram.extraction.projection import Projector
from engram.observability import log
from engram.ports import Embedder, Meter
from engram.recall.indexing import documents_of_messages, embedding_text
from engram.resolve.models import ResolveContext, Subjects
from engram.store.commits import Commits, IndexCommit
from engram.store.reader import Reader
from engram.text.vectors import to_float16

MAX_SUBJECTS = 64
"""Entities or topics kept of one conversation: the newest are the ones it is still about."""
_TITLE_CHARACTERS = 80
_ATTEMPTS = 10

CountTokens = Callable[[str], int]


class SubjectReader(Protocol):
    """The resolver at write time."""

    def subjects(self, messages: Sequence[Message], context: ResolveContext) -> Subjects:
        """What the messages of one conversation are about. Must not raise for any text."""


class IndexStage:
    """Resolves, embeds and indexes the messages of one operation."""

    def __init__(
        self,
        *,
        reader: Reader,
        commits: Commits,
        projector: Projector,
        embedder: Embedder | None,
        subjects_of: Callable[[str], SubjectReader],
        count_tokens: CountTokens,
        meter: Meter,
        clock: Clock,
        idle: timedelta,
        timezone: str,
    ) -> None:
        self._reader = reader
        self._commits = commits
        self._projector = projector
        self._embedder = embedder
        self._subjects_of = subjects_of
        self._count_tokens = count_tokens
        self._meter = meter
        self._clock = clock
        self._idle = idle
        self._timezone = timezone

    def run(self, scope: Scope, operation: Operation, *, final: bool) -> Operation:
        """The operation with its index stage done; SUCCEEDED if `final` and nothing is left to project.

        Raises:
            Unavailable, Throttled: may pass; the operation is delivered again.
        """
        found = self._reader.messages(scope, operation.messages)
        messages = [found[ref] for ref in operation.messages if ref in found]
        groups = _by_conversation(messages)
        subjects = {one: self._subjects(scope, group) for one, group in groups.items()}
        documents: list[Document] = []
        for identifier, group in groups.items():
            about = subjects[identifier]
            before = self._before(scope, group[0])
            documents += documents_of_messages(group, about.entity_ids, about.topic_ids, before=before)
        documents = embedded(documents, self._embedder)
        self._projector.write_rows(scope, documents)
        made = sum(bool(one.vector) for one in documents)
        self._meter.count(scope, {"messages": len(messages), **({"embeddings": made} if made else {})})
        tokens = sum(self._count_tokens(message.content) for message in messages)
        committed = self._commit(scope, operation, subjects, groups, tokens, final=final)
        self._projector.project(scope, documents)
        return committed

    def _subjects(self, scope: Scope, group: Sequence[Message]) -> Subjects:
        context = ResolveContext(now=group[-1].created_at, timezone=self._timezone)
        return self._subjects_of(scope.business_id).subjects(group, context)

    def _before(self, scope: Scope, first: Message) -> Message | None:
        if first.seq == 0:
            return None
        ref = MessageRef(first.conversation_id, first.seq - 1)
        return self._reader.messages(scope, [ref]).get(ref)

    def _commit(
        self,
        scope: Scope,
        operation: Operation,
        subjects: Mapping[str, Subjects],
        groups: Mapping[str, Sequence[Message]],
        tokens: int,
        *,
        final: bool,
    ) -> Operation:
        """Ends the stage. Conversations are read again at each try: another request may have continued them."""
        for _ in range(_ATTEMPTS):
            now = self._clock()
            state = self._reader.state(scope)
            present = [self._reader.conversation(scope, one) for one in subjects]
            about = tuple(_about(one, subjects[one.conversation_id], groups) for one in present if one is not None)
            done = final and not self._projector.remote
            changed = replace(
                operation,
                status=OperationStatus.SUCCEEDED if done else OperationStatus.RUNNING,
                stages=operation.staged("index", "SUCCEEDED", now),
                result={**(operation.result or {}), **_result(about)},
                updated_at=now,
                version=operation.version + 1,
            )
            distils = bool(operation.arguments.get("distil", True))
            changed = replace(changed, stages=changed.staged("distil", "BUFFERED" if distils else "SUCCEEDED", now))
            commit = IndexCommit(
                operation=changed,
                conversations=about,
                buffer_tokens=tokens,
                due=to_text(now + self._idle) if groups and distils else "",
                tombstones=state.tombstones,
            )
            try:
                self._commits.index(scope, commit)
            except ConditionFailed as lost:
                if lost.index == 0:
                    raise Throttled("operation is being worked on elsewhere") from None
                continue
            return changed
        raise Throttled("conversation is contended")


def embedded(documents: Sequence[Document], embedder: Embedder | None) -> list[Document]:
    """The documents with their vectors. Without an encoder, or when it does not answer, lexical search remains."""
    if embedder is None or not documents:
        return list(documents)
    try:
        vectors = embedder.embed([embedding_text(one) for one in documents], "document")
    except Unavailable as error:
        log("not embedded", count=len(documents), code=error.code)
        return list(documents)
    return [
        replace(one, vector=to_float16(vector), encoder=embedder.id) if vector else one
        for one, vector in zip(documents, vectors, strict=True)
    ]


def _by_conversation(messages: Iterable[Message]) -> dict[str, list[Message]]:
    groups: dict[str, list[Message]] = {}
    for message in messages:
        groups.setdefault(message.conversation_id, []).append(message)
    return groups


def _about(present: Conversation, found: Subjects, groups: Mapping[str, Sequence[Message]]) -> Conversation:
    spoken = [one.content for one in groups[present.conversation_id] if one.role == "user"]
    first_line = " ".join(spoken[0].split()) if spoken else ""
    return replace(
        present,
        entity_ids=_union(present.entity_ids, found.entity_ids),
        topic_ids=_union(present.topic_ids, found.topic_ids),
        candidate_ids=_union(present.candidate_ids, found.candidate_ids),
        unresolved=_union(present.unresolved, found.unresolved),
        title=present.title or first_line[:_TITLE_CHARACTERS],
        version=present.version + 1,
    )


def _union(before: Sequence[str], new: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*before, *new]))[-MAX_SUBJECTS:]


def _result(conversations: Sequence[Conversation]) -> dict[str, object]:
    return {
        "conversation_ids": [one.conversation_id for one in conversations],
        "entity_ids": list(dict.fromkeys(identifier for one in conversations for identifier in one.entity_ids)),
        "topic_ids": list(dict.fromkeys(identifier for one in conversations for identifier in one.topic_ids)),
    }
