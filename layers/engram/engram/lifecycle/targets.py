"""What a deletion is about: a user, a conversation, a message, or one row that was made of messages.

A target is known by ids alone, so that it can stand in an operation and be found again after a restart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from engram.domain.models import MessageRef
from engram.domain.visibility import USER_MARK, Tombstones, conversation_mark, message_mark


class TargetKind(StrEnum):
    USER = "user"
    CONVERSATION = "conversation"
    MESSAGE = "message"
    MEMORY = "memory"
    SLOT = "slot"
    EVENT = "event"


_ROWS = (TargetKind.MEMORY, TargetKind.SLOT, TargetKind.EVENT)


@dataclass(frozen=True, slots=True)
class Target:
    """What is to go.

    Attributes:
        refs: where the message stands; an id that several requests gave stands for all of their messages.
        twins: `memory:<id>` of the memory items that say what a slot says: one statement, kept in two forms.
        holders: `slot:<id>` and `event:<id>` of rows that say, among other things, what is deleted; they are rewritten.
    """

    kind: TargetKind
    id: str
    refs: tuple[MessageRef, ...] = ()
    twins: tuple[str, ...] = ()
    holders: tuple[str, ...] = ()

    @property
    def marks(self) -> tuple[str, ...]:
        """Its own names in `Tombstones.purging`."""
        match self.kind:
            case TargetKind.USER:
                return (USER_MARK,)
            case TargetKind.CONVERSATION:
                return (conversation_mark(self.id),)
            case TargetKind.MESSAGE:
                return tuple(message_mark(ref) for ref in self.refs)
        return (f"{self.kind.value}:{self.id}",)

    @property
    def conversation_ids(self) -> tuple[str, ...]:
        """Conversations that lose messages."""
        if self.kind is TargetKind.CONVERSATION:
            return (self.id,)
        return tuple(dict.fromkeys(ref.conversation_id for ref in self.refs))

    def covers(self, ref: MessageRef) -> bool:
        """Whether the message at `ref` goes."""
        return ref.conversation_id == self.id if self.kind is TargetKind.CONVERSATION else ref in self.refs

    def is_row(self, kind: TargetKind, identifier: str) -> bool:
        """Whether this very row goes, whatever it rests on."""
        return (self.kind is kind and self.id == identifier) or f"{kind.value}:{identifier}" in self.twins

    def is_held_by(self, kind: TargetKind, identifier: str) -> bool:
        """Whether this row says the same among other things."""
        return f"{kind.value}:{identifier}" in self.holders

    def hide(self, tombstones: Tombstones, *, by: str) -> Tombstones:
        """The tombstones with this hidden from every read."""
        conversations, rows = self._parts()
        return tombstones.hiding(conversations=conversations, messages=self.refs, rows=rows, by=by)

    def uncover(self, tombstones: Tombstones) -> Tombstones:
        """The tombstones once nothing of this is left to hide."""
        conversations, rows = self._parts()
        return tombstones.purged(conversations=conversations, messages=self.refs, rows=rows)

    def _parts(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        conversations = (self.id,) if self.kind is TargetKind.CONVERSATION else ()
        own = self.marks if self.kind in _ROWS else ()
        return conversations, (*own, *self.twins, *self.holders)

    def to_arguments(self) -> dict[str, Any]:
        refs = [[ref.conversation_id, ref.seq] for ref in self.refs]
        rows = {"twins": list(self.twins), "holders": list(self.holders)}
        return {"target": self.kind.value, "target_id": self.id, "refs": refs, **rows}

    @classmethod
    def from_arguments(cls, arguments: Mapping[str, Any]) -> Target:
        refs = tuple(MessageRef(str(one[0]), int(one[1])) for one in arguments["refs"])
        twins, holders = tuple(arguments.get("twins", ())), tuple(arguments.get("holders", ()))
        return cls(TargetKind(arguments["target"]), str(arguments["target_id"]), refs, twins, holders)
