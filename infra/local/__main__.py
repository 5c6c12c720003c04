"""`engram`: serve, run, reset, keys. The commands behind `make run` and `make serve`."""

from __future__ import annotations

import sys

from infra.local.service import import_path

import_path()

from infra.local.commands import main  # noqa: E402  the library has to be importable first

sys.exit(main(sys.argv[1:]))
