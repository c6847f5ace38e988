"""The coordinates of PEs by which they lag behind each other, and the links along them.

Paper    M Sec. III.J and VI
Differs  where links are coarse, both levels have coordinates of their own, so that outer PEs, and
         the inner ones of each, may lag; where they are fine, those are flattened, M (13).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import islpy as isl

from lairmake.stages.skewing.grid import write_list
from lairmake.stages.skewing.matrices import identity
from lairmake.stages.skewing.topology import Topology

NOUNS = {"torus": "torus", "hexagonal": "hexagonal grid", "octagonal": "octagonal grid"}
DIAGONALS = {"hexagonal": [[1, -1]], "octagonal": [[1, 1], [1, -1]]}


@dataclass(frozen=True, slots=True, kw_only=True)
class Coordinate:
    """A coordinate of PE[x, y] as an expression of isl, along dimension `axis` of the grid.

    `inside` is the number of inner PEs along the axis where it is one of outer PEs, else 0.
    """

    name: str
    value: str
    axis: int
    inside: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """Links in one direction, by the difference of the coordinates of two PEs.

    `step` is the one from a PE to the next, `ways` { [d] } has all of them: on a torus that across
    the edge too, and between outer PEs those to all of the inner ones.
    """

    step: tuple[int, ...]
    ways: isl.Set = field(repr=False)


def coordinates(topology: Topology) -> tuple[Coordinate, ...]:
    """Return the coordinates of a PE; those of outer PEs first where there are some."""
    axes = "xyz"[: len(topology.sizes)]
    if topology.inner is None:
        return tuple(Coordinate(name=a, value=a, axis=k) for k, a in enumerate(axes))
    outer, inner = [], []
    for k, (a, size) in enumerate(zip(axes, topology.inner, strict=True)):
        if k in topology.fine:
            inner.append(Coordinate(name=a, value=a, axis=k))
        else:
            far, near = f"floor({a}/{size})", f"({a} mod {size})"
            outer.append(Coordinate(name=f"{a}_outer", value=far, axis=k, inside=size))
            inner.append(Coordinate(name=f"{a}_inner", value=near, axis=k))
    return (*outer, *inner)


def note_on(topology: Topology) -> str:
    """Return a line on a network that is no mesh, for the header of a text; none on a mesh."""
    if topology.inner is None:
        noun = NOUNS.get(topology.kind)
        return f"\nPEs are linked as on a {noun}." if noun else ""
    values = ", ".join(f"{each.name} = {each.value}" for each in coordinates(topology))
    return f"\nPE[x, y] is on two levels, of the coordinates {values}."


def unfolding(topology: Topology) -> isl.Map:
    """Return { PE[x, y] -> PE[c...] }, the coordinates of each PE."""
    pe, values = write_list("xyz"[: len(topology.sizes)]), (c.value for c in coordinates(topology))
    return isl.Map(f"{{ PE[{pe}] -> PE[{write_list(values)}] }}")


def links(topology: Topology) -> tuple[Link, ...]:
    """Return the links of a network, along its coordinates first, a direction and not its opposite.

    There are none along dimensions of the grid that are not spatial.
    """
    found = coordinates(topology)
    steps = [*identity(len(found)), *DIAGONALS.get(topology.kind, [])]
    spatial = range(len(topology.sizes)) if topology.spatial is None else topology.spatial
    return tuple(
        Link(step=tuple(step), ways=_ways(topology, found, step))
        for step in steps
        if all(c.axis in spatial for c, d in zip(found, step, strict=True) if d)
    )


def _ways(topology: Topology, found: Sequence[Coordinate], step: Sequence[int]) -> isl.Set:
    """Return { [d] } of the links that lead one step in a direction."""
    at = found[list(step).index(1)]
    ways, where = [list(map(str, step))], ""
    if topology.kind == "torus" and topology.sizes[at.axis] > 1:
        ways.append([str(d * (1 - size)) for d, size in zip(step, topology.sizes, strict=True)])
    if at.inside:
        inner = max(k for k, c in enumerate(found) if c.axis == at.axis)
        ways[0][inner], where = "d", f" : {-at.inside} < d < {at.inside}"
    return isl.Set(f"{{ {'; '.join(f'[{write_list(way)}]' for way in ways)}{where} }}")
