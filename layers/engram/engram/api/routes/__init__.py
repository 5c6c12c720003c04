"""Routes by subject, included by the functions that serve them."""
