"""Masks of kernels: a part with conditions instead of one for each row, against NumPy."""

import numpy as np
import pytest
import yaml

from lairmake.stages.make.store.folders import file_of
from tests.kernel.test_choices import SOME, given
from tests.kernel.tiled import build, compared

TRIANGLE = SOME.replace("6x4x", "20x20x").replace("<4x", "<20x").replace("<6x", "<20x")
PRODUCT = """\
func.func @product(%a: tensor<12x12xf32>, %b: tensor<12x3xf32>) -> tensor<12x3xf32> {
  %e = tensor.empty() : tensor<12x3xf32>
  %y = linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>,
                     affine_map<(i, j, k) -> (i, j)>],
    iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%a, %b : tensor<12x12xf32>, tensor<12x3xf32>) outs(%e : tensor<12x3xf32>) {
  ^bb0(%u: f32, %w: f32, %s: f32):
    %i = linalg.index 0 : index
    %k = linalg.index 2 : index
    %here = arith.cmpi sle, %k, %i : index
    %p = arith.mulf %u, %w : f32
    %t = arith.addf %s, %p : f32
    %r = arith.select %here, %t, %s : f32
    linalg.yield %r : f32
  } -> tensor<12x3xf32>
  return %y : tensor<12x3xf32>
}
"""
CAUSAL = """\
#all = affine_map<(i, j) -> (i, j)>
#row = affine_map<(i, j) -> (i)>
func.func @causal(%s: tensor<12x12xf32>) -> tensor<12x12xf32> {
  %low = arith.constant 0xFF800000 : f32
  %e2 = tensor.empty() : tensor<12x12xf32>
  %e1 = tensor.empty() : tensor<12xf32>
  %masked = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
    ins(%s : tensor<12x12xf32>) outs(%e2 : tensor<12x12xf32>) {
  ^bb0(%x: f32, %t: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %here = arith.cmpi sle, %j, %i : index
    %r = arith.select %here, %x, %low : f32
    linalg.yield %r : f32
  } -> tensor<12x12xf32>
  %f = linalg.fill ins(%low : f32) outs(%e1 : tensor<12xf32>) -> tensor<12xf32>
  %m = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
    ins(%masked : tensor<12x12xf32>) outs(%f : tensor<12xf32>) {
  ^bb0(%x: f32, %t: f32):
    %r = arith.maximumf %x, %t : f32
    linalg.yield %r : f32
  } -> tensor<12xf32>
  %e = linalg.generic {indexing_maps = [#all, #row, #all],
      iterator_types = ["parallel", "parallel"]}
    ins(%masked, %m : tensor<12x12xf32>, tensor<12xf32>) outs(%e2 : tensor<12x12xf32>) {
  ^bb0(%x: f32, %w: f32, %t: f32):
    %d = arith.subf %x, %w : f32
    %r = math.exp %d : f32
    linalg.yield %r : f32
  } -> tensor<12x12xf32>
  %z = linalg.generic {indexing_maps = [#all, #row], iterator_types = ["parallel", "reduction"]}
    ins(%e : tensor<12x12xf32>) outs(%e1 : tensor<12xf32>) {
  ^bb0(%x: f32, %t: f32):
    %r = arith.addf %x, %t : f32
    linalg.yield %r : f32
  } -> tensor<12xf32>
  %p = linalg.generic {indexing_maps = [#all, #row, #all],
      iterator_types = ["parallel", "parallel"]}
    ins(%e, %z : tensor<12x12xf32>, tensor<12xf32>) outs(%e2 : tensor<12x12xf32>) {
  ^bb0(%x: f32, %w: f32, %t: f32):
    %r = arith.divf %x, %w : f32
    linalg.yield %r : f32
  } -> tensor<12x12xf32>
  return %p : tensor<12x12xf32>
}
"""


BLOCKS = """\
    %f = affine.apply affine_map<(d) -> (d floordiv 2)>(%i)
    %g = affine.apply affine_map<(d) -> (d floordiv 2)>(%k)
    %here = arith.cmpi eq, %f, %g : index
"""
BEYOND = """\
    %m = arith.constant 7 : index
    %d = arith.subi %i, %j : index
    %here = arith.cmpi ne, %d, %m : index
"""
WHERE = "    %here = arith.cmpi sle, %k, %i : index\n"


