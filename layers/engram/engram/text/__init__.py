"""Text as people write it: normal forms, language, words, tokens."""
