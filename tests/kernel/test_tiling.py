"""F Alg. 2: optimistic tiling, slices matched as functions of the tile."""

import math
from pathlib import Path

import islpy as isl
import numpy as np
import pytest
import yaml

from lairmake.stages import KERNEL, PIPELINE
from lairmake.stages.diagnose import UserError
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.store.folders import file_of
from lairmake.stages.parts.tiling import NoSliceError, list_regions, match_slice
from lairmake.stages.reference.evaluate import is_within
from tests.kernel.random_operations import random_graph
from tests.kernel.tiled import MATMUL, compared, opened

WSE2 = Path(__file__).resolve().parents[2] / "stages/machine/profiles/wse2.yaml"
SLICES = [
    ("{ [q] -> v[4q] : 0 <= q < 3 }", "[(4q)]", (1,), (1,)),
    ("{ [q] -> v[e] : 4q <= e < 4q + 6 and 0 <= q < 3 }", "[(4q)]", (1,), (6,)),
    ("{ [q] -> v[f] : exists e : f = 2e + 1 and 3q <= e < 3q + 3 and 0 <= q < 3 }",
     "[(1 + 6q)]", (2,), (3,)),
    ("{ [q, r] -> v[e, 7 - q] : 2r - q <= e < 2r - q + 2 and 0 <= q, r < 3 }",
     "[(-q + 2r), (7 - q)]", (1, 1), (2, 1)),
    ("{ [q] -> v[] : 0 <= q < 3 }", "[]", (), ()),
]


@pytest.mark.parametrize(("text", "offset", "stride", "size"), SLICES)
def test_offset_stride_and_size_are_found(text, offset, stride, size):
    found = match_slice(isl.Map(text))
    assert str(found.offset).endswith(f"-> {offset} }}")
    assert (found.volume, found.stride, found.size) == ("v", stride, size)


@pytest.mark.parametrize("text", [
    "{ [q] -> v[e] : 0 <= e <= q < 3 }",
    "{ [q] -> v[e] : 4q - 1 <= e < 4q + 5 and 0 <= e < 12 and 0 <= q < 3 }",
    "{ [q] -> v[e, f] : 0 <= e <= f < 4 and 0 <= q < 3 }",
    "{ [q] -> v[e] : e = floor(q/2) and 0 <= q < 5 }",
])
def test_what_is_no_slice_is_refused(text):
    with pytest.raises(NoSliceError):
        match_slice(isl.Map(text))


def test_a_part_has_whole_tiles_and_what_is_left():
    part = isl.Set("{ p[i, j] : 1 <= i < 8 and 0 <= j < 6 }")
    found = list(list_regions(part, [3, 6]))
    assert [(each.counts, match_slice(each.tiles).size) for each in found] == [
        ((2, 1), (3, 6)), ((1, 1), (1, 6))
    ]
    covered = found[0].tiles.range().union(found[1].tiles.range())
    assert covered.is_equal(part)


ADDING = """\
lair make_c_sum1():
  float32 c_partial0[4][3], float32 c_partial1[4][3] -> float32 c_sum1[4][3]
{
  all (d0, d1) in (4, 3)
    c_sum1[d0][d1] = c_partial0[d0][d1] + c_partial1[d0][d1]
}

lair make_c():
  float32 c_sum1[4][3], float32 c_partial2[4][3] -> float32 c[4][3]
{
  all (d0, d1) in (4, 3)
    c[d0][d1] = c_sum1[d0][d1] + c_partial2[d0][d1]
}

graph matmul():
  float32 c_partial0[4][3], float32 c_partial1[4][3], float32 c_partial2[4][3] -> float32 c[4][3]
{
  c_sum1 = make_c_sum1()(c_partial0, c_partial1)
  c = make_c()(c_sum1, c_partial2)
}
"""


def test_tiles_of_sums_are_partial_results_that_tiles_of_the_result_add_up(tmp_path):
    folder = opened(tmp_path / "k", MATMUL, "tiles: {c: [4, 3, 5]}")
    given, expected = compared(folder)
    assert (given == expected).all()
    regions = yaml.safe_load(file_of(folder, "tiles.yaml").read_text(encoding="utf-8"))
    assert list(regions) == ["c_0_p0", "c_0_p1", "c_0"]
    assert [region["counts"] for region in regions.values()] == [[1, 2, 2], [1, 2, 1], [1, 2]]
    assert [region["inputs"].get("a", {}).get("size") for region in regions.values()] == [
        [4, 5], [4, 2], None
    ]
    assert regions["c_0"]["takes"] == {
        "c_partial0": {"region": "c_0_p0", "sums": [0]},
        "c_partial1": {"region": "c_0_p0", "sums": [1]},
        "c_partial2": {"region": "c_0_p1", "sums": [0]},
    }
    assert regions["c_0"]["lair"] == ADDING


