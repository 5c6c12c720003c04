"""A remote index that did not take everything of a user: until it has, the user's searches go by the rows."""

from __future__ import annotations

from typing import Any

import pytest

from engram.adapters.opensearch import OpenSearchIndex
from engram.bootstrap import Services
from engram.domain.documents import SearchQuery
from engram.domain.errors import Unavailable
from engram.domain.scope import Scope
from engram.settings import Settings

ANN, BOB = Scope("acme", "ann"), Scope("acme", "bob")
QUERY = SearchQuery(text="what is my cat called?")


class Asked(Exception):
    """The cluster was asked."""


def cluster() -> Any:
    raise Asked


@pytest.fixture
def services(tmp_path):
    settings = Settings(data_dir=str(tmp_path), embedder="none", search="opensearch", search_url="http://search:9200")
    made = Services(settings)
    made.remote_index._generations._client = cluster
    return made


def test_a_user_whose_documents_the_index_did_not_take_is_not_searched_there(services):
    services.lagging.note(ANN)
    found = services.remote_index.search(ANN, QUERY)
    assert (dict(found.legs), found.missing) == ({}, ("lexical",))


def test_another_user_is(services):
    services.lagging.note(ANN)
    with pytest.raises(Asked):
        services.remote_index.search(BOB, QUERY)


def test_once_rebuilt_the_user_is_searched_there_again(services):
    services.lagging.note(ANN)
    services.lagging.clear(ANN)
    with pytest.raises(Asked):
        services.remote_index.search(ANN, QUERY)


def test_if_nobody_can_tell_the_index_is_not_believed():
    def unknown(scope: Scope) -> bool:
        raise Unavailable("the table does not answer")

    index = OpenSearchIndex(client=cluster, alias="engram", behind=unknown)
    assert index.search(ANN, QUERY).missing == ("lexical",)
