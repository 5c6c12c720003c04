"""What Memobase's published clients call, on Engram's own rows and rules."""
