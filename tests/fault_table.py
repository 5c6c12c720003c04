"""Each dependency broken in each way at each call: what was answered, how long it took, and what was left after repair.

`make faults` prints as a table what `tests/stack/test_faults.py` checks, for every dependency at every call. The
servers are real where a package holds them (Valkey, an AWS emulator); OpenSearch and the model are stubs behind the
real clients.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from rich.console import Console
from rich.table import Table

from infra.vocabulary import unpack
from tests.fault_bed import CALLS, DEPENDENCIES, FAULTS, fault_bed, story
from tests.servers import ROOT


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dependency", choices=DEPENDENCIES, action="append")
    options = parser.parse_args()
    os.environ["TIKTOKEN_CACHE_DIR"] = str(unpack(ROOT / "build" / "vocabulary"))
    console = Console(width=120)
    wrong = 0
    with tempfile.TemporaryDirectory() as folder, fault_bed(Path(folder)) as bed:
        expected = {call: story(bed, call)[1] for call in CALLS}
        for dependency in options.dependency or DEPENDENCIES:
            table = Table("fault", "call", "answer", "ms", "state after repair", title=dependency)
            for fault in FAULTS:
                for call in CALLS:
                    outcome, state = story(bed, call, dependency, fault)
                    lost = [name for name in state if state[name] != expected[call][name]]
                    wrong += bool(lost)
                    after = f"[red]differs: {', '.join(lost)}" if lost else "as without the fault"
                    table.add_row(fault.value, call, outcome.words, f"{outcome.seconds * 1000:.0f}", after)
                table.add_section()
            console.print(table)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
