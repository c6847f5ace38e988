"""The kinds of tasks that tasks.yaml names, and what it says of those that run a statement."""

from __future__ import annotations

from stages.lair.expressions import expression_text
from stages.lair.layer import Statement

STATEMENTS = ("react", "compute")
"""Tasks that run a statement: on an element that arrives, or when all is there."""

RUNS = (*STATEMENTS, "carry")
"""Tasks that compute elements of one tensor from others; carry takes those of one as they are."""

STREAMS = ("receive", "lead", "send", "pack", "hear", "spread", "gather")
"""Tasks that move a whole stream, or a sequence, between the fabric and memory."""

FILLS = ("initialise", "clear")
"""Tasks that give all of a local tensor one value."""

AT_RUN_TIME = ("enumerate", "configure")
"""Ways to a vector instruction whose size is found before each call."""


def running(statement: Statement) -> dict[str, object]:
    """Return what tasks.yaml says of a statement."""
    return {
        "statement": statement.name,
        "iterators": list(statement.iterators),
        "target": statement.target.tensor,
        "op": statement.op,
        "expression": expression_text(statement.expr),
    }
