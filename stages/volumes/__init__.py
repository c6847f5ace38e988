"""Volumes: which elements of its operands every element of a result needs."""
