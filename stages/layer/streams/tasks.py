"""The kinds of tasks that tasks.yaml names, and what it says of those that run a statement."""

from __future__ import annotations

from collections.abc import Sequence

from stages.lair.expressions import write_expression
from stages.lair.layer import Statement
from stages.layer.texts.kinds import Compute, Operate, React

AT_RUN_TIME = ("enumerate", "configure")
"""Ways to a vector instruction whose size is found before each call."""


def make_react(statement: Statement, arrival: str) -> React:
    """Return the task that runs a statement on each element of an arrival."""
    return React(
        arrival=arrival,
        statement=statement.name,
        iterators=tuple(statement.iterators),
        target=statement.target.tensor,
        op=statement.op,
        expression=write_expression(statement.expr),
    )


def make_operate(statement: Statement, arrival: str, departure: str | None) -> Operate:
    """Return the task that runs a statement on an arrival, and sends what it gives, perhaps."""
    return Operate(
        arrival=arrival,
        statement=statement.name,
        iterators=tuple(statement.iterators),
        target=statement.target.tensor,
        op=statement.op,
        expression=write_expression(statement.expr),
        departure=departure,
    )


def make_compute(statement: Statement, chunks: Sequence[str], follows: Sequence[str]) -> Compute:
    """Return the task that runs a statement on memory, in steps if it has chunks."""
    return Compute(
        statement=statement.name,
        iterators=tuple(statement.iterators),
        target=statement.target.tensor,
        op=statement.op,
        expression=write_expression(statement.expr),
        chunks=tuple(chunks),
        follows=tuple(follows),
    )
