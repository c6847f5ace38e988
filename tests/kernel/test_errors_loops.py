"""Errors in the loops, boundaries and sizes of kernels: the whole text of each."""

import pytest

from tests.kernel.test_errors import REDUCING, error_of

CASES = {
    "nothing is reduced": ("""\
%e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types\
 = ["reduction", "parallel"]
  } ins(%x : tensor<3x4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%u: f32, %v: f32):
    linalg.yield %u : f32
  } -> tensor<4xf32>""", """\
k.mlir:3:3: error: some loops are reduced, and the body reduces nothing
    %y = linalg.generic {
    ^^^^^^^^^^^^^^^^^^^^^
hint: yield the result's own element and another value, with + * max or min
"""),
    "a loop without an end": ("""\
%e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {
    indexing_maps = [affine_map<(i, j, k) -> (i + k, j)>, affine_map<(i, j, k) -> (j)>],\
 iterator_types = ["reduction", "parallel", "reduction"]
  } ins(%x : tensor<3x4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%u: f32, %v: f32):
    %p = arith.addf %v, %u : f32
    linalg.yield %p : f32
  } -> tensor<4xf32>""", """\
k.mlir:3:3: error: nothing says how far loop d0 goes
    %y = linalg.generic {
    ^^^^^^^^^^^^^^^^^^^^^
hint: index a dimension of some operand by it alone, as pooling does by its window
"""),
    "a function that LAIR has not": ("""\
%e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>], iterator_types\
 = ["reduction", "parallel"]
  } ins(%x : tensor<3x4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%u: f32, %v: f32):
    %q = math.tan %u : f32
    %p = arith.addf %v, %q : f32
    linalg.yield %p : f32
  } -> tensor<4xf32>""", """\
k.mlir:7:5: error: math.tan has no place in a body
      %q = math.tan %u : f32
      ^^^^^^^^^^^^^^^^^^^^^^
hint: a body has arithmetic, comparisons, arith.select and abs, ceil, cos, erf, exp, floor, log,\
 max, min, pow, round, sin, sqrt, tanh
"""),
    "a diagonal": ("""\
%e = tensor.empty() : tensor<4x4xf32>
  %y = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, j)>],\
 iterator_types = ["reduction", "parallel"]
  } ins(%x : tensor<3x4xf32>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%u: f32, %v: f32):
    %p = arith.addf %v, %u : f32
    linalg.yield %p : f32
  } -> tensor<4x4xf32>""", """\
k.mlir:3:3: error: elements of a result are not instances: (d0, d1) -> (d1, d1)
    %y = linalg.generic {
    ^^^^^^^^^^^^^^^^^^^^^
hint: index a result by different loops, one for each dimension, or by 0
"""),
    "a boundary": ("""\
%c = arith.constant 0.0 : f32
  %y = tensor.pad %x low[1, 1] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } {boundary = "mirror"} : tensor<3x4xf32> to tensor<4x5xf32>""", """\
k.mlir:3:3: error: unknown boundary "mirror"
    %y = tensor.pad %x low[1, 1] high[0, 0] {
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: `boundary = "periodic"`, or let the region yield another element
"""),
    "a boundary that is not affine": ("""\
%y = tensor.pad %x low[1, 1] high[0, 0] {
  ^bb0(%i: index, %j: index):
    %k = arith.muli %i, %j : index
    %e = tensor.extract %x[%k, %j] : tensor<3x4xf32>
    tensor.yield %e : f32
  } : tensor<3x4xf32> to tensor<4x5xf32>""", """\
k.mlir:5:5: error: indices of a boundary are affine
      %e = tensor.extract %x[%k, %j] : tensor<3x4xf32>
      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: use affine.apply
"""),
    "a size that padding does not give": ("""\
%c = arith.constant 0.0 : f32
  %y = tensor.pad %x low[1, 1] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } : tensor<3x4xf32> to tensor<4x6xf32>""", """\
k.mlir:3:3: error: argument x and tensor.pad y contradict each other: argument x on line 1:\
 x_1 = 4; tensor.pad y on line 3: y_1 = 6; tensor.pad y on line 3: y_1 = x_1 + 1 + 0
    %y = tensor.pad %x low[1, 1] high[0, 0] {
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: x_1 is the size of x in dimension 1, counted from 0; sizes are at least 1
"""),
    "a slice beyond its operand": ("""\
%y = tensor.extract_slice %x[0, 2] [3, 4] [1, 1] : tensor<3x4xf32> to tensor<3x4xf32>""", """\
k.mlir:2:3: error: argument x and tensor.extract_slice y contradict each other: argument x on\
 line 1: x_1 = 4; tensor.extract_slice y on line 2: 2 + (4 - 1)*1 < x_1
    %y = tensor.extract_slice %x[0, 2] [3, 4] [1, 1] : tensor<3x4xf32> to tensor<3x4xf32>
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: x_1 is the size of x in dimension 1, counted from 0; sizes are at least 1
"""),
    "a slice of another rank": ("""\
%y = tensor.extract_slice %x[0, 0] [3, 4] [1, 1] : tensor<3x4xf32> to tensor<12xf32>""", """\
k.mlir:2:3: error: a slice of 2 dimensions is no tensor<12xf32>
    %y = tensor.extract_slice %x[0, 0] [3, 4] [1, 1] : tensor<3x4xf32> to tensor<12xf32>
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: only dimensions of size 1 may be left out
"""),
    "sizes of a product": ("""\
%e = tensor.empty() : tensor<3x3xf32>
  %y = linalg.matmul ins(%x, %x : tensor<3x4xf32>, tensor<3x4xf32>) outs(%e :\
 tensor<3x3xf32>) -> tensor<3x3xf32>""", """\
k.mlir:3:3: error: argument x and linalg.matmul y contradict each other: argument x on line\
 1: x_0 = 3; argument x on line 1: x_1 = 4; linalg.matmul y on line 3: x_0 = x_1
    %y = linalg.matmul ins(%x, %x : tensor<3x4xf32>, tensor<3x4xf32>) outs(%e :\
 tensor<3x3xf32>) -> tensor<3x3xf32>
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\
^^^^^^^^^^^^^^^^^^^^^
hint: x_1 is the size of x in dimension 1, counted from 0; sizes are at least 1
"""),
    "an element beyond its operand": ("""\
%e = tensor.empty() : tensor<4xf32>
  %y = linalg.generic {
    indexing_maps = [affine_map<(i, j) -> (i, (j + 1) mod 5)>, affine_map<(i, j) -> (j)>],\
 iterator_types = ["reduction", "parallel"]
  } ins(%x : tensor<3x4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%u: f32, %v: f32):
    %p = arith.addf %v, %u : f32
    linalg.yield %p : f32
  } -> tensor<4xf32>""", """\
k.mlir:3:3: error: y reads x[0, 4], beyond x
    %y = linalg.generic {
    ^^^^^^^^^^^^^^^^^^^^^
hint: indices lie inside operands
"""),
}


@pytest.mark.parametrize("case", CASES)
def test_in_loops_and_sizes(kernel, case):
    body, wanted = CASES[case]
    assert error_of(kernel, body) == wanted


ITERATORS = {
    '"parallel"': ("linalg.generic has iterator_types of 1 loops, and maps of 2, 2",
                   "each loop is a dimension of every map"),
    '"parallel", "parallel"': ("loop d1 is parallel, and no index of the result",
                               'what is reduced is of type "reduction"'),
    '"parallel", "window"': (
        "loop d1 is of the old type window",
        'say "parallel", or "reduction" for what is no index of the result',
    ),
}


@pytest.mark.parametrize("types", ITERATORS)
def test_types_of_loops_that_the_maps_contradict(kernel, types):
    text = REDUCING.replace('"parallel", "reduction"', types)
    body = f"{text}\n    linalg.yield %v : f32\n  }} -> tensor<3xf32>"
    kernel.write(f"func.func @f(%x: tensor<3x4xf32>) {{\n  {body}\n  return\n}}\n")
    said = kernel.error().splitlines()
    message, hint = ITERATORS[types]
    assert (said[0], said[-1]) == (f"k.mlir:3:3: error: {message}", f"hint: {hint}")
