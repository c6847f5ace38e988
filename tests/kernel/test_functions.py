"""Texts of MLIR with no function, with several, or with what is nearly one."""

import pytest

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
hint: it is written as `%y = tensor.pad %r low[1] high[0] { ^bb0(%k: index): tensor.yield %c : f32\
 } : tensor<8xf32> to tensor<9xf32>`
"""


def test_a_function_of_two_blocks_is_no_kernel(kernel):
    text = EMPTY.replace("  return\n", "  return\n^bb1:\n  return\n")
    assert kernel.write(text).error() == """\
k.mlir:1:1: error: f has 2 blocks
  func.func @f(%x: tensor<3xf32>) {
  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: a kernel goes straight on: `linalg.generic` loops, `arith.select` chooses
"""


def test_a_kernel_that_returns_nothing(kernel):
    assert kernel.write(EMPTY).error() == """\
k.mlir:1:1: error: f returns nothing
  func.func @f(%x: tensor<3xf32>) {
  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: return what is to be computed, or name `outputs:` in kernel.yaml
"""


@pytest.mark.parametrize("text", ["", "// nothing yet\n"])
def test_a_text_of_nothing(kernel, text):
    assert kernel.write(text).error().replace(text, "\n") == f"""\
k.mlir:1:1: error: k.mlir holds no function with a body
  {text or chr(10)}  ^
hint: wrap the kernel: `func.func @name(%x: tensor<8xf32>) -> ... {{ ... }}`
""".replace(text, "\n")


def test_a_text_that_is_cut(kernel):
    assert kernel.write(EMPTY[: EMPTY.index("}")]).error() == """\
k.mlir:1:1: error: MLIR: the text ends within this operation
  func.func @f(%x: tensor<3xf32>) {
  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: close each `{` and `(`
"""


def test_two_texts(kernel):
    kernel.write(EMPTY).write(EMPTY, name="l.mlir")
    assert kernel.error() == f"""\
error: {kernel.path} holds 2 .mlir files (k.mlir, l.mlir)
hint: name the one to read in kernel.yaml: `mlir: NAME.mlir`
"""
