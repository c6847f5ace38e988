"""What a hint of kernels lists gets through: each type, function and comparison, in one table."""

import numpy as np
import pytest

from lairmake.stages.diagnose import Source, UserError
from lairmake.stages.kernel.mlir.body import FUNCTIONS, HINT
from lairmake.stages.kernel.mlir.dialect import parse_text
from lairmake.stages.kernel.mlir.syntax import ELEMENTS, HINT as TYPES, KNOWN, UNCUT, VALUES
from lairmake.stages.kernel.mlir.translate import translate
from lairmake.stages.machine.types import TYPES as OF_MACHINES
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.store.folders import parts_of
from tests.kernel.tiled import build, compared, opened

ADD = {"f": "arith.addf", "i": "arith.addi"}
EACH = """\
func.func @f(%x: tensor<4xTYPE>) -> tensor<4xTYPE> {
  %y = ADD %x, %x : tensor<4xTYPE>
  return %y : tensor<4xTYPE>
}
"""
BODY = """\
#all = affine_map<(i) -> (i)>
func.func @f(%x: tensor<4xTYPE>) -> tensor<4xTYPE> {
  %e = tensor.empty() : tensor<4xTYPE>
  %y = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel"]}
    ins(%x : tensor<4xTYPE>) outs(%e : tensor<4xTYPE>) {
  ^bb0(%u: TYPE, %v: TYPE):
LINES
    linalg.yield %s : TYPE
  } -> tensor<4xTYPE>
  return %y : tensor<4xTYPE>
}
"""
WHOLE = ("absi", "maxsi", "minsi")
TWICE = ("max", "min", "pow")


def get_through(path, text, kernel="facts: []\n"):
    """Build the parts of a kernel until their layers are read; their values are NumPy's."""
    folder = opened(path, text, kernel)
    given, expected = compared(folder)
    assert np.array_equal(given, expected, equal_nan=True)
    for part in parts_of(folder):
        for stage in ("parse", "place"):
            run_stage(stage, part)
    return folder


def of_type(text, name):
    return text.replace("TYPE", name).replace("ADD", ADD[name[0]])


def functions():
    """Return a body with every function on floats that a hint lists."""
    lines = []
    for name, function in FUNCTIONS.items():
        if name.rpartition(".")[2] not in WHOLE:
            operands = "%u, %u" if function in TWICE else "%u"
            at = len(lines)
            lines.append(f"    %r{at} = {name} {operands} : f32")
    sums = [f"    %s{k} = arith.addf %{f's{k - 1}' if k else 'u'}, %r{k} : f32"
            for k in range(len(lines))]
    sums[-1] = sums[-1].replace(f"%s{len(lines) - 1} =", "%s =")
    return "\n".join([*lines, *sums])


def test_the_types_of_elements_are_those_of_machines():
    assert set(ELEMENTS.values()) == set(OF_MACHINES)
    assert not set(UNCUT.values()) & set(OF_MACHINES)
    assert TYPES.startswith(KNOWN) and f"elements are {', '.join(ELEMENTS)}" == KNOWN


@pytest.mark.parametrize("name", ELEMENTS)
def test_a_type_that_is_listed_gets_through(tmp_path, name):
    get_through(tmp_path / "k", of_type(EACH, name))


@pytest.mark.long
@pytest.mark.parametrize("name", ELEMENTS)
def test_a_type_that_is_listed_is_computed_in(tmp_path, name):
    folder = opened(tmp_path / "k", of_type(EACH, name), "facts: []\n")
    build(folder)
    assert (folder.build / "outputs/y.npy").is_file()


@pytest.mark.parametrize("name", UNCUT)
def test_a_type_without_parts_gets_through_there_and_only_there(kernel, name):
    kernel.write(of_type(EACH, name), "{}\n").build("shape")
    kernel.write(of_type(EACH, name), "facts: []\n").build("shape", "relate", "compose")
    assert kernel.error("partition").endswith(f"hint: in parts, {KNOWN}\n")


@pytest.mark.parametrize("type_", [
    "memref<4xf32>", "memref<?xf32>", "memref<*xf32>", "vector<4xf32>",
    "tensor<*xf32>", "tensor<4xbf16>", "i8",
    "tensor<4xcomplex<f32>>", "tensor<4xindex>", "memref<4xbf16>", "f80", "tensor<4xui16>", "none",
])
def test_another_type_is_refused_with_what_gets_through(type_):
    text = f"func.func @f(%x: {type_}) -> {type_} {{\n  return %x : {type_}\n}}\n"
    with pytest.raises(UserError) as caught:
        translate(parse_text(Source(path="k.mlir", text=text)))
    shaped = type_.startswith(("memref", "vector", "tensor<*"))
    assert caught.value.hint == (VALUES if shaped else TYPES)
    assert caught.value.span is not None


def test_every_function_of_the_hint_gets_through(tmp_path):
    listed = HINT.rpartition(" and ")[2].split(", ")
    assert set(listed) == set(FUNCTIONS.values())
    get_through(tmp_path / "k", of_type(BODY, "f32").replace("LINES", functions()))


def test_every_comparison_of_the_hint_gets_through(tmp_path):
    words = ("slt", "sle", "sgt", "sge")
    lines, last = [], "u"
    for word in words:
        lines += [f"    %t{word} = arith.cmpi {word}, %u, %{last} : i32",
                  f"    %{word} = arith.select %t{word}, %u, %{last} : i32"]
        last = word
    lines.append(f"    %s = arith.addi %u, %{last} : i32")
    get_through(tmp_path / "k", of_type(BODY, "i32").replace("LINES", "\n".join(lines)))


def test_sizes_that_kernel_yaml_gives_get_through(tmp_path):
    text = of_type(EACH, "f32").replace("4x", "?x")
    get_through(tmp_path / "k", text, "sizes: {x_0: 4}\nfacts: []\n")
