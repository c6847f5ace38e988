"""Which PEs are neighbours, on the networks that connect them.

Paper    M Sec. III.J and VI, (8), (13)
Differs  the distance is that of Euclid, squared: so two PEs of a hexagonal or octagonal network
         are neighbours up to 2, and those of a mesh up to 1. With |x| + |y| an octagonal network
         would have twelve neighbours.
"""

from __future__ import annotations

from dataclasses import dataclass

import islpy as isl

from lairmake.stages.mapping.layer_yaml import Kind, LayerMapping
from lairmake.stages.skewing.grid import along, edges, grid, near, within
from lairmake.stages.skewing.levels import flattening, hierarchical

ALONG: dict[bool | str | None, tuple[int, ...]] = {
    None: (0, 1), True: (0, 1), False: (), "x": (0,), "y": (1,),
}
"""The dimensions of the grid along which layer.yaml lets PEs pass elements on, None: all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Topology:
    """A network of PEs: from 0 to below `sizes` in each dimension of the grid.

    Only along the dimensions `spatial` are there links (Sec. III.J); None: along all. The
    coordinates of a hexagonal network are the last two of Kung and Leiserson's three. A mesh may be
    one of outer PEs with `inner` PEs each, linked like one mesh along the dimensions `fine` only.
    """

    kind: Kind
    sizes: tuple[int, ...]
    spatial: tuple[int, ...] | None = None
    inner: tuple[int, ...] | None = None
    fine: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        """Hexagonal and octagonal networks have two dimensions, and levels are of meshes."""
        assert self.kind in ("mesh", "torus") or len(self.sizes) == 2
        assert self.kind == "mesh" or self.inner is None


def make_topology(mapping: LayerMapping, sizes: tuple[int, ...]) -> Topology:
    """Return the network of layer.yaml on a target of so many PEs."""
    wanted = mapping.topology
    return Topology(
        kind=wanted.kind,
        sizes=sizes,
        spatial=ALONG[mapping.skew],
        inner=tuple(wanted.inner) if wanted.inner else None,
        fine=ALONG[wanted.fine],
    )


def neighbours(topology: Topology) -> isl.Map:
    """Return { PE[x, y] -> PE[x', y'] } of neighbours; symmetric, and no PE is its own."""
    width, pes = len(topology.sizes), grid(topology.sizes)
    if topology.inner is not None:
        linked = _of_levels(topology, topology.inner)
    else:
        every = {
            "mesh": lambda: near(width, 1),
            "torus": lambda: near(width, 1).union(edges(topology.sizes)),
            "octagonal": lambda: near(width, 2),
            "hexagonal": lambda: within(near(3, 2), hexagonal_plane()),
        }[topology.kind]()
        linked = along(every, topology.spatial)
    linked = linked.intersect_domain(pes).intersect_range(pes)
    return linked.subtract(isl.Map.identity(linked.space))


def _of_levels(topology: Topology, inner: tuple[int, ...]) -> isl.Map:
    """Return { PE[x, y] -> PE[x', y'] } of two levels, both flattened by M (13)."""
    outer = [-(-size // part) for size, part in zip(topology.sizes, inner, strict=True)]
    flat = flattening(inner, range(len(inner)))
    linked = hierarchical(outer, inner, topology.fine, topology.spatial)
    return linked.apply_domain(flat).apply_range(flat).coalesce()


def hexagonal_plane() -> isl.Map:
    """Return { PE[x, y] -> PE[x + y, x, y] }, the points of a grid with Pl0 - Pl1 - Pl2 = 0."""
    return isl.Map("{ PE[x, y] -> PE[x + y, x, y] }")
