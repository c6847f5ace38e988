"""Cycles of a layer: a lower bound, predictions, and costs of tasks."""
