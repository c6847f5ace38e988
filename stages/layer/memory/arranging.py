"""Addresses of the arrays of each role, and events between which arrays are needed.

Arrays share memory where that costs nothing: where no instruction waits more for a bank. If a layer
does not fit into the memory of a PE, sums get their first value only when they are computed, not at
the start of the invocation; if need be, arrays lie wherever there is room, large ones first.

Paper    V Sec. 4.3
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import islpy as isl

from lairmake.stages.layer.codegen.model import ProgramModel
from lairmake.stages.layer.memory.arrays import (
    Keeping,
    ProgramArray,
    find_end,
    find_uses,
    lay_out,
    list_adapting,
    list_computing,
    list_local,
    share_memory,
)
from lairmake.stages.layer.memory.events import EventOrder, order_adapting, order_computing
from lairmake.stages.layer.routes.resources import count_functions
from lairmake.stages.layer.texts import task_graph
from lairmake.stages.layer.texts.isl_files import ALWAYS, NOWHERE, Arranged
from lairmake.stages.layer.vector.situation import PLACES
from lairmake.stages.machine.banks import PAIR
from lairmake.stages.machine.types import BYTES
from lairmake.stages.poly.canonical import list_maps
from lairmake.stages.poly.functions import find_index_constants, project_names
from lairmake.stages.poly.sides import SIDES

Starts = Mapping[str, int]
"""The bank in which each array of computing PEs starts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryLayout:
    """Arrays in the order in which they would lie apart, and the addresses that they have."""

    arrays: Sequence[ProgramArray]
    addresses: Mapping[str, int]

    @property
    def end(self) -> int:
        """The number of bytes that they take."""
        return find_end(self.arrays, self.addresses)


def arrange(keeping: Keeping, starts: Starts | None = None) -> dict[str, Arranged]:
    """Return, by role, where arrays lie, and the first and last events of their lives.

    Those of computing PEs start in the banks that `starts` gives, if there is room for that.
    """
    order = find_order(keeping)
    found = {"compute": _describe(arrange_computing(keeping, order, starts), order)}
    for side, described in SIDES.items():
        uses = find_uses(keeping.work, side)
        arrays = list_adapting(keeping, side, uses)
        if arrays:
            along = order_adapting(keeping.graph, side)
            found[f"adapter_{described.word}"] = _describe(_share_all(arrays, along), along)
    return found


def find_saved(keeping: Keeping) -> int:
    """Return how many bytes local tensors share if they do not fit one after the other, else 0."""
    apart = list_local(keeping, find_uses(keeping.work, ""))
    if find_end(apart, lay_out(apart)) <= _find_room(keeping):
        return 0
    order = find_order(keeping)
    late = _largest_first(list_local(keeping, find_late_uses(keeping.work, order)))
    return find_end(apart, lay_out(apart)) - _share_all(late, order).end


def arrange_computing(
    keeping: Keeping, order: EventOrder, starts: Starts | None = None
) -> MemoryLayout:
    """Return where the arrays of computing PEs lie: the first of all ways that fits."""
    room = _find_room(keeping)
    for layout in _list_ways(keeping, order, room, starts):
        if layout.end <= room:
            break
    return layout


def list_early(keeping: Keeping) -> list[ProgramArray]:
    """Return the arrays of computing PEs where all get their first values as early as they may."""
    return list_computing(keeping, find_uses(keeping.work, ""))


def fits_apart(keeping: Keeping) -> bool:
    """Say whether the arrays of computing PEs fit one after the other."""
    arrays = list_early(keeping)
    return find_end(arrays, lay_out(arrays)) <= _find_room(keeping)


def _find_room(keeping: Keeping) -> int:
    """Return how many bytes the code of computing PEs leaves."""
    profile, functions = keeping.profile, count_functions(keeping.graph)
    return profile.memory - profile.code_base - profile.code_task * functions


