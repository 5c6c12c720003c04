"""Distillation by rules: a small grammar per language, as data, over clauses whose subject and mood are known."""

from engram.adapters.rules.distiller import RulesDistiller

__all__ = ["RulesDistiller"]
