"""F Alg. 1: hyperrectangular partitions by facts."""

from pathlib import Path

import islpy as isl
import numpy as np
import pytest
import yaml

from lairmake.stages import KERNEL
from lairmake.stages.make.core.inputs import FolderInputs
from lairmake.stages.make.core.layers import open_folder
from lairmake.stages.make.store.folders import file_of
from lairmake.stages.mapping.kernel_yaml import load_kernel
from lairmake.stages.parts.input_values import make_kernel_values
from lairmake.stages.volumes.operation import make_domains, read_program
from tests.kernel.tiled import compared, opened

ROOT = Path(__file__).resolve().parents[2]
KRNL0 = (ROOT / "projects/krnl0/krnl0.mlir").read_text(encoding="utf-8")
I_C = "{ act0[n, f, h, w] : h >= 255 or w >= 255 or h <= 0 or w <= 0 }"
I_D = "{ act0[n, f, h, w] : n = 0 and 0 <= f < 8 and 0 < h <= 254 and 0 < w <= 254 }"
POOL = """\
func.func @pool(%x: tensor<6x6xf32>) -> tensor<6x6xf32> {{
  %edge = arith.constant {edge} : f32
  %p = tensor.pad %x low[1, 1] high[1, 1] {{
  ^bb0(%i: index, %j: index):
    tensor.yield %edge : f32
  }} : tensor<6x6xf32> to tensor<8x8xf32>
  %init = tensor.empty() : tensor<6x6xf32>
  %window = tensor.empty() : tensor<3x3xf32>
  %y = linalg.generic {{
    indexing_maps = [affine_map<(y, x, a, b) -> (y + a, x + b)>, affine_map<(y, x, a, b) -> (a, b)>,
                     affine_map<(y, x, a, b) -> (y, x)>],
    iterator_types = ["parallel", "parallel", "reduction", "reduction"]}}
    ins(%p, %window : tensor<8x8xf32>, tensor<3x3xf32>) outs(%init : tensor<6x6xf32>) {{
  ^bb0(%r: f32, %w: f32, %s: f32):
    %1 = {operator} %s, %r : f32
    linalg.yield %1 : f32
  }} -> tensor<6x6xf32>
  return %y : tensor<6x6xf32>
}}
"""


def parts_of_krnl0(kernel):
    kernel.write(KRNL0, "facts: [cst0]\n")
    return kernel.build(*KERNEL, "partition").objects


@pytest.mark.wide
def test_facts_of_krnl0_are_those_of_the_paper(kernel):
    objects = parts_of_krnl0(kernel)
    domain = objects["volumes"].intersect(isl.UnionSet("{ act0[n, f, h, w] }"))
    wanted = isl.UnionSet(I_C).intersect(domain)
    assert objects["needs_cst0"].is_equal(wanted)


@pytest.mark.wide
def test_the_inside_of_krnl0_is_one_hyperrectangle(kernel):
    parts = []
    parts_of_krnl0(kernel)["parts"].foreach_set(parts.append)
    found = [each.set_tuple_name("act0") for each in parts if "act0" in each.get_tuple_name()]
    assert len(found) == 9
    assert sum(each.is_equal(isl.Set(I_D)) for each in found) == 1
    whole = isl.Set("{ act0[0, f, h, w] : 0 <= f < 8 and 0 <= h < 256 and 0 <= w < 256 }")
    union = isl.Set.empty(whole.space)
    for each in found:
        assert each.is_disjoint(union)
        union = union.union(each)
    assert union.is_equal(whole)


@pytest.mark.wide
def test_borders_leave_out_what_meets_padding(tmp_path):
    folder = opened(tmp_path / "k", POOL.format(edge="0.0", operator="arith.addf"), "facts: []")
    given, expected = compared(folder)
    assert (given == expected).all()
    regions = yaml.safe_load(file_of(folder, "tiles.yaml").read_text(encoding="utf-8"))
    sizes = [region["inputs"]["x"]["size"] for region in regions.values()]
    assert sizes == [[2, 2], [2, 6], [2, 2], [6, 2], [6, 6], [6, 2], [2, 2], [2, 6], [2, 2]]


@pytest.mark.wide
def test_a_constant_that_counts_is_added_as_often_as_it_is_met(tmp_path):
    folder = opened(tmp_path / "k", POOL.format(edge="2.0", operator="arith.addf"), "facts: []")
    given, expected = compared(folder)
    assert (given == expected).all()
    lair = (folder.path / "build/parts/y_0/pool.lair").read_text(encoding="utf-8")
    assert "y[0][0] = y_term0[0][0] + 10.0" in lair


@pytest.mark.wide
def test_a_maximum_keeps_the_constant(tmp_path):
    folder = opened(
        tmp_path / "k", POOL.format(edge="3.0", operator="arith.maximumf"), "facts: []"
    )
    given, expected = compared(folder)
    assert (given == expected).all()
    lair = (folder.path / "build/parts/y_0/pool.lair").read_text(encoding="utf-8")
    assert "y[0][0] = max(y_term0[0][0], 3.0)" in lair


CONSTANT = """\
func.func @far(%x: tensor<4xf32>) -> tensor<8xf32> {
  %edge = arith.constant 2.0 : f32
  %p = tensor.pad %x low[1] high[3] {
  ^bb0(%i: index):
    tensor.yield %edge : f32
  } : tensor<4xf32> to tensor<8xf32>
  %y = arith.mulf %p, %p : tensor<8xf32>
  return %y : tensor<8xf32>
}
"""


