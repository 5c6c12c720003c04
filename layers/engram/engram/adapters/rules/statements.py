"""What the rules can read: the kinds of statement, and one statement with the words it stands on."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum


class FactKind(StrEnum):
    """What a statement says about its subject. `placement` maps each to the business's taxonomy."""

    NAME = "name"
    NICKNAME = "nickname"
    ADDRESS = "form_of_address"
    AGE = "age"
    BIRTHDAY = "birthday"
    GENDER = "gender"
    HOME = "home"
    ORIGIN = "origin"
    NATIONALITY = "nationality"
    OCCUPATION = "occupation"
    EMPLOYER = "employer"
    WORKPLACE = "workplace"
    SCHOOL = "school"
    MAJOR = "major"
    DEGREE = "degree"
    MARITAL = "marital"
    FAMILY = "family"
    PET = "pet"
    LIKE = "like"
    LIKE_FOOD = "like_food"
    DISLIKE = "dislike"
    DISLIKE_FOOD = "dislike_food"
    ALLERGY = "allergy"
    DIET = "diet"
    HEALTH = "health"
    LANGUAGE = "language"
    PLAN = "plan"
    INSTRUCTION = "instruction"
    ANSWER_LANGUAGE = "answer_language"
    CONTACT = "contact"
    PHONE = "phone"


SINGLE = frozenset(
    {
        FactKind.NAME,
        FactKind.NICKNAME,
        FactKind.ADDRESS,
        FactKind.AGE,
        FactKind.BIRTHDAY,
        FactKind.GENDER,
        FactKind.HOME,
        FactKind.ORIGIN,
        FactKind.NATIONALITY,
        FactKind.OCCUPATION,
        FactKind.EMPLOYER,
        FactKind.WORKPLACE,
        FactKind.SCHOOL,
        FactKind.MAJOR,
        FactKind.DEGREE,
        FactKind.MARITAL,
        FactKind.ANSWER_LANGUAGE,
        FactKind.CONTACT,
        FactKind.PHONE,
    }
)
"""Kinds of which one value holds at a time: a new value replaces the old one. The others gather several."""


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing a message says.

    Attributes:
        value: the bare value ("花生"), in the words of the message.
        content: a phrase that says it without its context ("对花生过敏").
        holds: False when the message says it is not, or no longer, so.
        start, end: span of the words it stands on, in the message.
        subject: `user`, or the third person it is about.
        since: when it began to be true, where the words say so.
    """

    kind: FactKind
    value: str
    content: str
    start: int
    end: int
    holds: bool = True
    subject: str = "user"
    since: datetime | None = None
