"""Loops, branches and functions where values of Python and objects are mixed.

What the host computes in a loop of the graph is computed once: these programs are right with that.
"""

from pathlib import Path

import pytest

from tests.program.agreeing import read_outputs, run_program

FOLDER = Path(__file__).parent / "mixed"
HEAD = (FOLDER / "head.txt").read_text(encoding="utf-8")
PROGRAMS = sorted(path.stem for path in FOLDER.glob("*.txt") if path.stem != "head")


@pytest.mark.wide_after(3)
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_host_in_loops_of_the_graph_does_what_python_does(name):
    source = HEAD + (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    assert {"a", "g", "x", "y"} <= set(read_outputs(run_program(source)))