def regions(folder):
    return yaml.safe_load(file_of(folder, "tiles.yaml").read_text(encoding="utf-8"))


def test_a_triangle_is_one_part_with_a_condition(tmp_path):
    text = TRIANGLE.replace("COMPARE", "arith.cmpi sge, %i, %j : index")
    text = text.replace("REDUCE", "arith.addf")
    folder, arrays = given(tmp_path, text, "facts: []\n", x=(20, 20), b=(20,))
    for found in compared(folder):
        assert np.array_equal(found, np.tril(arrays["x"]).sum(1))
    (region,) = regions(folder).values()
    assert region["lair"].count("where d0 >= d1\n") == 1


def test_rows_that_nothing_is_reduced_to_are_neutral(tmp_path):
    text = TRIANGLE.replace("COMPARE", "arith.cmpi slt, %i, %j : index")
    text = text.replace("REDUCE", "arith.maximumf")
    folder, arrays = given(tmp_path, text, "facts: []\n", x=(20, 20), b=(20,))
    above = np.triu(np.ones((20, 20)), 1) > 0
    for found in compared(folder):
        assert np.array_equal(found, np.where(above, arrays["x"], -np.inf).max(1))


def test_a_causal_softmax_is_one_part(tmp_path):
    folder, arrays = given(tmp_path, CAUSAL, "facts: []\n", s=(12, 12))
    found, expected = compared(folder)
    assert np.array_equal(found, expected)
    e = np.tril(np.exp(np.where(np.tril(np.ones((12, 12))) > 0, arrays["s"], -np.inf)))
    assert np.allclose(found, e / e.sum(1)[:, None])
    (region,) = regions(folder).values()
    assert region["lair"].count("where d0 >= d1\n") == 2


def test_tiles_of_a_triangular_product_have_conditions_of_their_own(tmp_path):
    folder, arrays = given(tmp_path, PRODUCT, "tiles: {y: [4, 3]}\n", a=(12, 12), b=(12, 3))
    for found in compared(folder):
        assert np.array_equal(found, np.tril(arrays["a"]) @ arrays["b"])
    assert [each["counts"] for each in regions(folder).values()] == [[1, 1]] * 3


def test_terms_that_are_empty_in_a_tile_are_absent_there(tmp_path):
    text = TRIANGLE.replace("    %here = COMPARE\n", BEYOND).replace("REDUCE", "arith.addf")
    folder, arrays = given(tmp_path, text, "tiles: {y: [3]}\n", x=(20, 20), b=(20,))
    i, j = np.indices((20, 20))
    for found in compared(folder):
        assert np.array_equal(found, np.where(i - j != 7, arrays["x"], 0).sum(1))
    terms = [each["lair"].count("lair make") for each in regions(folder).values()]
    assert terms == [2, 2, 3, 3, 3, 3, 3]


def test_partial_sums_of_nothing_are_absent(tmp_path):
    folder, arrays = given(tmp_path, PRODUCT, "tiles: {y: [6, 3, 6]}\n", a=(12, 12), b=(12, 3))
    for found in compared(folder):
        assert np.array_equal(found, np.tril(arrays["a"]) @ arrays["b"])
    takes = [len(each["takes"]) for each in regions(folder).values() if "takes" in each]
    assert takes == [1, 2]


def test_partial_sums_that_differ_only_in_whether_there_are_any_are_told_apart(tmp_path):
    text = PRODUCT.replace(WHERE, BLOCKS).replace("12x", "18x")
    folder, arrays = given(tmp_path, text, "tiles: {y: [6, 3, 6]}\n", a=(18, 18), b=(18, 3))
    i, k = np.indices((18, 18))
    for found in compared(folder):
        assert np.array_equal(found, np.where(i // 2 == k // 2, arrays["a"], 0) @ arrays["b"])


@pytest.mark.wide
def test_a_triangular_product_runs(tmp_path):
    folder, arrays = given(tmp_path, PRODUCT, "facts: []\n", a=(12, 12), b=(12, 3))
    build(folder)
    found = np.load(folder.build / "outputs/y.npy")
    assert np.array_equal(found, np.tril(arrays["a"]) @ arrays["b"])
    assert len(regions(folder)) == 1
