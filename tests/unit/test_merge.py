"""What becomes of a profile when batches are distilled one after the other: the newest wins, the rest stays."""

# ruff: noqa: E501  (tables of sentences)
from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engram.adapters.rules import RulesDistiller
from engram.domain.models import MemoryKind, ProfileSlot
from engram.extraction.accept import Accepted, AcceptedChange, accept
from engram.extraction.merge import Present, merge
from engram.extraction.models import Citation, Distillation, GistDraft, ItemDraft, SlotAction, SlotChange
from engram.extraction.shortening import MAX_SLOT_TOKENS, MAX_SUB_TOPICS, bounded, fitting, surplus
from engram.profile.config import preset, taxonomy_of
from tests.builders import Profile, batch, said

NOON = datetime(2026, 3, 9, 12, 0, tzinfo=UTC)


def heard(*texts: str, language: str = "en") -> Profile:
    """A profile after one batch a day."""
    profile = Profile(RulesDistiller(), language=language)
    for day, text in enumerate(texts, start=1):
        profile.hears(text, day=day)
    return profile


@pytest.mark.parametrize(
    ("language", "hated", "loved", "slot", "old", "new"),
    [
        ("zh", "我很讨厌榴莲", "其实现在挺喜欢榴莲,上周吃了两个", "兴趣爱好::美食", "讨厌榴莲", "喜欢榴莲"),
        ("en", "I really hate durian", "Actually I quite like durian now, had two last week", "interest::foods", "dislikes durian", "likes durian"),
    ],
)  # fmt: skip
def test_a_reversal_leaves_only_the_new_view_and_closes_the_old_one_on_its_day(
    language: str, hated: str, loved: str, slot: str, old: str, new: str
) -> None:
    profile = Profile(RulesDistiller(), language=language)
    profile.hears(hated, day=1)
    profile.hears(loved, day=9)
    assert profile.says() == {slot: new}
    [current], [closed] = profile.items.values(), profile.closed
    assert (current.content, current.version, current.valid_until) == (new, 2, None)
    assert (closed.id, closed.content, closed.version) == (current.id, old, 1)
    assert closed.valid_until == datetime(2026, 3, 9, 9, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("language", "first", "second", "again", "company", "old"),
    [
        ("en", "I joined Northwind as analyst", "left Northwind, at Contoso since Monday", "I'm at Contoso since Monday", "Contoso", "Northwind"),
        ("zh", "我加入了北风公司", "我离开了北风公司，入职了康拓", "我在康拓上班", "康拓", "北风公司"),
    ],
)  # fmt: skip
def test_a_new_employer_replaces_the_old_one_and_repeating_it_adds_evidence_and_no_text(
    language: str, first: str, second: str, again: str, company: str, old: str
) -> None:
    profile = heard(first, second, again, again, again, language=language)
    key = "work::company" if language == "en" else "工作::公司"
    assert profile.says()[key] == company
    [current] = [item for item in profile.items.values() if item.content == company]
    assert (current.version, len({one.message_id for one in current.evidence})) == (2, 4)
    employers = [one for one in profile.closed if one.id == current.id]
    assert [(one.content, one.version) for one in employers] == [(old, 1)]
    [slot] = [one for one in profile.slots.values() if one.content == company]
    assert len(slot.evidence) == 4
    assert all(one.message_id != "b1m0" for one in slot.evidence), "the old employer's words do not support the new one"


def test_the_same_sentence_twenty_times_is_one_slot_with_twenty_pieces_of_evidence() -> None:
    profile = heard(*["I'm allergic to hazelnuts"] * 20)
    [slot], [item] = profile.slots.values(), profile.items.values()
    assert slot.content == item.content == "allergic to hazelnuts"
    assert len({one.message_id for one in slot.evidence}) == len({one.message_id for one in item.evidence}) == 20
    assert (item.version, profile.closed) == (1, [])


def test_only_the_contradicted_part_is_touched() -> None:
    profile = heard("I like tea, coffee and durian. I live in Oslo", "I no longer like coffee")
    assert profile.says() == {"interest::foods": "likes tea; likes durian", "basic_info::city": "Oslo"}
    assert [one.content for one in profile.closed] == ["likes coffee"]
    assert sorted(one.content for one in profile.items.values()) == ["Oslo", "likes durian", "likes tea"]


