import random

import islpy as isl
import pytest

from stages.spatial.traffic import Accesses, sources
from tests.spatial.instrumented import count

MESH = "PE[x, y] -> PE[x + 1, y]; PE[x, y] -> PE[x - 1, y]; PE[x, y] -> PE[x, y + 1]; " \
    "PE[x, y] -> PE[x, y - 1]"
GRID = "PE[x, y] : 0 <= x < 3 and 0 <= y < 3"


def near(text=MESH):
    grid = isl.Set(f"{{ {GRID} }}")
    return isl.Map(f"{{ {text} }}").intersect_domain(grid).intersect_range(grid)


def accesses(instances, relations, placement, steps):
    within = isl.UnionSet(f"{{ {instances} }}")
    maps = [isl.UnionMap(f"{{ {r} }}").intersect_domain(within) for r in relations]
    return Accesses(
        relations=tuple(isl.Map.from_union_map(m) for m in maps if not m.is_empty()),
        placement=isl.UnionMap(f"{{ {placement} }}").intersect_domain(within),
        steps=isl.UnionMap(f"{{ {steps} }}").intersect_domain(within),
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
    by_hand = count(layer.relations, layer.placement, layer.steps, neighbours)
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
    by_hand, found = counted(matmul(7, steps), near())
    assert by_hand == found


def test_of_two_statements_the_second_finds_what_the_first_one_left():
    layer = accesses(
        "a[i] : 0 <= i < 6; b[i, j] : 0 <= i, j < 6",
        ("a[i] -> x[i]", "a[i] -> y[i]", "b[i, j] -> y[(i + 1) mod 6]", "b[i, j] -> z[j]"),
        "a[i] -> PE[i//2, 0]; b[i, j] -> PE[i//2, 1]",
        "a[i] -> [0, i mod 2, 0]; b[i, j] -> [1, i mod 2, j]",
    )
    by_hand, found = counted(layer, near())
    assert by_hand == found
    assert found["y"][1] > 0


RANDOM = random.Random(20)
STEPS = ("i//{a}", "k//{b}", "j//{b} + (i//{a}) mod 3", "k + (i + j)//{a}", "i mod {a}", "2*k - j")
PLACES = ("(i//{a}) mod 3", "(i + j) mod 3", "j//3", "(k//{b}) mod 3", "0", "(2*i + j) mod 3")
INDICES = ("i", "j", "k", "i + k", "i - j", "j//{a}", "0")
OCTAGONAL = MESH + "; PE[x, y] -> PE[x + 1, y + 1]; PE[x, y] -> PE[x - 1, y - 1]; " \
    "PE[x, y] -> PE[x + 1, y - 1]; PE[x, y] -> PE[x - 1, y + 1]"
TORUS = MESH + "; PE[0, y] -> PE[2, y]; PE[2, y] -> PE[0, y]; PE[x, 0] -> PE[x, 2]; " \
    "PE[x, 2] -> PE[x, 0]"


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


@pytest.mark.parametrize("links", [MESH, OCTAGONAL, TORUS], ids=["mesh", "octagonal", "torus"])
def test_of_random_layers_too(links):
    for _ in range(15):
        layer = drawn()
        by_hand, found = counted(layer, near(links))
        assert by_hand == found, layer
