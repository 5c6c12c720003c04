"""The context: from the cache, from the table, without either; stale and torn answers are never given."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from dataclasses import replace
from datetime import UTC, timedelta

import pytest

from engram.adapters.memory_cache import MemoryCache
from engram.context.events import EventSearch, last_user_turns
from engram.context.hot import decode_hot
from engram.context.lines import gist_line, slot_line
from engram.context.profiles import HotProfiles
from engram.context.request import ChatTurn, ContextRequest
from engram.context.service import ContextService
from engram.domain.documents import Document, DocumentKind, Hit, SearchResult
from engram.domain.errors import ModelFailure, Unavailable
from engram.domain.models import Gist, ProfileSlot, User
from engram.domain.scope import Scope
from engram.profile.config import ProfileConfig, parse_config, taxonomy_of
from engram.profile.rules import ProfileRules
from engram.store.commits import ProfileCommit
from engram.text.tokens import count_tokens
from tests.builders import MovableClock, Remembering

SCOPE = Scope("acme", "u1")
CHATS = (ChatTurn("user", "shall we go to Kyoto again?"),)


class Household:
    """A user with rows in a real table, a cache to break, and the service on both."""

    def __init__(self, folder):
        self.at = Remembering(folder)
        self.clock: MovableClock = self.at.clock
        self.cache = Breakable(MemoryCache())
        self.reader = Breakable(self.at.services.reader)
        self.rules = ProfileRules(taxonomy_of(ProfileConfig(), ProfileConfig()))
        self.filter = None
        self.search = Searching()
        self.profiles = self._profiles()
        self.service = self._service(self.profiles)

    def _profiles(self):
        return HotProfiles(
            cache=self.cache,
            reader=lambda: self.reader,
            rules_of=lambda _: self.rules,
            unprojected=lambda: self.at.services.unprojected_profiles,
            zone=UTC,
        )

    def another_process(self):
        """Another container's service on the same table and cache."""
        return self._service(self._profiles())

    def _service(self, profiles):
        return ContextService(
            profiles=profiles,
            search=lambda: EventSearch(
                embedder=self.search, index=self.search, reader=lambda: self.reader, zone=UTC, deadline_ms=100
            ),
            profile_filter=lambda: self.filter,
            language_of=lambda _: self.rules.language,
            clock=self.clock,
        )

    def write(self, *, slots=(), gists=(), scope=SCOPE):
        profile = self.at.services.reader.profile(scope)
        user = profile.user or User(scope.user_id, self.clock.now, self.clock.now, version=0)
        commit = ProfileCommit(user, profile.tombstones, slots=tuple(slots), gists=tuple(gists))
        self.at.services.commits.profile(scope, commit)

    def slot(self, content, topic="work", sub_topic="title", id=""):
        tokens = count_tokens(slot_line(topic, sub_topic, content))
        self.clock.go_on(1)
        return ProfileSlot(id or f"s-{content}", topic, sub_topic, content, tokens, self.clock.now, self.clock.now)

    def gist(self, content, days_ago=0, summarised=True):
        happened = self.clock.now - timedelta(days=days_ago)
        tokens = count_tokens(gist_line(content, happened, UTC))
        return Gist(f"g-{content}", "e", content, tokens, happened, self.clock.now, summarised=summarised)

    def ask(self, **fields):
        return self.service.context(SCOPE, ContextRequest(**fields))


class Breakable:
    """Something whose methods can be made to fail, and whose calls are counted."""

    def __init__(self, inner):
        self.inner, self.broken, self.calls = inner, set(), []

    def __getattr__(self, name):
        def call(*arguments, **named):
            self.calls.append(name)
            if name in self.broken:
                raise Unavailable(name)
            return getattr(self.inner, name)(*arguments, **named)

        return call


class Searching:
    """An encoder and an index that find what they are told to."""

    id = "test@2"

    def __init__(self):
        self.hits, self.missing, self.asked, self.fails = (), (), [], False

    def embed(self, texts, purpose):
        if self.fails:
            raise Unavailable("encoder")
        self.asked += texts
        return [b"\0" * 8 for _ in texts]

    def search(self, scope, query):
        assert query.where.kinds == (DocumentKind.GIST,)
        return SearchResult({"vector": self.hits}, self.missing)

    def find(self, *gists, score=0.9):
        self.hits = tuple(
            Hit(Document(f"g:{one.id}", DocumentKind.GIST, 1, one.happened_at, one.content), score) for one in gists
        )


@pytest.fixture
def home(tmp_path):
    return Household(tmp_path)


def test_a_brand_new_user_gets_an_empty_well_formed_block(home):
    block = home.ask()
    assert block.text.startswith("---\n# Memory")
    assert (block.tokens_profile, block.tokens_events, block.degraded, block.dropped) == (0, 0, (), ())


