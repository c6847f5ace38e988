"""Whatever the texts between two stages have become: an error for a user, or the right outputs."""

import random
import re

import pytest

from lairmake.stages.diagnose import UserError, UserErrors
from lairmake.stages.program import exchange, execute, interpret, lower, paint, remember, section
from lairmake.stages.program.lowering import running
from tests.program.agreeing import OnDisk, build_once, run_on_fabric
from tests.property.mutator import damage_string

SOURCE = """\
from lairmake.objects import GlobalArray, GlobalScalar, LocalArray, UniformLocalScalar, field
from lairmake import numpy as np

field(5, 3)
a = LocalArray("a", 1.0, shape=(5, 3, 3), output=True)
b = LocalArray("b", 2.0, shape=(5, 3, 3), output=True)
g = GlobalScalar("g", 0.0, output=True)
h = GlobalArray("h", 3.0, shape=(4,), output=True)
u = UniformLocalScalar("u", 1.0, output=True)
k = GlobalScalar("k", 0, output=True)
while g < 100.0 and k < 3:
    a[1:] = a[:-1] + a[1:] * u
    b[1:, 1:] = a[:-1, :-1] + b[1:, 1:]
    g[...] = np.sum(a, controller=True) + g
    h[1:] = h[:-1] * 2.0
    a[...] = a * 0.5 + g
    u[...] = np.max(b)
    k[...] += 1
"""
STAGES = (remember, interpret, exchange, section, paint, lower, execute)
TEXTS = {
    "addresses.yaml": remember, "build/counts.json": interpret, "exchanges.isl": exchange,
    "filters.isl": exchange, "sections.yaml": section, "paint.isl": paint,
    "build/layout.yaml": lower,
}
"""The stage that writes each of them: those after it run."""

ORDINARY, LONG = 8, 300


@pytest.fixture(scope="module")
def sound():
    return run_on_fabric(SOURCE)


@pytest.fixture(autouse=True)
def compiled_once(monkeypatch):
    monkeypatch.setattr(running, "build_library", lambda programs, *_, **__: build_once(*programs))


@pytest.mark.wide
@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("seeds", [
    range(ORDINARY), pytest.param(range(ORDINARY, LONG), marks=pytest.mark.long)])
def test_a_damaged_text_gives_an_error_or_the_right_outputs(name, seeds, sound):
    text = sound[name] if isinstance(sound[name], str) else sound[name].decode()
    text = re.sub(r"^ *#.*\n", "", text, flags=re.M)
    refused = 0
    for seed in seeds:
        files = {**sound, name: damage_string(name, text, random.Random(seed))}
        try:
            for stage in STAGES[STAGES.index(TEXTS[name]) + 1:]:
                files |= stage.run(OnDisk(files))
        except (UserError, UserErrors):
            refused += 1
            continue
        except Exception as error:
            raise AssertionError(f"seed {seed}") from error
        for output in (each for each in sound if each.startswith("build/outputs/")):
            assert files[output] == sound[output], (seed, output)
    assert refused > len(seeds) // 5


@pytest.mark.wide_after(4)
@pytest.mark.parametrize("text", ["", "\n", "{}", "[]", "# nothing\n", "\0", "name: &a [*a]"])
@pytest.mark.parametrize("name", TEXTS)
def test_a_text_of_nothing_is_refused(name, text, sound):
    files = {**sound, name: text}
    with pytest.raises((UserError, UserErrors), match=name):
        for stage in STAGES[STAGES.index(TEXTS[name]) + 1:]:
            files |= stage.run(OnDisk(files))
