"""Errors in kernel.yaml: the whole text of each."""

import pytest

EMPTY = "func.func @f(%x: tensor<3xf32>) {\n  return\n}\n"

YAML = {
    "outputs: [z]": """\
kernel.yaml:1:11: error: unknown volume z
  outputs: [z]
            ^
hint: volumes: x
""",
    "mlir: l.mlir": """\
kernel.yaml:1:7: error: l.mlir does not exist
  mlir: l.mlir
        ^^^^^^
hint: the .mlir files here: k.mlir
""",
    "tile: {}": """\
kernel.yaml:1:1: error: unknown key tile
  tile: {}
  ^^^^
hint: did you mean tiles?
""",
    "sizes: {x_0: 0}": """\
kernel.yaml:1:14: error: sizes.x_0 must be at least 1
  sizes: {x_0: 0}
               ^
""",
}


def test_a_layer_yaml_beside_a_kernel(kernel):
    kernel.write(EMPTY).path.joinpath("layer.yaml").write_text("", encoding="utf-8")
    assert kernel.error().replace(str(kernel.path), "FOLDER") == """\
error: FOLDER holds k.mlir and layer.yaml, which both say what is built
hint: move one of them to a folder of its own
"""


@pytest.mark.parametrize("text", YAML)
def test_in_kernel_yaml(kernel, text):
    assert kernel.write(EMPTY, f"{text}\n").error() == YAML[text]