ADDED = """\
func.func @added(%a: tensor<3x10xf32>, %b: tensor<10x4xf32>, %s: tensor<3x4xf32>)
    -> tensor<3x4xf32> {
  %c = linalg.matmul ins(%a, %b : tensor<3x10xf32>, tensor<10x4xf32>)
    outs(%s : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %c : tensor<3x4xf32>
}
"""


def test_what_a_sum_starts_from_is_added_to_its_partial_results(tmp_path):
    folder = opened(tmp_path / "k", ADDED, "tiles: {c: [3, 4, 1]}")
    given, expected = compared(folder)
    assert (given == expected).all()
    regions = yaml.safe_load(file_of(folder, "tiles.yaml").read_text(encoding="utf-8"))
    assert list(regions) == ["c_0_p0", "c_0_s0", "c_0_s1", "c_0"]
    assert list(regions["c_0"]["inputs"]) == ["s"]
    assert list(regions["c_0"]["takes"].values()) == [
        {"region": "c_0_s0", "sums": []}, {"region": "c_0_s1", "sums": []}
    ]


SOFTMAX = """\
func.func @softmax(%x: tensor<3x8xf32>) -> tensor<3x8xf32> {
  %e = math.exp %x : tensor<3x8xf32>
  %none = tensor.empty() : tensor<3xf32>
  %s = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
    iterator_types = ["parallel", "reduction"]}
    ins(%e : tensor<3x8xf32>) outs(%none : tensor<3xf32>) {
  ^bb0(%1: f32, %2: f32):
    %3 = arith.addf %1, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<3xf32>
  %init = tensor.empty() : tensor<3x8xf32>
  %y = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>,
                     affine_map<(i, j) -> (i, j)>],
    iterator_types = ["parallel", "parallel"]}
    ins(%e, %s : tensor<3x8xf32>, tensor<3xf32>) outs(%init : tensor<3x8xf32>) {
  ^bb0(%1: f32, %2: f32, %3: f32):
    %4 = arith.divf %1, %2 : f32
    linalg.yield %4 : f32
  } -> tensor<3x8xf32>
  return %y : tensor<3x8xf32>
}
"""


@pytest.mark.wide
@pytest.mark.parametrize(("sizes", "count"), [("[3, 4]", 1), ("[2, 4, 4]", 4)])
def test_what_moves_against_other_columns_is_computed_apart(tmp_path, sizes, count):
    folder = opened(tmp_path / "k", SOFTMAX, f"tiles: {{y: {sizes}}}")
    given, expected = compared(folder)
    assert np.allclose(given, expected, rtol=1e-6, atol=0)
    assert np.allclose(given.sum(axis=1), 1)
    regions = yaml.safe_load(file_of(folder, "tiles.yaml").read_text(encoding="utf-8"))
    assert len(regions) == count


def test_tiles_of_another_volume_are_refused(kernel):
    kernel.write(MATMUL, "tiles: {d: [4, 3]}\n").build(*KERNEL, "partition")
    assert kernel.error("tile") == (
        "kernel.yaml:1:9: error: d is no result\n"
        "  tiles: {d: [4, 3]}\n"
        "          ^\n"
        "hint: results: c\n"
    )


def test_too_many_tiles_are_refused(kernel):
    text = MATMUL.replace("4x", "400x")
    kernel.write(text, "tiles: {c: [2, 2]}\n").build(*KERNEL, "partition")
    assert kernel.error("tile") == (
        "kernel.yaml:1:12: error: c has more than 512 tiles\n"
        "  tiles: {c: [2, 2]}\n"
        "             ^^^^^^\n"
        "hint: each is a layer: make the tiles larger\n"
    )


