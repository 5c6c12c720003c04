"""Pure types and rules: what Engram's words mean, with no input or output."""