def _list_ways(
    keeping: Keeping, order: EventOrder, room: int, starts: Starts | None
) -> Iterator[MemoryLayout]:
    """Yield the ways in which arrays may lie, the last ones only where there is no room for others.

    Where arrays fit one after the other, they never take more.
    """
    banks = keeping.profile.banks.words or (0 if starts is None else PAIR)
    early = list_early(keeping)
    banked, plain = lay_out(early, starts, banks), lay_out(early)
    ends = [find_end(early, apart) for apart in (banked, plain)]
    most = next((end for end in ends if end <= room), None)
    for apart in (banked, plain):
        addresses = share_memory(early, apart, order, banks)
        if most is None or find_end(early, addresses) <= most:
            yield MemoryLayout(arrays=early, addresses=addresses)
    late = list_computing(keeping, find_late_uses(keeping.work, order))
    yield MemoryLayout(arrays=late, addresses=share_memory(late, banked, order, banks))
    yield _share_all(_largest_first(late), order)


def _largest_first(arrays: Sequence[ProgramArray]) -> list[ProgramArray]:
    return sorted(arrays, key=lambda array: -array.bytes)


def _share_all(arrays: Sequence[ProgramArray], order: EventOrder) -> MemoryLayout:
    """Return where arrays lie that need not keep their banks."""
    return MemoryLayout(
        arrays=arrays, addresses=share_memory(arrays, lay_out(arrays), order, banks=0)
    )


def find_late_uses(work: ProgramModel, order: EventOrder) -> dict[str, frozenset[str] | None]:
    """Return the events between which tensors are used whose first value comes as late as it may.

    It comes when the statement runs that computes the tensor, at once, if nobody needs it before.
    """
    statements = {
        task.target: f"finish_{task.statement}"
        for task in work.of_kind(task_graph.Compute).values()
        if not task.chunks and f"init_{task.target}" in work.tasks
        and work.graph.tensors[task.target].stored_in is None
    }
    early, late = find_uses(work, ""), find_uses(work, "", late=statements)
    for tensor, finish in statements.items():
        uses = late[f"{tensor}_local"]
        if uses is None or not uses <= {finish} | order.later[finish]:
            late[f"{tensor}_local"] = early[f"{tensor}_local"]
    return late


def find_order(keeping: Keeping) -> EventOrder:
    """Return the order of the events of computing PEs."""
    work, routes = keeping.work, keeping.routes
    reads: dict[str, set[str]] = {}
    for name, task in work.tasks.items():
        if isinstance(task, task_graph.Running):
            access = work.instances.access(name)
            read = reads.setdefault(task.statement, set())
            if access is not None:
                read |= {m.get_tuple_name(isl.dim_type.out) for m in list_maps(access)}
    pes = _find_computing_pes(keeping)
    taken = [n for n in work.graph.arrivals if pes.is_subset(routes.pes(n, "taken"))]
    return order_computing(work.graph, reads, taken)


def _find_computing_pes(keeping: Keeping) -> isl.Set:
    """Return { PE[x, y] } of all that run tasks, or send what others have."""
    work, pes = keeping.work, NOWHERE
    for name in (n for n, task in work.tasks.items() if not PLACES(work.graph, task)):
        known = work.known(name)
        here = project_names(known, find_index_constants(known))
        pes = pes.union(here.unbind_params(isl.MultiId("[PE_X, PE_Y] -> { PE[PE_X, PE_Y] }")))
    for name in work.graph.departures:
        pes = pes.union(keeping.routes.pes(name, "chain"))
    for name in filter(work.graph.forwarding.__contains__, work.graph.arrivals):
        pes = pes.union(keeping.routes.pes(name, "forwarding"))
    return pes


def _describe(layout: MemoryLayout, order: EventOrder) -> Arranged:
    """Return what memory.isl says of the arrays of a role."""
    return Arranged(
        shapes={array.name: array.shape for array in layout.arrays},
        sizes={array.name: BYTES[array.type] for array in layout.arrays},
        addresses=layout.addresses,
        lives={array.name: _ends(array.uses, order) for array in layout.arrays},
    )


def _ends(uses: frozenset[str] | None, order: EventOrder) -> tuple[str, ...]:
    """Return the uses that none, or no other one, comes after: from when to when an array lives."""
    if uses is None:
        return (ALWAYS,)
    first = [e for e in uses if not any(e in order.later[other] for other in uses)]
    last = [e for e in uses if not order.later[e] & uses]
    return tuple(sorted({*first, *last}))
