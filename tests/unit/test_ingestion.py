"""Accepting: kept whole or refused whole, once per request id, however often and from wherever it comes."""

import threading
from datetime import UTC, datetime, timedelta

import pytest

from engram.bootstrap import Services
from engram.domain.errors import Conflict, EngramError, InvalidInput, TooLarge, Unavailable, Unprocessable
from engram.domain.models import MessageRef, OperationStatus, Role
from engram.domain.scope import Scope
from engram.ingestion.checks import MAX_MESSAGE_BYTES, MAX_MESSAGES
from engram.ingestion.models import IncomingMessage, IngestionRequest
from engram.settings import Settings
from engram.store import keys

U1 = Scope("acme", "u1")


@pytest.fixture
def services(tmp_path):
    return Services(Settings(data_dir=str(tmp_path)))


def said(*texts, request_id="r1", session_id="s1", role=Role.USER, **fields):
    messages = tuple(IncomingMessage(role, text) for text in texts)
    return IngestionRequest(request_id, session_id, messages, **fields)


def kept(services, scope=U1):
    return [one.content for one in services.reader.all_messages(scope)]


def test_every_message_is_kept_to_the_letter(services):
    texts = ["我对花生过敏", " two  spaces ", "\x00 null", "line\nbreak", "😀" * 50]
    services.ingestion.accept(U1, said(*texts))
    assert kept(services) == texts


def test_the_same_request_again_is_the_same_operation_and_writes_nothing(services):
    first = services.ingestion.accept(U1, said("hello"))
    again = services.ingestion.accept(U1, said("hello"))
    assert again.operation_id == first.operation_id
    assert (first.duplicate, again.duplicate) == (False, True)
    assert kept(services) == ["hello"]


def test_a_request_id_used_for_other_words_is_a_conflict(services):
    services.ingestion.accept(U1, said("hello"))
    with pytest.raises(Conflict) as refused:
        services.ingestion.accept(U1, said("goodbye"))
    assert refused.value.code == "REQUEST_ID_REUSED"
    assert kept(services) == ["hello"]


def test_two_users_may_use_the_same_request_id(services):
    services.ingestion.accept(U1, said("mine"))
    services.ingestion.accept(Scope("acme", "u10"), said("yours"))
    assert kept(services) == ["mine"]


