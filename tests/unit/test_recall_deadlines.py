"""A slow, hung or broken encoder or index costs quality, never the answer."""

import threading
import time
from datetime import timedelta

import numpy as np
import pytest

from engram.domain.documents import Document, DocumentFilter, DocumentKind, Hit, SearchResult
from engram.domain.errors import Unavailable
from engram.domain.models import Conversation
from engram.domain.scope import Scope
from engram.recall.deadline import MAX_WAITING, REST_SECONDS, WORKERS, GuardedEmbedder, QueryEmbeddings
from engram.recall.features import QueryFeatures
from engram.recall.nearness import Nearness, content_words
from engram.recall.recipes import recipe
from engram.recall.searching import Searcher, Trace
from engram.store.conversation_copies import ConversationCopies, Version
from tests.builders import moment

U1 = Scope("acme", "u1")


class Encoder:
    """Counts its calls; waits until `go` where it is given one."""

    id = "test@2"
    dimension = 2

    def __init__(self, *, go=None, error=None, vectors=None):
        self.calls = 0
        self._go, self._error, self._vectors = go, error, vectors or {}

    def embed(self, texts, purpose):
        self.calls += 1
        if self._go is not None:
            self._go.wait(5)
        if self._error is not None:
            raise self._error
        return [np.array(self._vectors.get(text, (1.0, 0.0)), dtype="<f4").tobytes() for text in texts]


class Index:
    """Remembers what it was asked, and finds one document on each leg."""

    name = "test"

    def __init__(self, *, error=None, missing=()):
        self.asked = []
        self._error, self._missing = error, missing

    def search(self, scope, query):
        self.asked.append((query.text, bool(query.vector)))
        if self._error is not None:
            raise self._error
        hit = Hit(Document("m:c:0", DocumentKind.MESSAGE, 1, moment("01-01 10:00"), "tent trip"), 0.9)
        legs = {"lexical": (hit,)} if query.text else {}
        legs |= {"vector": (hit,)} if query.vector else {}
        return SearchResult({leg: hits for leg, hits in legs.items() if leg not in self._missing}, self._missing)


def search(index, encoder, *, fallback=None, deadline_ms=60.0):
    embeddings = QueryEmbeddings(embedder=encoder, deadline_ms=deadline_ms)
    searcher = Searcher(index=index, fallback=fallback, embeddings=embeddings, recipe=recipe(), deadline_ms=deadline_ms)
    trace = Trace()
    vector = searcher.embed("camping", trace)
    found = searcher.ranked(U1, QueryFeatures("camping"), DocumentFilter(), vector=vector, trace=trace)
    return found, list(trace.missing)