def test_a_hit_is_one_cache_round_trip_and_nothing_else(home):
    home.write(slots=[home.slot("engineer")], gists=[home.gist("dinner")])
    first = home.ask()
    home.cache.calls, home.reader.calls = [], []
    assert home.ask() == first
    assert home.cache.calls == ["get"]
    assert home.reader.calls == []
    assert "engineer" in first.text
    assert "dinner" in first.text


def test_the_table_answers_when_the_cache_is_lost_between_two_calls(home):
    home.write(slots=[home.slot("engineer")])
    first = home.ask()
    home.cache.inner = MemoryCache()
    assert home.ask() == first


def test_without_a_cache_every_read_is_one_of_the_table(home):
    home.write(slots=[home.slot("engineer")])
    home.profiles._cache = None
    assert "engineer" in home.ask().text
    home.profiles.write_through(SCOPE)
    home.profiles.forget(SCOPE, epoch=1)


def test_the_counts_of_the_answer_are_those_of_the_text(home):
    home.write(slots=[home.slot("engineer"), home.slot("旅游", sub_topic="hobby")], gists=[home.gist("dinner")])
    block = home.ask()
    assert count_tokens(block.text) == block.tokens_total
    assert block.tokens_total > block.tokens_profile + block.tokens_events > 0


def test_a_write_is_in_the_next_block_once_it_was_written_through(home):
    home.write(slots=[home.slot("engineer")])
    home.ask()
    home.write(slots=[home.slot("baker")])
    home.profiles.write_through(SCOPE)
    assert "baker" in home.ask().text


def test_a_slow_reader_never_puts_an_old_profile_over_a_new_one(home):
    home.write(slots=[home.slot("engineer")])
    home.ask()
    old = home.cache.inner.get(SCOPE)
    home.write(slots=[home.slot("baker")])
    home.profiles.write_through(SCOPE)
    home.cache.inner.put(SCOPE, old)
    assert "baker" in home.ask().text


def test_a_cache_that_was_away_during_a_write_is_told_again_by_the_sweep(home):
    home.write(slots=[home.slot("engineer")])
    home.ask()
    put, home.cache.inner.put = home.cache.inner.put, lambda scope, entry: False
    home.write(slots=[home.slot("baker")])
    assert home.profiles.write_through(SCOPE) is False
    assert home.profiles.repair() == 0, "it is still away"
    assert "baker" in home.ask().text, "whoever could not tell the cache does not believe it"
    home.cache.inner.put = put
    other = home.another_process()
    assert "baker" not in other.context(SCOPE, ContextRequest()).text
    assert home.profiles.repair() == 1
    assert "baker" in other.context(SCOPE, ContextRequest()).text
    assert home.profiles.repair() == 0


def test_a_deletion_beats_any_fill(home):
    home.write(slots=[home.slot("engineer")])
    home.ask()
    stale = home.cache.inner.get(SCOPE)
    home.at.services.deletion.delete(SCOPE, _slot_kind(), "s-engineer")
    home.profiles.forget(SCOPE, epoch=home.at.services.reader.tombstones(SCOPE).epoch)
    home.cache.inner.put(SCOPE, stale)
    assert "engineer" not in home.ask().text
    assert "engineer" not in home.ask().text


def _slot_kind():
    from engram.lifecycle.targets import TargetKind

    return TargetKind.SLOT


def test_a_change_of_the_rules_makes_a_newer_entry_of_the_same_profile(home):
    home.write(slots=[home.slot("engineer")])
    home.ask()
    old = home.cache.inner.get(SCOPE)
    home.rules = ProfileRules(taxonomy_of(ProfileConfig(), parse_config("language: zh\npreset: strict")), version=1)
    home.profiles.write_through(SCOPE)
    home.cache.inner.put(SCOPE, old)
    block = home.ask()
    assert "# 记忆" in block.text
    assert "engineer" not in block.text


def test_a_commit_between_two_reads_is_read_again_and_never_half_served(home):
    home.write(slots=[home.slot("one", id="s")], gists=[home.gist("one")])
    gists, once = home.at.services.reader.gists, []

    class Torn:
        def __getattr__(self, name):
            return getattr(home.at.services.reader, name)

        def slots(self, scope):
            found = home.at.services.reader.slots(scope)
            if not once:
                once.append(1)
                home.write(slots=[home.slot("two", id="s")], gists=[home.gist("two")])
            return found

    home.reader.inner = Torn()
    text = home.ask().text
    assert "title: two" in text
    assert gists(SCOPE)


