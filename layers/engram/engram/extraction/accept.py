"""What of a distillation may be believed: a row that does not stand on the user's own words is dropped.

This is where invented citations, assistants' suggestions, tool output, pasted mails, echoes of our own block and
topics outside a strict taxonomy end, whoever the distiller is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TypeVar

from engram.context.templates import BLOCK_MARKERS
from engram.domain.models import EventTag, Evidence, Message, Role
from engram.extraction.models import (
    Citation,
    Distillation,
    DistillationRequest,
    GistDraft,
    ItemDraft,
    SlotAction,
    SlotChange,
)
from engram.extraction.provenance import Provenance, provenance_of
from engram.profile.taxonomy import Taxonomy, attribute_unify

_Row = TypeVar("_Row")
_Believed = TypeVar("_Believed")

MAX_CONTENT_CHARACTERS = 2_000
MAX_NAME_CHARACTERS = 128
MAX_MENTIONS = 64
_MAX_PLACES = 100
_EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
_FURTHEST = timedelta(days=366 * 30)
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_SPACES = re.compile(r"[ \t]*[\r\n]+[ \t]*")
_PING = re.compile(
    r"[\s\W_]*"
    r"(?:ok(?:ay)?|k|yes|yep|yeah|no|nope|sure|thanks?|thank you|thx|great|cool|fine|good|nice|right|got it|hm+|lol"
    r"|haha+"
    r"|好的?|嗯+|哦+|噢|行|可以|对的?|是的?|没错|收到|谢谢你?|多谢|知道了|明白了?|哈哈+|在吗|ping)?[\s\W_]*",
    re.IGNORECASE,
)
_NOTHING_SAID = re.compile(
    r"[\s\W]*(?:unknown|n/?a|none|null|not (?:mentioned|specified|provided|stated|given|known)|unspecified|unsure"
    r"|未知|无|没有提(?:到|及)|未提(?:到|及|供)|不详|不清楚|暂无)[\s\W]*",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Dropped:
    """A row that was refused: what it was (`slot`, `gist`, `item`, `tag`) and why. Holds no user text."""

    row: str
    reason: str


@dataclass(frozen=True, slots=True)
class AcceptedChange:
    """A slot change with verified evidence. `at` is when its newest cited message was said."""

    change: SlotChange
    evidence: tuple[Evidence, ...]
    at: datetime


@dataclass(frozen=True, slots=True)
class AcceptedItem:
    draft: ItemDraft
    evidence: tuple[Evidence, ...]
    at: datetime


@dataclass(frozen=True, slots=True)
class AcceptedGist:
    draft: GistDraft
    evidence: tuple[Evidence, ...]


@dataclass(frozen=True, slots=True)
class Accepted:
    """A distillation after its examination.

    Attributes:
        happened_at: when the newest message of the batch was said.
        evidence: of the whole batch's user messages, for the event.
        flagged: ids of messages whose text tries to instruct the memory.
    """

    slots: tuple[AcceptedChange, ...]
    gists: tuple[AcceptedGist, ...]
    items: tuple[AcceptedItem, ...]
    summary: str
    tags: tuple[EventTag, ...]
    mentions: tuple[str, ...]
    flagged: tuple[str, ...]
    dropped: tuple[Dropped, ...]
    happened_at: datetime
    tokens_in: int = 0
    tokens_out: int = 0


class _Refused(Exception):
    """A row cannot be believed; the argument is the reason."""


def accept(
    distillation: Distillation, request: DistillationRequest, *, markers: tuple[str, ...] = BLOCK_MARKERS
) -> Accepted:
    """Examines every row of `distillation` against the messages of `request`.

    Args:
        markers: lines that begin a context block. The lines inside are known by their form, so that the echo of a
            caller's own template, which is nowhere stored, is recognised too.
    """
    examiner = _Examiner(request, markers)
    dropped = [Dropped("row", reason) for reason in distillation.dropped]
    about_anybody = _examined("slot", distillation.slots, examiner.slot, dropped)
    items = _examined("item", distillation.items, examiner.item, dropped)
    gists = _examined("gist", distillation.gists, examiner.gist, dropped)
    tags = _known_tags(distillation.tags, request.taxonomy)
    dropped += [Dropped("tag", "taxonomy")] * (len(distillation.tags) - len(tags))
    return Accepted(
        slots=tuple(row for row in about_anybody if isinstance(row, AcceptedChange)),
        gists=tuple(gists),
        items=(*(row for row in about_anybody if isinstance(row, AcceptedItem)), *items),
        summary=examiner.summary(distillation.summary),
        tags=tags,
        mentions=examiner.mentions(distillation.mentions),
        flagged=examiner.flagged(distillation.flagged),
        dropped=tuple(dropped),
        happened_at=max((message.created_at for message in request.messages), default=_EARLIEST),
        tokens_in=distillation.tokens_in,
        tokens_out=distillation.tokens_out,
    )


def _examined(
    kind: str, rows: Iterable[_Row], examine: Callable[[_Row], _Believed], dropped: list[Dropped]
) -> list[_Believed]:
    """The rows that pass; the others are added to `dropped` with the reason."""
    believed = []
    for row in rows:
        try:
            believed.append(examine(row))
        except _Refused as refusal:
            dropped.append(Dropped(kind, str(refusal)))
    return believed


class _Examiner:
    """Holds what the rows of one batch are checked against."""

    def __init__(self, request: DistillationRequest, markers: tuple[str, ...]) -> None:
        self._taxonomy = request.taxonomy
        self._messages = {message.message_id: message for message in request.messages}
        self._markers = markers
        self._provenance: dict[str, Provenance] = {}
        named = {message.name for message in request.messages if message.role is Role.USER and message.name}
        self._several_speak = len(named) > 1

    def slot(self, change: SlotChange) -> AcceptedChange | AcceptedItem:
        """Raises _Refused. A change about somebody else is a memory item, not a slot."""
        evidence, at = self._own_words(change.citations)
        topic, sub_topic = self._placed(change.topic, change.sub_topic)
        content = self._clean(change.content)
        contradicts = self._clean(change.contradicts)
        if change.action is not SlotAction.DROP and self._says_nothing(content, topic, sub_topic):
            raise _Refused("empty")
        change = replace(change, topic=topic, sub_topic=sub_topic, content=content, contradicts=contradicts)
        if change.subject.strip().lower() in ("user", "用户", ""):
            speaker = self._speaker(evidence)
            if speaker:
                change = replace(change, subject=speaker)
        if change.subject.strip().lower() in ("user", "用户", ""):
            return AcceptedChange(replace(change, subject="user"), evidence, at)
        draft = ItemDraft(
            change.kind,
            content,
            change.citations,
            subject=self._clean(change.subject)[:MAX_NAME_CHARACTERS],
            topic=topic,
            sub_topic=sub_topic,
            valid_from=change.valid_from,
            action=change.action,
            contradicts=contradicts,
        )
        return AcceptedItem(draft, evidence, at)

    def item(self, draft: ItemDraft) -> AcceptedItem:
        """Raises _Refused."""
        evidence, at = self._own_words(draft.citations)
        topic, sub_topic = attribute_unify(draft.topic), attribute_unify(draft.sub_topic)
        if topic:
            topic, sub_topic = self._placed(topic, sub_topic)
        content = self._clean(draft.content)
        if draft.action is not SlotAction.DROP and self._says_nothing(content, topic, sub_topic):
            raise _Refused("empty")
        subject = self._clean(draft.subject)[:MAX_NAME_CHARACTERS] or "user"
        return AcceptedItem(
            replace(draft, content=content, subject=subject, topic=topic, sub_topic=sub_topic), evidence, at
        )

    def gist(self, draft: GistDraft) -> AcceptedGist:
        """Raises _Refused. What the assistant did is part of what happened; pasted orders are not."""
        found = [self._located(citation) for citation in draft.citations]
        usable = [
            evidence
            for message, evidence in (pair for pair in found if pair is not None)
            if message.role in (Role.USER, Role.ASSISTANT) and self._is_own(message, evidence)
        ]
        if not usable:
            raise _Refused(self._why_not(draft.citations))
        content = self._clean(draft.content)
        if not content:
            raise _Refused("empty")
        said = self._messages[usable[0].message_id].created_at
        happened = draft.happened_at if draft.happened_at.tzinfo else draft.happened_at.replace(tzinfo=UTC)
        if not _EARLIEST <= happened <= said + _FURTHEST:
            happened = said
        return AcceptedGist(replace(draft, content=content, happened_at=happened), tuple(dict.fromkeys(usable)))

    def summary(self, text: str) -> str:
        return "" if provenance_of(text).instructs else _SPACES.sub(" ", _CONTROLS.sub("", text)).strip()[:500]

    def mentions(self, mentions: Iterable[str]) -> tuple[str, ...]:
        """Words that are in some message, each once."""
        texts = [message.content for message in self._messages.values()]
        known = (mention.strip() for mention in mentions)
        found = [mention for mention in known if mention and any(mention in text for text in texts)]
        return tuple(dict.fromkeys(found))[:MAX_MENTIONS]

    def flagged(self, proposed: Iterable[str]) -> tuple[str, ...]:
        """What the distiller flagged and what our own reading flags, in order of the batch."""
        wanted = set(proposed)
        return tuple(
            message.message_id
            for message in self._messages.values()
            if message.message_id in wanted or (message.role is Role.USER and self._of(message).instructs)
        )

    def _own_words(self, citations: tuple[Citation, ...]) -> tuple[tuple[Evidence, ...], datetime]:
        usable = []
        times = []
        for citation in citations:
            located = self._located(citation)
            if located is None:
                continue
            message, evidence = located
            if message.role is Role.USER and self._is_own(message, evidence) and not _PING.fullmatch(citation.quote):
                usable.append(evidence)
                times.append(message.created_at)
        if not usable:
            raise _Refused(self._why_not(citations))
        return tuple(dict.fromkeys(usable)), max(times)

    def _why_not(self, citations: tuple[Citation, ...]) -> str:
        if not citations:
            return "no_citation"
        messages = [self._messages.get(citation.message_id) for citation in citations]
        if not any(messages):
            return "unknown_message"
        located = [pair for pair in map(self._located, citations) if pair is not None]
        if not located:
            return "quote_not_found"
        if not any(message.role is Role.USER for message, _ in located):
            return "not_said_by_user"
        return "foreign_text" if any(not self._is_own(*pair) for pair in located) else "says_too_little"

    def _speaker(self, evidence: tuple[Evidence, ...]) -> str:
        """Who said it, where several named people speak as the user: which of them the profile is of, nobody knows."""
        return self._messages[evidence[0].message_id].name if self._several_speak else ""

    def _located(self, citation: Citation) -> tuple[Message, Evidence] | None:
        """The cited span. A model may trim white space around a quote; nothing else of it may differ."""
        message = self._messages.get(citation.message_id)
        quote = citation.quote.strip()
        if message is None or message.hidden or not quote:
            return None
        start = self._place(message, quote)
        if start < 0:
            return None
        return message, Evidence(
            message.message_id,
            message.conversation_id,
            message.seq,
            message.version,
            message.content_hash,
            start,
            start + len(quote),
        )

    def _place(self, message: Message, quote: str) -> int:
        """Where the quote first stands in the author's own words, else where it first stands, else -1."""
        first = start = message.content.find(quote)
        for _ in range(_MAX_PLACES):
            if start < 0 or self._of(message).is_own(start, start + len(quote)):
                break
            start = message.content.find(quote, start + 1)
        else:
            return first
        return start if start >= 0 else first

    def _is_own(self, message: Message, evidence: Evidence) -> bool:
        return message.role is not Role.USER or self._of(message).is_own(evidence.start, evidence.end)

    def _of(self, message: Message) -> Provenance:
        if message.message_id not in self._provenance:
            self._provenance[message.message_id] = provenance_of(message.content, extra_markers=self._markers)
        return self._provenance[message.message_id]

    def _placed(self, topic: str, sub_topic: str) -> tuple[str, str]:
        topic, sub_topic = attribute_unify(self._clean(topic)), attribute_unify(self._clean(sub_topic))
        if not topic or not sub_topic or max(len(topic), len(sub_topic)) > MAX_NAME_CHARACTERS or "::" in topic:
            raise _Refused("bad_topic")
        if self._taxonomy.strict and self._taxonomy.find(topic, sub_topic) is None:
            raise _Refused("taxonomy")
        return topic, sub_topic

    def _says_nothing(self, content: str, topic: str, sub_topic: str) -> bool:
        if not content:
            return True
        known = self._taxonomy.find(topic, sub_topic) if topic else None
        validate = self._taxonomy.validate if known is None or known.validate_value is None else known.validate_value
        return validate and _NOTHING_SAID.fullmatch(content) is not None

    def _clean(self, text: str) -> str:
        """One line, no control characters, bounded. Raises _Refused for text that gives the memory orders."""
        text = _SPACES.sub(" ", _CONTROLS.sub("", text)).strip()[:MAX_CONTENT_CHARACTERS]
        if provenance_of(text, extra_markers=self._markers).instructs:
            raise _Refused("instructs")
        return text


def _known_tags(tags: Iterable[EventTag], taxonomy: Taxonomy) -> tuple[EventTag, ...]:
    known = {attribute_unify(rule.name): rule.name for rule in taxonomy.event_tags}
    found = {}
    for tag in tags:
        name = known.get(attribute_unify(tag.tag))
        value = _SPACES.sub(" ", _CONTROLS.sub("", tag.value)).strip()[:MAX_NAME_CHARACTERS]
        if name is not None and value and not _NOTHING_SAID.fullmatch(value):
            found[name] = EventTag(name, value)
    return tuple(found.values())
