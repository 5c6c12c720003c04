"""What a read may show. A deletion hides at once by writing tombstones; purging the rows comes after.

Every read that returns something a user said or something derived from it passes through `Tombstones`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from engram.domain.models import Evidence, MessageRef


@dataclass(frozen=True, slots=True)
class Tombstones:
    """What of one user is deleted, purged or not.

    Attributes:
        epoch: raised by every deletion; a commit begun under an older one fails.
        erased_epoch: rows written under an older epoch than this belong to a deleted user.
        conversations: ids being purged.
        messages: `conversation:seq` of messages being purged.
        rows: `slot:<id>`, `event:<id>`, `memory:<id>` being purged.
    """

    epoch: int = 0
    erased_epoch: int = 0
    conversations: frozenset[str] = frozenset()
    messages: frozenset[str] = frozenset()
    rows: frozenset[str] = frozenset()
    version: int = 0

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

    def hiding(
        self,
        *,
        conversations: Iterable[str] = (),
        messages: Iterable[MessageRef] = (),
        rows: Iterable[str] = (),
        everything: bool = False,
    ) -> Tombstones:
        """The tombstones after one more deletion."""
        epoch = self.epoch + 1
        return replace(
            self,
            epoch=epoch,
            erased_epoch=epoch if everything else self.erased_epoch,
            conversations=self.conversations.union(conversations),
            messages=self.messages.union(mark(ref) for ref in messages),
            rows=self.rows.union(rows),
            version=self.version + 1,
        )

    def purged(
        self,
        *,
        conversations: Iterable[str] = (),
        messages: Iterable[MessageRef] = (),
        rows: Iterable[str] = (),
    ) -> Tombstones:
        """The tombstones once the rows are gone; the epochs stay."""
        return replace(
            self,
            conversations=self.conversations.difference(conversations),
            messages=self.messages.difference(mark(ref) for ref in messages),
            rows=self.rows.difference(rows),
            version=self.version + 1,
        )


def mark(ref: MessageRef) -> str:
    """A message reference as one string."""
    return f"{ref.conversation_id}:{ref.seq}"
