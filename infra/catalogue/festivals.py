"""Builds `engram/resolve/data/festivals.json`: Gregorian dates of festivals of the lunar calendar, by year.

Source: lunar_python (MIT). Dates are written out so that the service needs no astronomy.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from lunar_python import Lunar

FIRST, LAST = 1990, 2060
LUNAR_DAYS = {
    "spring": (1, 1),
    "lantern": (1, 15),
    "dragon_boat": (5, 5),
    "qixi": (7, 7),
    "ghost": (7, 15),
    "mid_autumn": (8, 15),
    "double_ninth": (9, 9),
    "laba": (12, 8),
}


def dates_of(year: int) -> dict[str, str]:
    dates = {name: Lunar.fromYmd(year, month, day).getSolar().toYmd() for name, (month, day) in LUNAR_DAYS.items()}
    terms = Lunar.fromYmd(year, 3, 1).getJieQiTable()
    dates["qingming"] = terms["清明"].toYmd()
    dates["winter_solstice"] = terms["DONG_ZHI"].toYmd()
    dates["eve"] = Lunar.fromYmd(year, 1, 1).getSolar().next(-1).toYmd()
    return dict(sorted(dates.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("layers/engram/engram/resolve/data/festivals.json"))
    arguments = parser.parse_args()
    table = {str(year): dates_of(year) for year in range(FIRST, LAST + 1)}
    lines = (f'"{year}": {json.dumps(dates)}' for year, dates in table.items())
    arguments.out.write_text("{\n" + ",\n".join(lines) + "\n}\n", "utf-8")


if __name__ == "__main__":
    main()
