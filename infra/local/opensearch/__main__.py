"""`python -m infra.local.opensearch start|stop|status`: what `make opensearch` calls."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from infra.local.opensearch.assembly import NotPossible
from infra.local.opensearch.node import DEFAULT_PORT, LocalNode


def main() -> int:
    parser = argparse.ArgumentParser(prog="opensearch", description="One OpenSearch node with k-NN on this machine")
    parser.add_argument("action", choices=("start", "stop", "status"))
    parser.add_argument("--dir", type=Path, default=Path(os.environ.get("ENGRAM_DIR", ".engram")), help="its folder")
    parser.add_argument("--port", type=int, default=0, help=f"default {DEFAULT_PORT}, or a free one")
    options = parser.parse_args()
    node = LocalNode.of(options.dir, port=options.port)
    try:
        if options.action == "start":
            print(f"OpenSearch answers at {node.start()} (data and log under {options.dir / 'opensearch'})")
        elif options.action == "stop":
            print("OpenSearch has been stopped" if node.stop() else "OpenSearch was not running")
        else:
            print(f"OpenSearch answers at {node.url}" if node.answers() else "OpenSearch is not running")
    except NotPossible as error:
        print(f"opensearch: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
