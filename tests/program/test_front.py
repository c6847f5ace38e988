"""Objects on x86: what expressions give, where they lie, and what is written through slices."""

import io
import subprocess
import sys

import numpy as np
import pytest

from lairmake.stages.program.front.run import rehearse_program
from lairmake.stages.program.front.source_on_x86 import digest_code, strip_source
from lairmake.stages.program.front.value import take_array
from lairmake.stages.program.values.forms import ProgramError
from tests.program.fronted import HEAD, run

LA = np.arange(24, dtype="float32").reshape(3, 2, 4)


@pytest.mark.parametrize(("expression", "expected"), [
    ("la + 1", LA + 1),
    ("1 - la", 1 - LA),
    ("la / g", LA / 2),
    ("u * la", LA / 2),
    ("la * ls", LA * 1.5),
    ("ls + g", np.full((3, 2), 3.5)),
    ("g * g", 4.0), ("-g", -2.0), ("abs(-g)", 2.0), ("g ** 2", 4.0), ("+g", 2.0),
    ("numpy.float32(3) * la", LA * 3),
    ("numpy.float64(3) - g", 1.0),
    ("la[1:, :1, ::2]", LA[1:, :1, ::2]),
    ("la[1:, ..., 1][1:, :]", LA[2:, :, 1]),
    ("la[:, :, 1:][:, 1:, ::-1]", LA[:, 1:, :0:-1]),
    ("ga[2]", 2.0), ("ga[1:][1]", 2.0), ("ga[-1] + 1", 4.0),
    ("li << 2", np.full((3, 2, 4), 28)), ("2 ** 3 & li", np.full((3, 2, 4), 0)),
    ("~7 | li ^ 1", np.full((3, 2, 4), ~7 | 6)), ("-li >> 1", np.full((3, 2, 4), -4)),
    ("np.right_shift_logical(-i, 28)", 15),
    ("la > 11", LA > 11), ("2 == g", 1), ("g != 2", 0), ("i <= 3", 1),
    ("np.where(la > 11, la, 0)", np.where(LA > 11, LA, 0)),
    ("np.where(g > 1, lb, ls)", np.ones((3, 2, 4))),
    ("np.maximum(la, 5)", np.maximum(LA, 5)), ("np.minimum(g, la)", np.minimum(LA, 2)),
    ("np.sqrt(g * 8)", 4.0), ("np.exp(0 * g)", 1.0), ("np.log(g / 2)", 0.0), ("np.abs(-la)", LA),
    ("np.sum(la)", 276.0), ("np.sum(la, controller=True)", 276.0), ("np.max(ga)", 3.0),
    ("np.sum(la, axis=2)", LA.sum(2)), ("np.min(la, axis=-1)", LA.min(2)),
    ("np.max(la[:, :, 0])", 20.0), ("np.sum(ls)", 9.0),
    ("la.astype('int16')", LA.astype("int16")), ("i.astype(np.float32) / 2", 1.5),
    ("np.copy(la)", LA),
])
def test_an_expression_gives_what_numpy_gives(expression, expected):
    found = run(f"x = {expression}")["x"]
    assert found.shape == np.shape(expected)
    assert np.array_equal(found, np.asarray(expected, found.dtype))


@pytest.mark.parametrize(("expression", "kind", "type_", "origin"), [
    ("g * 2", "GlobalScalar", "float32", (0, 0)),
    ("g + u", "UniformLocalScalar", "float32", (0, 0)),
    ("u * ls", "LocalScalar", "float32", (0, 0)),
    ("ls[1:, 1:] + la[:2, :1]", "LocalArray", "float32", (1, 1)),
    ("np.abs(la[1:] - lb[:2])", "LocalArray", "float32", (1, 0)),
    ("np.sum(la[1:, 1:], axis=2)", "LocalScalar", "float32", (1, 1)),
    ("la[2:, 1:][:, :, 1]", "LocalScalar", "float32", (2, 1)),
    ("la[1:][1:] > 3", "LocalArray", "int16", (2, 0)),
    ("np.sum(la)", "UniformLocalScalar", "float32", (0, 0)),
    ("np.max(li, controller=True)", "GlobalScalar", "int32", (0, 0)),
    ("ga * g", "GlobalArray", "float32", (0, 0)),
    ("ga[1]", "GlobalScalar", "float32", (0, 0)),
    ("np.sum(ga)", "GlobalScalar", "float32", (0, 0)),
])
def test_an_expression_has_a_kind_and_lies_where_its_leftmost_array_lies(
    expression, kind, type_, origin
):
    found = run(f"x = {expression}\nform = x.form")["form"]
    assert (found.kind, found.type, found.origin) == (kind, type_, origin)


