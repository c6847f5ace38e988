"""Each way to a vector instruction, on a layer for which it is the best, or the only one."""

import islpy as isl
import pytest

from lairmake.stages.poly.canonical import find_set
from tests.e2e.sanitized import run_sanitized, sanitizer
from tests.layer.built import build

MV = """lair n(): float16 W[{0}][{1}], float16 x[{1}] -> float16 y[{0}]
{{ all (i, j) in ({0}, {1}) y[i] += W[i][j] * x[j] }}
"""
LOCAL = """lair n(): float16 x[9], float16 W[7][3] -> float16 y[7]
{ all (w, r) in (7, 3) y[w] += x[w + r] * W[w][r] }
"""
STRIDED = """lair n(): float16 x[33], float16 W[4] -> float16 y[15]
{ all (w, r) in (15, 4) y[w] += x[2*w + r] * W[r] }
"""
CONV2D = """lair n(): float16 x[3][7][7], float16 W[2][3][3][3] -> float16 y[2][5][5]
{ all (k, h, w, c, r, s) in (2, 5, 5, 3, 3, 3) y[k][h][w] += x[c][h + r][w + s] * W[k][c][r][s] }
"""

TWICE = """lair n(): float16 x[4][4] -> float16 y[4][4]
{ all (i, j) in (4, 4) y[i][j] = 2 * x[i][j] }
"""


def placed(placement, columns, more=""):
    return f'target: "{{ PE[{columns}, 1] }}"\nplacement: "{{ n{placement} }}"\n{more}'


def leaving(columns):
    return f'tensors: {{y: {{leaves: "{{ y[i] -> [PE[{columns}, 0] -> index[i]] }}"}}}}\n'


VECTORS = "machine: {profile: wse2, vector_multiply_add: true}\n"
SPARSE = 'tensors: {x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i]] }", sparse: true}}\n'

LAYERS = {
    "relaxed": (LOCAL, placed("[w, r] -> PE[0, 0]", 1, SPARSE), "on_x", [3]),
    "lattice": (
        TWICE, placed("[i, j] -> PE[i//2 + 2*((i + j) mod 2), 0]", 4), "compute_n", [2, 3]
    ),
    "basis": (
        MV.format(16, 8),
        placed("[i, j] -> PE[(i + j)//4, 0]", 6, leaving(6)),
        "compute_n",
        [4, 8],
    ),
    "nested": (
        CONV2D, placed("[k, h, w, c, r, s] -> PE[k, 0]", 2), "compute_n", [5, 5, 3, 3]
    ),
}


@pytest.mark.wide
@pytest.mark.parametrize("way", LAYERS)
def test_a_way_is_taken_where_it_costs_least(way):
    lair, mapping, task, sizes = LAYERS[way]
    found = build(lair, mapping, "simd").yaml("simd.yaml")[task]
    assert (found["by"], found["sizes"]) == (way, sizes)
    others = found["others"].values()
    assert all(other.get("cycles", found["cycles"]) >= found["cycles"] for other in others)
    assert way in LAYERS and way not in found["others"]


@pytest.mark.wide
@pytest.mark.parametrize("way", LAYERS)
def test_values_are_right_in_every_way(way):
    lair, mapping, task, sizes = LAYERS[way]
    results = build(lair, mapping, "simulate").results()
    assert results["tasks"][task]["sizes"] == sizes
    assert results["check"]["y"]["exact"]
    assert results["check"]["y"]["right"]
    assert results["cycles"]["simd"] < results["cycles"]["loops"]


@pytest.mark.wide
@pytest.mark.skipif(sanitizer() is None, reason="the C compiler has no sanitizers")
def test_every_way_is_clean_under_the_sanitizers():
    folders = [str(build(*LAYERS[way][:2], "simulate").folder) for way in LAYERS]
    done = run_sanitized("tests.e2e.sanitized", *folders)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.wide
@pytest.mark.parametrize(
    ("way", "layer"),
    [("nested", "lattice"), ("nested", "basis"), ("enumerate", "relaxed"), ("loops", "nested")],
)
def test_a_way_that_costs_more_is_taken_where_the_layer_prefers_it(way, layer):
    lair, mapping, task, _ = LAYERS[layer]
    built = build(lair, f"{mapping}simd: {{prefer: {way}}}\n", "simulate")
    assert built.yaml("simd.yaml")[task]["by"] == way
    assert built.results()["check"]["y"]["right"]


