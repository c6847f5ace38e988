"""Shape inference, forwards and backwards, and contradictions."""

import islpy as isl
import pytest

ADD = """func.func @add(%x: tensor<?xf32>, %y: tensor<8xf32>) -> tensor<?xf32> {
  %z = tensor.cast %x : tensor<?xf32> to tensor<8xf32>
  %s = arith.addf %z, %y : tensor<8xf32>
  %t = tensor.cast %s : tensor<8xf32> to tensor<?xf32>
  return %t : tensor<?xf32>
}
"""
PAD = """func.func @pad(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c = arith.constant 1.5 : f32
  %p = tensor.pad %x low[2] high[3] {
  ^bb0(%i: index):
    tensor.yield %c : f32
  } : tensor<?xf32> to tensor<?xf32>
  return %p : tensor<?xf32>
}
"""
CONV = """func.func @conv(%x: tensor<1x1x?x9xf32>, %w: tensor<1x1x3x3xf32>) -> tensor<1x1x?x4xf32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %n = tensor.dim %x, %c2 : tensor<1x1x?x9xf32>
  %m = arith.subi %n, %c2 : index
  %e = tensor.empty(%m) : tensor<1x1x?x4xf32>
  %y = linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>,
                                 strides = dense<[1, 2]> : tensor<2xi64>}
    ins(%x, %w : tensor<1x1x?x9xf32>, tensor<1x1x3x3xf32>)
    outs(%e : tensor<1x1x?x4xf32>) -> tensor<1x1x?x4xf32>
  return %y : tensor<1x1x?x4xf32>
}
"""
TWICE = """func.func @twice(%x: tensor<?xf32>, %a: tensor<8xf32>, %b: tensor<9xf32>)
    -> (tensor<8xf32>, tensor<9xf32>) {
  %s = tensor.cast %x : tensor<?xf32> to tensor<8xf32>
  %p = arith.addf %s, %a : tensor<8xf32>
  %t = tensor.cast %x : tensor<?xf32> to tensor<9xf32>
  %q = arith.addf %t, %b : tensor<9xf32>
  return %p, %q : tensor<8xf32>, tensor<9xf32>
}
"""
CONTRADICTION = """\
k.mlir:5:3: error: tensor.cast s and tensor.cast t contradict each other: tensor.cast s on line 3: \
s_0 = 8; tensor.cast s on line 3: s_0 = x_0; tensor.cast t on line 5: t_0 = 9; tensor.cast t on \
line 5: t_0 = x_0
    %t = tensor.cast %x : tensor<?xf32> to tensor<9xf32>
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: x_1 is the size of x in dimension 1, counted from 0; sizes are at least 1
"""


def test_a_size_is_inferred_forwards(kernel):
    built = kernel.write(PAD).build("shape")
    wanted = isl.UnionSet("[x_0] -> { x[i] : 0 <= i < x_0; p[i] : 0 <= i < x_0 + 5; c[] }")
    assert built.objects["volumes"].is_equal(wanted)
    assert built.objects["context"].is_equal(isl.UnionSet("[x_0] -> { : x_0 >= 1 }"))


def test_a_size_is_inferred_backwards(kernel):
    volumes = kernel.write(ADD).build("shape").objects["volumes"]
    wanted = "{ x[i] : 0 <= i < 8; y[i] : 0 <= i < 8; z[i] : 0 <= i < 8; s[i] : 0 <= i < 8; \
t[i] : 0 <= i < 8 }"
    assert volumes.is_equal(isl.UnionSet(wanted))


def test_kernel_yaml_gives_a_size(kernel):
    volumes = kernel.write(PAD, "sizes: {p_0: 12}\n").build("shape").objects["volumes"]
    assert volumes.is_equal(isl.UnionSet("{ x[i] : 0 <= i < 7; p[i] : 0 <= i < 12; c[] }"))


def test_a_size_that_is_less_than_another_stays_a_symbolic_constant(kernel):
    built = kernel.write(CONV).build("shape", "relate", "compose")
    assert built.objects["context"].is_equal(isl.UnionSet("[x_2] -> { : x_2 >= 3 }"))
    wanted = isl.UnionMap("""[x_2] -> {
        y[0, 0, h, w] -> x[0, 0, r, s] : 0 <= h < x_2 - 2 and 0 <= w < 4 and h <= r <= h + 2
            and 2w <= s <= 2w + 2;
        y[0, 0, h, w] -> w[0, 0, r, s] : 0 <= h < x_2 - 2 and 0 <= w < 4 and 0 <= r <= 2
            and 0 <= s <= 2
    }""")
    context = isl.Set("[x_2] -> { : x_2 >= 3 }")
    assert built.objects["program"].intersect_params(context).is_equal(wanted)


@pytest.mark.parametrize("size", [1, 2])
def test_sizes_that_are_too_small_contradict_each_other(kernel, size):
    said = kernel.write(CONV, f"sizes: {{x_2: {size}}}\n").error()
    assert said.startswith("kernel.yaml:1:14: error: tensor.empty e and sizes.x_2 contradict")


def test_two_operations_that_contradict_each_other(kernel):
    assert kernel.write(TWICE).error() == CONTRADICTION


def test_a_window_that_does_not_fit(kernel):
    said = kernel.write(CONV.replace("x9xf32", "x8xf32")).error()
    assert said.startswith("k.mlir:7:3: error: ")
    assert "linalg.conv_2d_nchw_fchw y" in said and "argument x on line 1: x_3 = 8" in said


def test_an_unknown_size(kernel):
    assert kernel.write(PAD, "sizes: {n: 12}\n").error() == """\
kernel.yaml:1:9: error: unknown size n
  sizes: {n: 12}
          ^
hint: sizes: x_0, p_0
"""
