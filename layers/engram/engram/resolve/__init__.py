"""From a query to entities, topics and a temporal intent. Pure: the same rules read a query and index a conversation."""
