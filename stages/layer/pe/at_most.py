"""How many elements of a stream a PE keeps at most.

Source   design, The machine: an instruction with a fabric operand is queued
"""

from __future__ import annotations

from lairmake.stages.layer.pe.model import Work
from lairmake.stages.poly.cardinality import bound_points


def count_most_elements(work: Work, task: str) -> int:
    """Return a bound on the elements that a task moves on any PE."""
    compressed = work.compressed.of(task)
    return min(bound_points(work.instance_set(task)), bound_points(compressed))
