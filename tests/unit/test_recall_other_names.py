"""Recall: a conversation about another thing of the same kind is no answer, known to the catalogue or not."""

import pytest

from engram.recall.bundle import SupportStatus
from tests.builders import Remembering


@pytest.fixture
def memory(tmp_path):
    return Remembering(tmp_path)


@pytest.mark.parametrize("said", ["帮我出一个扬州旅游攻略", "帮我出一个成都旅游攻略"])
def test_a_guide_to_another_city_is_not_the_guide_asked_for(memory, said):
    memory.say("s1", "03-02 10:00", said, "Here you are.")
    bundle = memory.recall("上次的苏州攻略")
    assert bundle.support_status is SupportStatus.UNSUPPORTED
    assert bundle.evidence == ()


def test_what_shares_only_the_topic_words_is_not_called_supported(memory):
    memory.say("s1", "03-02 10:00", "Write me a travel guide to Porto", "Here you are.")
    bundle = memory.recall("the Madrid travel guide from last time")
    assert bundle.support_status in (SupportStatus.PARTIAL, SupportStatus.UNSUPPORTED)


def test_a_guide_to_a_city_that_the_catalogue_does_not_know_is_found_by_its_name(memory):
    memory.say("s1", "03-02 10:00", "帮我出一个扬州旅游攻略", "扬州:瘦西湖、个园。")
    memory.say("s2", "03-05 10:00", "帮我出一个成都旅游攻略", "成都:宽窄巷子。")
    bundle = memory.recall("上次的扬州攻略")
    assert bundle.support_status is SupportStatus.SUPPORTED
    assert "瘦西湖" in "".join(one.text for one in bundle.evidence)
    assert "宽窄巷子" not in "".join(one.text for one in bundle.evidence)
