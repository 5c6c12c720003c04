"""A model may pick among the candidates of an ambiguous mention; whatever else it does, the mention stays ambiguous."""

import subprocess
import sys
import threading
import time

import pytest

from engram.bootstrap import Services
from engram.domain.errors import ModelFailure, Unavailable
from engram.domain.models import MentionStatus
from engram.recall.bundle import ExecutionStatus, SupportStatus
from engram.recall.choosing import MAX_ASKED, SHOWN_CHARACTERS, Choices
from engram.recall.deadline import REST_SECONDS
from engram.recall.request import RecentMessage
from engram.resolve.models import ResolveContext
from engram.resolve.resolver import Resolver
from engram.resolve.shipped import default_catalogue
from engram.settings import Settings
from tests.builders import Remembering, moment
from tests.servers import ROOT

NOW = ResolveContext(moment("07-01 09:00"))
COUNTRY, PERSON = "E065", "E134"
BOTH = "what did we say about Jordan and the plan?"
UNUSABLE = [None, "", "E999", "TRAVEL_GUIDE", "约旦"]


class Chooser:
    """Answers by the mention's words; waits until `go`, or fails, where told to."""

    def __init__(self, answers=None, *, error=None, go=None):
        self.asked = []
        self.answers = answers or {}
        self.error, self.go = error, go

    def choose(self, text, mention, candidates):
        self.asked.append((text, mention, dict(candidates)))
        if self.go is not None:
            self.go.wait(5)
        if self.error is not None:
            raise self.error
        return self.answers.get(mention)


@pytest.fixture(scope="module")
def resolver():
    return Resolver(default_catalogue())


def choices(chooser, *, deadline_ms=2_000.0, **fields):
    return Choices(chooser=chooser, deadline_ms=deadline_ms, **fields)


@pytest.fixture
def settle(resolver):
    """Resolves a query and puts what stayed ambiguous to `asks`."""

    def settle(asks, query="anything on Jordan?", recent=()):
        resolution = resolver.resolve(query, NOW)
        return asks.settled(resolution, recent, resolver.catalogue)

    return settle


class TestWhatTheModelMay:
    @pytest.mark.parametrize(("said", "name"), [(COUNTRY, "约旦"), (PERSON, "Jordan Lee")])
    def test_pick_a_candidate(self, settle, said, name):
        settled = settle(choices(Chooser({"Jordan": said})))
        (mention,) = settled.resolution.entities
        assert (mention.status, mention.id, mention.name) == (MentionStatus.LINKED, said, name)
        assert mention.found_by == "model"
        assert {one.id for one in mention.candidates} == {COUNTRY, PERSON}
        assert not settled.missing
        assert settled.resolution.trace[-1] == (
            "model: asked about 1 ambiguous mentions, decided 1, no usable answer about 0"
        )

    @pytest.mark.parametrize("said", UNUSABLE)
    def test_bring_in_nothing_new(self, settle, resolver, said):
        settled = settle(choices(Chooser({"Jordan": said})))
        assert settled.resolution.entities == resolver.resolve("anything on Jordan?", NOW).entities
        assert settled.resolution.entity_ids == ()
        assert not settled.missing

    def test_decide_about_several_mentions_each_by_itself(self, settle):
        settled = settle(choices(Chooser({"plan": "DIET_PLAN", "Jordan": "E999"})), BOTH)
        assert settled.resolution.topic_ids == ("DIET_PLAN",)
        assert settled.resolution.entities[0].status is MentionStatus.AMBIGUOUS

    def test_see_the_candidates_by_name_and_the_words_around(self, settle):
        chooser = Chooser()
        settle(choices(chooser), recent=("We land in Amman on Friday.",))
        [(text, words, offered)] = chooser.asked
        assert words == "Jordan"
        assert "Amman" in text
        assert text.endswith("anything on Jordan?")
        assert set(offered) == {COUNTRY, PERSON}
        assert "Jordan" in offered[COUNTRY]
        assert "country" in offered[COUNTRY]

    def test_see_no_more_than_a_page(self, settle):
        chooser = Chooser()
        settle(choices(chooser), "x " * 700 + "anything on Jordan?" + " y" * 5_000, recent=("z " * 5_000,))
        [(text, _, _)] = chooser.asked
        assert "Jordan" in text
        assert len(text) <= SHOWN_CHARACTERS + 1

    @pytest.mark.parametrize(
        "query", ["上次我们聊天杭州游玩攻略再给我一下", "what did we settle last time?", "🎿", "\x00"]
    )
    def test_not_even_be_asked_when_nothing_is_ambiguous(self, settle, resolver, query):
        chooser = Chooser()
        settled = settle(choices(chooser), query)
        assert settled.resolution == resolver.resolve(query, NOW)
        assert chooser.asked == []


class TestWhatItCosts:
    def test_the_same_question_is_asked_once(self, settle):
        chooser = Chooser({"Jordan": COUNTRY})
        asks = choices(chooser)
        assert [settle(asks).resolution.entity_ids for _ in range(3)] == [(COUNTRY,)] * 3
        assert len(chooser.asked) == 1
        settle(asks, recent=("My colleague is back.",))
        assert len(chooser.asked) == 2

    def test_a_query_full_of_names_is_a_few_calls(self, settle):
        chooser = Chooser()
        query = "Jordan, Georgia, Washington, Phoenix, Mercury and Paris, and the plan"
        settled = settle(choices(chooser), query)
        ambiguous = [one for one in settled.resolution.entities if one.status is MentionStatus.AMBIGUOUS]
        assert 2 < len(chooser.asked) <= MAX_ASKED
        assert len(ambiguous) >= len(chooser.asked)

    def test_a_mention_said_twice_in_one_breath_is_one_call(self, settle):
        chooser = Chooser({"Jordan": PERSON})
        settled = settle(choices(chooser), "Jordan or Jordan?")
        assert set(settled.resolution.entity_ids) == {PERSON}
        assert len(chooser.asked) == len({(text, words) for text, words, _ in chooser.asked})