def test_a_slice_that_is_written_is_read_before():
    names = run("la[1:, :, 1:] = la[:-1, :, :-1] + la[1:, :, 1:]\nlb[...] = ls\nlb[1:2] *= 2\n")
    expected = LA.copy()
    expected[1:, :, 1:] += LA[:-1, :, :-1]
    assert np.array_equal(names["la"], expected)
    assert names["lb"][:, 0, 0].tolist() == [1.5, 3, 1.5]


def test_slices_of_slices_and_arguments_write_into_their_object():
    names = run("def f(x): x[:, :, 1:][...] = u\nf(la[1:])\nga[1:][0] += 5\nla[:, :, 0] = 9\n"
                "g[...] += 1\ng[...] **= 2\ni[...] <<= 2\n")
    assert np.array_equal(names["la"][1:, :, 1:], np.full((2, 2, 3), 0.5))
    assert np.array_equal(names["la"][0, :, 1:], LA[0, :, 1:]) and (names["la"][..., 0] == 9).all()
    assert names["ga"].tolist() == [0, 6, 2, 3]
    assert (names["g"], names["i"]) == (9, 12)


def test_values_of_a_loop_are_those_at_the_beginning_of_an_iteration():
    names = run("seen = []\nfor x in ga:\n    ga[2] += 10\n    ga[0] = -1\n    seen.append(x)\n"
                "for k in global_range(5, 0, -2):\n    seen.append(k + 0)\n"
                "for y in ga[1:3]:\n    seen.append(y)\n")
    assert [float(take_array(each)) for each in names["seen"]] == [
        0, 1, 22, 3, 5, 3, 1, 1, 42]


def test_conditions_on_global_scalars_decide():
    names = run("found = []\nwhile g < 5 and not i > 10:\n    g[...] += 1\n    found.append(1)\n"
                "if g > 4: found.append(2)\nif ga[3] == 3 and 1 < g < 9: found.append(3)\n")
    assert names["found"] == [1, 1, 1, 2, 3]


def test_sums_depend_on_the_field():
    """1 + 2**24 is 2**24 in float32: what is left depends on the order."""
    source = HEAD + """\
field({})
a = LocalArray("a", numpy.array([[[1.0]], [[2.0**24]], [[-2.0**24]]], "float32"))
total: MACHScalar = np.sum(a)
"""
    for field, total in [("3, 1", 1.0), ("4, 1", 0.0), ("6, 1", 1.0)]:
        assert run(source.format(field), head="")["total"] == total


def test_a_sum_of_a_slice_lies_where_the_slice_does():
    """Of four columns, two lie left of the middle: of the first array one, of the second both."""
    found = run("""\
a = LocalArray("a", numpy.array([5, 2.0**24, 1, 1], "float32").reshape(4, 1, 1))
b = LocalArray("b", numpy.array([2.0**24, 1, 1], "float32").reshape(3, 1, 1))
x: MACHScalar = np.sum(a[1:])
y: MACHScalar = np.sum(b + 0)
""", head=HEAD)
    assert (found["x"], found["y"]) == (2**24 + 2, 2**24)


def test_arrays_of_numpy_in_blocks_that_the_compiler_ignores():
    found = run("""\
with MACH_Compiler_Ignore():
    found = [numpy.allclose(la, numpy.asarray(la)), f"{g:.1f}", str(i), repr(u), float(g), int(i)]
    found += [la.sum(), (numpy.ones(4) @ la[0, 0]), la[0, 0, 1], (3.0 - la).shape, len(la)]
    found += [np.sum(la), np.median(la), la // 2 == numpy.floor(la / 2), bool(u), 3 in ga]
    found += [numpy.add.reduce(ga), type(la > 3) is numpy.ndarray, [x for x in ga][1], -ga, ls % 1]
    found += [numpy.concatenate([ga, ga]).size, la.T.shape, 2 ** g, divmod(i, 2), [5, 6, 7, 8][i]]
    found += [numpy.float32(2) * ga, np.where(ga > 1, 1, 0), la.astype(int).dtype]
""")["found"]
    found = [each.tolist() if isinstance(each, np.ndarray) else each for each in found]
    assert found[:6] == [True, "2.0", "3", "np.float32(0.5)", 2.0, 3]
    assert found[6:11] == [276.0, 6.0, 1.0, (3, 2, 4), 3]
    assert found[11:16] == [276.0, 11.5, np.full((3, 2, 4), True).tolist(), True, True]
    assert found[16:21] == [6.0, True, 1.0, [0, -1, -2, -3], np.full((3, 2), 0.5).tolist()]
    assert found[21:26] == [8, (4, 2, 3), 4.0, (1, 1), 8]
    assert found[26:28] == [[0, 2, 4, 6], [0, 0, 1, 1]] and found[28] == np.dtype(int)