@pytest.mark.wide
def test_memory_of_five_dimensions_is_initialised_by_one_instruction():
    lair = """lair n(): float16 x[4][2][2][3][2] -> float16 y[4][2][2][3][2]
    { all (i, j, k, l, m, n) in (4, 2, 2, 3, 2, 2) y[i][j][k][l][m] += x[i][j][k][l][m] }"""
    built = build(lair, placed("[i, j, k, l, m, n] -> PE[i mod 2, 0]", 2), "simulate")
    assert built.yaml("simd.yaml")["init_y"]["by"] == "exact"
    assert built.results()["tasks"]["init_y"]["sizes"] == [2, 2, 6, 2]
    assert built.results()["check"]["y"]["right"]


@pytest.mark.wide
def test_dimensions_merge_only_where_no_other_task_makes_rows_longer():
    lair = """lair n(): float16 a[2][2][2][8][8] -> float16 y[2][2][2][8][8], float16 z[8]
    { all (i, j, k, l, m) in (2, 2, 2, 8, 8) y[i][j][k][l][m] = 2 * a[i][j][k][l][m]
      all (l, m) in (8, 8) z[l] += y[1][0][0][l][m] }"""
    everything = "n_y[i, j, k, l, m] -> PE[0, 0]; n_z[l, m] -> PE[0, 0]"
    figures = "lanes: 4, sum_lanes: 1, stride_limits: [1, 2, 0, 0, 2, 0, 0, 2]"
    mapping = f"machine: {{profile: ideal, {figures}}}\n"
    mapping += f'target: "{{ PE[1, 1] }}"\nplacement: "{{ {everything} }}"\n'
    built = build(lair, mapping, "simulate")
    found = built.yaml("simd.yaml")["compute_n_y"]
    assert (found["by"], found["operands"][0]["strides"]) == ("nested", [160, 80, 10, 1])
    assert found["others"]["hull"] == {
        "not possible": "rows that its dimensions rely on are longer for another task"
    }
    assert all(check["right"] for check in built.results()["check"].values())


@pytest.mark.wide
def test_no_way_writes_what_others_use():
    mapping = placed("[i, j] -> PE[(i < j ? 1 : 0), 0]", 2, leaving(2))
    built = build(MV.format(8, 8), mapping, "simulate")
    found = built.yaml("simd.yaml")["compute_n"]
    reason = "extra instances would write what others use"
    assert [found["others"][way] for way in ("relaxed", "basis", "scalar")] == [
        {"not possible": text} for text in (reason, f"in another basis, {reason}", reason)
    ]
    assert (found["by"], "of several sizes" in found["why"]) == ("nested", True)
    assert built.results()["check"]["y"]["right"]


def test_memory_has_room_for_what_a_relaxed_hull_reads():
    lair, mapping, task, _ = LAYERS["relaxed"]
    built = build(lair, mapping, "simd")
    reason = "extra instances would read outside local memory"
    assert built.yaml("simd.yaml")[task]["others"]["hull"] == {"not possible": reason}
    before, after = (built.objects(f"{name}.isl")["local"] for name in ("allocations", "memory"))
    assert find_set(before, "W_local").is_equal(isl.Set("{ W_local[0:6, 0:2] }"))
    assert find_set(after, "W_local").is_equal(isl.Set("{ W_local[0:10, 0:4] }"))


def test_a_convolution_with_a_stride_has_a_hull_with_a_rounded_offset():
    built = build(STRIDED, placed("[w, r] -> PE[0, 0]", 1, SPARSE), "simulate")
    found = built.yaml("simd.yaml")["on_x"]
    assert (found["by"], found["sizes"]) == ("relaxed", [2])
    assert found["others"]["hull"] == {
        "not possible": "extra instances would read outside local memory"
    }
    assert built.results()["check"]["y"]["right"]


@pytest.mark.wide
def test_a_vector_instruction_in_a_loop_has_its_addresses_from_the_iterator(monkeypatch):
    """As it has where there are more iterations than are written out."""
    monkeypatch.setattr("lairmake.stages.layer.codegen.instruction.MOST_UNROLLED", 2)
    lair, mapping, *_ = LAYERS["nested"]
    program = build(lair, mapping, "render", copy=1).program("simd/pe_compute.c")
    loop = program[program.index("for (int outer0 = 0; outer0 <= 2; outer0 += 1) {"):]
    run = loop[loop.index("vector_run(") : loop.index(";\n    }")]
    assert "my->x_local[outer0][0][0]" in run
    assert "my->W_local[0][outer0][0][0]" in run


def test_a_way_of_which_isl_needs_long_to_tell_is_not_taken(monkeypatch):
    lair, mapping, task, _ = LAYERS["relaxed"]
    built = build(lair, mapping, "enumerate", copy=1)
    monkeypatch.setattr("lairmake.stages.layer.vector.options.MOST_OPERATIONS", 10)
    found = built.through("simulate").yaml("simd.yaml")[task]
    assert (found["by"], found["why"]) == ("loops", "isl needs long to tell")
    assert built.results()["check"]["y"]["right"]