class TestAModelThatFails:
    @pytest.mark.parametrize("error", [Unavailable("down"), ModelFailure("dunno"), OSError("socket")])
    def test_leaves_the_mention_as_it_was_and_is_named(self, settle, resolver, error):
        settled = settle(choices(Chooser(error=error)))
        assert settled.resolution.entities == resolver.resolve("anything on Jordan?", NOW).entities
        assert settled.missing
        assert settled.resolution.trace[-1].endswith("no usable answer about 1")

    def test_that_is_slow_holds_nobody_beyond_the_deadline_however_many_mentions(self, settle):
        go = threading.Event()
        started = time.perf_counter()
        settled = settle(choices(Chooser(go=go), deadline_ms=80), BOTH)
        took = time.perf_counter() - started
        go.set()
        assert took < 1
        assert settled.missing
        assert (settled.resolution.entity_ids, settled.resolution.topic_ids) == ((), ())

    def test_that_is_down_rests_before_it_is_asked_again(self, settle):
        now = 0.0
        chooser = Chooser({"Jordan": COUNTRY}, error=Unavailable("down"))
        asks = choices(chooser, seconds=lambda: now)
        assert [settle(asks).missing for _ in range(3)] == [True] * 3
        assert len(chooser.asked) == 1
        chooser.error, now = None, REST_SECONDS + 1
        assert settle(asks).resolution.entity_ids == (COUNTRY,)

    def test_that_talked_nonsense_once_is_asked_again_at_once(self, settle):
        chooser = Chooser({"Jordan": COUNTRY}, error=ModelFailure("dunno"))
        asks = choices(chooser)
        assert settle(asks).missing
        chooser.error = None
        assert settle(asks).resolution.entity_ids == (COUNTRY,)


GUIDE = "约旦旅行攻略：第一天安曼，第二天佩特拉古城，第三天瓦迪拉姆沙漠。"
ABOUT_JORDAN = "what did we say about Jordan last time?"


class TestInARecall:
    @pytest.fixture
    def memory(self, tmp_path):
        memory = Remembering(tmp_path)
        memory.say("trip", "06-01 10:00", "给我一份约旦旅行攻略", GUIDE)
        memory.say("work", "06-03 10:00", "Jordan Lee joins our team on Monday.", "Noted.")
        return memory

    def recall(self, memory, chooser, query=ABOUT_JORDAN, **fields):
        other = memory.reopened(_choices=choices(chooser, deadline_ms=fields.pop("deadline_ms", 2_000)))
        return other.recall(query, **fields)

    @pytest.mark.parametrize(("said", "session"), [(COUNTRY, "trip"), (PERSON, "work")])
    def test_the_choice_decides_which_conversation_is_meant(self, memory, said, session):
        bundle = self.recall(memory, Chooser({"Jordan": said}))
        assert [one.session_id for one in bundle.conversation_refs] == [session]
        assert bundle.support_status is SupportStatus.SUPPORTED
        assert (bundle.execution_status, bundle.missing) == (ExecutionStatus.COMPLETE, ())

    def test_without_one_the_answer_is_as_it_always_was(self, memory):
        plain = memory.recall(ABOUT_JORDAN)
        undecided = self.recall(memory, Chooser())
        assert plain.support_status is SupportStatus.AMBIGUOUS
        assert (undecided.support_status, undecided.evidence) == (plain.support_status, plain.evidence)

    def test_a_hung_model_costs_the_deadline_and_is_named(self, memory):
        go = threading.Event()
        bundle = self.recall(memory, Chooser(go=go), deadline_ms=60)
        go.set()
        assert (bundle.execution_status, bundle.missing) == (ExecutionStatus.DEGRADED, ("chooser",))
        assert bundle.support_status is SupportStatus.AMBIGUOUS
        assert {one.session_id for one in bundle.conversation_refs} <= {"trip", "work"}

    def test_a_follow_up_is_decided_by_what_it_goes_on_from(self, memory):
        chooser = Chooser({"Jordan": COUNTRY})
        bundle = self.recall(
            memory, chooser, "and the time before?", recent_messages=(RecentMessage("user", ABOUT_JORDAN),)
        )
        assert bundle.resolution.entity_ids == (COUNTRY,)
        [(text, _, _)] = chooser.asked
        assert ABOUT_JORDAN in text


class TestTheSetting:
    @pytest.mark.parametrize("distiller", ["rules", "openai_compatible", "bedrock"])
    def test_off_whatever_distils(self, tmp_path, distiller):
        services = Services(Settings(data_dir=str(tmp_path), embedder="none", distiller=distiller))
        assert services._choices is None

    @pytest.mark.parametrize("chooser", ["openai_compatible", "bedrock"])
    def test_on_whatever_distils(self, tmp_path, chooser):
        settings = Settings(
            data_dir=str(tmp_path), chooser=chooser, chooser_model="small", model_base_url="http://127.0.0.1:9"
        )
        assert isinstance(Services(settings)._choices, Choices)

    def test_off_costs_no_import(self, tmp_path):
        """A process of its own, since this one has loaded everything."""
        code = (
            "import sys; from engram.bootstrap import Services; from engram.settings import Settings;"
            f"Services(Settings(data_dir={str(tmp_path)!r}, embedder='none')).recall;"
            "print([n for n in sys.modules if n in ('engram.adapters.chat', 'engram.prompts.choosing', 'urllib3')])"
        )
        found = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT / "layers" / "engram", check=True
        )
        assert found.stdout.strip() == "[]"
