"""Profile rows as Memobase's clients read and edit them. What a person writes is kept over later extraction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from engram.context.hot import HotSlot, hot_slot
from engram.context.lines import slot_line
from engram.context.request import ChatTurn
from engram.domain.clock import Clock, NewId
from engram.domain.errors import InvalidInput, ModelFailure, NotFound, Unavailable, Unprocessable
from engram.domain.models import ProfileSlot
from engram.domain.scope import Scope
from engram.ingestion.checks import check_json_size, check_text
from engram.lifecycle.deletion import DeletionService
from engram.lifecycle.targets import TargetKind
from engram.memobase.edits import Edit, Edits
from engram.memobase.ids import new_uuid
from engram.ports import ProfileFilter
from engram.profile.rules import RulesOf
from engram.profile.taxonomy import attribute_unify
from engram.profile.truncation import TopicRules, choose
from engram.store.reader import Profile, Reader
from engram.text.tokens import TokenCounter

MAX_CONTENT_CHARACTERS = 20_000
MAX_NAME_CHARACTERS = 100
MAX_ATTRIBUTES_BYTES = 4_096
MAX_SLOTS = 2_000


@dataclass(frozen=True, slots=True)
class ProfileQuery:
    """Which rows, in which order. `max_tokens` counts the rendered lines, whole lines only."""

    topics: TopicRules = field(default_factory=TopicRules)
    top_k: int | None = None
    max_tokens: int | None = None
    chats: tuple[ChatTurn, ...] = ()


@dataclass(frozen=True, slots=True)
class SlotDraft:
    """A row as a person writes it."""

    topic: str
    sub_topic: str
    content: str
    attributes: Mapping[str, Any] = field(default_factory=dict)


class MemobaseProfiles:
    """Reads and edits slots."""

    def __init__(
        self,
        *,
        reader: Reader,
        edits: Edits,
        deletions: DeletionService,
        rules_of: RulesOf,
        profile_filter: ProfileFilter | None,
        count_tokens: TokenCounter,
        clock: Clock,
        new_id: NewId,
    ) -> None:
        self._reader = reader
        self._edits = edits
        self._deletions = deletions
        self._rules_of = rules_of
        self._profile_filter = profile_filter
        self._count_tokens = count_tokens
        self._clock = clock
        self._new_id = new_id

    def find(self, scope: Scope, query: ProfileQuery) -> list[ProfileSlot]:
        """Rows that the taxonomy allows, after the rules of `profile.truncation`; a row over the budget is skipped."""
        taxonomy = self._rules_of(scope.business_id).taxonomy
        slots = [one for one in self._reader.slots(scope) if taxonomy.allows(one.topic, one.sub_topic)]
        by_id = {one.id: one for one in slots}
        rows = self._relevant(query.chats, [hot_slot(one) for one in slots])
        kept, _ = choose(rows, query.topics)
        chosen = kept[: query.top_k] if query.top_k is not None else kept
        if query.max_tokens is not None:
            chosen = _within(chosen, query.max_tokens)
        return [by_id[row.id] for row in chosen]

    def add(self, scope: Scope, draft: SlotDraft) -> str:
        """The id of the new row, or of the row that already says so.

        Raises:
            NotFound: no such user.
            InvalidInput, Unprocessable: what cannot be kept, or is outside a strict taxonomy.
        """
        slot = self.slot_of(scope, draft, identifier=new_uuid(self._new_id))
        made: list[str] = []

        def change(profile: Profile) -> Edit:
            same = next((one for one in profile.slots if _says(one) == _says(slot)), None)
            made[:] = [same.id if same is not None else slot.id]
            if same is None and len(profile.slots) >= MAX_SLOTS:
                raise Unprocessable(f"a profile has at most {MAX_SLOTS} rows")
            return Edit() if same is not None else Edit(slots=(slot,))

        self._edits.apply(scope, change)
        return made[0]

    def update(self, scope: Scope, slot_id: str, draft: SlotDraft, *, keep_names: bool = False) -> None:
        """Replaces a row's text, and its topic unless `keep_names`. Raises NotFound, InvalidInput, Unprocessable."""

        def change(profile: Profile) -> Edit:
            present = _present(profile, slot_id)
            wanted = replace(draft, topic=present.topic, sub_topic=present.sub_topic) if keep_names else draft
            slot = self.slot_of(scope, wanted, identifier=slot_id)
            return Edit(
                slots=(
                    replace(
                        slot,
                        created_at=present.created_at,
                        evidence=present.evidence,
                        version=present.version + 1,
                        attributes=present.attributes if keep_names else slot.attributes,
                    ),
                )
            )

        self._edits.apply(scope, change)

    def delete(self, scope: Scope, slot_id: str) -> None:
        """Hides the row from every read at once; the purge follows. Raises NotFound."""
        if self._reader.slot(scope, slot_id) is None:
            raise NotFound("no such profile row", field="profile_id")
        self._deletions.delete(scope, TargetKind.SLOT, slot_id)

    def slot_of(
        self,
        scope: Scope,
        draft: SlotDraft,
        *,
        identifier: str,
        created_at: datetime | None = None,
        updated_at: datetime | None = None,
    ) -> ProfileSlot:
        """The draft as a row, counted. Raises InvalidInput or Unprocessable."""
        topic, sub_topic = _name(draft.topic, "topic"), _name(draft.sub_topic, "sub_topic")
        content = _content(draft.content)
        check_json_size(draft.attributes, "attributes", MAX_ATTRIBUTES_BYTES)
        if not self._rules_of(scope.business_id).taxonomy.allows(topic, sub_topic):
            raise Unprocessable("topic and sub_topic are outside the strict taxonomy of this business", field="topic")
        now = self._clock()
        return ProfileSlot(
            id=identifier,
            topic=topic,
            sub_topic=sub_topic,
            content=content,
            tokens=self._count_tokens(slot_line(topic, sub_topic, content)),
            created_at=created_at or now,
            updated_at=updated_at or now,
            edited=True,
            attributes=draft.attributes,
        )

    def _relevant(self, chats: Sequence[ChatTurn], rows: list[HotSlot]) -> list[HotSlot]:
        """Rows that bear on the chats; all of them if nobody can tell."""
        if not chats or not rows or self._profile_filter is None:
            return rows
        try:
            turns = [(turn.role, turn.content) for turn in chats]
            wanted = self._profile_filter.choose(turns, {row.id: row.text for row in rows})
        except (Unavailable, ModelFailure):
            return rows
        return [row for row in rows if row.id in wanted]


def _within(rows: Sequence[HotSlot], max_tokens: int) -> list[HotSlot]:
    kept, used = [], 0
    for row in rows:
        if used + row.tokens <= max_tokens:
            kept.append(row)
            used += row.tokens
    return kept


def _says(slot: ProfileSlot) -> tuple[str, str, str]:
    return slot.topic, slot.sub_topic, slot.content


def _present(profile: Profile, slot_id: str) -> ProfileSlot:
    found = next((one for one in profile.slots if one.id == slot_id), None)
    if found is None:
        raise NotFound("no such profile row", field="profile_id")
    return found


def _name(name: str, field: str) -> str:
    check_text(name, field)
    unified = attribute_unify(name)
    if not unified or len(unified) > MAX_NAME_CHARACTERS or not unified.isprintable():
        raise InvalidInput(f"{field} must be 1 to {MAX_NAME_CHARACTERS} printable characters", field=field)
    return unified


def _content(content: str) -> str:
    check_text(content, "content")
    if not content.strip():
        raise InvalidInput("content must not be empty", field="content")
    if len(content) > MAX_CONTENT_CHARACTERS:
        raise InvalidInput(f"content takes at most {MAX_CONTENT_CHARACTERS} characters", field="content")
    return content
