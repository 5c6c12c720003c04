"""English words of time: months, weekdays, parts of a day, numbers, and the fragments of patterns made of them."""

from __future__ import annotations

import re

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
            "september sept sep", "october oct", "november nov", "december dec",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
WEEKDAYS = {
    name: number
    for number, names in enumerate(
        ("monday mon", "tuesday tues tue", "wednesday wed", "thursday thurs thur thu", "friday fri", "saturday sat",
         "sunday sun")
    )
    for name in names.split()
}  # fmt: skip
PARTS: dict[str, tuple[int, int]] = {
    "early morning": (0, 6), "morning": (6, 12), "noon": (11, 14), "lunchtime": (11, 14), "afternoon": (12, 18),
    "evening": (18, 24), "night": (18, 24),
}  # fmt: skip
NUMBERS = {
    "a couple of": 2, "a couple": 2, "couple of": 2, "couple": 2, "half a dozen": 6, "a dozen": 12, "an": 1, "a": 1,
    "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16, "seventeen": 17,
    "eighteen": 18, "nineteen": 19, "a hundred": 100, "one hundred": 100,
}  # fmt: skip
_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_UNITS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
NUMBERS |= _TENS | {
    f"{ten}{joint}{unit}": value + one
    for ten, value in _TENS.items()
    for one, unit in enumerate(_UNITS, start=1)
    for joint in ("-", " ")
}
_ORDINAL_WORDS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth"
).split()
DAY_WORDS = (
    {word: number for number, word in enumerate(_ORDINAL_WORDS, start=1)}
    | {
        f"{ten}{joint}{word}": value + number
        for ten, value in (("twenty", 20), ("thirty", 30))
        for number, word in enumerate(_ORDINAL_WORDS[:9], start=1)
        for joint in ("-", " ")
        if value + number <= 31
    }
    | {"thirtieth": 30}
)
ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4,
             "5th": 5, "last": -1}  # fmt: skip
SEASONS = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}


def names_of(table: dict[str, int] | dict[str, str] | dict[str, tuple[int, int]]) -> str:
    return "|".join(sorted((re.escape(name) for name in table), key=len, reverse=True))


NUMBER = rf"(?P<count>\d{{1,4}}|{names_of(NUMBERS)})"
YEAR = r"(?P<year>(?:19|20)\d\d)"
MONTH = rf"(?P<month>{names_of(MONTHS)})\b\.?"
DAY = rf"(?P<day>(?P<digits>[12]\d|3[01]|0?[1-9])(?=(?:st|nd|rd|th)?\b)|{names_of(DAY_WORDS)})(?:st|nd|rd|th)?\b"
OF = " (?(digits)(?:of )?|of )"
"""Between a day and its month: a day in words needs its `of` (`the second may`)."""
WEEKDAY = rf"(?P<weekday>{names_of(WEEKDAYS)})\b\.?"
PART = rf"(?P<part>{names_of(PARTS)})"
CLOCK = (
    r"(?:(?:at|around|about|by|from|between) )?(?P<hour>\d{1,2})(?:(?:(?P<colon>:)|\.)(?P<minute>\d\d))?"
    r"(?: ?(?P<half>[ap]m|[ap]\.m\.|o'clock))?"
    r"(?: ?(?:-|–|to|until|till|and) ?(?P<upto>\d{1,2})(?::(?P<upto_minute>\d\d))? ?(?P<upto_half>[ap]m|[ap]\.m\.))?"
    r"(?(half)|(?(upto)|(?(colon)|(?!))))(?!\d)"
)
TAIL = rf"(?:'s)?(?:,? (?:in the |at )?{PART})?(?:,? {CLOCK})?"
SHIFT = r"(?P<shift>last|previous|past|this|next|this past|this coming|coming|current)"
COMING = frozenset(("coming", "this coming"))
NEXT = frozenset(("next", *COMING))
THIS = frozenset(("this", "current"))
