"""Spaces of reuse, placement and broadcast; transformations of loops."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import gcd

import islpy as isl

from lairmake.stages.poly.integers import Matrix, hermite, read_matrix, solve
from lairmake.stages.skewing.topology import Topology, names, write_list

IN, OUT, SET = isl.dim_type.in_, isl.dim_type.out, isl.dim_type.set

# --- Integer matrices of spaces and transformations -----------------------------------------------
#
# Paper    M Sec. III.A, III.D

def rank(rows: Iterable[Sequence[int]]) -> int:
    """Return the rank of a matrix; 0 of one without rows."""
    left, found = [list(row) for row in rows if any(row)], 0
    while left:
        pivot = left.pop()
        column = next(k for k, entry in enumerate(pivot) if entry)
        reduced = [_without(row, pivot, column) for row in left]
        left, found = [row for row in reduced if any(row)], found + 1
    return found


def _without(row: list[int], pivot: list[int], column: int) -> list[int]:
    """Return a combination of two rows that is 0 in a column."""
    if not row[column]:
        return row
    combined = [a * pivot[column] - b * row[column] for a, b in zip(row, pivot, strict=True)]
    shared = gcd(*combined)
    return [entry // shared for entry in combined] if shared else combined


def identity(width: int) -> Matrix:
    """Return the matrix with ones on its diagonal."""
    return [[int(row == column) for column in range(width)] for row in range(width)]


def is_unimodular(matrix: Matrix) -> bool:
    """Say whether a square matrix has an inverse of integers."""
    echelon, _ = hermite(matrix, len(matrix))
    return all(echelon[k][k] == 1 for k in range(len(matrix)))


def is_lower_triangular(matrix: Matrix) -> bool:
    """Say whether a matrix is lower triangular with ones on its diagonal (Sec. III.D)."""
    return all(
        entry == int(row == column)
        for row, entries in enumerate(matrix)
        for column, entry in enumerate(entries)
        if column >= row
    )

# --- Reuse, placement and broadcast spaces --------------------------------------------------------
#
# Paper    M Sec. II.A, (1)
# Differs  the spaces are those of differences of times and PEs, [t..., x, y], not of iterators: on
#          blocks, as PE[j // 4], those are coordinates of tiles, in which reuse is linear. Where
#          loops run over PEs, these are the iterators in another order. Spaces are hulls of the
#          pairs that there are, so what bounds rule out is no reuse.

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

# --- Transformation by which PEs lag --------------------------------------------------------------
#
# Paper    M Sec. III.D, III.E, (4), (5)

def transformation(
    schedule: isl.Map, place: isl.Map, loops: Sequence[int], lag: Sequence[Sequence[int]]
) -> Matrix | None:
    """Return the matrix from the old to the new loops, a product of matrices 1 - a d, M (4).

    `lag` has a row for each of the loops; further ones are zeros. None where the coordinates of a
    PE are no combinations of loops, or schedule or placement is not linear.
    """
    old, places = _linear(schedule), _linear(place)
    if old is None or places is None:
        return None
    matrix = identity(len(old))
    columns = [list(column) for column in zip(*old, strict=True)]
    for loop, row in zip(loops, lag, strict=False):
        for factor, coordinate in zip(row, places, strict=True):
            found = solve(columns, coordinate, len(old)) if factor else identity(len(old))[0]
            if found is None:
                return None
            matrix[loop] = [a + factor * b for a, b in zip(matrix[loop], found, strict=True)]
    return matrix


def _linear(relation: isl.Map) -> Matrix | None:
    """Return the coefficients of a function { S[i] -> [...] }; None if it is not affine."""
    pieces: list[isl.MultiAff] = []
    relation.as_pw_multi_aff().foreach_piece(lambda _, function: pieces.append(function))
    rows = [pieces[0].get_at(k) for k in range(relation.dim(isl.dim_type.out))]
    if len(pieces) != 1 or any(row.dim(isl.dim_type.div) for row in rows):
        return None
    return [
        [row.get_coefficient_val(IN, k).to_python() for k in range(relation.dim(IN))]
        for row in rows
    ]

# --- Coordinates of PEs, and links along them -----------------------------------------------------
#
# Paper    M Sec. III.J and VI
# Differs  where links are coarse, both levels have coordinates of their own, so that outer PEs, and
#          the inner ones of each, may lag; where they are fine, those are flattened, M (13).

NOUNS = {"torus": "torus", "hexagonal": "hexagonal grid", "octagonal": "octagonal grid"}
DIAGONALS = {"hexagonal": [[1, -1]], "octagonal": [[1, 1], [1, -1]]}


@dataclass(frozen=True, slots=True, kw_only=True)
class SpaceCoordinate:
    """A coordinate of PE[x, y] as an expression of isl, along dimension `axis` of the grid.

    `inside` is the number of inner PEs along the axis where it is one of outer PEs, else 0.
    """

    name: str
    value: str
    axis: int
    inside: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TopologyLink:
    """Links in one direction, by the difference of the coordinates of two PEs.

    `step` is the one from a PE to the next, `ways` { [d] } has all of them: on a torus that across
    the edge too, and between outer PEs those to all of the inner ones.
    """

    step: tuple[int, ...]
    ways: isl.Set = field(repr=False)


def coordinates(topology: Topology) -> tuple[SpaceCoordinate, ...]:
    """Return the coordinates of a PE; those of outer PEs first where there are some."""
    axes = "xyz"[: len(topology.sizes)]
    if topology.inner is None:
        return tuple(SpaceCoordinate(name=a, value=a, axis=k) for k, a in enumerate(axes))
    outer, inner = [], []
    for k, (a, size) in enumerate(zip(axes, topology.inner, strict=True)):
        if k in topology.fine:
            inner.append(SpaceCoordinate(name=a, value=a, axis=k))
        else:
            far, near = f"floor({a}/{size})", f"({a} mod {size})"
            outer.append(SpaceCoordinate(name=f"{a}_outer", value=far, axis=k, inside=size))
            inner.append(SpaceCoordinate(name=f"{a}_inner", value=near, axis=k))
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


def links(topology: Topology) -> tuple[TopologyLink, ...]:
    """Return the links of a network, along its coordinates first, a direction and not its opposite.

    There are none along dimensions of the grid that are not spatial.
    """
    found = coordinates(topology)
    steps = [*identity(len(found)), *DIAGONALS.get(topology.kind, [])]
    spatial = range(len(topology.sizes)) if topology.spatial is None else topology.spatial
    return tuple(
        TopologyLink(step=tuple(step), ways=_ways(topology, found, step))
        for step in steps
        if all(c.axis in spatial for c, d in zip(found, step, strict=True) if d)
    )


def _ways(topology: Topology, found: Sequence[SpaceCoordinate], step: Sequence[int]) -> isl.Set:
    """Return { [d] } of the links that lead one step in a direction."""
    at = found[list(step).index(1)]
    ways, where = [list(map(str, step))], ""
    if topology.kind == "torus" and topology.sizes[at.axis] > 1:
        ways.append([str(d * (1 - size)) for d, size in zip(step, topology.sizes, strict=True)])
    if at.inside:
        inner = max(k for k, c in enumerate(found) if c.axis == at.axis)
        ways[0][inner], where = "d", f" : {-at.inside} < d < {at.inside}"
    return isl.Set(f"{{ {'; '.join(f'[{write_list(way)}]' for way in ways)}{where} }}")