@pytest.mark.parametrize(
    ("broken", "lost", "there", "gone"),
    [("gists", "events", "engineer", "dinner"), ("slots", "profile", "dinner", "engineer")],
)
def test_if_one_line_fails_the_other_is_served_and_the_lost_one_named(home, broken, lost, there, gone):
    home.write(slots=[home.slot("engineer")], gists=[home.gist("dinner")])
    home.reader.broken = {broken}
    block = home.ask()
    assert block.degraded == (lost,)
    assert there in block.text
    assert gone not in block.text
    home.reader.broken = set()
    assert home.ask().degraded == (), "what was read in part must not have filled the cache"


def test_if_the_table_is_gone_the_block_is_empty_and_says_so(home):
    home.write(slots=[home.slot("engineer")])
    home.reader.broken = {"state"}
    block = home.ask()
    assert block.degraded == ("profile", "events")
    assert block.text.startswith("---\n")


def test_the_table_may_be_gone_as_long_as_the_cache_answers(home):
    home.write(slots=[home.slot("engineer")])
    home.ask()
    home.reader.broken = {"state", "slots", "gists"}
    assert "engineer" in home.ask().text


def test_topics_are_preferred_limited_and_whitelisted_in_that_order(home):
    slots = [
        home.slot(f"v{n}", topic=topic, sub_topic=f"s{n}")
        for n, topic in enumerate(["work", "work", "health", "interest"])
    ]
    home.write(slots=slots)

    def shown(**fields):
        return [line.split(": ")[1] for line in home.ask(**fields).text.splitlines() if line.startswith("- ")]

    assert shown() == ["v3", "v2", "v1", "v0"]
    assert shown(prefer_topics=("Work", "health")) == ["v1", "v0", "v2", "v3"]
    assert shown(only_topics=(" WORK ",)) == ["v1", "v0"]
    assert shown(max_subtopic_size=1) == ["v3", "v2", "v1"]
    assert shown(max_subtopic_size=1, topic_limits={"Work": 2, "health": 0}) == ["v3", "v1", "v0"]
    reasons = {(one.id, one.reason) for one in home.ask(only_topics=("work",), max_subtopic_size=1).dropped}
    assert reasons == {("s-v3", "not_in_only_topics"), ("s-v2", "not_in_only_topics"), ("s-v0", "topic_limit")}


def test_the_time_range_counts_from_when_it_happened(home):
    home.write(gists=[home.gist("yesterday", 1), home.gist("last year", 400), home.gist("tomorrow", -1)])
    text = home.ask().text
    assert "last year" not in text
    assert text.index("tomorrow") < text.index("yesterday")
    assert "last year" in home.ask(time_range_in_days=500).text
    assert "yesterday" not in home.ask(time_range_in_days=0).text


def test_lines_of_events_without_a_summary_are_left_out_on_demand(home):
    home.write(gists=[home.gist("told"), home.gist("bare", summarised=False)])
    assert "bare" in home.ask().text
    text = home.ask(require_event_summary=True).text
    assert "told" in text
    assert "bare" not in text


def test_with_chats_events_come_by_likeness_to_the_last_user_turns(home):
    kyoto, tea = home.gist("Kyoto trip", 100), home.gist("tea")
    home.write(gists=[kyoto, tea])
    home.search.find(kyoto)
    block = home.ask(chats=(ChatTurn("user", "old"), ChatTurn("assistant", "a"), *CHATS))
    assert home.search.asked == ["old\nshall we go to Kyoto again?"]
    assert "Kyoto trip" in block.text
    assert "tea" not in block.text
    assert home.ask(chats=CHATS, event_similarity_threshold=0.95).tokens_events == 0


def test_an_event_that_the_index_still_has_and_the_table_not_is_not_shown(home):
    home.write(gists=[home.gist("tea")])
    home.search.find(home.gist("deleted long ago", 5))
    block = home.ask(chats=CHATS)
    assert "deleted" not in block.text
    assert block.degraded == ()


def test_an_older_event_than_the_cache_holds_is_found_in_the_table(home):
    home.write(gists=[home.gist(f"n{n}") for n in range(60)])
    old = home.gist("Kyoto trip", 50)
    home.write(gists=[old])
    home.search.find(old)
    assert "Kyoto trip" in home.ask(chats=CHATS).text


@pytest.mark.parametrize("failure", ["encoder", "index"])
def test_a_failing_search_serves_the_newest_events_and_says_so(home, failure):
    home.write(slots=[home.slot("engineer")], gists=[home.gist("tea")])
    home.search.fails = failure == "encoder"
    home.search.missing = ("vector",) if failure == "index" else ()
    block = home.ask(chats=CHATS)
    assert block.degraded == ("events",)
    assert "tea" in block.text
    assert "engineer" in block.text


def test_an_encoder_that_hangs_is_waited_for_no_longer_than_allowed(home):
    home.write(gists=[home.gist("tea")])
    home.service._patience_ms = 50
    released = threading.Event()
    home.search.embed = lambda texts, purpose: released.wait(5) and [b""]
    watch = time.perf_counter()
    block = home.ask(chats=CHATS)
    assert time.perf_counter() - watch < 2
    released.set()
    assert block.degraded == ("events",)
    assert "tea" in block.text


