"""What came of a distillation, as its operation tells it: counts, which slots and event, and why rows were dropped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engram.extraction.accept import Accepted
    from engram.extraction.merge import MergeResult

EVENT = "event_id"
ADDED, UPDATED, DELETED = "added_slots", "updated_slots", "deleted_slots"
REASONS = "dropped_reasons"
FLAGGED = "flagged_messages"


def summed(before: Mapping[str, Any], merged: MergeResult, accepted: Accepted) -> dict[str, Any]:
    """The operation's result after one more part of its batch.

    Args:
        before: its result so far; a slot that an earlier part added stays an added one when this part changes it.
        accepted: what was believed, with the rows that were not, and the messages that try to give the memory orders.
    """
    dropped = (*accepted.dropped, *merged.dropped)
    counts = {
        "slots": len(merged.slot_puts) + len(merged.slot_deletes),
        "gists": len(merged.gists),
        "items": len(merged.item_puts),
        "dropped": len(dropped),
    }
    return {
        **before,
        **{name: int(before.get(name, 0)) + count for name, count in counts.items()},
        **_slots(before, merged),
        EVENT: merged.event.id if merged.event else before.get(EVENT),
        FLAGGED: list(dict.fromkeys([*before.get(FLAGGED, ()), *accepted.flagged])),
        REASONS: sorted({*before.get(REASONS, ()), *(one.reason for one in dropped)}),
    }


def _slots(before: Mapping[str, Any], merged: MergeResult) -> dict[str, list[str]]:
    """Ids of the slots that are new, changed and gone since before the batch."""
    made = [one.id for one in merged.slot_puts if one.version == 1]
    added = dict.fromkeys([*before.get(ADDED, ()), *made])
    updated = dict.fromkeys([*before.get(UPDATED, ()), *(one.id for one in merged.slot_puts)])
    gone = dict.fromkeys(merged.slot_deletes)
    return {
        ADDED: [one for one in added if one not in gone],
        UPDATED: [one for one in updated if one not in gone and one not in added],
        DELETED: list(dict.fromkeys([*before.get(DELETED, ()), *(one for one in gone if one not in added)])),
    }
