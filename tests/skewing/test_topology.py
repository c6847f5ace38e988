"""M Sec. III.J and VI: networks of PEs."""

import itertools

import islpy as isl
import pytest

from lairmake.stages.skewing.topology import (
    Topology,
    always_steps,
    crosses_edge,
    flattening,
    fold,
    hexagonal_plane,
    hierarchical,
    neighbours,
    next_task,
    unfold,
)


def pairs(relation):
    """Return the pairs of coordinates of a relation."""
    found = set()
    width = relation.dim(isl.dim_type.in_)

    def note(point):
        values = [
            point.get_coordinate_val(isl.dim_type.set, k).to_python() for k in range(2 * width)
        ]
        found.add((tuple(values[:width]), tuple(values[width:])))

    relation.wrap().flatten().foreach_point(note)
    return found


def points(*sizes):
    return list(itertools.product(*map(range, sizes)))


def distance(p, q):
    return sum((a - b) ** 2 for a, b in zip(p, q, strict=True))


def between(sizes, near):
    return {(p, q) for p in points(*sizes) for q in points(*sizes) if p != q and near(p, q)}


@pytest.mark.parametrize("sizes", [(5,), (4, 3), (1, 3), (2, 3, 2)])
def test_mesh_neighbours_are_at_distance_1(sizes):
    found = neighbours(Topology(kind="mesh", sizes=sizes))
    assert pairs(found) == between(sizes, lambda p, q: distance(p, q) <= 1)


@pytest.mark.parametrize("sizes", [(5,), (4, 3), (1, 3), (2, 2)])
def test_a_torus_has_edges_from_the_last_to_the_first(sizes):
    def near(p, q):
        lags = [min((a - b) % s, (b - a) % s) for a, b, s in zip(p, q, sizes, strict=True)]
        return sum(lags) == 1

    assert pairs(neighbours(Topology(kind="torus", sizes=sizes))) == between(sizes, near)


def test_octagonal_neighbours_are_at_squared_distance_2():
    found = pairs(neighbours(Topology(kind="octagonal", sizes=(4, 3))))
    assert found == between((4, 3), lambda p, q: distance(p, q) <= 2)
    assert sum(p == (1, 1) for p, _ in found) == 8


def test_hexagonal_neighbours_are_those_of_kung_and_leiserson():
    def lifted(p):
        return (p[0] + p[1], *p)

    found = pairs(neighbours(Topology(kind="hexagonal", sizes=(4, 4))))
    assert found == between((4, 4), lambda p, q: distance(lifted(p), lifted(q)) <= 2)
    assert sum(p == (1, 1) for p, _ in found) == 6
    assert hexagonal_plane().range().is_equal(isl.Set("{ PE[p0, p1, p2] : p0 - p1 - p2 = 0 }"))


@pytest.mark.parametrize("kind", ["mesh", "torus", "octagonal", "hexagonal"])
def test_a_partially_spatial_grid_has_links_along_some_dimensions(kind):
    every = pairs(neighbours(Topology(kind=kind, sizes=(4, 3))))
    found = pairs(neighbours(Topology(kind=kind, sizes=(4, 3), spatial=(1,))))
    assert found == {(p, q) for p, q in every if p[0] == q[0]}


def test_eq_13_flattening():
    found = flattening((4, 5), (0, 1))
    assert found.is_equal(isl.Map("{ PE[o, p, i, j] -> PE[4o + i, 5p + j] }"))
    some = flattening((4, 5), (1,))
    assert some.is_equal(isl.Map("{ PE[o, p, i, j] -> PE[o, i, 5p + j] }"))


def test_inner_pes_with_fine_grained_links_are_one_mesh():
    found = pairs(hierarchical((2, 2), (3, 2), fine=(0, 1)))

    def flat(p):
        return (3 * p[0] + p[2], 2 * p[1] + p[3])

    assert found == between((2, 2, 3, 2), lambda p, q: distance(flat(p), flat(q)) <= 1)


def test_with_coarse_links_all_inner_pes_of_the_next_outer_pe_are_near():
    found = pairs(hierarchical((2, 2), (3, 2)))

    def near(p, q):
        outer, inner = distance(p[:2], q[:2]), distance(p[2:], q[2:])
        return outer == 1 or (outer == 0 and inner == 1)

    assert found == between((2, 2, 3, 2), near)


def test_links_are_fine_along_one_dimension_and_coarse_along_the_other():
    found = pairs(hierarchical((2, 2), (3, 2), fine=(0,)))

    def near(p, q):
        along = (3 * p[0] + p[2]) - (3 * q[0] + q[2])
        fine = abs(along) == 1 and p[1] == q[1] and p[3] == q[3]
        within = p[:2] == q[:2] and p[2] == q[2] and abs(p[3] - q[3]) == 1
        return fine or within or (p[0] == q[0] and abs(p[1] - q[1]) == 1)

    assert found == between((2, 2, 3, 2), near)


INSTANCES = isl.Set("{ S[i, j] : 0 <= i < 8 and 0 <= j < 6 }")


def test_eqs_8_to_10_fold_a_placement_onto_a_torus():
    place = isl.UnionMap("{ S[i, j] -> PE[i, i + j] }")
    pe, wrap = map(isl.Map.from_union_map, fold(place, (4, 3)))
    assert pe.is_equal(isl.Map("{ S[i, j] -> PE[i mod 4, (i + j) mod 3] }"))
    assert wrap.is_equal(isl.Map("{ S[i, j] -> [i // 4, (i + j) // 3] }"))
    assert isl.UnionMap.from_map(unfold(pe, wrap, (4, 3))).is_equal(place)


@pytest.mark.parametrize(
    ("placement", "size", "crosses", "always"),
    [
        ("i", 4, True, True),
        ("i + 5*j", 4, True, True),
        ("j", 4, False, False),
        ("2*i", 4, False, False),
        ("2*i", 3, False, False),
        ("i", 8, False, True),
        ("i + (i // 4)", 4, True, False),
        ("i - (i // 6)", 4, True, False),
        ("i + 4*(i // 4)", 4, False, False),
    ],
)
def test_eqs_11_and_12_reuse_across_the_edge_of_a_torus(placement, size, crosses, always):
    place = isl.Map(f"{{ S[i, j] -> PE[{placement}, j] }}").intersect_domain(INSTANCES)
    step = next_task(INSTANCES.identity(), 0)
    assert crosses_edge(place, step, size, k=0) is crosses
    assert always_steps(place, step, k=0) is always

    def at(i, j):
        return eval(placement, {"i": i, "j": j})

    steps = [(at(i, j), at(i + 1, j)) for i in range(7) for j in range(6)]
    assert crosses == any(p % size == size - 1 and q == p + 1 for p, q in steps)
    assert always == all(q == p + 1 for p, q in steps)
