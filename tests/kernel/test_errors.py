"""Errors in the operations, values and types of kernels: the whole text of each."""

import pytest

SAME = "affine_map<(i, j) -> (i, j)>"
REDUCING = f"""\
%e = tensor.empty() : tensor<3xf32>
  %y = linalg.generic {{indexing_maps = [{SAME}, affine_map<(i, j) -> (i)>], iterator_types =\
 ["parallel", "reduction"]}}
    ins(%x : tensor<3x4xf32>) outs(%e : tensor<3xf32>) {{
  ^bb0(%u: f32, %v: f32):"""
CASES = {
    "an operation that xDSL has not": ("""\
%y = linalg.softmax dimension(1) ins(%x : tensor<3x4xf32>)""", """\
k.mlir:2:8: error: MLIR: Operation linalg.softmax is not registered
    %y = linalg.softmax dimension(1) ins(%x : tensor<3x4xf32>)
         ^^^^^^^^^^^^^^
hint: write it as linalg.generic
"""),
    "an operation that is nearly one": ("""\
%y = tensor.emtpy() : tensor<3x4xf32>""", """\
k.mlir:2:8: error: MLIR: Operation tensor.emtpy is not registered
    %y = tensor.emtpy() : tensor<3x4xf32>
         ^^^^^^^^^^^^
hint: did you mean tensor.empty?
"""),
    "an old name": ("""\
%y = arith.maxf %x, %x : tensor<3x4xf32>""", """\
k.mlir:2:8: error: MLIR: Operation arith.maxf is not registered
    %y = arith.maxf %x, %x : tensor<3x4xf32>
         ^^^^^^^^^^
hint: arith.maxf is called arith.maximumf now
"""),
    "arithmetic that xDSL has not": ("""\
%y = arith.remf %x, %x : tensor<3x4xf32>""", """\
k.mlir:2:8: error: MLIR: Operation arith.remf is not registered
    %y = arith.remf %x, %x : tensor<3x4xf32>
         ^^^^^^^^^^
hint: write it with other arithmetic
"""),
    "no operation on volumes": ("""\
%i = arith.constant 0 : index
  %c = arith.constant 1.0 : f32
  %y = tensor.insert %c into %x[%i, %i] : tensor<3x4xf32>""", """\
k.mlir:4:3: error: tensor.insert is no operation on volumes here
    %y = tensor.insert %c into %x[%i, %i] : tensor<3x4xf32>
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: write it as linalg.generic, or as tensor.pad, extract_slice, insert_slice or concat
"""),
    "what is defined behind its use": ("""\
%y = arith.mulf %s, %x : tensor<3x4xf32>
  %s = arith.addf %x, %x : tensor<3x4xf32>""", """\
k.mlir:2:3: error: %s is used before it is defined
    %y = arith.mulf %s, %x : tensor<3x4xf32>
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: put the operation that defines it in front of this one
"""),
    "no arithmetic here": ("""\
%y = math.tan %x : tensor<3x4xf32>""", """\
k.mlir:2:3: error: math.tan is no arithmetic here
    %y = math.tan %x : tensor<3x4xf32>
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: a body has arithmetic, comparisons, arith.select and abs, ceil, cos, erf, exp, floor, log,\
 max, min, pow, round, sin, sqrt, tanh
"""),
    "a comparison that is kept": ("""\
%t = arith.cmpf olt, %x, %x : tensor<3x4xf32>
  %y = tensor.cast %t : tensor<3x4xi1> to tensor<3x4xi1>""", """\
k.mlir:3:3: error: i1 is no type of elements here
    %y = tensor.cast %t : tensor<3x4xi1> to tensor<3x4xi1>
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: compare where the result selects, or convert it: arith.uitofp, arith.extui
"""),
    "a comparison that there is not": ("""\
%t = arith.cmpf lt, %x, %x : tensor<3x4xf32>""", """\
k.mlir:2:21: error: MLIR: unknown predicate lt
    %t = arith.cmpf lt, %x, %x : tensor<3x4xf32>
                      ^
hint: it is written as `%y = arith.cmpf olt, %x, %x : tensor<4x8xf32>`
"""),
    "integers without signs": ("""\
%a = arith.constant 3 : i32
  %t = arith.cmpi ult, %a, %a : i32
  %y = arith.select %t, %x, %x : tensor<3x4xf32>""", """\
k.mlir:3:3: error: integers have signs here
    %t = arith.cmpi ult, %a, %a : i32
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: compare them as signed ones: slt, sle, sgt, sge
"""),
    "a factor that is not known": ("""\
%a = arith.constant 3 : i32
  %n = arith.index_cast %a : i32 to index
  %s = tensor.extract_slice %x[0, 0] [%n, %n] [1, 1] : tensor<3x4xf32> to tensor<?x?xf32>
  %y = tensor.collapse_shape %s [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>""", """\
k.mlir:5:3: error: tensor.collapse_shape y multiplies by the unknown size s_1
    %y = tensor.collapse_shape %s [[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: inner sizes are numbers: fix it in kernel.yaml, `sizes: {n: 4}`
"""),
    "a collapsed size that does not fit": ("""\
%y = tensor.expand_shape %x [[0], [1, 2]] output_shape [3, 3, 2] : tensor<3x4xf32> into\
 tensor<3x3x2xf32>""", """\
k.mlir:2:3: error: argument x and tensor.expand_shape y contradict each other: argument x on line\
 1: x_1 = 4; tensor.expand_shape y on line 2: y_1 = 3; tensor.expand_shape y on line 2: x_1 =\
 (y_1*2)
    %y = tensor.expand_shape %x [[0], [1, 2]] output_shape [3, 3, 2] : tensor<3x4xf32> into\
 tensor<3x3x2xf32>
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^\
^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: x_1 is the size of x in dimension 1, counted from 0; sizes are at least 1
"""),
    "an index that is not affine": (f"""\
%e = tensor.empty() : tensor<3x4xf32>
  %y = linalg.generic {{indexing_maps = [{SAME}, {SAME}], iterator_types = ["parallel",\
 "parallel"]}}
    ins(%x : tensor<3x4xf32>) outs(%e : tensor<3x4xf32>) {{
  ^bb0(%u: f32, %v: f32):
    %i = linalg.index 0 : index
    %k = arith.muli %i, %i : index
    %t = arith.cmpi slt, %k, %i : index
    %r = arith.select %t, %u, %u : f32
    linalg.yield %r : f32
  }} -> tensor<3x4xf32>""", """\
k.mlir:8:5: error: an index is not affine
      %t = arith.cmpi slt, %k, %i : index
      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: use affine.apply
"""),
    "a maximum of some values": (f"""\
{REDUCING}
    %z = arith.constant 2.0 : f32
    %t = arith.cmpf olt, %u, %z : f32
    %p = arith.maximumf %u, %v : f32
    %r = arith.select %t, %p, %v : f32
    linalg.yield %r : f32
  }} -> tensor<3xf32>""", """\
k.mlir:9:5: error: a reduction of some values only
      %r = arith.select %t, %p, %v : f32
      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: select between numbers, and reduce that
"""),
    "a sum that is something else for some instances": (f"""\
{REDUCING}
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %t = arith.cmpi sle, %j, %i : index
    %p = arith.addf %u, %v : f32
    %r = arith.select %t, %p, %u : f32
    linalg.yield %r : f32
  }} -> tensor<3xf32>""", """\
k.mlir:10:5: error: what is reduced is selected
      %r = arith.select %t, %p, %u : f32
      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: select between the result's own element and that with a value added
"""),
    "syntax": ("""\
%y = arith.addf %x, : tensor<3x4xf32>""", """\
k.mlir:2:23: error: MLIR: operand expected
    %y = arith.addf %x, : tensor<3x4xf32>
                        ^
hint: it is written as `%y = arith.addf %x, %x : tensor<4x8xf32>`
"""),
    "a value without its sign": ("""\
y = arith.addf %x, %x : tensor<3x4xf32>""", """\
k.mlir:2:3: error: MLIR: Operation y is not registered
    y = arith.addf %x, %x : tensor<3x4xf32>
    ^
hint: values begin with `%`: `%y = arith.addf %x, %x : tensor<8xf32>`
"""),
    "a type that there is not": ("""\
%y = arith.addf %x, %x : tensor<3x4xf33>""", """\
k.mlir:2:39: error: MLIR: Expected shape type.
    %y = arith.addf %x, %x : tensor<3x4xf33>
                                        ^^^
hint: a type is tensor<8x4xf32>: sizes, then a type, as f16 or i32
"""),
    "a value that is not defined": ("""\
%y = arith.addf %x, %z : tensor<3x4xf32>""", """\
k.mlir:2:23: error: MLIR: values used but not defined: [%z]
    %y = arith.addf %x, %z : tensor<3x4xf32>
                        ^^
hint: define it: `%z = arith.constant 1.0 : f32`
"""),
    "values that are elsewhere": ("""\
%y = arith.constant dense_resource<w> : tensor<4xf32>""", """\
k.mlir:2:3: error: dense_resource<w> : tensor<4xf32> has no values here
    %y = arith.constant dense_resource<w> : tensor<4xf32>
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: give them: dense<...>
"""),
    "a type": ("""\
%y = arith.constant dense<0> : tensor<4xi8>""", """\
k.mlir:2:3: error: i8 is no type of elements here
    %y = arith.constant dense<0> : tensor<4xi8>
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: elements are f16, f32, i16, i32; without `facts` and `tiles` f64, i64, too
"""),
    "elements without values": ("""\
%y = tensor.empty() : tensor<4xf32>
  %z = arith.addf %y, %y : tensor<4xf32>""", """\
k.mlir:3:3: error: the elements of y are read and have no values
    %z = arith.addf %y, %y : tensor<4xf32>
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: linalg.fill gives them values
"""),
}


@pytest.mark.parametrize("case", CASES)
def test_in_mlir(kernel, case):
    body, wanted = CASES[case]
    assert error_of(kernel, body) == wanted


def error_of(kernel, body):
    text = f"func.func @f(%x: tensor<3x4xf32>) {{\n  {body}\n  return\n}}\n"
    return kernel.write(text, "outputs: [y]\n").error()
