"""Tests: unit, contract, stack, template, security."""
