"""Kernels that choose, by values and by indices, and in which elements have other shapes."""

import numpy as np
import pytest

from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.store.folders import parts_of
from tests.kernel.tiled import build, compared, opened

CHOICES = """\
#id = affine_map<(i, j) -> (i, j)>
func.func @choices(%x: tensor<6x4xf32>, %t: tensor<9xf32>) -> tensor<24xf32> {
  %e = tensor.empty() : tensor<6x4xf32>
  %ten = arith.constant 10.0 : f32
  %z = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
    ins(%x : tensor<6x4xf32>) outs(%e : tensor<6x4xf32>) {
  ^bb0(%u: f32, %v: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %two = arith.constant 2 : index
    %k = arith.addi %i, %j : index
    %g = tensor.extract %t[%k] : tensor<9xf32>
    %h = arith.index_cast %k : index to i32
    %q = arith.sitofp %h : i32 to f32
    %o = arith.mulf %q, %g : f32
    %above = arith.cmpf ogt, %o, %u : f32
    %r = arith.select %above, %ten, %u : f32
    %here = arith.cmpi WHERE : index
    %w = arith.select %here, %r, %u : f32
    linalg.yield %w : f32
  } -> tensor<6x4xf32>
  %p = tensor.collapse_shape %z [[0, 1]] : tensor<6x4xf32> into tensor<24xf32>
  return %p : tensor<24xf32>
}
"""
SHAPES = """\
func.func @shapes(%x: tensor<6x4xf32>, %w: tensor<24x5xf32>, %v: tensor<24xf32>)
    -> tensor<5x2xf32> {
  %a = tensor.collapse_shape %x [[0, 1]] : tensor<6x4xf32> into tensor<24xf32>
  %b = arith.addf %a, %v : tensor<24xf32>
  %d = tensor.expand_shape %b [[0, 1, 2]] output_shape [2, 2, 6] : tensor<24xf32>
    into tensor<2x2x6xf32>
  %g = arith.mulf %d, %d : tensor<2x2x6xf32>
  %h = tensor.collapse_shape %g [[0], [1, 2]] : tensor<2x2x6xf32> into tensor<2x12xf32>
  %q = tensor.expand_shape %w [[0, 1], [2]] output_shape [2, 12, 5] : tensor<24x5xf32>
    into tensor<2x12x5xf32>
  %e = tensor.empty() : tensor<5x2xf32>
  %y = linalg.generic {
    indexing_maps = [affine_map<(o, b, j) -> (b, j)>, affine_map<(o, b, j) -> (b, j, o)>,
                     affine_map<(o, b, j) -> (o, b)>],
    iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%h, %q : tensor<2x12xf32>, tensor<2x12x5xf32>) outs(%e : tensor<5x2xf32>) {
  ^bb0(%i: f32, %k: f32, %t: f32):
    %p = arith.mulf %i, %k : f32
    %r = arith.addf %t, %p : f32
    linalg.yield %r : f32
  } -> tensor<5x2xf32>
  return %y : tensor<5x2xf32>
}
"""

SOME = """\
func.func @some(%x: tensor<6x4xf32>, %b: tensor<4xf32>) -> tensor<6xf32> {
  %e = tensor.empty() : tensor<6xf32>
  %y = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>,
                     affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
    ins(%x, %b : tensor<6x4xf32>, tensor<4xf32>) outs(%e : tensor<6xf32>) {
  ^bb0(%u: f32, %w: f32, %s: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %here = COMPARE
    %p = REDUCE %s, %u : f32
    %r = arith.select %here, %p, %s : f32
    linalg.yield %r : f32
  } -> tensor<6xf32>
  return %y : tensor<6xf32>
}
"""


def given(path, text, kernel, **shapes):
    """Write a kernel and its inputs; returns the folder and these."""
    opened(path, text, kernel)
    random = np.random.default_rng(4)
    arrays = {n: random.integers(-9, 9, s).astype(np.float32) for n, s in shapes.items()}
    (path / "inputs").mkdir()
    for name, array in arrays.items():
        np.save(path / "inputs" / f"{name}.npy", array)
    return open_folder(path), arrays


def choices(x, t, where):
    """Return what CHOICES is for the instances `where`."""
    k = np.add(*np.indices(x.shape))
    chosen = np.where(k * t[k] > x, 10, x)
    return np.where(where(*np.indices(x.shape)), chosen, x).reshape(-1)


@pytest.mark.wide
def test_rows_that_are_computed_in_their_own_way_are_a_part_and_run(tmp_path):
    text = CHOICES.replace("WHERE", "slt, %i, %two")
    folder, arrays = given(tmp_path, text, "facts: []\n", x=(6, 4), t=(9,))
    build(folder)
    found = np.load(folder.build / "outputs/p.npy")
    assert np.array_equal(found, choices(**arrays, where=lambda i, j: i < 2))
    assert len(parts_of(folder)) == 2


