"""Texts of MLIR with no function, with several, or with what is nearly one."""

EMPTY = "func.func @f(%x: tensor<3xf32>) {\n  return\n}\n"
BARE = "^krnl0(%x: tensor<3xf32>):\n  %y = arith.addf %x, %x : tensor<3xf32>\n"


def test_a_kernel_without_a_function(kernel):
    assert kernel.write(BARE).error() == """\
k.mlir:1:1: error: MLIR: Could not parse entire input!
  ^krnl0(%x: tensor<3xf32>):
  ^^^^^^
hint: wrap the kernel: `func.func @name(%x: tensor<8xf32>) -> ... { ... }`
"""


def test_two_functions(kernel):
    two = EMPTY + EMPTY.replace("@f", "@g")
    assert kernel.write(two).error() == """\
k.mlir:4:1: error: g is function 2 of 2 in this file
  func.func @g(%x: tensor<3xf32>) {
  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: a kernel is one function: put the others into files of their own
"""


def test_a_word_that_is_nearly_a_function(kernel):
    assert kernel.write(EMPTY.replace("func.func", "func.fun")).error().splitlines()[-1] == (
        "hint: did you mean func.func?"
    )


def test_a_declaration_beside_the_function_is_left_out(kernel):
    kernel.write("func.func private @other(tensor<3xf32>) -> tensor<3xf32>\n" + EMPTY)
    assert kernel.error().startswith("k.mlir:2:1: error: f returns nothing")


def test_a_region_of_two_blocks_is_said_to_be_malformed(kernel):
    text = """\
func.func @f(%x: tensor<3xf32>) -> tensor<4xf32> {
  %z = arith.constant 0.0 : f32
  %y = tensor.pad %x low[1] high[0] {
  ^bb0(%i: index):
    tensor.yield %z : f32
  ^bb1(%j: index):
    tensor.yield %z : f32
  } : tensor<3xf32> to tensor<4xf32>
  return %y : tensor<4xf32>
}
"""
    assert kernel.write(text).error() == """\
k.mlir:3:3: error: MLIR: Region 'region' at position 0 expected a single block, but got 2 blocks
    %y = tensor.pad %x low[1] high[0] {
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
"""


def test_a_function_of_two_blocks_is_no_kernel(kernel):
    text = EMPTY.replace("  return\n", "  return\n^bb1:\n  return\n")
    assert kernel.write(text).error() == """\
k.mlir:1:1: error: f has 2 blocks
  func.func @f(%x: tensor<3xf32>) {
  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: a kernel goes straight on: `linalg.generic` loops, `arith.select` chooses
"""