def test_a_slot_ends_with_its_last_part() -> None:
    profile = heard("我对花生过敏", "我现在对花生不过敏了", language="zh")
    assert profile.says() == {}
    assert profile.items == {}
    assert [one.content for one in profile.closed] == ["对花生过敏"]


def test_moving_twice_keeps_both_earlier_homes_in_the_history() -> None:
    profile = heard("I live in Oslo", "I moved to Rome", "I moved to Lima")
    [item] = profile.items.values()
    assert (item.content, item.version) == ("Lima", 3)
    assert [(one.content, one.version) for one in profile.closed] == [("Oslo", 1), ("Rome", 2)]
    assert all(one.id == item.id for one in profile.closed)


def test_an_older_statement_that_arrives_later_does_not_win() -> None:
    profile = Profile(RulesDistiller())
    profile.hears("I live in Oslo", day=5)
    result = profile.hears("I live in Rome", day=2)
    assert profile.says() == {"basic_info::city": "Oslo"}
    assert [one.reason for one in result.dropped] == ["older"]
    [past] = profile.closed
    assert (past.content, past.valid_until) == ("Rome", datetime(2026, 3, 5, 9, 0, tzinfo=UTC))


def test_a_reversal_that_arrives_late_is_history_on_both_sides() -> None:
    profile = Profile(RulesDistiller())
    profile.hears("I love durian", day=9)
    profile.hears("I hate durian", day=1)
    assert profile.says() == {"interest::foods": "likes durian"}
    assert [one.content for one in profile.items.values()] == ["likes durian"]
    assert [one.content for one in profile.closed] == ["dislikes durian"]


def edited(profile: Profile, content: str, day: int) -> None:
    """What a person writes into the only slot."""
    [slot] = profile.slots.values()
    at = datetime(2026, 3, day, 9, 0, tzinfo=UTC)
    profile.slots[slot.id] = replace(slot, content=content, edited=True, updated_at=at)


def test_what_a_person_wrote_is_kept_unless_the_user_contradicts_it() -> None:
    profile = heard("I'm a backend engineer")
    edited(profile, "backend engineer (Go), part time", 2)
    profile.hears("I'm a backend engineer", day=3)
    assert profile.says() == {"work::title": "backend engineer (Go), part time"}
    profile.hears("I'm a teacher", day=1)
    assert profile.says() == {"work::title": "backend engineer (Go), part time"}, "said before the person wrote"
    profile.hears("I'm a teacher", day=4)
    assert profile.says() == {"work::title": "teacher"}


def test_adding_to_what_a_person_wrote_keeps_their_words() -> None:
    profile = heard("I'm allergic to nuts")
    edited(profile, "all nuts, carries an injector", 2)
    profile.hears("I'm allergic to latex", day=3)
    assert profile.says() == {"health::allergies": "all nuts, carries an injector; allergic to latex"}
    assert next(iter(profile.slots.values())).edited


def test_a_fuller_wording_by_a_person_is_not_said_again_beside_it() -> None:
    profile = heard("I like tea")
    edited(profile, "likes tea, green and without sugar", 2)
    profile.items.clear()
    profile.hears("I like tea", day=3)
    assert profile.says() == {"interest::foods": "likes tea, green and without sugar"}


def change(content: str, action: SlotAction, sub_topic: str, quote: str, **more: object) -> SlotChange:
    return SlotChange(action, "interest", sub_topic, content, (Citation("m1", quote),), **more)  # type: ignore[arg-type]


def test_a_model_that_rewrites_a_slot_and_names_what_is_wrong_cannot_lose_the_rest() -> None:
    profile = Profile(RulesDistiller())
    profile.hears("I like tea, coffee and durian", day=1)
    request = batch("Coffee? No more of that for me, matcha")
    update = change("likes matcha", SlotAction.UPDATE, "foods", "matcha", contradicts="likes coffee")
    profile.takes(Distillation(slots=(update,)), request, now=NOON)
    assert profile.says() == {"interest::foods": "likes tea; likes durian; likes matcha"}


