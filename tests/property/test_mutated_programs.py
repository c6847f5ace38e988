"""Damaged programs are built right or refused in words for a user: no traceback, no hang."""

import functools
import random

import pytest

from stages import PROGRAM
from stages.diagnose import UserError, UserErrors
from stages.make.core.action import build
from stages.make.core.layers import open_folder
from stages.program import capture, interpret, rehearse
from stages.program.child.limits import Limits
from stages.program.interpreter import graph_run as machine
from tests.program.mutations import mutate
from tests.program.started import Folder
from tests.program.test_translate_mutations import PIECES, PROGRAMS

ORDINARY, LONG, CHUNK = 50, 2000, 50
SECONDS = 5
SMALL = {"n": 22, "z": 4, "steps": 2, "sweeps": 2, "blocks": 2, "most": 5}
"""Parameters, since many of them run."""


@pytest.fixture(autouse=True)
def few_seconds(monkeypatch):
    """Let no code run for longer than a few seconds."""
    for stage in (capture, rehearse):
        limited = functools.partial(stage.run_apart, limits=Limits(seconds=SECONDS))
        monkeypatch.setattr(stage, "run_apart", limited)
    monkeypatch.setattr(machine, "LONGEST", SECONDS)
    monkeypatch.setattr(interpret, "LONGEST", SECONDS)


def damage(seed):
    """Return a source and a program.yaml, of which one is damaged."""
    rng = random.Random(seed)
    source = rng.choice(PROGRAMS if rng.random() < 0.5 else PIECES)
    asked = [f"  {name}: {value}\n" for name, value in SMALL.items() if f'r("{name}"' in source]
    settings = "program: heat.py\nmachine: {profile: wse2, memory: 49152}\n"
    settings += "".join(["parameters:\n", *asked]) if asked else ""
    if rng.random() < 0.15:
        return source, mutate(settings, rng, 1)
    return mutate(source, rng, 1), settings


def build_or_refuse(path, seed):
    """Return whether a damaged program is built; what is refused names a file of it."""
    source, settings = damage(seed)
    folder = Folder(path)
    folder.write("heat.py", source)
    folder.write("program.yaml", settings)
    try:
        for stage in PROGRAM:
            build(stage, open_folder(path))
    except (UserError, UserErrors) as error:
        assert "Traceback" not in str(error), str(error)
        return False
    return True


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
@pytest.mark.parametrize("first", [
    *range(0, ORDINARY, CHUNK),
    *(pytest.param(first, marks=pytest.mark.long) for first in range(ORDINARY, LONG, CHUNK)),
])
def test_damaged_programs_are_built_or_refused(first, tmp_path):
    built = 0
    for seed in range(first, first + CHUNK):
        place = tmp_path / "projects" / str(seed)
        place.mkdir(parents=True)
        try:
            built += build_or_refuse(place, seed)
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error
    assert 0 < built < CHUNK
