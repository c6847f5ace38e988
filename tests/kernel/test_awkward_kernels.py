"""Kernels with names, types and constants that are unlike others, in parts and tiles."""

import numpy as np
import pytest

from lairmake.stages.diagnose import UserError
from lairmake.stages.make.core.layers import open_folder
from tests.kernel.tiled import build, compared, opened

TAPS = """\
func.func @taps(%x: tensor<6xTYPE>, %w: tensor<3xTYPE>) -> tensor<6xTYPE> {
  %edge = arith.constant EDGE : TYPE
  %p = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %edge : TYPE
  } : tensor<6xTYPE> to tensor<8xTYPE>
  %init = tensor.empty() : tensor<6xTYPE>
  %y = linalg.generic {
    indexing_maps = [affine_map<(y, a) -> (y + a)>, affine_map<(y, a) -> (a)>,
                     affine_map<(y, a) -> (y)>],
    iterator_types = ["parallel", "reduction"]}
    ins(%p, %w : tensor<8xTYPE>, tensor<3xTYPE>) outs(%init : tensor<6xTYPE>) {
  ^bb0(%r: TYPE, %f: TYPE, %s: TYPE):
    %1 = EACH %r, %OTHER : TYPE
    %2 = SUM %s, %1 : TYPE
    linalg.yield %2 : TYPE
  } -> tensor<6xTYPE>
  return %y : tensor<6xTYPE>
}
"""
SLICES = """\
func.func @slices(%x: tensor<9xf32>, %x_1: tensor<9xf32>) -> tensor<6xf32> {
  %a = tensor.extract_slice %x[0] [6] [1] : tensor<9xf32> to tensor<6xf32>
  %b = tensor.extract_slice %x[3] [6] [1] : tensor<9xf32> to tensor<6xf32>
  %c = tensor.extract_slice %x_1[2] [6] [1] : tensor<9xf32> to tensor<6xf32>
  %m = arith.mulf %a, %c : tensor<6xf32>
  %y = arith.subf %m, %b : tensor<6xf32>
  return %y : tensor<6xf32>
}
"""
SUM = """\
func.func @total(%x: tensor<9xf32>) -> tensor<f32> {
  %seven = arith.constant 7.0 : f32
  %init = tensor.empty() : tensor<f32>
  %start = linalg.fill ins(%seven : f32) outs(%init : tensor<f32>) -> tensor<f32>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>],
    iterator_types = ["reduction"]} ins(%x : tensor<9xf32>) outs(%start : tensor<f32>) {
  ^bb0(%u: f32, %s: f32):
    %1 = arith.addf %s, %u : f32
    linalg.yield %1 : f32
  } -> tensor<f32>
  return %y : tensor<f32>
}
"""
SQUARE = """\
func.func @make_y(%NAME: tensor<4xTYPE>) -> tensor<4xTYPE> {
  %y = arith.mulf %NAME, %NAME : tensor<4xTYPE>
  return %y : tensor<4xTYPE>
}
"""
WIDE = """\
func.func @wide(%x: tensor<4xi16>) -> tensor<4xi16> {
  %init = tensor.empty() : tensor<4xi16>
  %y = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
    iterator_types = ["parallel"]} ins(%x : tensor<4xi16>) outs(%init : tensor<4xi16>) {
  ^bb0(%u: i16, %v: i16):
    %1 = arith.extsi %u : i16 to i32
    %2 = arith.muli %1, %1 : i32
    %3 = arith.trunci %2 : i32 to i16
    linalg.yield %3 : i16
  } -> tensor<4xi16>
  return %y : tensor<4xi16>
}
"""
WIDER = """\
error: arith.muli gives int32 within a body that gives int16
      %2 = arith.muli %1, %1 : i32
      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
hint: give the int32 in an operation of its own
"""
INPUT = "func.func @same(%x: tensor<4xf32>) -> tensor<4xf32> {\n  return %x : tensor<4xf32>\n}\n"


def filled(text, **words):
    for word, by in words.items():
        text = text.replace(word, by)
    return text