WHERE = {
    "sle, %i, %j": lambda i, j: i <= j, "uge, %i, %two": lambda i, j: i >= 2,
}


@pytest.mark.wide
@pytest.mark.parametrize("where", WHERE)
def test_masks(tmp_path, where):
    text = CHOICES.replace("WHERE", where)
    folder, arrays = given(tmp_path, text, "facts: []\n", x=(6, 4), t=(9,))
    for found in compared(folder):
        assert np.array_equal(found, choices(**arrays, where=WHERE[where]))


@pytest.mark.wide
def test_other_shapes_of_the_same_elements(tmp_path):
    shapes = {"x": (6, 4), "w": (24, 5), "v": (24,)}
    folder, arrays = given(tmp_path, SHAPES, "tiles: {y: [2, 1]}\n", **shapes)
    flat = (arrays["x"].reshape(-1) + arrays["v"]).reshape(2, 12) ** 2
    wanted = np.einsum("bj,bjo->ob", flat, arrays["w"].reshape(2, 12, 5))
    for found in compared(folder):
        assert np.array_equal(found, wanted)


CENTRED = """\
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i, 0)>
func.func @centred(%x: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<6x1xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<6x1xf32>) -> tensor<6x1xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<6x4xf32>) outs(%f : tensor<6x1xf32>) {
  ^bb0(%u: f32, %s: f32):
    %r = arith.maximumf %u, %s : f32
    linalg.yield %r : f32
  } -> tensor<6x1xf32>
  %g = tensor.empty() : tensor<6x4xf32>
  %y = linalg.generic {indexing_maps = [#all, #row, #all],
                       iterator_types = ["parallel", "parallel"]}
    ins(%x, %m : tensor<6x4xf32>, tensor<6x1xf32>) outs(%g : tensor<6x4xf32>) {
  ^bb0(%u: f32, %s: f32, %o: f32):
    %r = arith.subf %u, %s : f32
    linalg.yield %r : f32
  } -> tensor<6x4xf32>
  return %y : tensor<6x4xf32>
}
"""


def test_a_reduced_dimension_that_stays_has_one_element(tmp_path):
    folder, arrays = given(tmp_path, CENTRED, "facts: []\n", x=(6, 4))
    for found in compared(folder):
        assert np.array_equal(found, arrays["x"] - arrays["x"].max(1, keepdims=True))


@pytest.mark.wide_after(1)
@pytest.mark.parametrize(("compare", "add", "wanted"), [
    ("arith.cmpi sle, %j, %i : index", "arith.addf", lambda x, b: np.tril(x).sum(1)),
    ("arith.cmpf uge, %w, %u : f32", "arith.addf", lambda x, b: (x * (b >= x)).sum(1)),
    ("arith.cmpi ne, %j, %i : index", "arith.maximumf",
     lambda x, b: np.where(np.eye(6, 4), -np.inf, x).max(1)),
])
def test_reductions_of_some_instances(tmp_path, compare, add, wanted):
    text = SOME.replace("COMPARE", compare).replace("REDUCE", add)
    folder, arrays = given(tmp_path, text, "facts: []\n", x=(6, 4), b=(4,))
    for found in compared(folder):
        assert np.array_equal(found, wanted(**arrays))


FLAT = """\
func.func @flat(%x: tensor<6x5xf32>, %w: tensor<30x3xf32>) -> tensor<1x3xf32> {
  %c = arith.constant 0.0 : f32
  %p = tensor.pad %x low[1, 0] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } : tensor<6x5xf32> to tensor<7x5xf32>
  %a = tensor.extract_slice %p[0, 0] [6, 5] [1, 1] : tensor<7x5xf32> to tensor<6x5xf32>
  %d = arith.addf %a, %x : tensor<6x5xf32>
  %f = tensor.collapse_shape %d [[0, 1]] : tensor<6x5xf32> into tensor<30xf32>
  %g = tensor.expand_shape %f [[0, 1]] output_shape [1, 30] : tensor<30xf32> into tensor<1x30xf32>
  %e = tensor.empty() : tensor<1x3xf32>
  %y = linalg.matmul ins(%g, %w : tensor<1x30xf32>, tensor<30x3xf32>)
    outs(%e : tensor<1x3xf32>) -> tensor<1x3xf32>
  return %y : tensor<1x3xf32>
}
"""


def test_parts_of_what_is_collapsed_are_summed_as_they_were(tmp_path):
    """The first row has no row before it; the sum over all has two terms, not one for each row."""
    folder, arrays = given(tmp_path, FLAT, "facts: []\n", x=(6, 5), w=(30, 3))
    x = arrays["x"] + np.pad(arrays["x"], ((1, 0), (0, 0)))[:6]
    for found in compared(folder):
        assert np.array_equal(found, x.reshape(1, 30) @ arrays["w"])
    (lair,) = (folder.path / "build/parts").glob("*/flat.lair")
    assert lair.read_text().count("+=") == 2
