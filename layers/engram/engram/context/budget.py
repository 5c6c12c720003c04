"""How a token budget is shared between profile and events."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Budget:
    """What the caller grants.

    Attributes:
        max_tokens: of the whole rendered text, template included (o200k_base).
        profile_ratio: share set aside for the profile, 0..1.
        fill: events may also use what the profile left.
    """

    max_tokens: int
    profile_ratio: float
    fill: bool = False

    @property
    def profile(self) -> int:
        """Tokens set aside for the profile."""
        return int(self.max_tokens * self.profile_ratio)

    def events(self, profile_used: int) -> int:
        """Tokens left for events once the profile has used `profile_used`.

        Unless `fill`, events never take what was set aside for the profile and not used: a prompt that
        suddenly fills with events is worse than a short one (Memobase, `fill_window_with_events`).
        """
        left = self.max_tokens - profile_used
        return left if self.fill else min(left, self.max_tokens - self.profile)
