"""From a text to entities, topics and a temporal intent. Pure: queries and conversations are read by the same rules."""
