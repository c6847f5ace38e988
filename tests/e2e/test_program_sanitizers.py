"""Programs on the fabric under the address, leak and undefined behaviour sanitizers."""

import pytest

from tests.e2e.sanitized import run_sanitized, sanitizer

pytestmark = [
    pytest.mark.skipif(sanitizer() is None, reason="the C compiler has no sanitizers"),
    pytest.mark.xdist_group("shipped"),  # as other tests for which the engine is compiled so
]
SMALL = (
    "test_on_fabric.py::test_a_program_gives_on_the_fabric_what_numpy_gives[listing1-wse2-4x2-1]",
)
"""Neighbours, a loop with a condition, and a sum that all workers get."""
ALL = ("test_on_fabric.py", "test_called_operations.py", "test_called_transfers.py",
       "test_control.py", "test_lower.py", "test_painted_machine.py",
       "../property/test_random_programs_on_fabric.py")


@pytest.mark.wide
@pytest.mark.parametrize("tests", [
    pytest.param(SMALL, id="small"), pytest.param(ALL, id="all", marks=pytest.mark.long),
])
def test_programs_on_the_fabric_are_clean(tests):
    options = ["-q", "-m", "not long", "-p", "no:cacheprovider", "-p", "tests.e2e.sanitized"]
    done = run_sanitized("pytest", *options, "--assert=plain",
                         *(f"tests/program/{each}" for each in tests))
    assert done.returncode == 0, done.stdout + done.stderr
