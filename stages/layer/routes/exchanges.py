"""Tasks by which neighbours exchange halos: their names, and what each moves."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import TYPE_CHECKING

import islpy as isl

from lairmake.stages.layer.texts.isl_files import Routing, Said, named
from lairmake.stages.layer.texts.task_graph import Carry, Initialise

if TYPE_CHECKING:
    from lairmake.stages.layer.texts.task_graph import Move, TaskGraph

# --- Tasks of moves -------------------------------------------------------------------------------

TOWARDS: dict[str, Said] = {"E": "east", "W": "west", "S": "south", "N": "north"}
"""Words of routes.isl for the sides to which elements move."""


def name_task(verb: str, move: str, side: str) -> str:
    """Return the name of the task that sends, or receives, what moves to a side."""
    return f"{verb}_{named(move, TOWARDS[side])}"


def find_members(move: Move, name: str, routes: Routing) -> isl.Map:
    """Return { T[e] -> PE } of the PEs that send elements, or take them."""
    found = []
    for side in (side for each in move.rounds for side in each):
        moved = routes.relation(name, TOWARDS[side])
        found += [moved.range_factor_domain(), moved.range_factor_range()]
    return functools.reduce(isl.Map.union, found).coalesce()


def find_order(move: str, side: str, routes: Routing, *, sent: bool) -> isl.Map:
    """Return { T[e] -> [PE -> index[e]] } of what moves to a side, at PEs that send it, or take it.
    """
    moved = routes.relation(move, TOWARDS[side])
    places = moved.range_factor_domain() if sent else moved.range_factor_range()
    index = moved.domain().identity().set_tuple_name(isl.dim_type.out, "index")
    return places.range_product(index)


def list_before(graph: TaskGraph) -> list[str]:
    """Return the tasks that carry tensors before buffers are swapped, and halos exchanged: up to
    the last one of a tensor with a halo, or one that takes turns with buffers.
    """
    early = {move.tensor for move in graph.moves.values()}
    early |= {name for names in graph.swaps.values() for name in names}
    carried = {n: t for n, t in graph.tasks.items() if isinstance(t, Carry)}
    last = max((k for k, t in enumerate(carried.values(), 1) if t.expression in early), default=0)
    return list(carried)[:last]


def list_meanwhile(graph: TaskGraph) -> list[str]:
    """Return the tasks that run while neighbours exchange halos: those that carry others, and that
    give first values to what has swapped its buffer.
    """
    before, swapped = list_before(graph), graph.swapped if graph.moves else {}
    return [
        name for name, task in graph.tasks.items()
        if (isinstance(task, Carry) and name not in before)
        or (isinstance(task, Initialise) and task.tensor in swapped)
    ]


def is_computed(move: str, side: str, moves: Mapping[str, Move]) -> bool:
    """Say whether PEs have computed all that moves to a side: it is in the first round."""
    first = next(name for name, each in moves.items() if each.tensor == moves[move].tensor)
    return move == first and side in moves[move].rounds[0]
