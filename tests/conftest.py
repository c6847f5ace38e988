"""What every test shares: the same examples in every run, which process runs it, how it compiles
programs, and that it may plan.
"""

import functools
import gc
import os
import re
import sys
from pathlib import Path

import hypothesis
import pytest
from _pytest.mark.expression import Expression

from lairmake.stages.fabric import compiler, driver
from lairmake.stages.make.core.derived import let_plan
from lairmake.stages.make.store.folders import STATE

pytest_plugins = ["tests.property.tally"]

OPTIMISED, QUICK = compiler.PROGRAMS, ["-O0"]
"""Most programs of tests run for a moment: compiling them takes longer than all else of it."""
SELDOM = (50_000, 20, 20)
"""After how many new objects Python looks for garbage, and how often in which of it."""
COSTS = frozenset({"long", "wide", "not", "and", "or"})
"""Words of an option `-m` that asks by what tests cost, which is known when they are made."""
os.environ["XDG_CACHE_HOME"] = str(Path(__file__).resolve().parents[1] / STATE / "cache")

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
"""Tests start hundreds of processes: each would compile all modules anew, and take three times
as long."""

hypothesis.settings.register_profile("same", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("same")


MOST_CYCLES = 10**6
"""More than a fabric takes in any test that asks for it to end soon."""


@pytest.fixture
def ends_soon(monkeypatch):
    """Let a fabric that waits in a circle of tasks, or goes on for ever, end after some cycles."""
    monkeypatch.setitem(driver.run_fabric.__kwdefaults__, "cycle_limit", MOST_CYCLES)


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc):
    """Mark parameters as `wide_after` and `one_in` say, and make no test of those that `-m` leaves
    out.

    A test of which `-m` leaves out all parameters keeps one, for pytest to leave out.
    """
    limit, share = map(metafunc.definition.get_closest_marker, ("wide_after", "one_in"))
    others = metafunc._calls[limit.args[0] if limit is not None else 0:]
    for number, call in enumerate(others):
        if limit is not None:
            call.marks.append(pytest.mark.wide.mark)
        if share is not None and number % share.args[0]:
            call.marks.append(pytest.mark.long.mark)
    text = metafunc.config.option.markexpr
    if text and COSTS.issuperset(re.findall(r"\w+", text)):
        shared = {mark.name for mark in metafunc.definition.iter_markers()}
        asked = [call for call in metafunc._calls
                 if is_asked(text, COSTS & shared.union(mark.name for mark in call.marks))]
        metafunc._calls[:] = asked or metafunc._calls[:1]


@functools.cache
def is_asked(text, marks):
    """Tell whether `-m` with a text selects a test that has some marks."""
    return Expression.compile(text).evaluate(lambda name, **_: name in marks)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Let one process run all tests of a file, which share what they build, but those `alone`."""
    for item in items:
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
