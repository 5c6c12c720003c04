"""Engram: a memory for LLM applications, as functions on cloud primitives or on one machine."""

__version__ = "0.1.0"
