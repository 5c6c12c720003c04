"""What an index still holds and the table does not: it is not answered, and it does not weigh either."""

from dataclasses import replace

import pytest

from engram.domain.documents import Document, DocumentKind, Hit, SearchResult
from engram.domain.models import MessageRef
from engram.domain.scope import Scope
from engram.lifecycle.targets import TargetKind
from engram.recall.bundle import SupportStatus
from engram.recall.refuted import Refuted
from engram.store import keys
from engram.store.commits import message_item
from tests.builders import Remembering, moment

NAMED = "My dog is called Biscuit."
ANSWERED = "A lovely name for a dog."
ABOUT_BISCUIT = (
    "What is Biscuit?",
    "tell me everything we said about Biscuit",
    "when did we last talk about Biscuit?",
    "what did we say about Biscuit last time?",
    "all our conversations about Biscuit",
)


@pytest.fixture
def memory(tmp_path):
    """A dog, a town and an allergy, each in a conversation of its own, distilled."""
    memory = Remembering(tmp_path)
    memory.say("dog", "06-01 10:00", NAMED, ANSWERED)
    memory.say("town", "06-02 10:00", "I moved to Tokyo in March.", "Tokyo is great.")
    memory.say("food", "06-03 10:00", "I cannot eat hazelnuts.", "Noted.")
    memory.flush()
    return memory


def first_of(memory, session_id):
    conversations = memory.services.reader.conversations(memory.scope)
    return MessageRef(next(one.conversation_id for one in conversations if one.session_id == session_id), 0)


def put(memory, ref, **fields):
    """Changes a message's row and nothing else: no document follows."""
    message = memory.services.reader.messages(memory.scope, [ref])[ref]
    memory.services.table.write(puts=[message_item(memory.scope, replace(message, **fields), 0, None)])


def hide(memory, ref):
    put(memory, ref, hidden=True, version=2)


def remove(memory, ref):
    memory.services.table.write(deletes=[keys.message(memory.scope, ref)])


def delete(memory, ref):
    """As a caller does: hidden by a tombstone, its purge still in the queue."""
    message = memory.services.reader.messages(memory.scope, [ref])[ref]
    memory.services.deletion.delete(memory.scope, TargetKind.MESSAGE, message.message_id)


@pytest.mark.parametrize("gone", [hide, remove, delete])
class TestAMessageThatIsGoneAndStillIndexed:
    @pytest.mark.parametrize("query", ABOUT_BISCUIT)
    def test_supports_nothing_and_lends_its_words_to_no_neighbour(self, memory, gone, query):
        assert NAMED in [one.text for one in memory.recall(query).evidence]
        gone(memory, first_of(memory, "dog"))
        bundle = memory.recall(query)
        assert (bundle.support_status, bundle.evidence, bundle.items) == (SupportStatus.UNSUPPORTED, (), ())
        assert bundle.conversation_refs == ()

    def test_does_not_hide_what_stands_beside_it(self, memory, gone):
        gone(memory, first_of(memory, "dog"))
        assert [one.text for one in memory.recall("a lovely name").evidence] == [ANSWERED]
        assert memory.recall("where did I move in March?").support_status is SupportStatus.SUPPORTED

    def test_is_not_the_title_of_its_conversation(self, memory, gone):
        assert memory.recall("a lovely name").conversation_refs[0].title == NAMED
        gone(memory, first_of(memory, "dog"))
        assert memory.recall("a lovely name").conversation_refs[0].title == ""

    def test_takes_no_place_within_the_limit(self, memory, gone):
        memory.say("again", "06-05 10:00", "Biscuit the dog ate my dog biscuits.")
        memory.flush()
        gone(memory, first_of(memory, "dog"))
        bundle = memory.recall("what is my dog called? Biscuit?", limit=1)
        assert [one.session_id for one in bundle.evidence] == ["again"]


def test_an_edited_message_is_told_as_it_stands_or_not_at_all(memory):
    ref = first_of(memory, "dog")
    put(memory, ref, content="My dog is called Rex.", version=2)
    for query in (*ABOUT_BISCUIT, "what is my dog called?"):
        bundle = memory.recall(query, explain=True)
        assert "Biscuit" not in repr((bundle.evidence, bundle.items, bundle.conversation_refs, bundle.explain))


