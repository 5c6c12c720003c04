"""Measurements: they print ratios and tables and are never part of the tests."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "layers" / "engram"))
