"""From a query to checked evidence: search, fusion, verification, bundle."""
