"""What the search index is created with, written out for people who create or review it themselves."""
