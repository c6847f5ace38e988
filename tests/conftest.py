"""What every test shares: the same examples in every run, which process runs it, how it compiles
programs, and that it may plan.
"""

import gc
import os
import sys
from collections import Counter
from pathlib import Path

import hypothesis
import pytest

from lairmake.stages.fabric import compiler
from lairmake.stages.make.core.derived import let_plan
from lairmake.stages.make.store.folders import STATE

pytest_plugins = ["tests.property.tally"]

OPTIMISED, QUICK = compiler.PROGRAMS, ["-O0"]
"""Most programs of tests run for a moment: compiling them takes longer than all else of it."""
SELDOM = (50_000, 20, 20)
"""After how many new objects Python looks for garbage, and how often in which of it."""
os.environ["XDG_CACHE_HOME"] = str(Path(__file__).resolve().parents[1] / STATE / "cache")

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
"""Tests start hundreds of processes: each would compile all modules anew, and take three times
as long."""

hypothesis.settings.register_profile("same", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("same")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Let one process run all tests of a file, which share what they build, but those `alone`.

    Of a test that is `wide_after` some of its parameters, all others are wide.
    """
    seen = Counter()
    for item in items:
        limit = item.get_closest_marker("wide_after")
        if limit is not None:
            seen[item.path, item.originalname] += 1
            if seen[item.path, item.originalname] > limit.args[0]:
                item.add_marker("wide")
        if not any(map(item.get_closest_marker, ("alone", "xdist_group"))):
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


@pytest.hookimpl(trylast=True)
def pytest_collection_finish(session):
    """Let Python not look again and again through all that tests are, in search of garbage."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*SELDOM)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Compile programs as users do only in tests that are `optimised`, or long.

    A test may run stages to plan, whatever a command that another one began says of the process.
    """
    let_plan(True)
    marked = any(map(item.get_closest_marker, ("optimised", "long")))
    compiler.PROGRAMS = OPTIMISED if marked else QUICK
