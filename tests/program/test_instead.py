"""What is written in place of NumPy's functions: each remedy, typed, gives what NumPy gives."""

import ast
import re

import numpy as np
import pytest

from lairmake.stages.diagnose import UserErrors
from lairmake.stages.program.il.run import record_program
from lairmake.stages.program.source.translation import translate_source
from lairmake.stages.program.values.api import INSTEAD
from tests.program.fronted import run
from tests.program.translated import Source

IMPORTS = """\
import math
from lairmake import numpy as np
from lairmake.objects import LocalArray, LocalScalar, MACHScalar, UniformLocalScalar
"""
REALS = """\
with Run_On_Host():
    import numpy
    rng = numpy.random.default_rng(7)
    start = numpy.round(rng.uniform(-3.0, 3.0, (2, 4, 4, 5)) * 8.0).astype("float32") / 8.0
x, y = LocalArray("x", start[0]), LocalArray("y", start[1])
a, b = -0.5, 0.75
mask: LocalArray = x > 0.0
other: LocalArray = y > 0.0
"""
INTEGERS = """\
with Run_On_Host():
    import numpy
    start = numpy.random.default_rng(7).integers(-9, 9, (2, 4, 4, 5)).astype("int32")
x, y = LocalArray("x", start[0]), LocalArray("y", start[1])
"""
HOST = "from lairmake.objects import Run_On_Host\n"
OF_INTEGERS = ("bitwise_and", "bitwise_or", "bitwise_xor", "invert", "bitwise_not", "left_shift",
               "right_shift", "mod", "remainder", "floor_divide")
NEAR_ZERO = ("sin", "cos")
OF_POSITIVE = ("log2", "log10", "cbrt", "log1p")
DRAWN = np.random.default_rng(7).uniform(-3.0, 3.0, (2, 4, 4, 5))
X, Y = np.round(DRAWN * 8.0).astype("float32") / np.float32(8.0)
M, N = np.random.default_rng(7).integers(-9, 9, (2, 4, 4, 5)).astype("int32")
TWO = {
    "dot", "vdot", "inner", "matmul", "add", "subtract", "multiply", "divide", "true_divide",
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "fmax", "fmin", "hypot",
    "bitwise_and", "bitwise_or", "bitwise_xor",
}
EXPECTED = {
    "roll": lambda x, y: np.roll(x, 1, axis=0),
    "linalg": lambda x, y: np.linalg.norm(x),
    "clip": lambda x, y: np.clip(x, -0.5, 0.75),
    "any": lambda x, y: np.any(x > 0.0), "all": lambda x, y: np.all(x > 0.0),
    "logical_and": lambda x, y: (x > 0.0) & (y > 0.0),
    "logical_or": lambda x, y: (x > 0.0) | (y > 0.0),
    "logical_xor": lambda x, y: (x > 0.0) ^ (y > 0.0),
    "logical_not": lambda x, y: ~(x > 0.0),
    "left_shift": lambda x, y: x << 1, "right_shift": lambda x, y: x >> 1,
    "mod": lambda x, y: x % 2, "remainder": lambda x, y: x % 2, "floor_divide": lambda x, y: x // 2,
    "power": lambda x, y: x**2, "float_power": lambda x, y: x**2,
    "cumsum": lambda x, y: np.cumsum(x, axis=2),
    "vdot": lambda x, y: np.vdot(x, y),
    **dict.fromkeys(("dot", "inner", "matmul"), lambda x, y: np.vdot(x, y)),
    **dict.fromkeys(("zeros_like", "ones_like", "full_like", "empty_like"),
                    lambda x, y: np.zeros_like(x)),
}
"""What is not simply NumPy's function of the name, of x, or of x and y."""


def write_program(name):
    """Return the lines of a program that ends with the remedy, and the name of what it gives."""
    head = IMPORTS + HOST + (INTEGERS if name in OF_INTEGERS else REALS)
    if name in OF_POSITIVE:
        head += "x[...] = np.abs(x) + 0.5\n"
    if name in NEAR_ZERO:
        head += "x[...] = x * 0.5\n"
    codes = re.findall(r"`([^`]+)`", INSTEAD[name])
    if name == "cumsum":
        return f"{head}{codes[0]}\n    {codes[1]}\n", "x"
    if name == "roll":
        return f"{head}{codes[0]}\n{codes[1]}\n", "y"
    set_before = [code for code in codes[1:] if re.match(r"\w+: \w+ = ", code)]
    if codes[0].startswith("LocalArray("):
        return head + f"z = {codes[0]}\n".replace('"y"', '"z"'), "z"
    return "".join([head, *(f"{line}\n" for line in set_before), f"z = {codes[0]}\n"]), "z"


@pytest.mark.parametrize("name", INSTEAD)
def test_a_remedy_gives_what_numpy_gives(name):
    text, result = write_program(name)
    found = run(text, head="")[result]
    x, y = (M, N) if name in OF_INTEGERS else (X, Y)
    x = np.abs(x) + np.float32(0.5) if name in OF_POSITIVE else x
    x = x * np.float32(0.5) if name in NEAR_ZERO else x
    numpys = EXPECTED.get(name) or (
        lambda x, y: getattr(np, name)(x, y) if name in TWO else getattr(np, name)(x))
    with np.errstate(divide="ignore"):
        is_about = name in NEAR_ZERO
        assert np.allclose(found, numpys(x, y), rtol=2e-5, atol=5e-5 if is_about else 1e-6)


def test_remedies_are_parts_of_programs():
    """All that need no line before them in one program for each type, the others alone."""
    together = {REALS: "", INTEGERS: ""}
    for number, name in enumerate(INSTEAD):
        text, _ = write_program(name)
        head = INTEGERS if name in OF_INTEGERS else REALS
        lines = text.partition(head)[2]
        is_one = "np.sum(" in lines or name in ("any", "all", "amax", "amin")
        kind = "MACHScalar" if is_one else "LocalArray"
        if lines.startswith("z = ") and lines.count("\n") == 1 and "LocalArray(" not in lines:
            together[head] += f"z{number}: {kind} = {lines[4:]}"
        else:
            hinted = lines if "LocalArray(" in lines else lines.replace("z =", f"z: {kind} =")
            record(head + hinted)
    assert all(text.count("\n") >= 9 and record(head + text) for head, text in together.items())


def record(text):
    source = Source(path="p.py", text=IMPORTS + HOST + text)
    return record_program(translate_source(source).text, "p.py").graph.items


def test_what_if_asks_of_a_mask_is_a_condition():
    for name in ("any", "all"):
        asked = re.findall(r"`([^`]+)`", INSTEAD[name])[-1]
        assert record(f"{REALS}if {asked}:\n    x[...] = 0.0\n")


def test_every_function_that_is_not_there_has_its_remedy_in_the_error():
    names = [name for name in INSTEAD if name not in ("roll", "tanh")]
    text = f"{IMPORTS}x = LocalArray('x', 1.0, shape=(4, 4, 4))\n"
    text += "".join(f"z{k}: LocalArray = np.{name}(x)\n" for k, name in enumerate(names))
    with pytest.raises(UserErrors) as caught:
        translate_source(Source(path="p.py", text=text))
    hints = [str(each.hint).partition("; of a number")[0] for each in caught.value.errors]
    assert hints == [INSTEAD[name] for name in names]


def test_names_of_remedies_are_names_of_numpy():
    assert [name for name in INSTEAD if not hasattr(np, name)] == []
    assert all(ast.parse(code) for name in INSTEAD if name != "cumsum"
               for code in re.findall(r"`([^`]+)`", INSTEAD[name]) if code not in ("if",))