def test_a_part_of_constants_needs_no_layer(tmp_path):
    folder = opened(tmp_path / "k", CONSTANT, "facts: [edge]")
    given, expected = compared(folder)
    assert (given == expected).all()
    assert [name for name, _ in folder.parts] == ["y_1"]
    regions = yaml.safe_load(file_of(folder, "tiles.yaml").read_text(encoding="utf-8"))
    assert [regions[name]["constant"] for name in ("y_0", "y_2")] == [4.0, 4.0]


def test_a_kernel_without_facts_and_tiles_has_no_parts(tmp_path):
    folder = opened(tmp_path / "k", CONSTANT, "inputs: [x]\n")
    assert (folder.parts, folder.stages) == ((), KERNEL)
    (folder.path / "kernel.yaml").unlink()
    assert open_folder(folder.path).stages == KERNEL


INSERTED = """\
func.func @inserted(%x: tensor<4x6xf32>, %z: tensor<2x2xf32>, %s: tensor<2x3xf32>)
    -> tensor<4x6xf32> {
  %t = tensor.insert_slice %z into %x[1, 2] [2, 2] [1, 2] : tensor<2x2xf32> into tensor<4x6xf32>
  %u = tensor.insert_slice %s into %t[2, 0] [2, 3] [1, 1] : tensor<2x3xf32> into tensor<4x6xf32>
  return %u : tensor<4x6xf32>
}
"""
PADDED = """\
func.func @padded(%x: tensor<3x2xf32>) -> tensor<5x8xf32> {
  %zero = arith.constant 0.0 : f32
  %two = arith.constant 2.0 : f32
  %p = tensor.pad %x low[2, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %two : f32
  } : tensor<3x2xf32> to tensor<5x4xf32>
  %init = tensor.empty() : tensor<4x5xf32>
  %t = linalg.transpose ins(%p : tensor<5x4xf32>) outs(%init : tensor<4x5xf32>) permutation = [1, 0]
  %m = tensor.insert_slice %x into %t[1, 0] [3, 2] [1, 2] : tensor<3x2xf32> into tensor<4x5xf32>
  %y = tensor.pad %m low[1, 2] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<4x5xf32> to tensor<5x8xf32>
  return %y : tensor<5x8xf32>
}
"""


@pytest.mark.wide
def test_a_slice_with_a_stride_and_one_that_overlaps_it_are_put_together(tmp_path):
    folder = opened(tmp_path / "k", INSERTED, "facts: []")
    given, expected = compared(folder)
    x, z, s = (read_input(folder, name) for name in "xzs")
    x[1:3, 2:5:2] = z
    x[2:4, 0:3] = s
    assert (given == x).all() and (expected == x).all()


@pytest.mark.wide
def test_a_slice_with_a_stride_in_what_is_padded_and_turned_is_put_together(tmp_path):
    folder = opened(tmp_path / "k", PADDED, "facts: []")
    given, expected = compared(folder)
    x = read_input(folder, "x")
    turned = np.pad(x, ((2, 0), (1, 1)), constant_values=2).T
    turned[1:4, 0:3:2] = x
    assert (given == np.pad(turned, ((1, 0), (2, 1)))).all() and (given == expected).all()


def read_input(folder, name):
    """Return the values of an input of a kernel."""
    inputs = FolderInputs(folder, ("operations.yaml", "volumes.isl", "kernel.yaml", "inputs/*"))
    program = read_program(inputs.yaml("operations.yaml"))
    domains = make_domains(inputs.objects("volumes.isl")["volumes"])
    kernel = load_kernel(map(inputs.source, inputs.names("kernel.yaml")))
    return make_kernel_values(program, domains, kernel, inputs.arrays())[name].copy()


def test_an_unknown_fact_is_refused(kernel):
    kernel.write(CONSTANT, "facts: [edg]\n").build(*KERNEL)
    assert kernel.error("partition") == (
        "kernel.yaml:1:9: error: edg is no input of the kernel\n"
        "  facts: [edg]\n"
        "          ^^^\n"
        "hint: did you mean edge?\n"
    )


def test_a_size_that_is_not_known_is_refused(kernel):
    text = CONSTANT.replace("<4xf32>", "<?xf32>").replace("<8xf32>", "<?xf32>")
    kernel.write(text, "facts: []\n").build(*KERNEL)
    assert kernel.error("partition") == (
        "kernel.yaml:1:1: error: the size x_0 of a part is not known\n"
        "  facts: []\n"
        "  ^^^^^\n"
        "hint: fix it in kernel.yaml: `sizes: {x_0: 16}`\n"
    )


def test_several_results_are_refused(kernel):
    text = CONSTANT.replace("-> tensor<8xf32> {", "-> (tensor<8xf32>, tensor<8xf32>) {")
    text = text.replace("return %y : ", "return %y, %p : tensor<8xf32>, ")
    kernel.write(text, "sizes: {}\ntiles: {y: [1]}\n").build(*KERNEL)
    assert kernel.error("partition") == (
        "kernel.yaml:2:1: error: parts are of one result, not of y, p\n"
        "  tiles: {y: [1]}\n"
        "  ^^^^^\n"
        "hint: choose one in kernel.yaml: `outputs: [NAME]`\n"
    )
