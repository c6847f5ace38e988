"""A suite that sees no fault shows nothing: each planted fault must make its test fail."""

import compileall
import itertools
import os
import shutil
from pathlib import Path

import pytest

from lairmake.stages.make.store.folders import STATE
from tests.forked import run_forked
from tests.mutation.faults import faults

pytestmark = pytest.mark.xdist_group("mutation")

ROOT = Path(__file__).resolve().parents[2]
PARTS = ("lairmake", "stages", "templates", "tests", "tools", "projects", "pyproject.toml")
LEFT_OUT = shutil.ignore_patterns("build", "mutation")
KEPT = f"{STATE}/cache"
"""Where tests keep what they compile of the engine."""
PACKAGES = ("hypothesis.strategies", "islpy", "jinja2", "lark", "numpy.testing", "pydantic",
            "pytest", "xdist.plugin", "yaml")
"""What is imported before the copy is: nothing of the project."""
DATES = itertools.count(10**18, 10**9)
"""When faults are planted, in nanoseconds: each in a second of its own, years ago."""
FAILED = 1
"""The exit code of pytest if tests ran, and failed."""


NEW = 6
"""How many faults, the newest, are planted wherever tests run."""


def chosen():
    """Return all faults; but for the newest ones the first of every other package is wide, and all
    others are long."""
    seen, every = {}, faults()
    for number, fault in enumerate(every, NEW - len(every)):
        package = Path(fault.file).parts[:2]
        is_wide = seen.setdefault(package, number) == number and list(seen).index(package) % 2 == 0
        marks = [pytest.mark.wide if is_wide else pytest.mark.long]
        yield pytest.param(fault, marks=marks if number < 0 else [], id=fault.name)


def outcome(root, *tests):
    """Run tests in a copy of the project, up to the first that fails; it need not say why.

    Returns the exit code and both outputs.
    """
    words = ["-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--assert=plain", *tests]
    return run_forked(words, root, {}, root, PACKAGES)


@pytest.fixture(scope="module")
def sound(tmp_path_factory, request):
    """Return a copy of the project in which all the tests that are to see faults pass.

    What is compiled there is used as long as its source is as old and as long; so is the engine.
    """
    root = tmp_path_factory.mktemp("mutation")
    for part in PARTS:
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, root / part, ignore=LEFT_OUT, symlinks=True)
        else:
            shutil.copy(ROOT / part, root / part)
    compileall.compile_dir(root, quiet=1)
    if (ROOT / KEPT).is_dir():
        shutil.copytree(ROOT / KEPT, root / KEPT)
    asked = {i.callspec.params["fault"].caught_by for i in request.session.items
             if i.path == request.path and "sound" in i.fixturenames}
    code, out, err = outcome(root, *sorted(asked))
    assert code == 0, out + err
    return root


def _date(path, time):
    """Set when a file was written: byte code of another second is of another text."""
    os.utime(path, ns=(time, time))


def test_every_fault_has_its_place():
    """Most faults are planted in the long tests only."""
    lost = [fault.name for fault in faults()
            if (ROOT / fault.file).read_text(encoding="utf-8").count(fault.old) != 1]
    assert lost == []


@pytest.mark.parametrize("fault", list(chosen()))
def test_a_planted_fault_is_caught(sound, fault):
    path = sound / fault.file
    text, time = path.read_text(encoding="utf-8"), path.stat().st_mtime_ns
    assert text.count(fault.old) == 1, f"{fault.file} changed: write this fault anew"
    path.write_text(text.replace(fault.old, fault.new), encoding="utf-8")
    _date(path, next(DATES))
    try:
        code, out, err = outcome(sound, fault.caught_by)
    finally:
        path.write_text(text, encoding="utf-8")
        _date(path, time)
    assert code == FAILED, out + err
    assert "1 failed" in out.splitlines()[-1]
