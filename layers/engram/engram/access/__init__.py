"""Who is asking: API keys, what they may do, and how they are told from forgeries."""