def given_inputs(folder, **arrays):
    (folder.path / "inputs").mkdir(exist_ok=True)
    for name, array in arrays.items():
        np.save(folder.path / "inputs" / f"{name}.npy", array)
    return open_folder(folder.path)


def taps(x, w, edge, each, total):
    padded = np.pad(x, 1, constant_values=edge)
    return np.array([total([each(padded[k + a], w[a]) for a in range(3)]) for k in range(6)])


@pytest.mark.wide
@pytest.mark.parametrize("edge", [3, 2000000011])
def test_constants_of_integers_are_integers_and_wrap(tmp_path, edge):
    squares = {"TYPE": "i32", "EDGE": str(edge), "EACH": "arith.muli", "SUM": "arith.addi"}
    x, w = np.arange(-2, 4, dtype=np.int32), np.array([3, -5, 7], np.int32)
    for other in ("r", "f"):
        text = filled(TAPS, OTHER=other, **squares)
        folder = given_inputs(opened(tmp_path / other, text, "facts: []\n"), x=x, w=w)
        own = taps(x.astype(np.int64), w, edge, lambda r, f, o=other: r * (r if o == "r" else f),
                   sum)
        for found in compared(folder):
            assert np.array_equal(found, own.astype(np.int32))


@pytest.mark.wide
@pytest.mark.parametrize("other", ["r", "f"])
def test_integers_of_16_bits_wrap_before_they_are_compared(tmp_path, other):
    words = {"TYPE": "i16", "EDGE": "300", "EACH": "arith.muli", "SUM": "arith.maxsi"}
    x, w = np.array([0, 190, -182, 181, 30000, 3], np.int16), np.array([182, -300, 181], np.int16)
    folder = opened(tmp_path, filled(TAPS, OTHER=other, **words), "tiles: {y: [2, 2]}\n")
    folder = given_inputs(folder, x=x, w=w)
    with np.errstate(over="ignore"):
        own = taps(x, w, 300, lambda r, f: r * (r if other == "r" else f), max)
    for found in compared(folder):
        assert np.array_equal(found, own)


LEAST = """\
#m = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>
func.func @least(%x: tensor<6x5xTYPE>) -> tensor<6xTYPE> {
  %e = tensor.empty() : tensor<6xTYPE>
  %z = arith.constant LEAST : TYPE
  %f = linalg.fill ins(%z : TYPE) outs(%e : tensor<6xTYPE>) -> tensor<6xTYPE>
  %r = linalg.generic {indexing_maps = [#m, #r], iterator_types = ["parallel", "reduction"]}
    ins(%x : tensor<6x5xTYPE>) outs(%f : tensor<6xTYPE>) {
  ^bb0(%a: TYPE, %o: TYPE):
    %s = arith.muli %a, %a : TYPE
    %c = arith.maxsi %s, %o : TYPE
    linalg.yield %c : TYPE
  } -> tensor<6xTYPE>
  return %r : tensor<6xTYPE>
}
"""


@pytest.mark.parametrize("bits", [16, 32])
def test_a_maximum_may_start_from_the_least_integer(tmp_path, bits):
    type_ = np.dtype(f"int{bits}")
    text = filled(LEAST, TYPE=f"i{bits}", LEAST=str(np.iinfo(type_).min))
    x = np.arange(30, dtype=type_).reshape(6, 5) * type_.type(181)
    folder = given_inputs(opened(tmp_path, text, "facts: []\n"), x=x)
    for found in compared(folder):
        assert np.array_equal(found, (x * x).max(axis=1))


def test_integers_wider_than_the_result_are_refused(tmp_path):
    with pytest.raises(UserError) as caught:
        compared(opened(tmp_path, WIDE, "facts: []\n"))
    assert str(caught.value).partition(": ")[2] == WIDER


def test_taps_beyond_an_infinite_edge_count_nothing(tmp_path):
    words = {"TYPE": "f32", "EDGE": "0xFF800000", "OTHER": "f"}
    text = filled(TAPS, EACH="arith.addf", SUM="arith.maximumf", **words)
    x, w = np.arange(6, dtype=np.float32) % 4, np.array([1, -2, 2], np.float32)
    folder = given_inputs(opened(tmp_path, text, "facts: []\n"), x=x, w=w)
    own = taps(x, w, -np.inf, np.add, max)
    for found in compared(folder):
        assert np.array_equal(found, own)


