"""Keys: no input can reach into another's rows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engram.domain.errors import InvalidInput
from engram.domain.models import MessageRef, OperationStatus
from engram.domain.scope import Scope, check_user_id
from engram.store import keys

IDS = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp", "Cf", "Cn")), min_size=1, max_size=20
).filter(lambda text: text == text.strip() and text not in ("*", "%", "_all"))
BUSINESSES = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,10}[a-z0-9])?", fullmatch=True)


@given(IDS, IDS)
def test_two_users_never_share_a_partition(one, other):
    first, second = keys.user_partition(Scope("acme", one)), keys.user_partition(Scope("acme", other))
    assert (first == second) == (one == other)


@given(BUSINESSES, IDS, BUSINESSES, IDS)
def test_two_scopes_never_share_a_partition(business, user, other_business, other_user):
    one, other = Scope(business, user), Scope(other_business, other_user)
    assert (keys.user_partition(one) == keys.user_partition(other)) == (one == other)


@given(st.text())
def test_escaping_loses_nothing_and_hides_the_separator(text):
    assert keys.SEPARATOR not in keys.escape(text)
    assert keys.unescape(keys.escape(text)) == text


@given(IDS, IDS)
def test_the_messages_of_a_conversation_are_a_range_that_holds_no_other_conversation(one, other):
    scope = Scope("acme", "u1")
    prefix = keys.conversation_messages(one)
    foreign = keys.message(scope, MessageRef(other, 3)).sk
    assert (prefix <= foreign < keys.end_of(prefix)) == (one == other)


@given(BUSINESSES, IDS, st.text(min_size=1, max_size=20))
def test_the_sparse_index_tells_whose_row_it_lists(business, user, operation):
    scope = Scope(business, user)
    for listing in (
        keys.buffer_due(scope, "2026-07-01T00:00:00.000000Z", operation),
        keys.operation_listing(scope, OperationStatus.ACCEPTED, "2026-07-01T00:00:00.000000Z", operation),
    ):
        assert keys.scope_of_listing(listing.sk) == scope
    body = keys.import_body_due(business, "2026-07-01T00:00:00.000000Z", operation)
    assert keys.scope_of_listing(body.sk) == Scope.of_business(business)


def test_messages_sort_by_their_place_in_the_conversation():
    scope = Scope("acme", "u1")
    rows = [keys.message(scope, MessageRef("c", seq)).sk for seq in (0, 9, 10, 99, 100, 12_345)]
    assert rows == sorted(rows)


@pytest.mark.parametrize(
    "user", ["", "*", "%", "_all", None, 7, " u1", "u1 ", "u\n1", "u\x00", "\ud800", "x" * 129, "~business"]
)
def test_ids_that_mean_everybody_or_nobody_are_refused(user):
    with pytest.raises(InvalidInput) as refused:
        check_user_id(user)
    assert refused.value.field == "user_id"


@pytest.mark.parametrize("user", ["user-07", "User-07", "user-07/", "用户7", "a#b", "a%23b", "é", "😀"])
def test_ids_are_kept_as_they_are(user):
    assert check_user_id(user) == user
    assert Scope("acme", user).user_id == user


@pytest.mark.parametrize("business", ["", "Acme", "acme-", "-acme", "a_b", "a#b", "x" * 41, None])
def test_a_business_id_can_stand_inside_a_key(business):
    with pytest.raises(InvalidInput):
        Scope(business, "u1")
