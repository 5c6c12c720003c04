"""What a query asks of a conversation, apart from time: the entities, topics and names in it, and the words left over.

A conversation meets a condition by the ids that the same resolver gave it when it was written.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import IntEnum

from engram.domain.models import Conversation, MentionStatus
from engram.resolve.models import Mention, Resolution, TemporalIntent
from engram.text.segment import is_english_word

Fold = Callable[[str], str]
"""Folds a text for comparison: the resolver's normalisation."""

TypeOf = Callable[[str], str]
"""Type of an entity id in the catalogue; "" for one it does not hold."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """One thing that the query names. Any of `ids` will do: several when nothing decides between them."""

    ids: frozenset[str]
    types: frozenset[str]
    ambiguous: bool = False


@dataclass(frozen=True, slots=True)
class Conditions:
    """The conditions of one query.

    Attributes:
        names: names that the catalogue does not know, folded; matched as text.
        words: what is left to match once mentions, cues and filler are out.
        search_text: `words` with the mentions in their places.
    """

    entities: tuple[Wanted, ...]
    topics: tuple[Wanted, ...]
    names: tuple[str, ...]
    words: str
    search_text: str

    @property
    def structured(self) -> bool:
        """Whether the catalogue knows something of what is asked."""
        return bool(self.entities or self.topics)

    @property
    def ids(self) -> frozenset[str]:
        """Of everything in the catalogue that may be meant."""
        return frozenset(identifier for one in (*self.entities, *self.topics) for identifier in one.ids)

    @property
    def any(self) -> bool:
        return bool(self.structured or self.names or self.search_text.strip())

    @property
    def ambiguous(self) -> tuple[Wanted, ...]:
        return tuple(one for one in (*self.entities, *self.topics) if one.ambiguous)


_DISCOURSE = re.compile(
    r"\A\W*(?:list|show|enumerate|remind|summari[sz]e|give|find|repeat)\b|"
    r"\b(?:settled?|decided?|decision|conclu(?:de[ds]?|sions?)|discuss(?:ed|ion)?|agreed?|said|say|told|tell|"
    r"talk(?:ed|ing)?|mention(?:ed)?|things?|stuff|topics?|points?|details?|answers?|repl(?:y|ies)|"
    r"conversations?|chats?|(?:first|second|third|last) (?:point|one|item))\b|"
    r"\b(?:we|us|you|me|i|our|my|your|did|do|was|is|about|during|remember|the|what|which|that|of|on)\b|"
    r"\b(?:everything|anything|versions?)\b|"
    r"第[一二三四五六七八九十\d]+[点个条步项]|对话|聊天|会话|结论|内容|事情|话题|那件事|定下来|决定|什么|怎么|哪些|来着|"
    r"列(?:出来?|一下|举)|一遍|所有|全部",
    re.IGNORECASE,
)


_PARTICLES = re.compile(
    "[的了吗呢吧啊呀哦嘛是在有和跟与就都也还又很这那哪个些我你您他她它们给把请一下再来去到说谈聊讲过做干]"
)


_GIVEN = re.compile(
    r"\b(?:g[ai]ven?|wr(?:ote|itten)|sent|shown?|recommend(?:ed|ations?)?|suggest(?:ed|ions?)?|advi[cs]ed?|tips|repeat"
    r"|much|many|takes?|taken|took|ever)\b|建议|建議|推荐|推薦",
    re.IGNORECASE,
)
"""Beside what is named, these only say that it was given, or how much of it is asked."""

_HAPPENING = re.compile(
    r"\b(?:go|went|gone|going|do|does|doing|done|happen(?:s|ed|ing)?|where|who|how|when|up to|been|busy)\b|"
    r"去|哪里|哪裡|哪儿|哪兒|什么地方|哪些地方|发生|發生|忙|事",
    re.IGNORECASE,
)
"""Says only that there was something: "where did I go on May 10?" asks for what was said that day."""


class Tier(IntEnum):
    """How well a conversation meets the structured conditions; lower is better.

    ENTITIES: all entities and not the topic. TOPIC: the topic, and no entity that speaks against the one asked for.
    SOME: one of several entities.
    """

    FULL = 0
    ENTITIES = 1
    TOPIC = 2
    SOME = 3
    NONE = 4


def conditions_of(resolution: Resolution, fold: Fold) -> Conditions:
    """The conditions of a resolved query."""
    resolution = _without_dates(resolution)
    names = tuple(
        folded
        for one in resolution.entities
        if one.status is MentionStatus.UNRESOLVED and (folded := fold(one.text).strip()) and _is_own_word(folded)
    )
    words = _without_discourse(_GIVEN.sub(" ", _left_over(resolution)))
    search_text = _without_discourse(resolution.search_text)
    topics = _wanted(resolution.topics)
    if words and topics and all(one.ambiguous for one in topics):
        # "the camping trip": a word that may mean several topics says less than the words beside it.
        topics, words = (), search_text
    if resolution.temporal.intent is TemporalIntent.TIME_RANGE and not re.search(
        r"\w", _PARTICLES.sub("", _HAPPENING.sub(" ", search_text))
    ):
        words = search_text = ""
    return Conditions(_wanted(resolution.entities), topics, names, words, search_text)


def _is_own_word(name: str) -> bool:
    """Whether a name can be recognised in a text as written. One made of ordinary words (Green Wheat Park) may have
    been spoken of in others; it is searched for as words."""
    words = name.split()
    return len(words) == 1 or not all(is_english_word(word) for word in words)


def tier_of(conversation: Conversation, conditions: Conditions, type_of: TypeOf) -> Tier:
    """How well `conversation` meets the entities and topics asked for."""
    entities, topics = conditions.entities, conditions.topics
    about = {*conversation.entity_ids, *conversation.candidate_ids}
    met = [one for one in entities if one.ids & about]
    topic = not topics or any(one.ids.intersection(conversation.topic_ids) for one in topics)
    if len(met) == len(entities) and topic:
        return Tier.FULL
    if entities and len(met) == len(entities):
        return Tier.ENTITIES
    if met:
        return Tier.SOME
    if topics and topic and not _speaks_against(conversation, entities, type_of):
        return Tier.TOPIC
    return Tier.NONE


def matched(conversation: Conversation, conditions: Conditions) -> tuple[str, ...]:
    """Names of the structured conditions that `conversation` meets: for the answer."""
    about = {*conversation.entity_ids, *conversation.candidate_ids}
    found = []
    if any(one.ids & about for one in conditions.entities):
        found.append("entity")
    if any(one.ids.intersection(conversation.topic_ids) for one in conditions.topics):
        found.append("topic")
    if set(conditions.names).intersection(conversation.unresolved):
        found.append("name")
    return tuple(found)


def _wanted(mentions: Iterable[Mention]) -> tuple[Wanted, ...]:
    found: dict[frozenset[str], Wanted] = {}
    for one in mentions:
        if one.status is MentionStatus.LINKED:
            ids, types = frozenset({one.id}), frozenset({one.type})
        elif one.status is MentionStatus.AMBIGUOUS and one.candidates:
            ids = frozenset(candidate.id for candidate in one.candidates)
            types = frozenset(candidate.type for candidate in one.candidates)
        else:
            continue
        found.setdefault(ids, Wanted(ids, types, ambiguous=len(ids) > 1))
    return tuple(found.values())


def _speaks_against(conversation: Conversation, entities: tuple[Wanted, ...], type_of: TypeOf) -> bool:
    """Whether a conversation is about another thing of the kind asked for: a guide to another city is no answer.

    A name that the catalogue does not know counts: whatever it is, it is not what was asked for.
    """
    if not entities:
        return False
    kinds = frozenset().union(*(one.types for one in entities))
    return bool(conversation.unresolved) or any(type_of(one) in kinds for one in conversation.entity_ids)


def _without_dates(resolution: Resolution) -> Resolution:
    """`resolution` without the names that only say when it was said: talk of last Christmas need not name it.

    Where the range is of what happens, not of what was said, the name stays: it is then what the talk is about.
    """
    temporal = resolution.temporal
    if temporal.intent is not TemporalIntent.TIME_RANGE or temporal.axis != "message":
        return resolution
    dates = [
        one
        for one in resolution.entities
        if one.type == "holiday" and any(first <= one.start and one.end <= last for first, last in temporal.spans)
    ]
    text = resolution.search_text
    for one in dates:
        text = text.replace(one.text, " ", 1)
    kept = tuple(one for one in resolution.entities if one not in dates)
    return replace(resolution, entities=kept, search_text=" ".join(text.split()) if dates else text)


def _without_discourse(text: str) -> str:
    """Words about the talking itself ("what did we settle", 结论) are in no message that they are asked about."""
    left = _DISCOURSE.sub(" ", text)
    return " ".join(left.split()) if re.search(r"\w", _PARTICLES.sub("", left)) else ""


def _left_over(resolution: Resolution) -> str:
    """The search text without its mentions.

    Mentions are taken out by their words: the search text is not a slice of the query, so spans do not hold in it. What
    a rule found begins and ends with words of the topic (`book` and `recommend`); between them others may stand.
    """
    text = resolution.search_text
    mentions = [one for one in (*resolution.entities, *resolution.topics) if one.status is not MentionStatus.UNRESOLVED]
    for one in sorted(mentions, key=lambda mention: -len(mention.text)):
        ends = one.text.split() if one.found_by == "rule" and one.text not in text else [one.text]
        for words in dict.fromkeys((ends[0], ends[-1])):
            text = text.replace(words, " ", 1)
    return " ".join(text.split())
