"""A user with rows in a real table, a cache to break, and the context service on both."""

from __future__ import annotations

from datetime import UTC, timedelta

from engram.adapters.memory_cache import MemoryCache
from engram.context.events import EventSearch
from engram.context.lines import gist_line, slot_line
from engram.context.profiles import HotProfiles
from engram.context.request import ChatTurn, ContextRequest
from engram.context.service import ContextService
from engram.domain.documents import Document, DocumentKind, Hit, SearchResult
from engram.domain.errors import Unavailable
from engram.domain.models import Gist, ProfileSlot, User
from engram.domain.scope import Scope
from engram.profile.config import ProfileConfig, taxonomy_of
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
        self.more_indexes = []
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
                embedder=self.search,
                indexes=[self.search, *self.more_indexes],
                reader=lambda: self.reader,
                zone=UTC,
                deadline_ms=100,
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
