"""Gists: what is said again is not told again; what happens again is."""

import pytest

from engram.adapters.rules import RulesDistiller
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
