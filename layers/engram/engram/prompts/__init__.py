"""Versioned prompts: text, typed inputs, response model, in English and Chinese."""
