"""Random programs: x86, the graph, and the graph at addresses give the same, bit for bit.

So does a reference of the tests' own, which computes element by element.
"""

import collections
import io
import re

import numpy as np
import pytest

from lairmake.stages.program.interpreter.differences import find_difference
from tests.program.agreeing import run_program
from tests.program.random_programs import RandomProgram
from tests.program.running_by_element import make_array, run_by_element
from tests.program.smaller import make_small

ORDINARY, LONG, CHUNK = 60, 2000, 20
DEMANDED = {
    "steps": 20, "negative steps": 20, "casts": 20, "bits": 10, "where": 10, "axis": 5,
    "reduction to GS": 8, "reduction to ULS": 8, "loops": 20, "unrolled loops": 8, "while": 8,
    "branches": 15, "breaks": 8, "functions": 10, "classes": 3, "names": 15, "field": 5,
    "smaller than the field": 15, "written first": 15, "rank 3": 30, "rank 4": 15, "rank 5": 8,
    "rank 6": 8, "slices as arguments": 3, "loops over objects": 3, "endless loops": 3, "elif": 5,
    "elements": 5, "sums in a row": 8, "odd values": 8,
}
"""How many of the ordinary programs have a feature, at least."""


def find_fault(source):
    """Return what is wrong with a program, without its names and numbers; "" if nothing is."""
    try:
        files = run_program(source)
        check_reference(source, files)
    except Exception as error:
        return re.sub(r"\w*\d\w*", "#", f"{type(error).__name__}: {error}".partition("\n")[0])[:120]
    return ""


def check_reference(source, files):
    """Compare the outputs of a graph, element by element, with those of the reference."""
    wanted = run_by_element(source)
    for path, content in files.items():
        name = path.removeprefix("build/graph/").removesuffix(".npy")
        if name != path and path.startswith("build/graph/"):
            found, expected = np.load(io.BytesIO(content)), make_array(wanted[name])
            assert (found.dtype, found.shape) == (expected.dtype, expected.shape), "form"
            assert find_difference(found, expected) is None, "reference"


@pytest.mark.wide
@pytest.mark.parametrize("first", [
    *range(0, ORDINARY, CHUNK),
    *(pytest.param(first, marks=pytest.mark.long) for first in range(ORDINARY, LONG, CHUNK)),
])
def test_random_programs_are_equal_four_times(first):
    for seed in range(first, first + CHUNK):
        source = RandomProgram(seed).text
        fault = find_fault(source)
        if fault:
            small = make_small(source, lambda text, fault=fault: find_fault(text) == fault)
            pytest.fail(f"program {seed}: {fault}\n{small}")


def test_random_programs_hold_what_programs_may_hold():
    counts = collections.Counter(
        feature for seed in range(ORDINARY) for feature in RandomProgram(seed).features)
    assert {name: (counts[name], least) for name, least in DEMANDED.items()
            if counts[name] < least} == {}


@pytest.mark.wide
def test_a_program_that_fails_is_made_small():
    source = RandomProgram(3).text + "g = x[1:] + np.sqrt(bad - 3) * np.abs(y)\n"
    assert make_small(source, lambda text: "bad" in text, 2000) == "g = bad\n"
