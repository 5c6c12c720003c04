"""Distillation by rules: a small grammar per language, as data, over clauses whose subject and mood are known."""