def test_sums_in_blocks_that_the_compiler_ignores_are_the_program_s():
    found = run("""\
field(3, 2)
x: MACHScalar = np.sum(la * 0.1)
y: LocalArray = la * 0.1
with MACH_Compiler_Ignore():
    found = np.sum(y) == x, type(np.sum(y)), np.sum(numpy.ones(3)), np.max(ga), np.sum(la, axis=0)
    found += np.right_shift_logical(-i, 28), np.sum(g)
""")["found"]
    assert found[:4] == (True, np.float32, 3.0, 3.0) and found[4].shape == (2, 4)
    assert found[5:] == (15, 2.0)


def test_types_of_objects_follow_their_data():
    names = run("""\
a = LocalArray("a", numpy.ones((1, 1, 1)), dtype="float16")
b = GlobalScalar("b", numpy.int16(3))
c = GlobalScalar("c", 1, dtype=np.float32)
d = GlobalArray("d", shape=(2,), dtype=np.int16)
e = GlobalScalar("e", numpy.float64(0.1))
""")
    assert [names[name].dtype.name for name in "abcde"] == [
        "float16", "int16", "float32", "int16", "float32"]
    assert names["d"].tolist() == [0, 0] and names["e"] == np.float32(0.1)


REHEARSED = HEAD + """\
from lairmake.objects import MACH_Compiler_Ignore as plot
import dataclasses
with Run_On_Host():
    data = numpy.arange(6, dtype="float32").reshape(1, 2, 3)
x = LocalArray("x", data, output=True)
g = GlobalScalar("g", numpy.float32(0.1))
n = LocalScalar("n", shape=(1, 2), dtype=np.int16)
@dataclasses.dataclass
class C:
    name: "str" = __name__
n[...] = parameter("n", 3)
total: MACHScalar = np.sum(x) * g
with plot():
    open("/nowhere/at/all")
"""


def npy(array):
    found = io.BytesIO()
    np.save(found, array)
    return found.getvalue()


def rehearse(initial, outputs=("x", "total", "n"), **files):
    code = digest_code(strip_source(REHEARSED, "p.py"))
    return rehearse_program(REHEARSED, "p.py", code, outputs, initial, {
        f"build/data/{name}.npy": npy(array) for name, array in files.items()})


def test_a_rehearsal_gives_outputs_and_leaves_out_what_the_compiler_ignores():
    data = np.arange(6, dtype="float32").reshape(1, 2, 3)
    found = rehearse({"x": "file", "g": 0.1, "n": None}, x=data)
    arrays = {name: np.load(io.BytesIO(content)) for name, content in found.items()}
    assert list(arrays) == [f"build/numpy/{name}.npy" for name in ("x", "total", "n")]
    assert np.array_equal(arrays["build/numpy/x.npy"], data)
    assert arrays["build/numpy/total.npy"] == np.float32(15) * np.float32(0.1)
    assert arrays["build/numpy/n.npy"].tolist() == [[3, 3]]
    assert found["build/numpy/x.npy"] == npy(data)


@pytest.mark.parametrize(("change", "name"), [
    ({"g": 0.25}, "g"), ({"n": 0}, "n"), ({"x": 1.0}, "x"), ({"g": None}, "g"),
])
def test_objects_that_begin_otherwise_are_refused(change, name):
    data = np.arange(6, dtype="float32").reshape(1, 2, 3)
    with pytest.raises(ProgramError) as error:
        rehearse({"x": "file", "g": 0.1, "n": None} | change, x=data)
    assert str(error.value) == (
        f"the first values of {name} differ between two runs of the program\n"
        "hint: seed the generator: `numpy.random.default_rng(0)`")


def test_a_zero_of_another_sign_and_one_more_object_are_other_values():
    data = np.arange(6, dtype="float32").reshape(1, 2, 3)
    data[0, 0, 0] = -0.0
    with pytest.raises(ProgramError, match="first values of x differ"):
        rehearse({"x": "file", "g": 0.1, "n": None}, x=data)
    with pytest.raises(ProgramError, match="first values of x differ"):
        rehearse({"g": 0.1, "n": None})
    with pytest.raises(ProgramError, match="an output y, which its run on x86 did not make"):
        data[0, 0, 0] = 0.0
        rehearse({"x": "file", "g": 0.1, "n": None}, outputs=["y"], x=data)


def test_a_program_imports_numpy_and_nothing_heavy():
    code = ("import sys, lairmake.objects, lairmake.numpy\n"
            "print(sorted({'islpy', 'yaml', 'pydantic', 'jinja2', 'doit'} & {*sys.modules}))")
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (ended.stdout, ended.stderr) == ("[]\n", "")
