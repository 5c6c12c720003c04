"""Words that anybody says prove nothing: a name of somebody else, a time that no clock told."""

from datetime import UTC, datetime

import pytest

from engram.domain.documents import Document, DocumentKind, Hit, SearchResult
from engram.recall.features import features_of
from engram.recall.recipes import recipe
from engram.recall.relevance import relevance_of
from engram.resolve.models import ResolveContext
from engram.resolve.resolver import Resolver
from engram.resolve.shipped import default_catalogue

NOW = datetime(2026, 7, 1, 9, tzinfo=UTC)
EMILY = "Hello, my name is Emily. Nice to meet you."
CHINESE = "你好，我的名字叫张曼婷，很高兴认识你。"


@pytest.fixture(scope="module")
def resolver():
    return Resolver(default_catalogue())


def best(resolver, query, *texts):
    """Relevance of the best of `texts` to the query, by words and a middling cosine."""
    documents = {
        f"m:c:{place}": Document(f"m:c:{place}", DocumentKind.MESSAGE, 1, NOW, text, conversation_id="c", seq=place)
        for place, text in enumerate(texts)
    }
    hits = tuple(Hit(one, 0.2) for one in documents.values())
    features = features_of(resolver.resolve(query, ResolveContext(NOW)))
    result = SearchResult({"lexical": hits, "vector": hits})
    return max(relevance_of(result, documents, features, recipe(), across=False).values())


@pytest.mark.parametrize(("query", "text"), [
    ("What is my landlord's name?", EMILY),
    ("Remind me of the name of my landlord", EMILY),
    ("我的房东叫什么名字？", CHINESE),
    ("What time is it?", "My time zone is CET."),
    ("what's the time?", "My time zone is CET."),
])  # fmt: skip
def test_nothing_is_found_by_words_that_anybody_says(resolver, query, text):
    assert best(resolver, query, text) < recipe().floor


@pytest.mark.parametrize(("query", "text"), [
    ("What is my name?", EMILY),
    ("我叫什么名字？", CHINESE),
    ("What is my landlord's name?", "My landlord's name is Mr Ray."),
    ("What is the name of my landlord?", "The landlord is called Ray."),
    ("我的房东叫什么名字？", "房东的名字是王芳。"),
    ("What is the time zone I am in?", "My time zone is CET."),
    ("What time is my dentist appointment?", "The dentist appointment is at three."),
])  # fmt: skip
def test_what_holds_the_thing_itself_is_found(resolver, query, text):
    assert best(resolver, query, text, "It rained all day.") >= recipe().floor
