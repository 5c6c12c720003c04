"""The block of text for the system prompt, within a token budget."""
