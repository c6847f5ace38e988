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
