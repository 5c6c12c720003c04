"""Gists: what is said again is not told again; what happens again is."""

from datetime import UTC

import pytest

from engram.adapters.rules import RulesDistiller
from engram.context.hot import hot_profile
from engram.domain.models import User
from engram.extraction.merge import MAX_GISTS
from engram.profile.config import ProfileConfig, taxonomy_of
from engram.profile.rules import ProfileRules
from tests.builders import Profile


def lines(profile):
    return [gist.content for gist in profile.gists]


@pytest.mark.parametrize("text", ["I am allergic to cats.", "我对花生过敏。", "I work at Contoso."])
def test_a_statement_repeated_on_other_days_stays_one_line_with_more_evidence(text):
    profile = Profile(RulesDistiller())
    for day in (2, 5, 9):
        profile.hears(text, day=day)
    assert len(lines(profile)) == 1
    assert len(profile.gists[0].evidence) == 3
    assert len(profile.events) == 1


def test_the_same_words_twice_on_one_day_are_one_line():
    profile = Profile(RulesDistiller())
    profile.hears("I finished the marathon today.", day=2)
    profile.hears("I finished the marathon today.", day=2)
    assert len(lines(profile)) == 1


def test_what_happens_again_on_another_day_is_told_again():
    profile = Profile(RulesDistiller())
    profile.hears("I went running today.", day=2)
    profile.hears("I went running today.", day=9)
    assert len(lines(profile)) == 2


def test_a_repeated_statement_beside_a_new_one_keeps_the_new_one():
    profile = Profile(RulesDistiller())
    profile.hears("I am allergic to cats.", day=2)
    profile.hears("I am allergic to cats.", "I live in Oslo.", day=5)
    assert len(lines(profile)) == 2
    assert profile.says()["basic_info::city"] == "Oslo"


REVERSALS = [
    ("I really hate durian.", "Actually I like durian now."),
    ("我很讨厌榴莲", "其实现在挺喜欢榴莲"),
    ("I plan to move to Spain in May.", "I cancelled my move to Spain."),
    ("I live in Tokyo.", "No, I meant Osaka, not Tokyo."),
]


@pytest.mark.parametrize(("before", "after"), REVERSALS)
@pytest.mark.parametrize("together", [True, False])
def test_a_line_that_states_only_what_was_taken_back_is_history_and_is_not_shown(before, after, together):
    profile = Profile(RulesDistiller())
    for batch in [(before, after)] if together else [(before,), (after,)]:
        profile.hears(*batch, day=2)
    first = before.rstrip(".")
    assert [gist.content.endswith(first) for gist in profile.gists if gist.overtaken] == [True]
    user = User("u1", profile.gists[0].created_at, profile.gists[0].created_at)
    taxonomy = taxonomy_of(ProfileConfig(), ProfileConfig(), language="en")
    hot = hot_profile(user, slots=(), gists=profile.gists, rules=ProfileRules(taxonomy, 1), zone=UTC)
    assert not any(line.text.rstrip().endswith(first) for line in hot.gists)


def test_a_line_that_also_says_what_still_holds_is_shown():
    profile = Profile(RulesDistiller())
    profile.hears("I live in Oslo and I hate durian.", day=2)
    profile.hears("I like durian now.", day=5)
    assert [gist.overtaken for gist in profile.gists] == [False, False]


def test_what_is_said_again_after_it_was_taken_back_is_shown_again():
    profile = Profile(RulesDistiller())
    for text in ("I love durian.", "I hate durian.", "I love durian."):
        profile.hears(text, day=2)
    assert {gist.content: gist.overtaken for gist in profile.gists} == {
        "User said: I love durian": False,
        "User said: I hate durian": True,
    }


def test_lines_beyond_what_one_batch_may_tell_are_counted_as_dropped():
    profile = Profile(RulesDistiller())
    result = profile.hears(*(f"I own grinder no. {number}." for number in range(MAX_GISTS + 3)), day=2)
    assert len(profile.gists) == MAX_GISTS
    assert [one.reason for one in result.dropped] == ["too_many"] * 3