def test_twenty_identical_requests_at_once_are_one_operation(services):
    answers, failures = [], []

    def post():
        try:
            answers.append(services.ingestion.accept(U1, said("hello")))
        except EngramError as error:
            failures.append(error)

    threads = [threading.Thread(target=post) for _ in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len({one.operation_id for one in answers}) == 1
    assert sum(not one.duplicate for one in answers) == 1
    assert kept(services) == ["hello"]


def test_twenty_different_requests_at_once_all_find_their_place(services):
    def post(number):
        services.ingestion.accept(U1, said(f"line {number}", request_id=f"r{number}"))

    threads = [threading.Thread(target=post, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(kept(services)) == sorted(f"line {number}" for number in range(20))


def test_a_text_too_large_for_an_item_is_kept_whole(services):
    long = "长" * 300_000
    accepted = services.ingestion.accept(U1, said("before", long, "after"))
    assert kept(services) == ["before", long, "after"]
    ref = MessageRef(accepted.conversation_id, 1)
    assert services.reader.messages(U1, [ref])[ref].content == long


def test_a_lost_queue_loses_no_message(services, monkeypatch):
    def refuse(scope, operation_id):
        raise Unavailable

    monkeypatch.setattr(services.queue, "send", refuse)
    accepted = services.ingestion.accept(U1, said("hello"))
    assert services.operations.get(U1, accepted.operation_id).status is OperationStatus.ACCEPTED
    assert kept(services) == ["hello"]


def test_what_is_accepted_is_readable_before_any_worker_ran(services):
    services.ingestion.accept(U1, said("train 07:10 Friday", "platform 4"))
    assert [one.content for one in services.reader.pending(U1)] == ["train 07:10 Friday", "platform 4"]


def test_messages_keep_their_own_time_and_missing_times_are_now(services):
    at = datetime(2024, 2, 29, 23, 59, tzinfo=UTC)
    request = IngestionRequest("r1", "s1", (IncomingMessage(Role.USER, "then", created_at=at),))
    services.ingestion.accept(U1, request)
    (then,) = services.reader.all_messages(U1)
    assert then.created_at == at
    services.ingestion.accept(U1, said("now", request_id="r2", session_id="s2"))
    now = next(one for one in services.reader.all_messages(U1) if one.content == "now")
    assert abs(now.created_at - datetime.now(UTC)) < timedelta(minutes=1)


def test_a_conversation_of_one_session_is_not_open_to_another(services):
    services.ingestion.accept(U1, said("hello", conversation_id="c1"))
    with pytest.raises(Conflict):
        services.ingestion.accept(U1, said("hello", conversation_id="c1", request_id="r2", session_id="s2"))


def test_a_named_conversation_goes_on_where_it_ended(services):
    services.ingestion.accept(U1, said("one", conversation_id="c1"))
    services.ingestion.accept(U1, said("two", conversation_id="c1", request_id="r2"))
    assert [one.content for one in services.reader.conversation_messages(U1, "c1")] == ["one", "two"]
    assert services.reader.conversation(U1, "c1").next_seq == 2


@pytest.mark.parametrize(
    ("request_", "error", "field"),
    [
        (said(), InvalidInput, "messages"),
        (said(""), InvalidInput, "messages.0.content"),
        (said("\ud800"), Unprocessable, "messages.0.content"),
        (said("x" * (MAX_MESSAGE_BYTES + 1)), TooLarge, "messages.0.content"),
        (said(*["x"] * (MAX_MESSAGES + 1)), TooLarge, "messages"),
        (said("x", request_id=""), InvalidInput, "request_id"),
        (said("x", session_id="*"), InvalidInput, "session_id"),
        (said("x", conversation_id="c\n"), InvalidInput, "conversation_id"),
        (said("x", metadata={"k": "v" * 20_000}), TooLarge, "metadata"),
        (said("x", metadata={"k": float("nan")}), InvalidInput, None),
    ],
)
def test_what_cannot_be_kept_is_refused_whole_and_says_why(services, request_, error, field):
    with pytest.raises(error) as refused:
        services.ingestion.accept(U1, request_)
    if field:
        assert refused.value.field == field
    assert kept(services) == []


def test_the_largest_request_fits_one_transaction(services):
    services.ingestion.accept(U1, said(*[f"line {number}" for number in range(MAX_MESSAGES)]))
    assert len(kept(services)) == MAX_MESSAGES
    rows = list(services.reader.rows(U1, keys.PENDING))
    assert len(rows[0].body["messages"]) == MAX_MESSAGES


def test_a_naive_time_is_refused(services):
    message = IncomingMessage(Role.USER, "x", created_at=datetime(2026, 1, 1))
    with pytest.raises(InvalidInput) as refused:
        services.ingestion.accept(U1, IngestionRequest("r1", "s1", (message,)))
    assert refused.value.field == "messages.0.created_at"


def test_a_history_of_one_message_a_day_is_kept_whole(services):
    first = datetime(2026, 1, 1, tzinfo=UTC)
    days = [first + timedelta(days=day) for day in range(MAX_MESSAGES)]
    services.ingestion.accept(U1, said("today"))
    messages = tuple(IncomingMessage(Role.USER, f"day {one.date()}", created_at=one) for one in days)
    services.ingestion.accept(U1, IngestionRequest("history", "s1", messages))
    assert len(kept(services)) == MAX_MESSAGES + 1
    assert len({one.conversation_id for one in services.reader.all_messages(U1)}) > 2
