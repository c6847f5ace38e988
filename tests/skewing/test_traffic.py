import random

import islpy as isl
import pytest

from lairmake.stages.poly.quota import limit_operations
from lairmake.stages.skewing.topology import Topology, hierarchical, neighbours
from lairmake.stages.skewing.traffic import TrafficAccesses, sources, total
from tests.skewing.instrumented import count

MESH = neighbours(Topology(kind="mesh", sizes=(3, 3)))
FLAT = [
    MESH,
    neighbours(Topology(kind="torus", sizes=(3, 3))),
    neighbours(Topology(kind="octagonal", sizes=(3, 3))),
    neighbours(Topology(kind="hexagonal", sizes=(3, 3))),
    neighbours(Topology(kind="mesh", sizes=(3, 3), spatial=(1,))),
]
NAMES = ["mesh", "torus", "octagonal", "hexagonal", "in one direction"]


def accesses(instances, relations, placement, steps):
    within = isl.UnionSet(f"{{ {instances} }}")
    maps = [isl.UnionMap(f"{{ {r} }}").intersect_domain(within) for r in relations]
    return TrafficAccesses(
        relations=tuple(isl.Map.from_union_map(m) for m in maps if not m.is_empty()),
        placement=isl.UnionMap(f"{{ {placement} }}").intersect_domain(within),
        times=isl.UnionMap(f"{{ {steps} }}").intersect_domain(within),
    )


def matmul(size, steps):
    return accesses(
        f"mm[i, j, k] : 0 <= i, j, k < {size}",
        ("mm[i, j, k] -> A[i, k]", "mm[i, j, k] -> B[k, j]", "mm[i, j, k] -> C[i, j]"),
        "mm[i, j, k] -> PE[(i//2) mod 3, (j//2) mod 3]",
        f"mm[i, j, k] -> [{steps}]",
    )


def counted(layer, neighbours):
    """Return the traffic by tensor, as the instrumented layer has it and as sets have it."""
    found = {name: each.traffic() for name, each in sources(layer, neighbours).items()}
    by_hand = count(layer.relations, layer.placement, layer.times, neighbours)
    return by_hand, {name: (t.remote, t.neighbour, t.local) for name, t in found.items()}


@pytest.mark.parametrize(
    "steps",
    [
        "i//6, j//6, k//2",
        "i//6, j//6, k//2 + (i//2) mod 3 + (j//2) mod 3",
        "i//6, j//6, k//2 + 2*((i//2) mod 3)",
        "k, i mod 2, j mod 2",
        "0",
    ],
)
def test_accesses_are_counted_as_an_instrumented_layer_counts_them(steps):
    by_hand, found = counted(matmul(7, steps), MESH)
    assert by_hand == found


def test_of_two_statements_the_second_finds_what_the_first_one_left():
    layer = accesses(
        "a[i] : 0 <= i < 6; b[i, j] : 0 <= i, j < 6",
        ("a[i] -> x[i]", "a[i] -> y[i]", "b[i, j] -> y[(i + 1) mod 6]", "b[i, j] -> z[j]"),
        "a[i] -> PE[i//2, 0]; b[i, j] -> PE[i//2, 1]",
        "a[i] -> [0, i mod 2, 0]; b[i, j] -> [1, i mod 2, j]",
    )
    by_hand, found = counted(layer, MESH)
    assert by_hand == found
    assert found["y"][1] > 0


OPERATIONS = 300_000
"""As much as isl may work, in its own unit: about a tenth of a second."""

RANDOM = random.Random(20)
STEPS = ("i//{a}", "k//{b}", "j//{b} + (i//{a}) mod 3", "k + (i + j)//{a}", "i mod {a}", "2*k - j")
PLACES = ("(i//{a}) mod 3", "(i + j) mod 3", "j//3", "(k//{b}) mod 3", "0", "(2*i + j) mod 3")
INDICES = ("i", "j", "k", "i + k", "i - j", "j//{a}", "0")

def drawn():
    def of(texts, n):
        chosen = ", ".join(RANDOM.choice(texts) for _ in range(n))
        return chosen.format(a=RANDOM.randint(2, 3), b=RANDOM.randint(1, 4))

    def size():
        return RANDOM.randint(1, 6)

    return accesses(
        f"s[i, j, k] : 0 <= i < {size()} and 0 <= j < {size()} and 0 <= k < {size()}",
        tuple(f"s[i, j, k] -> {t}[{of(INDICES, 2)}]" for t in "xyx"),
        f"s[i, j, k] -> PE[{of(PLACES, 2)}]",
        f"s[i, j, k] -> [{of(STEPS, RANDOM.randint(1, 3))}]",
    )


@pytest.mark.wide
@pytest.mark.parametrize("near", FLAT, ids=NAMES)
def test_of_random_layers_too(near):
    for _ in range(8):
        layer = drawn()
        by_hand, found = counted(layer, near)
        assert by_hand == found, layer


@pytest.mark.parametrize("fine", [(), (0,), (0, 1)], ids=["chunks", "fine along x", "flat"])
def test_accesses_across_the_edges_of_outer_pes(fine):
    layer = accesses(
        "mm[i, j, k] : 0 <= i, j, k < 4",
        ("mm[i, j, k] -> A[i, k]", "mm[i, j, k] -> B[k, j]", "mm[i, j, k] -> C[i, j]"),
        "mm[i, j, k] -> PE[i//2, j//2, i mod 2, j mod 2]",
        "mm[i, j, k] -> [k + i + j]",
    )
    by_hand, found = counted(layer, hierarchical((2, 2), (2, 2), fine))
    assert by_hand == found
    assert {name: each[0] for name, each in found.items()} == dict.fromkeys("ABC", 16)


def cube(size):
    """Return the product of matrices of Sec. IV, of another size, its steps as before it."""
    return accesses(
        f"mm[i, j, k] : 0 <= i, j, k < {size}",
        ("mm[i, j, k] -> A[i, k]", "mm[i, j, k] -> B[k, j]", "mm[i, j, k] -> C[i, j]"),
        "mm[i, j, k] -> PE[(i//4) mod 16, (j//8) mod 16]",
        "mm[i, j, k] -> [i//64, j//128, k//8 + (i//4) mod 16 + (j//8) mod 16]",
    )


@pytest.mark.parametrize("size", [1024, 2**20])
def test_counting_takes_no_longer_for_more_instances(size):
    mesh = neighbours(Topology(kind="mesh", sizes=(16, 16)))
    with limit_operations(OPERATIONS):
        found = total(each.traffic() for each in sources(cube(size), mesh).values())
    tiles = 128 * (size // 1024) ** 2 * 256
    swept = tiles * (size // 8) * (32 + 64) // 16
    assert found.remote == swept + tiles * 32
    assert found.neighbour == 15 * swept
    assert found.accesses == 3 * size**3