class TestTheEncoder:
    def test_that_is_quick_is_asked_in_the_same_search(self):
        index = Index()
        found, missing = search(index, Encoder())
        assert index.asked == [("camping", True)]
        assert missing == []
        assert found.cosines == {"m:c:0": pytest.approx(0.9)}

    def test_that_is_slow_does_not_hold_up_the_words(self):
        index, go = Index(), threading.Event()
        threading.Timer(0.03, go.set).start()
        _, missing = search(index, Encoder(go=go), deadline_ms=2_000)
        assert index.asked == [("camping", False), ("", True)]
        assert missing == []

    def test_that_hangs_is_given_up_after_the_deadline_and_named(self):
        go = threading.Event()
        started = time.perf_counter()
        found, missing = search(Index(), Encoder(go=go))
        go.set()
        assert time.perf_counter() - started < 1
        assert found.ranked
        assert missing == ["encoder"]

    @pytest.mark.parametrize("error", [Unavailable("down"), ValueError("surrogates"), OSError("socket")])
    def test_that_fails_is_named(self, error):
        found, missing = search(Index(), Encoder(error=error))
        assert found.ranked
        assert missing == ["encoder"]

    def test_that_is_not_there_is_named(self):
        assert search(Index(), None)[1] == ["encoder"]

    def test_that_failed_rests_before_it_is_asked_again(self):
        now = 0.0
        encoder = Encoder(error=Unavailable("down"))
        embeddings = QueryEmbeddings(embedder=encoder, deadline_ms=1_000, seconds=lambda: now)
        for _ in range(3):
            pending = embeddings.start("camping")
            assert pending.result() == b""
            assert pending.missing
        assert encoder.calls == 1
        now = REST_SECONDS + 1
        embeddings.start("camping").result()
        assert encoder.calls == 2

    def test_that_was_only_late_does_not_rest_once_it_has_answered(self):
        go = threading.Event()
        embeddings = QueryEmbeddings(embedder=Encoder(go=go), deadline_ms=20, seconds=lambda: 0.0)
        late = embeddings.start("loading")
        assert late.result() == b""
        assert embeddings.start("camping").missing
        go.set()
        end = time.monotonic() + 5
        while (again := embeddings.start("camping")).missing and time.monotonic() < end:
            time.sleep(0.001)
        assert again.result()

    def test_that_hangs_on_every_thread_is_not_waited_for(self):
        go, now = threading.Event(), 0.0
        encoder = Encoder(go=go)
        embeddings = QueryEmbeddings(embedder=encoder, deadline_ms=10_000, seconds=lambda: now)
        hung = [embeddings.start(str(n)) for n in range(WORKERS)]
        while encoder.calls < WORKERS:
            time.sleep(0.001)
        now = 6.0
        assert embeddings.start("one more").missing
        go.set()
        assert all(one.result() for one in hung)

    def test_that_is_quick_serves_as_many_as_ask_at_once(self):
        go = threading.Event()
        embeddings = QueryEmbeddings(embedder=Encoder(go=go), deadline_ms=5_000)
        asked = [embeddings.start(str(n)) for n in range(8 * WORKERS)]
        go.set()
        assert all(one.result() and not one.missing for one in asked)

    def test_that_hangs_keeps_no_endless_queue(self):
        go = threading.Event()
        embeddings = QueryEmbeddings(embedder=Encoder(go=go), deadline_ms=5_000)
        asked = [embeddings.start(str(n)) for n in range(MAX_WAITING + 1)]
        assert [one.missing for one in asked] == [False] * MAX_WAITING + [True]
        go.set()
        assert all(one.result() for one in asked[:-1])

    @pytest.mark.parametrize(
        ("texts", "purpose"), [(("a tent", "where is it"), "query"), (("tents", "food"), "document")]
    )
    def test_holds_up_the_resolver_no_longer_than_the_deadline_whatever_it_asks(self, texts, purpose):
        go = threading.Event()
        encoder = Encoder(go=go)
        guarded = GuardedEmbedder(encoder, queries=QueryEmbeddings(embedder=encoder, deadline_ms=30))
        started = time.perf_counter()
        with pytest.raises(Unavailable):
            guarded.embed(texts, purpose)
        assert time.perf_counter() - started < 1
        go.set()

    def test_that_brings_names_too_late_brings_them_for_the_next_query(self):
        go = threading.Event()
        encoder = Encoder(go=go)
        guarded = GuardedEmbedder(encoder, queries=QueryEmbeddings(embedder=encoder, deadline_ms=500))
        for _ in range(2):
            with pytest.raises(Unavailable):
                guarded.embed(["tents", "food"], "document")
        go.set()
        assert len(guarded.embed(["tents", "food"], "document")) == 2
        assert encoder.calls == 1

    def test_is_asked_once_for_the_same_words(self):
        encoder = Encoder()
        embeddings = QueryEmbeddings(embedder=encoder, deadline_ms=1_000)
        guarded = GuardedEmbedder(encoder, queries=embeddings)
        assert embeddings.start("camping").result() == guarded.embed(["camping"], "query")[0]
        assert encoder.calls == 1

    def test_says_that_it_is_unavailable_when_it_is_late_for_the_resolver(self):
        go = threading.Event()
        encoder = Encoder(go=go)
        guarded = GuardedEmbedder(encoder, queries=QueryEmbeddings(embedder=encoder, deadline_ms=10))
        with pytest.raises(Unavailable):
            guarded.embed(["camping"], "query")
        go.set()


