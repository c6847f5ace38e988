"""Texts in MLIR that name what there is not: an error at its place, and never a traceback."""

import pytest

from lairmake.stages.diagnose import Source, UserError
from lairmake.stages.kernel.mlir.dialect import parse_text
from lairmake.stages.kernel.mlir.syntax import FORMS, OTHERS, show_form
from lairmake.stages.kernel.mlir.translate import translate
from lairmake.stages.make.core.action import run_stage
from lairmake.stages.make.core.layers import open_folder

HEAD = """\
func.func @f(%x: tensor<4x8xf32>, %r: tensor<8xf32>, %s: tensor<4x4xf32>, %z: tensor<8x4xf32>,
             %c: f32, %i: index) {
  %t = arith.cmpf olt, %x, %x : tensor<4x8xf32>
"""
IN_A_BODY = ("arith.index_cast", "linalg.index", "linalg.yield")
X = "%x : tensor<4x8xf32>"
SAME = "affine_map<(i, j) -> (i, j)>"
GENERIC = (
    "%y = linalg.generic {{indexing_maps = [{0}, {1}], "
    'iterator_types = ["parallel", "parallel"]}}'
    " ins(%x : tensor<4x8xf32>) outs(%x : tensor<4x8xf32>) {{ ^bb0({2}): {3} }} -> tensor<4x8xf32>"
)
TWO = "%u: f32, %v: f32"
YIELD = "linalg.yield %u : f32"


def generic(first=SAME, last=SAME, arguments=TWO, body=YIELD):
    return GENERIC.format(first, last, arguments, body)


SIBLINGS = {
    generic(body="%k = linalg.index -1 : index linalg.yield %u : f32"):
        "linalg.index -1 in an operation of 2 loops",
    generic(first="affine_map<(i, j) -> (i)>"):
        "linalg.generic has 1 index for an operand of 2 dimensions",
    generic(first="affine_map<(i, j)[s] -> (i, s)>"):
        "linalg.generic has a map with symbols: (d0, d1)[s0] -> (d0, s0)",
    generic(arguments="%u: f32"): "linalg.generic has a body of 1 argument for 2 operands",
    generic(body="linalg.yield %u, %u : f32, f32"):
        "linalg.generic has 2 yielded values for 1 result",
    f"%y = linalg.reduce {{ arith.addf }} ins({X}) outs(%r : tensor<8xf32>) dimensions = [-1]":
        "linalg.reduce names dimension -1 of 2 dimensions, which are counted from 0",
    f"%y = linalg.reduce {{ arith.addf }} ins({X}) outs(%c : f32) dimensions = [0, 0]":
        "linalg.reduce names dimension 0 twice",
    f"%y = linalg.reduce {{ arith.addf }} ins({X}) outs(%s : tensor<4x4xf32>) dimensions = [0]":
        "linalg.reduce has an operand of 2 dimensions where others have 1",
    f"%y = linalg.broadcast ins(%r : tensor<8xf32>) outs({X}) dimensions = [2]":
        "linalg.broadcast names dimension 2 of 2 dimensions, which are counted from 0",
    f"%y = linalg.broadcast ins(%r : tensor<8xf32>) outs({X}) dimensions = []":
        "linalg.broadcast has 1 dimension for 2 that are not new",
    f"%y = linalg.transpose ins({X}) outs(%z : tensor<8x4xf32>) permutation = [1, 2]":
        "linalg.transpose names dimension 2 of 2 dimensions, which are counted from 0",
    f"%y = linalg.transpose ins({X}) outs(%z : tensor<8x4xf32>) permutation = [0]":
        "linalg.transpose has an operand of 2 dimensions where others have 1",
    f"%y = linalg.map {{ math.exp }} ins(%r : tensor<8xf32>) outs({X})":
        "linalg.map has an operand of 1 dimension where others have 2",
    "%y = tensor.concat dim(2) %x, %x : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>":
        "tensor.concat names dimension 2 of 2 dimensions, which are counted from 0",
    "%y = tensor.concat dim(0) %x, %r : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<5x8xf32>":
        "MLIR: tensor.concat is written in another way",
    "%y = tensor.collapse_shape %x [[0, 2]] : tensor<4x8xf32> into tensor<32xf32>":
        "MLIR: tensor.collapse_shape is written in another way",
    "%y = tensor.collapse_shape %x [[0, 1], []] : tensor<4x8xf32> into tensor<32x1xf32>":
        "tensor.collapse_shape has a group of no dimensions",
    "%y = tensor.expand_shape %r [[0, 1]] output_shape [8] : tensor<8xf32> into tensor<2x4xf32>":
        "tensor.expand_shape has 1 size for 2 dimensions",
    "%y = tensor.extract_slice %x[0] [4, 8] [1, 1] : tensor<4x8xf32> to tensor<4x8xf32>":
        "tensor.extract_slice has 1 offset for 2 dimensions",
    "%y = tensor.extract_slice %x[0, 0] [4, 8] [1, 0] : tensor<4x8xf32> to tensor<4x8xf32>":
        "tensor.extract_slice has a stride of 0",
    "%y = tensor.cast %x : tensor<4x8xf32> to tensor<?xf32>":
        "tensor.cast has an operand of 2 dimensions where others have 1",
    "%y = tensor.extract %x[%i] : tensor<4x8xf32>": "tensor.extract has 1 index for 2 dimensions",
    "%k = arith.constant 5 : index %d = tensor.dim %x, %k : tensor<4x8xf32>":
        "tensor.dim of dimension 5 of 2 dimensions",
    "%k = affine.apply affine_map<(a, b) -> (a + b)>(%i)":
        "affine.apply of 1 index by (d0, d1) -> ((d0 + d1))",
    "%k = affine.apply affine_map<(a) -> (a floordiv 0)>(%i)":
        "an index is not affine: (d0 floordiv 0) divides by no positive number",
    generic(first="affine_map<(i, j) -> (i, j mod -4)>"):
        "linalg.generic has a map that is not affine: (d1 mod -4) divides by no positive number",
    generic(body="%q = arith.addf %r, %r : tensor<8xf32> linalg.yield %q : tensor<8xf32>"):
        "r is no scalar, and no operand",
    "%y = linalg.fill ins(%c : f32) outs(%r : tensor<8xf32>) -> tensor<4x8xf32>":
        "linalg.fill gives 2 dimensions for an output of 1 dimension",
    "%y = arith.constant dense<1.0> : tensor<0xf32>": "tensor<0xf32> has no elements",
    "%y = arith.addf %i, %i : index":
        "MLIR: arith.addf is written in another way",
}


