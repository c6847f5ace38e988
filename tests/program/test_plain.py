"""Programs as users write them give what NumPy's own arrays give."""

import ast
from pathlib import Path

import numpy as np
import pytest

from lairmake.stages.program.front.value import WORLD, take_array
from lairmake.stages.program.values.api import execute, set_parameters
from tests.program.plain import run_plainly

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))


@pytest.mark.parametrize("path", PROGRAMS, ids=[path.stem for path in PROGRAMS])
def test_a_program_gives_what_plain_numpy_gives(path, capsys):
    source = path.read_text("utf-8")
    expected = run_plainly(source)
    assert expected
    WORLD.begin()
    set_parameters({})
    execute(ast.parse(source), str(path))
    for name, array in expected.items():
        found = take_array(WORLD.objects[name])
        assert found.dtype == array.dtype
        assert np.array_equal(found, array), name