def test_numbers_that_lair_has_not_are_refused(tmp_path):
    words = {"TYPE": "f32", "EDGE": "0x7F800000", "OTHER": "f"}
    text = filled(TAPS, EACH="arith.mulf", SUM="arith.addf", **words)
    folder = opened(tmp_path, text, "facts: []\n")
    with pytest.raises(UserError, match=r"y of linalg.generic on line 8 computes with infinity"):
        compared(folder)


@pytest.mark.wide_after(1)
@pytest.mark.parametrize(("names", "own", "asked"), [
    ("y_0 y_term1", "y_0 y_term1", "facts: []"),
    ("y_0_term0 y_1", "y_0_term0 y_1", "facts: []"),
    ("d0 make_y", "d0 make_y", "facts: []"),
    ("y_partial0 y_sum1", "y_partial0 y_sum1", "tiles: {y: [6, 1]}"),
    ("max _Foo", "max_ v_Foo", "tiles: {y: [2, 2]}"),
])
def test_inputs_called_like_what_the_compiler_names_are_themselves(tmp_path, names, own, asked):
    words = {"TYPE": "f32", "EDGE": "2.0", "OTHER": "f", "EACH": "arith.mulf", "SUM": "arith.addf"}
    first, second = names.split()
    text = filled(filled(TAPS, **words), **{"%x": f"%{first}", "%w": f"%{second}"})
    x, w = np.arange(6, dtype=np.float32) % 4, np.array([1, -2, 2], np.float32)
    folder = opened(tmp_path, text, f"{asked}\n")
    folder = given_inputs(folder, **dict(zip(own.split(), (x, w), strict=True)))
    for found in compared(folder):
        assert np.array_equal(found, taps(x, w, 2, np.multiply, sum))


def test_a_second_slice_is_not_called_like_another_input(tmp_path):
    x, other = np.arange(9, dtype=np.float32), np.arange(9, dtype=np.float32)[::-1] % 5
    folder = given_inputs(opened(tmp_path, SLICES, "facts: []\n"), x=x, x_1=other)
    for found in compared(folder):
        assert np.array_equal(found, x[:6] * other[2:8] - x[3:])


@pytest.mark.wide
def test_what_reads_its_neighbours_on_the_way_is_built(tmp_path):
    words = {"TYPE": "f32", "EDGE": "0.0", "OTHER": "f", "EACH": "arith.mulf", "SUM": "arith.addf"}
    first, last = TAPS.index("  %p ="), TAPS.index("  return")
    head, once = filled(TAPS[:first], **words), filled(TAPS[first:last], **words)
    again = filled(once, **{"%x": "%y", "%p": "%q", "%y =": "%z =", "%init": "%start"})
    text = head + once + again + "  return %z : tensor<6xf32>\n}\n"
    x, w = np.arange(6, dtype=np.float32) % 4, np.array([1, -2, 2], np.float32)
    folder = given_inputs(opened(tmp_path, text, "facts: []\n"), x=x, w=w)
    build(folder)
    found = np.load(folder.build / "outputs/z.npy")
    assert np.array_equal(found, taps(taps(x, w, 0, np.multiply, sum), w, 0, np.multiply, sum))


def test_a_number_is_a_result_too(tmp_path):
    x = np.arange(9, dtype=np.float32)
    folder = given_inputs(opened(tmp_path, SUM, "facts: []\n"), x=x)
    build(folder)
    found = np.load(folder.build / "outputs/y.npy")
    assert found.shape == ()
    assert found == 7 + x.sum()


@pytest.mark.parametrize(("text", "message"), [
    (filled(SQUARE, NAME="x", TYPE="f64"), "x on line 1 is of the type float64"),
    (INPUT, "nothing computes x: it is an input"),
])
def test_what_no_part_can_be_is_refused(tmp_path, text, message):
    with pytest.raises(UserError, match=message):
        compared(opened(tmp_path, text, "facts: []\n"))
