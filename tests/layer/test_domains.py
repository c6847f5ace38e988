"""Layers whose statements have conditions, against loops in Python."""

import itertools

import islpy as isl
import numpy as np
import pytest

from lairmake.stages.diagnose import UserError
from tests.layer.built import build

TRIANGLE = """lair tri(N=10): float16 A[N][N], float16 x[N] -> float16 y[N]
{ all (i, j) in (N, N) where j < i y[i] += A[i][j] * x[j] }
"""
ON_TILES = """target: "{ PE[3, 2] }"
placement: "{ tri[i,j] -> PE[j//4, i//5] }"
invocations: 2
tensors:
  x: {arrives: "{ x[i] -> [PE[i//4, -1] -> index[i mod 4]] }", sparse: true}
  y: {leaves: "{ y[i] -> [PE[3, i//5] -> index[i mod 5]] }"}
"""
BAND = """lair band(N=12): int16 B[N][4], int16 x[N] -> int16 y[N]
{ all (i, j) in (N, N) where -2 <= i - j < 2 and (i + j) // 2 mod 3 != 1 and 0 < j
    y[i] max= B[i][i - j + 2] + x[j] }
"""
IN_CORNERS = """target: "{ PE[3, 3] }"
placement: "{ band[i,j] -> PE[j//4, i//4] }"
tensors:
  x: {arrives: "{ x[j] -> [PE[j//4, -1] -> index[j mod 4]] }"}
  y: {leaves: "{ y[i] -> [PE[3, i//4] -> index[i mod 4]] }"}
"""


def simulated(lair, mapping, shapes, sparse=()):
    """Return what a layer gives for inputs of these shapes, and the inputs."""
    built = build(lair, mapping, "parse")
    draw, inputs = np.random.default_rng(0), {}
    (built.folder / "inputs").mkdir(exist_ok=True)
    for name, (type_, shape) in shapes.items():
        values = draw.integers(-3, 4, shape) * (draw.random(shape) < (0.6 if name in sparse else 1))
        inputs[name] = values.astype(type_)
        np.save(built.folder / f"inputs/{name}.npy", inputs[name])
    built.through("simulate")
    assert all(check["right"] for check in built.results()["check"].values())
    return built, inputs


@pytest.mark.wide
def test_a_triangle_reacts_to_what_is_sparse():
    shapes = {"A": ("float16", (10, 10)), "x": ("float16", (2, 10))}
    built, inputs = simulated(TRIANGLE, ON_TILES, shapes, sparse={"x"})
    expected = np.zeros((2, 10))
    for n, i, j in itertools.product(range(2), range(10), range(10)):
        expected[n, i] += inputs["A"][i, j] * inputs["x"][n, j] if j < i else 0
    assert built.output("y").tolist() == expected.tolist()
    lair = built.objects("lair.isl")
    assert lair["idle"].is_equal(isl.UnionSet("{ tri[0, 0] }"))
    runs = sum(t["instances"] for name, t in built.results()["tasks"].items() if name == "on_x")
    assert runs == sum(9 - j for n in range(2) for j in np.flatnonzero(inputs["x"][n]))


@pytest.mark.wide
def test_a_band_without_some_diagonals_has_the_largest_of_what_is_there():
    shapes = {"B": ("int16", (12, 4)), "x": ("int16", (12,))}
    built, inputs = simulated(BAND, IN_CORNERS, shapes)
    expected = np.full(12, -32768)
    for i, j in itertools.product(range(12), range(12)):
        if -2 <= i - j < 2 and (i + j) // 2 % 3 != 1 and j > 0:
            expected[i] = max(expected[i], inputs["B"][i, i - j + 2] + inputs["x"][j])
    assert built.output("y").tolist() == expected.tolist()
    guard = isl.Set(built.yaml("simd.yaml")["compute_band"]["guard"])
    pes = isl.Set("[PE_X, PE_Y] -> { : 0 <= PE_X <= 2 and 0 <= PE_Y <= 2 }")
    empty = "PE_X + PE_Y = 2 and PE_X != PE_Y or PE_X = 1 and PE_Y = 2"
    assert guard.intersect(pes).is_equal(pes.subtract(isl.Set(f"[PE_X, PE_Y] -> {{ : {empty} }}")))


def test_what_nothing_is_reduced_to_needs_a_place():
    mapping = ON_TILES.replace("i//5] }", "i//5] : j < i }", 1)
    with pytest.raises(UserError) as caught:
        build(TRIANGLE, mapping, "place")
    assert str(caught.value).endswith("""\
layer.yaml:2:13: error: placement is not total: tri[0, 0] has no PE
  placement: "{ tri[i,j] -> PE[j//4, i//5] : j < i }"
              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: tri[0, 0] does not run, but y[0], to which nothing is reduced, lies at its place
""")


@pytest.mark.long
def test_a_search_places_what_nothing_is_reduced_to():
    mapping = "\n".join(k for k in ON_TILES.splitlines() if not k.startswith("placement")) + "\n"
    shapes = {"A": ("float16", (10, 10)), "x": ("float16", (2, 10))}
    built, _ = simulated(TRIANGLE, mapping, shapes, sparse={"x"})
    placed = built.objects("placement.isl")["placement"].domain()
    assert isl.UnionSet("{ tri[0, 0] }").is_subset(placed)