def refused(body):
    text = f"{HEAD}{body}\nreturn\n}}\n"
    with pytest.raises(UserError) as caught:
        translate(parse_text(Source(path="k.mlir", text=text)))
    assert caught.value.span is not None and caught.value.hint, str(caught.value)
    return caught.value.message


@pytest.mark.parametrize("body", SIBLINGS)
def test_what_an_operation_does_not_have_is_an_error_at_its_place(body):
    assert refused(body) == SIBLINGS[body]


@pytest.mark.parametrize(("case", "name", "wanted"), [
    ("d_index_beyond", "k.mlir", """\
k.mlir:7:5: error: linalg.index 3 in an operation of 2 loops
      %j = linalg.index 3 : index
      ^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: loops are 0 to 1
"""),
    ("d_reduce_dim", "k.mlir", """\
k.mlir:3:3: error: linalg.reduce names dimension 7 of 3 dimensions, which are counted from 0
    %v1 = linalg.reduce ins(%a0 : tensor<6x6x5xi64>) outs(%v2 : tensor<6x5xi64>) dimensions = [7]
    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: it is written as `%y = linalg.reduce { arith.addf } ins(%x : tensor<4x8xf32>)\
 outs(%r : tensor<8xf32>) dimensions = [0]`
"""),
    ("d_unclosed_string", "k.mlir", """\
k.mlir:4:1: error: MLIR: a string that is not closed
  "
  ^
hint: a string is "parallel": on one line, with \\ only before ", n, t, \\ and two hex digits
"""),
    ("d_unclosed_string", "k2.mlir", """\
k2.mlir:1:1: error: MLIR: a string that is not closed
  "x
  ^^
hint: a string is "parallel": on one line, with \\ only before ", n, t, \\ and two hex digits
"""),
])
def test_damaged_texts_are_refused_at_their_places(found, case, name, wanted):
    path = found(case).root / "projects" / case
    (path / "kernel.yaml").write_text(f"mlir: {name}\n", encoding="utf-8")
    with pytest.raises(UserError) as caught:
        run_stage("shape", open_folder(path))
    assert str(caught.value).replace(f"{path}/", "") == wanted


def test_a_string_that_is_not_closed_takes_no_time_without_end():
    long = '%y = "' + "x" * 60 + "\\"
    assert refused(long) == "MLIR: a string that is not closed"


def test_a_text_that_begins_with_nothing_of_mlir():
    with pytest.raises(UserError) as caught:
        parse_text(Source(path="k.mlir", text="# nothing\n"))
    assert str(caught.value) == """\
k.mlir:1:1: error: MLIR: Expected suffix identifier after #
  # nothing
  ^
hint: wrap the kernel: `func.func @name(%x: tensor<8xf32>) -> ... { ... }`
"""


@pytest.mark.parametrize("name", [*FORMS, *OTHERS])
def test_operations_are_written_as_the_remedy_says(name):
    form = show_form(name).removeprefix("it is written as `").removesuffix("`")
    if name in IN_A_BODY:
        form = generic(body=f"{form} {YIELD}" if "yield" not in form else form)
    text = form if name == "func.func" else f"{HEAD}{form}\nreturn\n}}\n"
    if name.endswith("return"):
        text = f"{HEAD}{form}\n}}\n"
    translate(parse_text(Source(path="k.mlir", text=text)))
