import islpy as isl
import pytest

from stages.approximate import Approximation, choose_box
from stages.poly.bounds import exact_bounds
from stages.poly.box_hull import as_set, box_hull
from stages.poly.interference import extra_instances
from tests.stages.built import build

ANY = isl.Set("{ : }")
SETS = {
    "fixed": "[index] -> { [i] : index <= i <= index + 3 and 0 <= index <= 9 }",
    "varying": "[index] -> { [i] : 0 <= i <= index <= 3 }",
    "smaller": "[index] -> { [i] : 2*(index//2) <= i <= 2*(index//2) + 1 and 0 <= index <= 7 }",
    "no box": "[index] -> { [i, j] : 0 <= i <= j <= 3 and 0 <= index <= 1 }",
    "by PE": "[PE_X, index] -> { [i] : 0 <= i <= PE_X and 0 <= PE_X <= 3 and 0 <= index <= 1 }",
}


def chosen(elements, prefer, harmless=True):
    compressed = isl.Set(SETS[elements])
    exact = exact_bounds(compressed, ANY)
    hull = box_hull(compressed, ANY)
    extra = extra_instances(as_set(hull, compressed.params()), compressed)
    nothing = isl.UnionSet("{ }")
    conflict = isl.Set("{ y_local[0] }") if not harmless else isl.Set("{ y_local[i] : false }")
    approximation = Approximation(
        hull=hull, extra=extra, reads=nothing, writes=conflict, outside=nothing, conflict=conflict
    )
    found = choose_box(prefer, approximation, exact, compressed)
    return None if found is None else found.get_tuple_name()


@pytest.mark.parametrize(
    ("elements", "default", "hull", "exact"),
    [
        ("fixed", "hull", "hull", "exact"),
        ("varying", "hull", "hull", "hull"),
        ("smaller", "exact", "hull", "exact"),
        ("no box", "hull", "hull", "hull"),
        ("by PE", "exact", "hull", "exact"),
    ],
)
def test_which_box_is_chosen(elements, default, hull, exact):
    found = [chosen(elements, prefer) for prefer in (None, "hull", "exact")]
    assert found == [default, hull, exact]


@pytest.mark.parametrize("elements", SETS)
def test_no_box_is_chosen_where_sizes_are_enumerated_or_loops_preferred(elements):
    assert chosen(elements, "enumerate") is None
    assert chosen(elements, "loops") is None


@pytest.mark.parametrize(
    ("elements", "expected"),
    [("fixed", "exact"), ("varying", None), ("smaller", "exact"), ("no box", None)],
)
def test_a_hull_whose_extra_instances_do_harm_is_not_chosen(elements, expected):
    assert chosen(elements, "hull", harmless=False) == expected


def test_without_a_hull_there_are_exact_bounds_or_nothing():
    growing = isl.Set("[PE_X, index] -> { [i] : 0 <= i <= PE_X and 0 <= index <= 1 }")
    assert choose_box(None, None, exact_bounds(growing, ANY), growing).get_tuple_name() == "exact"
    triangle = isl.Set("[PE_X] -> { [i, j] : 0 <= i <= j <= PE_X }")
    assert choose_box(None, None, exact_bounds(triangle, ANY), triangle) is None


TWO = """lair C():
  float16 a[10], float16 b[10], float16 V[3], float16 W[4] -> float16 y[8], float16 z[7]
{
  all (w, r) in (8, 3) y[w] += a[w + r] * V[r]
  all (w, r) in (7, 4) z[w] += b[w + r] * W[r]
}
"""
MAPPING = (
    'target: "{ PE[1, 1] }"\nplacement: "{ C_y[w, r] -> PE[0, 0]; C_z[w, r] -> PE[0, 0] }"\n'
    'tensors:\n'
    '  a: {arrives: "{ a[w] -> [PE[0, -1] -> index[w]] }", sparse: true}\n'
    '  b: {arrives: "{ b[w] -> [PE[-1, 0] -> index[w]] }", sparse: true}\n'
)


def test_example_5_9_each_local_tensor_has_room_for_its_extra_instances():
    built = build(TWO, MAPPING, "simulate")
    local = built.objects("hulls.isl")["local"]
    expected = "{ y_local[0:11]; z_local[0:12]; V_local[0:2]; W_local[0:3] }"
    assert local.is_equal(isl.UnionSet(expected))
    assert all(check["right"] for check in built.results()["check"].values())


BOTH_SIDES = (
    'target: "{ PE[1, 1] }"\nplacement: "{ C[w, r] -> PE[0, 0] }"\ntensors:\n'
    '  x: {arrives: "{ x[w] -> [PE[0, -1] -> index[w]] : w <= 9; '
    'x[w] -> [PE[-1, 0] -> index[w - 10]] : w > 9 }", sparse: true}\n'
)


def test_two_tasks_that_write_one_tensor_get_room_for_both():
    lair = ("lair C(): float16 x[12], float16 W[3] -> float16 y[10]\n"
            "{ all (w, r) in (10, 3) y[w] += x[w + r] * W[r] }")
    built = build(lair, BOTH_SIDES + "data: {density: 1}\n", "simulate")
    decisions = built.yaml("simd.yaml")
    assert [decisions[f"on_x_{side}"]["by"] for side in ("north", "west")] == ["hull", "hull"]
    local = built.objects("hulls.isl")["local"]
    assert local.is_equal(isl.UnionSet("{ y_local[0:12]; W_local[0:2] }"))
    assert built.results()["check"]["y"]["right"]
    tasks = built.results()["tasks"]
    assert [tasks[f"on_x_{side}"]["extra"] for side in ("north", "west")] == [3, 1]
