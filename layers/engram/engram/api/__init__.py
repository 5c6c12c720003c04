"""The edge: request and response schemas, problem details, Memobase's envelope."""