def test_a_models_add_to_a_slot_that_exists_is_an_addition_or_a_replacement_as_the_sub_topic_asks() -> None:
    profile = heard("I like tea. I live in Oslo")
    request = batch("jazz, and it is Rome now")
    city = SlotChange(SlotAction.ADD, "basic_info", "city", "Rome", (Citation("m1", "Rome"),))
    profile.takes(Distillation(slots=(change("jazz", SlotAction.ADD, "foods", "jazz"), city)), request, now=NOON)
    assert profile.says() == {"interest::foods": "likes tea; jazz", "basic_info::city": "Rome"}


def words(text: str) -> int:
    return len(text.split())


def grown(profile: Profile, contents: list[str], sub_topic: str = "foods") -> None:
    for content in contents:
        request = batch(content)
        profile.takes(Distillation(slots=(change(content, SlotAction.APPEND, sub_topic, content),)), request, now=NOON)


def test_a_slot_that_grows_too_long_loses_its_least_supported_part_and_no_memory() -> None:
    profile = Profile(RulesDistiller())
    long = [f"likes {'very ' * 30}good dish number {number}" for number in range(4)]
    grown(profile, [long[0]])
    profile.takes(
        Distillation(slots=(change(long[0], SlotAction.APPEND, "foods", long[0]),)),
        batch(said(long[0], message_id="again")),
        now=NOON,
    )
    grown(profile, long[1:])
    [slot] = profile.slots.values()
    assert len(slot.content.encode()) // 3 + 1 <= MAX_SLOT_TOKENS
    assert len(profile.items) == 4


def test_a_topic_that_grows_too_wide_loses_its_least_supported_sub_topics() -> None:
    profile = Profile(RulesDistiller())
    for number in range(MAX_SUB_TOPICS + 3):
        grown(profile, [f"thing {number}"], f"sub_{number}")
    assert len(profile.slots) == MAX_SUB_TOPICS
    assert len(profile.items) == MAX_SUB_TOPICS + 3


def test_a_strict_taxonomy_that_was_changed_meanwhile_is_respected() -> None:
    strict = taxonomy_of(preset("strict"), preset("strict"), language="en")
    request = batch("I live in Oslo")
    accepted = accept(RulesDistiller().distil(request), request)
    result = merge(accepted, Present(), operation_id="o", now=NOON, count_tokens=len, taxonomy=strict)
    assert (result.slot_puts, result.event is not None) == ((), True)
    assert [one.reason for one in result.dropped] == ["taxonomy"]


def test_a_batch_in_which_nothing_happened_makes_no_event() -> None:
    assert Profile(RulesDistiller()).hears("ok", "thanks!").event is None


def test_the_event_names_its_gists_its_evidence_and_what_changed() -> None:
    result = Profile(RulesDistiller()).hears("I live in Oslo", "Can you plan a ski trip?")
    assert result.event is not None
    assert result.event.gist_ids == tuple(gist.id for gist in result.gists)
    assert [(one.sub_topic, one.content) for one in result.event.delta] == [("city", "Oslo")]
    assert {one.message_id for one in result.event.evidence} == {"b1m0", "b1m1"}
    assert all(gist.event_id == result.event.id for gist in result.gists)


def test_the_same_rows_on_the_same_profile_write_the_same_ids() -> None:
    request = batch("I live in Oslo and like tea", "My sister is a pilot")
    accepted = accept(RulesDistiller().distil(request), request)
    once, twice = (
        merge(accepted, Present(), operation_id="o1", now=NOON, count_tokens=len, taxonomy=request.taxonomy)
        for _ in range(2)
    )
    other = merge(accepted, Present(), operation_id="o2", now=NOON, count_tokens=len, taxonomy=request.taxonomy)
    assert once == twice
    assert not {slot.id for slot in once.slot_puts} & {slot.id for slot in other.slot_puts}


