"""The taxonomy is read out in one place: a change of it is seen by the distiller's prompt and by the reader at once."""

from __future__ import annotations

import uuid

from engram.context.request import ContextRequest
from engram.domain.models import Role
from engram.domain.scope import Scope
from engram.extraction.models import Distillation
from engram.ingestion.models import IncomingMessage, IngestionRequest
from engram.prompts.distil import distil_prompt
from tests.http_calls import USER

SCOPE = Scope("acme", USER)
OWN = """
profile_strict_mode: true
overwrite_user_profiles:
  - topic: Garden
    description: what grows there
    sub_topics: [roses]
event_tags:
  - name: season
event_theme_requirement: Only what blooms.
"""


def add(calls, topic, sub_topic):
    body = {"content": f"about {topic}", "attributes": {"topic": topic, "sub_topic": sub_topic}}
    calls.ok("POST", "/users/profile/{user_id}", user_id=USER, body=body)


def prompt_of(services, monkeypatch):
    """What the distiller is asked about a batch, by the write path's own code."""
    asked = []

    class Asked:
        id = "asked"

        def distil(self, request):
            asked.append(request)
            return Distillation()

    monkeypatch.setitem(services.__dict__, "distiller", Asked())
    services.__dict__.pop("_distil_stage", None)
    services.__dict__.pop("extractor", None)
    message = IncomingMessage(Role.USER, "hello")
    accepted = services.ingestion.accept(SCOPE, IngestionRequest(uuid.uuid4().hex, "s", (message,), flush=True))
    services.extractor.work(SCOPE, accepted.operation_id, last_attempt=True)
    return str(distil_prompt(asked[-1]))


def block_of(services):
    return services.context.context(SCOPE, ContextRequest()).text


def test_one_change_is_seen_by_the_prompt_and_by_the_reader(calls, user, services, monkeypatch):
    add(calls, "work", "title")
    add(calls, "garden", "roses")
    assert "about work" in block_of(services)
    assert "title" in prompt_of(services, monkeypatch)
    calls.ok("POST", "/project/profile_config", body={"profile_config": OWN})
    prompt, block = prompt_of(services, monkeypatch), block_of(services)
    assert "about garden" in block
    assert "about work" not in block
    for word in ("garden: what grows there", "roses", "season", "Only what blooms."):
        assert word in prompt
    assert "basic_info" not in prompt


def test_the_block_and_the_prompt_follow_the_language(calls, user, services, monkeypatch):
    calls.ok("POST", "/project/profile_config", body={"profile_config": "language: zh"})
    assert "基本信息" in prompt_of(services, monkeypatch)
    assert block_of(services).startswith("---\n# 记忆\n")


def test_users_that_a_change_has_no_time_for_are_left_to_the_sweep(calls, user, services, monkeypatch):
    add(calls, "work", "title")
    assert "# Memory" in block_of(services)
    monkeypatch.setattr("engram.memobase.projects.REFRESH_SECONDS", -1.0)
    calls.ok("POST", "/project/profile_config", body={"profile_config": "language: zh"})
    assert "# Memory" in block_of(services)
    services.sweep.run()
    assert "# 记忆" in block_of(services)
