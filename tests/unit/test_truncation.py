"""Which profile rows are offered to the budget: the order of the rules, against a plain reading of them."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from engram.context.budget import Budget
from engram.profile.taxonomy import attribute_unify
from engram.profile.truncation import TopicRules, choose


@dataclass(frozen=True)
class Row:
    id: str
    topic: str
    updated: float


TOPICS = ["work", "health", "life_event", "兴趣爱好"]
SPELLINGS = {"work": [" Work", "WORK"], "health": ["Health "], "life_event": ["Life Event"], "兴趣爱好": ["兴趣爱好"]}
spelled = st.sampled_from(TOPICS).flatmap(lambda topic: st.sampled_from([topic, *SPELLINGS[topic]]))
rows = st.lists(st.tuples(st.sampled_from(TOPICS), st.integers(0, 5)), max_size=15).map(
    lambda made: [Row(f"r{at:02d}", topic, updated) for at, (topic, updated) in enumerate(made)]
)
rules = st.builds(
    TopicRules,
    prefer=st.lists(spelled, max_size=3).map(tuple),
    only=st.lists(spelled, max_size=3).map(tuple),
    max_sub_topics=st.none() | st.integers(0, 4),
    limits=st.dictionaries(spelled, st.integers(0, 4), max_size=2),
)


@given(rows, rules)
def test_every_row_is_either_kept_or_named_with_its_reason(rows, rules):
    kept, dropped = choose(rows, rules)
    assert sorted(row.id for row in kept) == sorted({row.id for row in rows} - {row.id for row, _ in dropped})
    assert {reason for _, reason in dropped} <= {"not_in_only_topics", "topic_limit"}


@given(rows, rules)
def test_the_order_is_preferred_topics_first_and_the_newest_change_first_within(rows, rules):
    kept, _ = choose(rows, rules)
    preferred = list(dict.fromkeys(map(attribute_unify, rules.prefer)))
    ranks = [preferred.index(row.topic) if row.topic in preferred else len(preferred) for row in kept]
    assert ranks == sorted(ranks)
    for earlier, later in pairwise(kept):
        same = preferred.index(earlier.topic) if earlier.topic in preferred else None
        if (preferred.index(later.topic) if later.topic in preferred else None) == same:
            assert earlier.updated >= later.updated


@given(rows, rules)
def test_limits_per_topic_win_over_the_general_one_and_keep_the_first(rows, rules):
    kept, _ = choose(rows, rules)
    limits = {attribute_unify(name): limit for name, limit in rules.limits.items()}
    only = set(map(attribute_unify, rules.only))
    for topic in TOPICS:
        there = [row for row in rows if row.topic == topic]
        limit = limits.get(topic, rules.max_sub_topics)
        allowed = 0 if only and topic not in only else len(there) if limit is None else min(limit, len(there))
        mine = [row for row in kept if row.topic == topic]
        assert len(mine) == allowed
        left = [row for row in there if row not in mine]
        assert not mine or not left or min(row.updated for row in mine) >= max(row.updated for row in left)


@given(st.integers(0, 5000), st.floats(0, 1), st.integers(0, 5000), st.booleans())
def test_what_events_may_use_never_takes_more_than_is_left(max_tokens, ratio, used, fill):
    budget = Budget(max_tokens, ratio, fill)
    used = min(used, budget.profile)
    events = budget.events(used)
    assert 0 <= budget.profile <= max_tokens
    assert 0 <= events <= max_tokens - used
    assert events == max_tokens - used if fill else events <= max_tokens - budget.profile
