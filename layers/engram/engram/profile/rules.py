"""What a business has set for its profiles, as the distiller and the reader both use it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engram.profile.taxonomy import Taxonomy


@dataclass(frozen=True, slots=True)
class ProfileRules:
    """The business's taxonomy and how often it was changed.

    Attributes:
        version: 0 for a business that never set anything. Orders cache entries made under different rules.
    """

    taxonomy: Taxonomy
    version: int = 0

    @property
    def language(self) -> str:
        return self.taxonomy.language


RulesOf = Callable[[str], ProfileRules]
"""Business id to its rules as they are now."""