def test_a_machine_that_is_none_is_an_error_in_kernel_yaml(kernel):
    kernel.write(MATMUL, "tiles: {c: [4, 6]}\nmachine: wse9\n").build(*KERNEL, "partition", "tile")
    assert kernel.error("emit") == (
        "kernel.yaml:2:10: error: unknown profile wse9\n"
        "  machine: wse9\n"
        "           ^^^^\n"
        "hint: profiles: ideal, paper, systolic, wse1, wse2, wse3\n"
    )


def test_a_machine_of_ones_own_is_found_and_what_does_not_fit_is_an_error_in_kernel_yaml(tmp_path):
    text = "tiles: {c: [4, 6]}\nmachine: {profile: mine.yaml, memory: 2600}\n"
    folder = opened(tmp_path / "k", MATMUL, text)
    (folder.path / "mine.yaml").write_bytes(WSE2.read_bytes())
    compared(folder)
    layer = yaml.safe_load((folder.path / "build/parts/c_0/layer.yaml").read_text("utf-8"))
    assert layer["machine"] == {"profile": "../../../mine.yaml", "memory": 2600}
    ((_, part),) = folder.parts
    with pytest.raises(UserError) as caught:
        for stage in PIPELINE:
            run_stage(stage, part)
    assert str(caught.value).replace(f"{folder.path}/", "") == (
        "kernel.yaml:1:1: error: part c_0: a PE of role compute needs 2660 bytes, mine has 2600\n"
        "  tiles: {c: [4, 6]}\n"
        "  ^^^^^\n"
        "hint: code 2560, a_local 48, b_local 48, c_local 4; spread the layer over "
        "more PEs: in build/parts/c_0/layer.yaml:4, which follows from this: take smaller tiles, "
        "or another machine\n"
    )


def test_tiles_of_too_few_dimensions_are_refused(kernel):
    kernel.write(MATMUL, "tiles: {c: [4]}\n").build(*KERNEL, "partition")
    assert kernel.error("tile") == (
        "kernel.yaml:1:12: error: 1 sizes of tiles of c\n"
        "  tiles: {c: [4]}\n"
        "             ^^^\n"
        "hint: one for each of its 2 dimensions, or for those and the 1 that are summed over\n"
    )


@pytest.mark.wide
@pytest.mark.parametrize("first", range(0, 20, 5))
def test_random_graphs_in_tiles_have_the_values_of_the_whole(tmp_path, first):
    for seed in range(first, first + 5):
        graph, outputs, text = random_graph(seed)
        output = outputs[seed % len(outputs)]
        (shape,) = [value.shape for value in graph.values if value.name == output]
        sizes = np.random.default_rng(seed).integers(1, np.add(shape, 1)).tolist()
        tiles = f"tiles: {{{output}: {sizes}}}" if seed % 2 and shape else ""
        folder = opened(tmp_path / str(seed), text, f"outputs: [{output}]\nfacts: []\n{tiles}\n")
        given, expected = compared(folder)
        assert np.array_equal(given, expected, equal_nan=True), seed


@pytest.mark.wide
@pytest.mark.parametrize(("seed", "tiles"), [
    (1004, "x15: [3, 1]"), (1010, "x14: [3, 2]"), (1020, "x14: [1, 2, 2]"), (1024, "x10: [2, 1]"),
])
def test_random_graphs_in_partial_results_have_the_values_of_the_whole(tmp_path, seed, tiles):
    _, _, text = random_graph(seed, kinds=5)
    output = tiles.partition(":")[0]
    folder = opened(tmp_path / "k", text, f"outputs: [{output}]\ntiles: {{{tiles}}}\n")
    given, expected = compared(folder)
    assert np.array_equal(given, expected, equal_nan=True)
    regions = yaml.safe_load(file_of(folder, "tiles.yaml").read_text(encoding="utf-8"))
    assert any("takes" in region for region in regions.values())


@pytest.mark.parametrize(("given", "near"), [
    ([1, 4, math.nan, math.inf], True),
    ([1, 4.01, math.nan, math.inf], True),
    ([1, 4.1, math.nan, math.inf], False),
    ([math.nan, 4, math.nan, math.inf], False),
    ([1, 4, 0, math.inf], False),
    ([1, 4, math.nan, -math.inf], False),
])
def test_what_is_no_number_is_compared_beside_those_that_are(given, near):
    expected = np.array([1, 4, math.nan, math.inf])
    assert is_within(np.array(given), expected, np.full(4, 4 * 2.0**-6)) is near