def test_the_weak_do_not_pass_for_an_answer_beside_one_that_is_gone(tmp_path):
    """The best hit decides whether there is an answer at all; here it is the one that is gone."""
    memory = Remembering(tmp_path)
    memory.say("parrot", "06-01 10:00", "My parrot Kiwi lives in a blue cage by the window.")
    memory.say("paint", "06-02 10:00", "The window needs paint.")
    query = "Which colour has the cage by the window that my parrot Kiwi lives in?"
    assert len(memory.recall(query).evidence) == 2
    remove(memory, first_of(memory, "parrot"))
    assert memory.recall(query).support_status is SupportStatus.UNSUPPORTED


def test_a_conversation_deleted_while_a_recall_runs_is_not_referred_to(memory, monkeypatch):
    """Of many chosen conversations not all have evidence in the answer: what was read at the beginning is told."""
    for day in range(1, 29):
        memory.say(f"s{day}", f"05-{day:02} 10:00", f"grinder number {day}", "good", "and cheap", "yes")
    doomed = first_of(memory, "s7").conversation_id
    confirming = memory.services.recall._confirming
    verified = type(confirming).verified

    def deleting(self, *arguments, **options):
        if doomed not in memory.services.reader.tombstones(memory.scope).conversations:
            memory.services.deletion.delete(memory.scope, TargetKind.CONVERSATION, doomed)
        return verified(self, *arguments, **options)

    before = memory.recall("list all our conversations about a grinder", limit=2)
    assert doomed in [one.conversation_id for one in before.conversation_refs]
    monkeypatch.setattr(type(confirming), "verified", deleting)
    bundle = memory.recall("list all our conversations about a grinder", limit=2)
    assert len(bundle.conversation_refs) == len(before.conversation_refs) - 1
    assert doomed not in repr(bundle)


@pytest.mark.parametrize("stranger", [Scope("acme", "u10"), Scope("acme", "U1"), Scope("other", "u1")])
def test_an_index_that_mixes_up_users_shows_nothing_of_another(memory, stranger):
    """Nearer to the query than anything of the user's own, and on every leg."""
    query = "which locker at the gym is mine?"
    memory.say(
        "gym", "06-01 10:00", "Which locker at the gym is mine? Number 31, code mirabelle.", "Noted!", scope=stranger
    )

    class MixedUp:
        name = "mixed up"

        def search(self, scope, query):
            own, others = (memory.services.rows_index.search(one, query) for one in (memory.scope, stranger))
            return SearchResult({leg: (*others.legs[leg], *own.legs.get(leg, ())) for leg in others.legs})

    assert memory.recall(query, scope=stranger).support_status is SupportStatus.SUPPORTED
    bundle = memory.reopened(remote_index=MixedUp()).recall(query, explain=True)
    assert bundle.support_status is SupportStatus.UNSUPPORTED
    assert "mirabelle" not in repr(bundle)


def test_an_index_is_asked_nothing_twice_however_much_is_refuted(memory):
    class Counting:
        name = "counting"
        asked = 0

        def search(self, scope, query):
            self.asked += 1
            return memory.services.rows_index.search(scope, query)

    clean, stale = Counting(), Counting()
    memory.reopened(rows_index=clean).recall("what is my dog called?")
    remove(memory, first_of(memory, "dog"))
    memory.reopened(rows_index=stale).recall("what is my dog called?")
    assert stale.asked == clean.asked


class TestTakenOutOfAResult:
    def turn(self, seq, text):
        at = moment("06-01 10:00")
        return Document(f"m:c:{seq}", DocumentKind.MESSAGE, 1, at, text, conversation_id="c", seq=seq)

    def test_nothing_refuted_leaves_it_as_it_is(self):
        result = SearchResult({"lexical": (Hit(self.turn(0, "dog"), 1.0),)})
        assert Refuted().out_of(result, "dog") is result

    def test_a_turn_keeps_its_own_words_and_loses_those_of_the_one_before(self):
        turns = [self.turn(0, "a blue dog"), self.turn(1, "dog"), self.turn(5, "dog")]
        legs = ("lexical", "lexical_context", "lexical_window", "vector", "vector_window", "coverage")
        result = SearchResult({leg: tuple(Hit(one, 1.0) for one in turns) for leg in legs}, missing=("vector",))
        refuted = Refuted()
        refuted.add(turns[0])
        left = refuted.out_of(result, "blue dog")
        seqs = {leg: [hit.document.seq for hit in hits] for leg, hits in left.legs.items()}
        assert seqs["lexical"] == [1, 5]
        assert {seqs[leg][0] for leg in ("lexical_context", "lexical_window", "vector", "vector_window")} == {5}
        assert [hit.score for hit in left.legs["coverage"]] == [1.0, 0.5]
        assert left.missing == ("vector",)
