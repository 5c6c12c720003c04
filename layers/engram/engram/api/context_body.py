"""The context block as its HTTP answer: plain dicts, no model, because it is the hottest path."""

from __future__ import annotations

from typing import Any

from engram.context.service import ContextBlock


def context_body(block: ContextBlock) -> dict[str, Any]:
    """`{context, tokens: {total, profile, events}, degraded, dropped: [{kind, id, reason}]}`."""
    return {
        "context": block.text,
        "tokens": {
            "total": block.tokens_total,
            "profile": block.tokens_profile,
            "events": block.tokens_events,
        },
        "degraded": list(block.degraded),
        "dropped": [{"kind": one.kind, "id": one.id, "reason": one.reason} for one in block.dropped],
    }
