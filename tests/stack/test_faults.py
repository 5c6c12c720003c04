"""Whatever breaks, at whatever call: reads answer in time, writes are accepted or refused clearly, and nothing stays
different once it is repaired.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.fault_bed import CALLS, FaultBed, Outcome, fault_bed, story
from tests.proxies import Fault
from tests.servers import ministack_binary

READ_SECONDS = 4.0
"""Two attempts of half a second at each of the table's reads are the longest that the bed's settings allow."""

ASKED_BY = {
    "dynamodb": CALLS,
    "sqs": ("ingest", "delete"),
    "opensearch": ("work", "recall"),
    "valkey": ("work", "context", "delete"),
    "embedder": ("work", "recall"),
    "model": ("work",),
}
"""Which calls a part takes part in. `make faults` breaks every part at every call, slow answers included."""

pytestmark = pytest.mark.skipif(
    ministack_binary() is None, reason="moto's queues do not deliver again: install ministack to try faults"
)


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FaultBed]:
    with fault_bed(tmp_path_factory.mktemp("faults")) as bed:
        yield bed


@pytest.fixture(scope="module")
def without_fault(bed: FaultBed) -> dict[str, dict[str, Any]]:
    """The state that each call's story ends in when nothing breaks."""
    return {call: story(bed, call)[1] for call in CALLS}


@pytest.mark.parametrize("fault", [Fault.CUT, Fault.SILENT, Fault.GARBAGE])
@pytest.mark.parametrize("dependency", ASKED_BY)
def test_a_broken_part_costs_what_it_must_and_leaves_nothing_behind(
    bed: FaultBed, without_fault: dict[str, dict[str, Any]], dependency: str, fault: Fault
) -> None:
    for call in ASKED_BY[dependency]:
        outcome, state = story(bed, call, dependency, fault)
        assert answered_well(call, dependency, outcome), (call, outcome.words)
        assert call not in ("recall", "context") or outcome.seconds < READ_SECONDS, (call, outcome.seconds)
        assert state == without_fault[call], call


def answered_well(call: str, dependency: str, outcome: Outcome) -> bool:
    """What the answer must be: the table is the truth, and everything else is only convenient."""
    if call == "work":
        return outcome.words in ({"comes again"} if dependency in ("dynamodb", "model") else {"done"})
    if call == "context":
        return outcome.words == ("200 degraded" if dependency == "dynamodb" else "200")
    if dependency == "dynamodb":
        return outcome.words in ("503 UNAVAILABLE", "503 THROTTLED")
    if call == "recall":
        return outcome.words == ("200 degraded" if dependency in ("opensearch", "embedder") else "200")
    return outcome.status in (200, 202)
