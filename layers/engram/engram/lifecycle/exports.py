"""Everything kept of a user as lines of JSON that an import takes back: messages with their own times, then what was
made of them, with the evidence. Page by page, since one answer of a function is bounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from engram.domain.clock import to_text
from engram.domain.errors import NotFound
from engram.domain.ids import derived_id
from engram.domain.models import Event, Gist, MemoryItem, Message, MessageRef, ProfileSlot
from engram.domain.scope import Scope
from engram.domain.table import Item
from engram.domain.visibility import Tombstones
from engram.store import keys
from engram.store.items import decode, encode
from engram.store.reader import Reader

PAGE_BYTES = 3_500_000
"""A Lambda answers 6 MB at most, and JSON inside JSON may grow by escapes."""

MESSAGES_A_LINE = 40
LINE_BYTES = 800_000

Position = list[Any]


@dataclass(frozen=True, slots=True)
class ExportPage:
    """`after` is where the next page begins; None at the end."""

    lines: tuple[dict[str, Any], ...]
    after: Position | None


@dataclass(frozen=True, slots=True)
class _Section:
    """Rows of one kind.

    Attributes:
        shown_as: what `Tombstones` calls them.
    """

    prefix: str
    line: str
    kind: type[Any]
    shown_as: str


_SECTIONS = (
    _Section(keys.SLOTS, "slot", ProfileSlot, "slot"),
    _Section(keys.EVENTS, "event", Event, "event"),
    _Section(keys.GISTS, "gist", Gist, "event"),
    _Section(keys.CLOSED_MEMORIES, "memory_version", MemoryItem, "memory"),
    _Section(keys.MEMORIES, "memory", MemoryItem, "memory"),
)


@dataclass(slots=True)
class _Line:
    """A line of messages that is being filled."""

    conversation_id: str
    session_id: str
    distilled: bool
    messages: list[Message] = field(default_factory=list)
    size: int = 0

    def takes(self, message: Message, distilled: bool, size: int) -> bool:
        same = (self.conversation_id, self.session_id) == (message.conversation_id, message.session_id)
        room = len(self.messages) < MESSAGES_A_LINE and self.size + size <= LINE_BYTES
        return same and room and self.distilled == distilled

    def as_line(self, scope: Scope) -> dict[str, Any]:
        first, last = self.messages[0], self.messages[-1]
        return {
            "type": "ingestion",
            "request_id": derived_id("export", self.conversation_id, first.seq, last.seq, len(self.messages)),
            "user_id": scope.user_id,
            "session_id": self.session_id,
            "conversation_id": self.conversation_id,
            "exported": True,
            "distilled": self.distilled,
            "messages": [_message_line(one) for one in self.messages],
        }


class ExportService:
    """Reads users out."""

    def __init__(self, *, reader: Reader, page_bytes: int = PAGE_BYTES) -> None:
        self._reader = reader
        self._page_bytes = page_bytes

    def page(self, scope: Scope, position: Position | None) -> ExportPage:
        """The page that begins at `position` (None for the first).

        Raises:
            NotFound: nothing is known of the user.
        """
        state = self._reader.state(scope)
        if state.user is None:
            raise NotFound("nothing is known of this user", field="user_id")
        lines: list[dict[str, Any]] = []
        if position is None:
            created = to_text(state.user.created_at)
            lines.append(
                {"type": "user", "user_id": scope.user_id, "data": dict(state.user.data), "created_at": created}
            )
            position = [-1, ""]
        room = self._page_bytes
        for line, size, at in self._lines(scope, position, state.tombstones):
            lines.append(line)
            room -= size
            if room <= 0:
                return ExportPage(tuple(lines), at)
        return ExportPage(tuple(lines), None)

    def _lines(
        self, scope: Scope, position: Position, tombstones: Tombstones
    ) -> Iterator[tuple[dict[str, Any], int, Position]]:
        section, after = int(position[0]), str(position[1])
        if section < 0:
            yield from self._message_lines(scope, after, tombstones)
            section, after = 0, ""
        for number in range(section, len(_SECTIONS)):
            yield from self._row_lines(scope, number, after, tombstones)
            after = ""

    def _message_lines(
        self, scope: Scope, after: str, tombstones: Tombstones
    ) -> Iterator[tuple[dict[str, Any], int, Position]]:
        waiting = self._not_distilled(scope)
        line: _Line | None = None
        last = after
        for item in self._reader.rows(scope, keys.MESSAGES, after=after):
            message = self._reader.visible_message(scope, item, tombstones)
            if message is None:
                continue
            size, distilled = len(message.content.encode()) + 500, message.ref not in waiting
            if line is not None and not line.takes(message, distilled, size):
                yield line.as_line(scope), line.size, [-1, last]
                line = None
            if line is None:
                line = _Line(message.conversation_id, message.session_id, distilled)
            line.messages.append(message)
            line.size += size
            last = item.key.sk
        if line is not None:
            yield line.as_line(scope), line.size, [-1, last]

    def _not_distilled(self, scope: Scope) -> set[MessageRef]:
        """Messages that wait for distillation: an import must distil them."""
        rows = [*self._reader.rows(scope, keys.BUFFER), *self._reader.rows(scope, keys.PENDING)]
        return {MessageRef(*pair) for row in rows for pair in row.body["messages"]}

    def _row_lines(
        self, scope: Scope, number: int, after: str, tombstones: Tombstones
    ) -> Iterator[tuple[dict[str, Any], int, Position]]:
        section = _SECTIONS[number]
        for item in self._reader.rows(scope, section.prefix, after=after):
            value = decode(item, section.kind)
            if _shows(tombstones, section, item, value):
                line = {"type": section.line, "user_id": scope.user_id, **encode(value)}
                yield line, len(str(line)), [number, item.key.sk]


def _shows(tombstones: Tombstones, section: _Section, item: Item, value: Any) -> bool:
    identifier = value.event_id if isinstance(value, Gist) else value.id
    return tombstones.shows_row(item.epoch) and tombstones.shows_derived(section.shown_as, identifier, value.evidence)


def _message_line(message: Message) -> Mapping[str, Any]:
    line: dict[str, Any] = {
        "role": message.role.value,
        "content": message.content,
        "message_id": message.message_id,
        "created_at": to_text(message.created_at),
    }
    if message.name:
        line["name"] = message.name
    if message.attachments:
        line["attachments"] = list(message.attachments)
    return line
