"""What is said of a kernel that is not cut into parts."""

import pytest

from lairmake.stages import KERNEL
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.report.kernel_summary import READS, summarise_kernel


@pytest.fixture
def said(tmp_path):
    """Return what is said of a kernel."""
    def of(text):
        (tmp_path / "k.mlir").write_text(text, encoding="utf-8")
        for stage in KERNEL:
            run_stage(stage, tmp_path)
        texts = {name: (tmp_path / "cache" / name).read_text(encoding="utf-8") for name in READS}
        return summarise_kernel("k", texts).splitlines()

    return of


def test_operations_sizes_and_memory_before_and_after_arranging(said):
    assert said(CHAIN) == [
        "k: 3 operations on 4 volumes",
        "  operations  1 arith.addf, 1 math.exp, 1 tensor.collapse_shape",
        "  inputs      a 4 x 8 float32",
        "  outputs     d 32 float32",
        "  program     d needs a",
        "  layouts     4 volumes in 2 arrays, 1 view, b and c and d in one",
        "  memory      256 bytes in arrays; 512 if each volume had one of its own",
    ]


def test_sizes_that_are_symbolic_are_not_known(said):
    text = CHAIN.replace("4x8", "?x8").replace("<32x", "<?x")
    assert said(text)[2:4] == ["  inputs      a ? x 8 float32", "  outputs     d ? float32"]
    assert said(text)[-1] == "  memory      depends on sizes that are not known"


def test_several_outputs_have_a_line_each(said):
    assert said(TWO)[4:6] == ["  program     s needs a, b", "  program     t needs a"]


CHAIN = """\
func.func @k(%a: tensor<4x8xf32>) -> tensor<32xf32> {
  %b = arith.addf %a, %a : tensor<4x8xf32>
  %c = math.exp %b : tensor<4x8xf32>
  %d = tensor.collapse_shape %c [[0, 1]] : tensor<4x8xf32> into tensor<32xf32>
  return %d : tensor<32xf32>
}
"""
TWO = """\
func.func @k(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %s = arith.addf %a, %b : tensor<4xf32>
  %t = math.exp %a : tensor<4xf32>
  return %s, %t : tensor<4xf32>, tensor<4xf32>
}
"""