class TestTheIndex:
    def test_that_is_down_is_replaced_by_the_other(self):
        found, missing = search(Index(error=Unavailable("down")), Encoder(), fallback=Index())
        assert found.ranked
        assert missing == ["index"]

    def test_that_has_lost_one_leg_still_answers_with_the_other(self):
        found, missing = search(Index(missing=("vector",)), Encoder(), fallback=Index(error=Unavailable("unused")))
        assert found.ranked
        assert missing == ["vector"]

    def test_that_has_lost_both_is_replaced(self):
        found, missing = search(Index(missing=("lexical", "vector")), Encoder(), fallback=Index())
        assert found.ranked
        assert missing == ["index"]

    def test_with_nothing_to_replace_it_finds_nothing(self):
        found, missing = search(Index(error=Unavailable("down")), Encoder(), fallback=Index(error=Unavailable("too")))
        assert found.ranked == ()
        assert missing == ["index"]


NEAR = {"camping": (1.0, 0.0), "tent": (0.8, 0.6), "soup": (0.0, 1.0), "trip": (0.5, 0.866)}


class TestNearness:
    def about(self, asked, *texts, **fields):
        near = Nearness(embedder=Encoder(vectors=NEAR, **fields))
        return near.about(asked, dict.fromkeys(texts, 0.1))

    def test_a_tent_is_about_camping_and_soup_is_not(self):
        assert self.about("camping", "the tent", "the soup") == {"the tent"}

    def test_every_word_that_was_asked_counts(self):
        assert self.about("camping soup", "the tent") == {"the tent"}
        assert self.about("soup soup", "the camping") == frozenset()

    def test_a_sentence_or_nothing_or_no_encoder_finds_nothing(self):
        assert self.about("camping tent soup trip lake", "the tent") == frozenset()
        assert self.about("", "the tent") == frozenset()
        assert self.about("camping", "?!") == frozenset()
        assert Nearness(embedder=None).about("camping", {"the tent": 0.9}) == frozenset()
        assert self.about("camping", "the tent", error=Unavailable("down")) == frozenset()

    def test_the_sentence_itself_has_a_say(self):
        near = Nearness(embedder=Encoder(vectors=NEAR))
        assert near.about("camping", {"the trip": 0.3}) == frozenset()
        assert near.about("camping", {"the trip": 0.4}) == {"the trip"}

    def test_words_of_both_languages_are_told_apart(self):
        assert content_words("We bought a 帐篷 for the 露营 trip") == ("bought", "帐篷", "露营", "trip")


class TestCopies:
    talk = Conversation("c", "s", moment("01-01 10:00"), moment("01-01 10:05"), 2)
    now = moment("01-02 10:00")

    def test_serve_only_the_version_they_were_made_of(self):
        copies = ConversationCopies()
        copies.put(U1, Version("g", 1, 0), self.now, (self.talk,))
        assert copies.get(U1, Version("g", 1, 0), self.now) == (self.talk,)
        for other in (Version("g", 2, 0), Version("h", 1, 0), Version("g", 1, 1)):
            assert copies.get(U1, other, self.now) is None
        assert copies.get(Scope("acme", "u10"), Version("g", 1, 0), self.now) is None
        assert copies.get(U1, Version("g", 1, 0), self.now + timedelta(minutes=2)) is None

    def test_are_dropped_when_there_are_too_many(self):
        copies = ConversationCopies(maximum=2)
        for n in range(3):
            copies.put(Scope("acme", f"u{n}"), Version("g", 1, 0), self.now, (self.talk,))
        held = [copies.get(Scope("acme", f"u{n}"), Version("g", 1, 0), self.now) for n in range(3)]
        assert held == [None, (self.talk,), (self.talk,)]
