"""The user's profile: its taxonomy, and what of it fits."""
