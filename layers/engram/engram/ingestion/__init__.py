"""Accepting what was said: validation, idempotency, conversations, the buffer."""
