"""The version of each prompt: part of a distiller's id, so that what two versions made can be told apart."""

from __future__ import annotations

DISTIL = "distil-1"
FILTER = "filter-1"
CHOOSE = "choose-1"
