"""When the user means: intents and ranges in Chinese and English, read by our own grammar."""

from engram.resolve.temporal.periods import LocalCalendar, Period
from engram.resolve.temporal.reader import read_periods, read_temporal, temporal_of

__all__ = ["LocalCalendar", "Period", "read_periods", "read_temporal", "temporal_of"]
