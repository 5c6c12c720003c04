"""What a read may show. A deletion hides at once by writing tombstones; purging the rows comes after.

Every read that returns something a user said or something derived from it passes through `Tombstones`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from engram.domain.models import Conversation, Evidence, MessageRef

USER_MARK = "user"


@dataclass(frozen=True, slots=True)
class Tombstones:
    """What of one user is deleted, purged or not.

    Attributes:
        epoch: raised by every deletion; a commit begun under an older one fails.
        erased_epoch: rows written under an older epoch than this belong to a deleted user.
        conversations: ids being purged.
        messages: `conversation:seq` of messages being purged.
        rows: `slot:<id>`, `event:<id>`, `memory:<id>` being purged.
        purging: what is being purged (`user`, `conversation:<id>`, `message:<conversation>:<seq>`, a row) to the
            operation that does it: asked for again meanwhile, it is the same deletion.
        erased_at: when the user was last deleted; work that was asked for before brings nothing back.
    """

    epoch: int = 0
    erased_epoch: int = 0
    conversations: frozenset[str] = frozenset()
    messages: frozenset[str] = frozenset()
    rows: frozenset[str] = frozenset()
    version: int = 0
    purging: Mapping[str, str] = field(default_factory=dict)
    erased_at: datetime | None = None

    @property
    def erasing(self) -> bool:
        """Whether a deleted user's rows are still being purged: until then nothing new is written under its id."""
        return USER_MARK in self.purging

    def shows_row(self, epoch: int) -> bool:
        """Whether a row written under `epoch` belongs to the user as it is now."""
        return epoch >= self.erased_epoch

    def shows_message(self, ref: MessageRef) -> bool:
        return ref.conversation_id not in self.conversations and mark(ref) not in self.messages

    def shows_derived(self, kind: str, identifier: str, evidence: Iterable[Evidence]) -> bool:
        """Whether a slot, event, gist or memory item may be shown.

        One that rests on a hidden message even in part is hidden until the purge has rewritten it without
        that message: its text may repeat what was deleted.
        """
        if f"{kind}:{identifier}" in self.rows:
            return False
        if not (self.conversations or self.messages):
            return True
        return all(self.shows_message(one.ref) for one in evidence)

    def told(self, conversation: Conversation) -> Conversation | None:
        """A conversation's row as it may be shown. One that is losing messages says nothing until it is retold."""
        identifier = conversation.conversation_id
        if identifier in self.conversations:
            return None
        if any(name.startswith(f"{identifier}:") for name in self.messages):
            return replace(conversation, title="", entity_ids=(), topic_ids=(), candidate_ids=(), unresolved=())
        return conversation

    def hidden_refs(self) -> Iterator[MessageRef]:
        """The single messages that are hidden."""
        for name in self.messages:
            conversation_id, _, seq = name.rpartition(":")
            yield MessageRef(conversation_id, int(seq))

    def hiding(
        self,
        *,
        conversations: Iterable[str] = (),
        messages: Iterable[MessageRef] = (),
        rows: Iterable[str] = (),
        everything: bool = False,
        by: str = "",
        at: datetime | None = None,
    ) -> Tombstones:
        """The tombstones after one more deletion.

        Args:
            by: the operation that will purge; "" if nothing is left to purge.
            at: when a whole user was deleted.
        """
        epoch = self.epoch + 1
        conversations, messages, rows = tuple(conversations), tuple(messages), tuple(rows)
        marks = _marks(conversations, messages, rows, everything=everything) if by else ()
        return replace(
            self,
            epoch=epoch,
            erased_epoch=epoch if everything else self.erased_epoch,
            conversations=self.conversations.union(conversations),
            messages=self.messages.union(mark(ref) for ref in messages),
            rows=self.rows.union(rows),
            version=self.version + 1,
            purging={**self.purging, **dict.fromkeys(marks, by)},
            erased_at=at if everything else self.erased_at,
        )

    def purged(
        self,
        *,
        conversations: Iterable[str] = (),
        messages: Iterable[MessageRef] = (),
        rows: Iterable[str] = (),
        everything: bool = False,
    ) -> Tombstones:
        """The tombstones once the rows are gone. With the user's rows every other mark goes too.

        The epoch is raised once more, since rows that were hidden show again: what was read before lacks them.
        """
        if everything:
            return Tombstones(self.epoch, self.erased_epoch, version=self.version + 1, erased_at=self.erased_at)
        conversations, messages, rows = tuple(conversations), tuple(messages), tuple(rows)
        done = set(_marks(conversations, messages, rows, everything=False))
        return replace(
            self,
            epoch=self.epoch + 1,
            conversations=self.conversations.difference(conversations),
            messages=self.messages.difference(mark(ref) for ref in messages),
            rows=self.rows.difference(rows),
            version=self.version + 1,
            purging={mark: by for mark, by in self.purging.items() if mark not in done},
        )


def mark(ref: MessageRef) -> str:
    """A message reference as one string."""
    return f"{ref.conversation_id}:{ref.seq}"


def conversation_mark(conversation_id: str) -> str:
    return f"conversation:{conversation_id}"


def message_mark(ref: MessageRef) -> str:
    return f"message:{mark(ref)}"


def _marks(
    conversations: Iterable[str], messages: Iterable[MessageRef], rows: Iterable[str], *, everything: bool
) -> tuple[str, ...]:
    user = (USER_MARK,) if everything else ()
    return (*user, *map(conversation_mark, conversations), *map(message_mark, messages), *rows)