def test_instructions_and_other_people_become_items_that_can_be_replaced() -> None:
    profile = Profile(RulesDistiller())

    def told(content: str, day: int, action: SlotAction = SlotAction.UPDATE) -> None:
        at = datetime(2026, 3, day, 9, 0, tzinfo=UTC)
        draft = ItemDraft(MemoryKind.INSTRUCTION, content, (Citation("m1", content),), sub_topic="tone", action=action)
        profile.takes(Distillation(items=(draft,)), batch(said(content, at=at)), now=at)

    told("be formal", 1)
    told("be playful", 2)
    [item] = profile.items.values()
    assert (item.content, item.version, item.kind) == ("be playful", 2, MemoryKind.INSTRUCTION)
    assert [one.content for one in profile.closed] == ["be formal"]
    told("be playful", 3, SlotAction.DROP)
    assert profile.items == {}


def test_two_gists_that_say_the_same_on_one_day_are_one() -> None:
    drafts = tuple(GistDraft("ran", NOON, (Citation(one, "ran"),)) for one in ("m1", "m2"))
    result = Profile(RulesDistiller()).takes(Distillation(gists=drafts), batch("I ran", "so I ran"), now=NOON)
    [gist] = result.gists
    assert {one.message_id for one in gist.evidence} == {"m1", "m2"}


texts = st.text(alphabet="abc 日本。.", min_size=1, max_size=400)


@given(texts, st.integers(1, 40))
def test_a_bounded_text_is_within_its_bound(text: str, maximum: int) -> None:
    assert len(bounded(text, len, maximum=maximum)) <= maximum


@given(st.lists(st.text(alphabet="abcd", min_size=1, max_size=10), min_size=1, max_size=12), st.integers(10, 60))
def test_what_fits_is_in_order_and_within_the_bound(elements: list[str], maximum: int) -> None:
    kept = fitting(elements, len, len, maximum=maximum)
    assert len("; ".join(kept)) <= maximum
    remaining = iter(elements)
    assert all(element in remaining for element in kept)


def test_what_a_person_wrote_is_never_surplus() -> None:
    slots = [ProfileSlot(str(n), "t", str(n), "x", 1, NOON, NOON, edited=n < 10) for n in range(20)]
    gone = surplus(slots)
    assert len(gone) == 5
    assert not any(slot.edited for slot in gone)


SENTENCES = [
    "I live in Oslo", "I moved to Rome", "I like tea", "I hate tea", "I no longer like tea", "I'm vegan", "I'm not vegan",
    "I work at Contoso", "I left Contoso", "I'm allergic to nuts", "I'm not allergic to nuts", "ok", "I like tea, jazz and nuts",
]  # fmt: skip


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(SENTENCES), st.integers(1, 28)), max_size=12))
def test_whatever_is_said_in_whatever_order_each_fact_stands_once_and_history_is_sound(
    said_on: list[tuple[str, int]],
) -> None:
    profile = Profile(RulesDistiller())
    for sentence, day in said_on:
        profile.hears(sentence, day=day)
    places = [(slot.topic, slot.sub_topic) for slot in profile.slots.values()]
    assert len(places) == len(set(places))
    for slot in profile.slots.values():
        parts = slot.content.split("; ")
        assert len(parts) == len(set(parts))
        assert slot.evidence
    versions = [(one.id, one.version) for one in (*profile.closed, *profile.items.values())]
    assert len(versions) == len(set(versions))
    assert all(one.valid_until is not None and one.valid_until >= one.valid_from for one in profile.closed)
    assert all(one.valid_until is None and one.evidence for one in profile.items.values())


@settings(max_examples=60, deadline=None)
@given(st.permutations(["I live in Oslo", "I live in Rome", "I live in Lima", "I live in Bern"]))
def test_the_order_of_arrival_does_not_decide_where_somebody_lives(order: list[str]) -> None:
    days = {"I live in Oslo": 1, "I live in Rome": 2, "I live in Lima": 3, "I live in Bern": 4}
    profile = Profile(RulesDistiller())
    for sentence in order:
        profile.hears(sentence, day=days[sentence])
    assert profile.says() == {"basic_info::city": "Bern"}


def test_an_empty_batch_merges_to_nothing() -> None:
    empty = Accepted((), (), (), "", (), (), (), (), NOON)
    row: tuple[AcceptedChange, ...] = empty.slots
    assert row == ()
    result = merge(empty, Present(), operation_id="o", now=NOON, count_tokens=len, taxonomy=batch("x").taxonomy)
    assert (result.slot_puts, result.item_puts, result.event) == ((), (), None)