class Choosing:
    def __init__(self, answer):
        self.answer = answer

    def choose(self, chats, slots):
        if isinstance(self.answer, Exception):
            raise self.answer
        return frozenset(self.answer)


def test_the_model_filter_keeps_what_bears_on_the_chats(home):
    home.write(slots=[home.slot("engineer"), home.slot("tall", sub_topic="height")])
    home.filter = Choosing(["s-tall"])
    block = home.ask(chats=CHATS, full_profile_and_only_search_event=False)
    assert "engineer" not in block.text
    assert "tall" in block.text
    assert [(one.id, one.reason) for one in block.dropped] == [("s-engineer", "not_relevant")]
    assert "engineer" in home.ask(chats=CHATS).text, "by default the profile is whole"
    assert "engineer" in home.ask(full_profile_and_only_search_event=False).text, (
        "without chats there is nothing to filter by"
    )


@pytest.mark.parametrize("answer", [Unavailable("x"), ModelFailure("x"), None])
def test_a_failing_filter_serves_the_whole_profile_and_says_so(home, answer):
    home.write(slots=[home.slot("engineer")])
    home.filter = Choosing(answer) if answer is not None else None
    block = home.ask(chats=CHATS, full_profile_and_only_search_event=False)
    assert "engineer" in block.text
    assert block.degraded == ("profile_filter",)


def test_fifty_readers_during_writes_see_no_stale_and_no_torn_block(home):
    """Each commit writes one number as slot and gist. A block holds one number, never lower than one seen before."""
    home.write(slots=[home.slot("0", id="s")], gists=[replace(home.gist("0"), id="g")])
    happened = home.gist("x").happened_at
    done, wrong, written = threading.Event(), [], [0]

    def read():
        seen = 0
        while not done.is_set():
            floor = written[0]
            text = home.ask().text
            numbers = {line.split()[-1] for line in text.splitlines() if line.startswith("- ")}
            number = int(next(iter(numbers)))
            if len(numbers) != 1 or number < max(seen, floor):
                wrong.append((numbers, seen, floor))
            seen = number

    readers = [threading.Thread(target=read) for _ in range(50)]
    for one in readers:
        one.start()
    for number in range(1, 25):
        slot = home.slot(str(number), id="s")
        home.write(slots=[slot], gists=[Gist("g", "e", str(number), 12, happened, home.clock.now)])
        home.profiles.write_through(SCOPE)
        written[0] = number
        time.sleep(0.005)
    done.set()
    for one in readers:
        one.join()
    assert wrong == []


def test_an_entry_of_another_version_of_this_code_is_a_miss():
    assert decode_hot(b"[99]") is None
    assert decode_hot(b"not json") is None
    assert decode_hot(json.dumps([99, 0, 1, 0, "en", [], []]).encode()) is None


def test_the_end_of_a_long_turn_is_what_is_searched_for():
    assert last_user_turns([ChatTurn("user", "x" * 5000 + "end")]).endswith("end")
    assert len(last_user_turns([ChatTurn("user", "x" * 5000)])) == 2000
    assert last_user_turns([ChatTurn("assistant", "x")]) == ""


def test_a_hit_loads_no_tokenizer_no_aws_client_and_no_model_library(tmp_path):
    """In a process of its own: a hit from a cache that was filled before."""
    program = f"""
import sys
sys.path[:0] = [{str(_root() / "layers/engram")!r}, {str(_root())!r}]
from datetime import UTC, datetime
from engram import bootstrap
from engram.bootstrap import Services
from engram.domain.scope import Scope
from engram.context.hot import HotProfile, HotSlot
from engram.settings import Settings
services = Services(Settings(data_dir={str(tmp_path)!r}))
hot = HotProfile(1, 0, 1, 0, "en", (HotSlot("s", "work", "- work::title: engineer\\n", 8, 0.0),))
services.cache.put(Scope("acme", "u1"), hot.entry())
bootstrap.use(services)
import importlib.util
spec = importlib.util.spec_from_file_location("app", {str(_root() / "functions/context/app.py")!r})
app = importlib.util.module_from_spec(spec)
spec.loader.exec_module(app)
from tests.http_calls_event import event_of
answer = app.handler(event_of("GET", "/api/v1/users/context/{{user_id}}", user_id="u1"), None)
assert "engineer" in answer["body"], answer
heavy = "tiktoken boto3 botocore.session pydantic numpy yaml opensearchpy httpx sqlite3 redis".split()
print(",".join(name for name in heavy if name in sys.modules))
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.strip() == ""


def _root():
    from tests.services import ROOT

    return ROOT
