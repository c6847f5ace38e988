"""The ways to a vector instruction, in the order in which one is taken where they cost the same.

Paper    V Sec. 5
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from lairmake.stages.lair.expressions import Operation, multiplies_and_adds
from lairmake.stages.layer.texts.task_graph import ForKind, Operate, always
from lairmake.stages.layer.vector import (
    basis,
    blocks,
    configure,
    enumeration,
    exact,
    hull,
    in_rows,
    lattice,
    nested,
    relaxed,
    row_sizes,
    scalar,
)
from lairmake.stages.layer.vector.candidate import Candidate
from lairmake.stages.layer.vector.situation import Situation

Way = Callable[[Situation], Candidate]
Ways = Callable[[Situation], Iterable[Candidate]]
WAYS: dict[str, Way] = {
    "hull": hull.by_hull,
    "exact": exact.by_instances,
    "relaxed": relaxed.by_relaxed_hull,
    "lattice": lattice.by_lattice,
    "basis": basis.by_basis,
    "enumerate": enumeration.by_sizes,
    "configure": configure.by_configuration,
    "nested": nested.candidate,
}
FILL: dict[str, Way] = {"exact": exact.transfer_instances, "nested": nested.candidate}
TRANSFER: dict[str, Way] = {"exact": exact.transfer_instances}
EARLY: dict[str, Way] = {
    "exact": exact.transfer_instances,
    "configure": configure.transfer_by_configuration,
}

FOR_KIND: ForKind[Situation, dict[str, Way]] = ForKind(
    initialise=always(FILL),
    react=always(WAYS),
    store=always(TRANSFER),
    receive=always(TRANSFER),
    operate=always(TRANSFER),
    compute=always(WAYS),
    carry=always(WAYS),
    halo=always(WAYS),
    send=always(TRANSFER),
    early_send=always(EARLY),
    pack=always(TRANSFER),
    relay=always(TRANSFER),
    hear=always(TRANSFER),
    spread=always(TRANSFER),
    clear=always(FILL),
    gather=always(TRANSFER),
)
"""All ways for a statement, exact bounds for what moves elements; memory may be filled in loops."""


def list_ways(
    situation: Situation, operations: Sequence[Operation]
) -> dict[str, tuple[Ways, ...]]:
    """Return the ways for a task of such operations, and what finds the boxes of each of them."""
    ways = FOR_KIND(situation, situation.task).items()
    found: dict[str, tuple[Ways, ...]] = {way: (_alone(find),) for way, find in ways}
    if isinstance(situation.task, Operate):
        return found
    if situation.runs:
        found["nested"] += (row_sizes.by_row_sizes,)
    else:
        found["exact"] = (in_rows.transfers,)
    if multiplies_and_adds(operations) and not situation.profile.vector_multiply_add:
        found["scalar"] = (scalar.by_scalar,)
        found["nested"] = (*found["nested"], blocks.by_blocks)
    return found


def _alone(find: Way) -> Ways:
    return lambda situation: (find(situation),)
