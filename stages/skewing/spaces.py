"""Reuse, placement and broadcast spaces of the references of a statement.

Paper    M Sec. II.A, (1)
Differs  the spaces are those of differences of times and PEs, [t..., x, y], not of iterators:
         on blocks, as PE[j // 4], those are coordinates of tiles, in which reuse is linear. Where
         loops run over PEs, these are the iterators in another order. Spaces are hulls of the pairs
         that there are, so what bounds rule out is no reuse.
"""

from __future__ import annotations

from collections.abc import Iterable

import islpy as isl

from lairmake.stages.poly.integers import Matrix, read_matrix
from lairmake.stages.skewing.grid import names
from lairmake.stages.skewing.matrices import rank

SET, IN, OUT = isl.dim_type.set, isl.dim_type.in_, isl.dim_type.out


def space_time(times: isl.Map, place: isl.Map) -> isl.Map:
    """Return { S[i] -> [t..., x, y] } of { S[i] -> [t...] } and { S[i] -> PE[x, y] }."""
    points = times.flat_range_product(place.reset_tuple_id(OUT)).reset_tuple_id(OUT)
    return points.compute_divs()


def reuse_space(points: isl.Map, access: isl.Map) -> isl.BasicSet:
    """Return the space R of { z' - z : z and z' use one element }, M (1)."""
    return hull(apart(points, access))


def extent_space(points: isl.Map) -> isl.BasicSet:
    """Return the space of all { z' - z }: the equalities E of the instances."""
    every = points.range()
    return hull(isl.Map.from_domain_and_range(every, every).deltas())


def placement_space(points: isl.Map, alike: Iterable[int]) -> isl.BasicSet:
    """Return the space P of { z' - z : z and z' have one time }.

    Times are the coordinates `alike`, and PEs that are not along the chosen dimensions of the grid.
    """
    every = points.range()
    return hull(_equal(isl.Map.from_domain_and_range(every, every), alike).deltas())


def broadcast_space(points: isl.Map, access: isl.Map, alike: Iterable[int]) -> isl.BasicSet:
    """Return the space B of { z' - z : z and z' use one element at one time }, times as above."""
    return hull(_equal(_sharing(points, access), alike).deltas())


def apart(points: isl.Map, access: isl.Map) -> isl.Set:
    """Return { z' - z : z and z' use one element }: those that there are, not their hull."""
    return _sharing(points, access).deltas()


def hull(vectors: isl.Set) -> isl.BasicSet:
    """Return the least linear space that holds vectors, 0 among them, whatever their strides."""
    return vectors.affine_hull().remove_divs().affine_hull()


def name_dimensions(space: isl.BasicSet, pes: Iterable[str]) -> isl.Set:
    """Return { [t0, ..., x, y] }, the dimensions of a space named, those of PEs as given."""
    named, grid = space.to_set(), list(pes)
    times = names("t", space.dim(SET) - len(grid))
    for k, name in enumerate([*times, *grid]):
        named = named.set_dim_name(SET, k, name)
    return named


def dimension(space: isl.BasicSet) -> int:
    """Return the number of dimensions of a space."""
    return space.dim(SET) - rank(normals(space))


def normals(space: isl.BasicSet) -> Matrix:
    """Return the normals to the hyperplanes whose intersection is a space, one a row."""
    rows = read_matrix(
        space.equalities_matrix(SET, isl.dim_type.div, isl.dim_type.param, isl.dim_type.cst)
    )
    return [row[: space.dim(SET)] for row in rows]


def _sharing(points: isl.Map, access: isl.Map) -> isl.Map:
    """Return { z -> z' } where instances at z and z' use one element."""
    used = points.reverse().apply_range(access)
    return used.apply_range(used.reverse())


def _equal(pairs: isl.Map, coordinates: Iterable[int]) -> isl.Map:
    for k in coordinates:
        pairs = pairs.equate(IN, k, OUT, k)
    return pairs
