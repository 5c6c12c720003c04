"""The context from the cache and from the table: no stale and no torn block is ever served."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from dataclasses import replace

import pytest

from engram.adapters.memory_cache import MemoryCache
from engram.context.hot import decode_hot
from engram.context.request import ContextRequest
from engram.domain.models import Gist
from engram.lifecycle.targets import TargetKind
from engram.profile.config import ProfileConfig, parse_config, taxonomy_of
from engram.profile.rules import ProfileRules
from tests.context_household import SCOPE, Household
from tests.services import ROOT


@pytest.fixture
def home(tmp_path):
    return Household(tmp_path)


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
    home.at.services.deletion.delete(SCOPE, TargetKind.SLOT, "s-engineer")
    home.profiles.forget(SCOPE, epoch=home.at.services.reader.tombstones(SCOPE).epoch)
    home.cache.inner.put(SCOPE, stale)
    assert "engineer" not in home.ask().text
    assert "engineer" not in home.ask().text


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


def test_a_hit_loads_no_tokenizer_no_aws_client_and_no_model_library(tmp_path):
    """In a process of its own: a hit from a cache that was filled before."""
    program = f"""
import sys
sys.path[:0] = [{str(ROOT / "layers/engram")!r}, {str(ROOT)!r}]
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
spec = importlib.util.spec_from_file_location("app", {str(ROOT / "functions/context/app.py")!r})
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
