"""Kernel folders and analyses of layers, by real doit processes."""

from pathlib import Path

import pytest

from lairmake.stages import KERNEL
from tests.e2e.conftest import DODO

ROOT = Path(__file__).resolve().parents[2]
SEEN = """\
import atexit, sys
heavy = {
    "xdsl", "yaml", "islpy", "numpy", "pydantic", "lairmake.stages.kernel.mlir",
    "lairmake.stages.volumes.sizes",
}
atexit.register(lambda: print("imported", sorted(heavy & sys.modules.keys()), file=sys.stderr))
"""
SUMMARY = """
krnl0: 3 operations on 6 volumes
  operations  1 tensor.pad, 1 linalg.conv_2d_nchw_fchw, 1 linalg.generic
  inputs      ifm 1 x 3 x 512 x 512 float32; wgt0 8 x 3 x 5 x 5 float32; cst0 float32
  outputs     act0 1 x 8 x 256 x 256 float32
  program     act0 needs ifm, wgt0, cst0
  layouts     6 volumes in 5 arrays, act0 and conv0 in one
  memory      8427984 bytes in arrays; 10525136 if each volume had one of its own
"""
OLD_NAME = """projects/krnl0/krnl0.mlir:18:10: error: MLIR: Operation arith.maxf is not registered
      %0 = arith.maxf %a, %cst0 : f32
           ^^^^^^^^^^
hint: arith.maxf is called arith.maximumf now
"""


@pytest.mark.wide
def test_a_kernel_is_built_once_and_its_texts_do_not_name_it(space):
    space.write("dodo.py", DODO)
    space.copy(ROOT / "projects/krnl0", "projects/krnl0")
    run = space.run()
    assert (run.ran, run.out.endswith(SUMMARY)) == ([f"krnl0:{stage}" for stage in KERNEL], True)
    (space.root / "projects/krnl0").rename(space.root / "projects/other")
    assert space.hits() == [f"other:{stage}" for stage in KERNEL]
    space.write("dodo.py", SEEN + DODO)
    space.is_cold = True
    run = space.run()
    assert (run.code, run.out, run.err) == (0, "1 layer unchanged\n", "imported []\n")


def test_a_new_kernel_is_like_another(space):
    space.write("dodo.py", DODO)
    space.write("projects/.keep", "")
    run = space.run("new", "mine", "--like", "krnl0")
    assert (run.code, run.err) == (0, "")
    files = ["projects/mine/dodo.py", "projects/mine/krnl0.mlir"]
    assert [name for name in space.files("projects") if ".keep" not in name] == files


def test_what_is_wrong_in_a_kernel_is_said_with_its_place(space):
    space.write("dodo.py", DODO)
    space.copy(ROOT / "projects/krnl0", "projects/krnl0")
    text = space.read("projects/krnl0/krnl0.mlir")
    space.write("projects/krnl0/krnl0.mlir", text.replace("maximumf", "maxf"))
    run = space.run()
    assert (run.code, run.err) == (1, OLD_NAME)


def test_volumes_of_a_layer_are_found_where_they_are_asked_for(space):
    space.copy(ROOT / "projects/fc", "fc")
    assert space.build("fc:compose", cwd="fc") == ["fc:describe", "fc:relate", "fc:compose"]
    assert "y[i] -> x[i'] : 0 <= i <= 31 and 0 <= i' <= 15" in space.read("fc/cache/program.isl")
