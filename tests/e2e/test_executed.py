"""What Python runs of this project for a stage is what its key is made of, as Python says it."""

import json
import subprocess
import sys

import pytest

from lairmake.stages import module_of
from lairmake.stages.make.core.code import CALLED, reach, reach_of
from tests.e2e.conftest import ROOT


def executed(*words):
    """Run stages of a folder; yield each with the modules and definitions that ran."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.e2e.executed", *words], cwd=ROOT, capture_output=True,
        check=False, text=True,
    )
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        _, stage, ran = json.loads(line)
        yield stage, [(module, name) for module, name in ran]


def missed(stage, ran):
    """What ran of the definitions that the stage does not reach, and of modules not imported."""
    found = reach_of(stage)
    return [
        (module, name) for module, name in ran if module not in found.modules
        or (name and name not in found.definitions.get(module, ()) and has(module, name))
    ]


def has(module, name):
    """Whether a name is a definition that may be reached, and not one of the rest of a module."""
    return name in reach(f"{module}.*").definitions.get(module, ())


def check(*words):
    every = list(executed(*words))
    assert every
    for stage, ran in every:
        assert {(module_of(stage), name) for name in CALLED[:1]} <= set(ran)
        assert missed(stage, ran) == [], stage


@pytest.mark.wide
def test_what_runs_of_a_few_stages_is_in_their_keys():
    check("projects/fc", "parse", "adapt", "simd")


@pytest.mark.long
@pytest.mark.parametrize("name", ["conv1d", "mlp", "krnl0_16", "heat", "cg", "lenet", "chosen"])
def test_all_that_runs_is_in_the_keys(name):
    check(f"projects/{name}")
