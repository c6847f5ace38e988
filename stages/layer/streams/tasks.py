"""The kinds of tasks that tasks.yaml names, and what it says of those that run a statement."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from lairmake.stages.lair.expressions import write_expression
from lairmake.stages.lair.layer import Layer, Statement
from lairmake.stages.layer.texts.kinds import Compute, Halo, Operate, React

AT_RUN_TIME = ("enumerate", "configure")
"""Ways to a vector instruction whose size is found before each call."""


class _Said(TypedDict):
    """What tasks.yaml says of a statement."""

    statement: str
    iterators: tuple[str, ...]
    target: str
    op: str
    expression: str


def make_react(statement: Statement, arrival: str) -> React:
    """Return the task that runs a statement on each element of an arrival."""
    return React(arrival=arrival, **_said(statement))


def make_operate(statement: Statement, arrival: str, departure: str | None) -> Operate:
    """Return the task that runs a statement on an arrival, and sends what it gives, perhaps."""
    return Operate(arrival=arrival, departure=departure, **_said(statement))


def make_compute(statement: Statement, chunks: Sequence[str], follows: Sequence[str]) -> Compute:
    """Return the task that runs a statement on memory, in steps if it has chunks."""
    return Compute(chunks=tuple(chunks), follows=tuple(follows), **_said(statement))


def _said(statement: Statement) -> _Said:
    return _Said(
        statement=statement.name,
        iterators=tuple(statement.iterators),
        target=statement.target.tensor,
        op=statement.op,
        expression=write_expression(statement.expr),
    )


def make_halo(layer: Layer, arrival: str, tensor: str) -> Halo:
    """Return the task that copies what windows still reach of the end of a ring to its front."""
    return Halo(
        arrival=arrival,
        iterators=tuple(f"i{k}" for k in range(len(layer.tensors[tensor].shape))),
        target=name_halo(tensor, layer),
        op="=",
        expression=tensor,
    )


def name_halo(tensor: str, layer: Layer) -> str:
    """Return the name of what lies at the front of a tensor's ring; no other tensor has it."""
    name = f"{tensor}_halo"
    while name in layer.tensors:
        name += "_"
    return name
