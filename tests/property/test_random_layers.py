import shutil
from pathlib import Path

import pytest

from lairmake.stages.layer import route
from lairmake.stages.layer.streams import plan
from tests.property.layers import examine, is_right, layer_of_seed
from tests.property.tally import recorded

ORDINARY, LONG, FEW = 120, 2000, 4
REGRESSIONS = sorted(p.parent for p in Path(__file__).parent.glob("regressions/*/layer.yaml"))

HARD = (14, 35, 36, 118)
"""Seeds of which each layer takes isl as long as six to twenty others."""

ROOM = 4
"""Of so many one is compiled as it is, others as if memory had no room: what can roll does so."""


def marks_of(seed):
    if seed >= ORDINARY or seed in HARD:
        return [pytest.mark.long]
    return [] if seed % 4 else [pytest.mark.optimised]


SEEDS = [pytest.param(seed, marks=marks_of(seed)) for seed in range(LONG)]


@pytest.fixture
def examined(workspace, shrinker, monkeypatch):
    """Return the function that gives what became of the layer of a seed, right or refused."""
    def of_seed(seed):
        if seed % ROOM:
            for module in (plan, route):
                monkeypatch.setattr(module, "count_needed", lambda plan: 1 << 30)
        layer, folder = layer_of_seed(seed), workspace / str(seed)
        layer.write(folder)
        try:
            outcome = examine(folder)
        except Exception as error:
            small = workspace / f"{seed}_small"
            raise AssertionError(shrinker.report(layer, error, small)) from error
        assert outcome.refusal or is_right(outcome)
        return outcome

    return of_seed


@pytest.mark.wide
@pytest.mark.alone
@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_layer_is_right_or_refused(seed, examined, record_property):
    record_property(*recorded(seed, examined(seed)))


@pytest.mark.alone
@pytest.mark.parametrize("seed", range(LONG, LONG + FEW))
def test_one_of_a_few_random_layers_is_right_or_refused(seed, examined):
    examined(seed)


def test_a_seed_gives_the_same_layer_folder():
    assert layer_of_seed(7) == layer_of_seed(7)


@pytest.mark.wide
@pytest.mark.alone
@pytest.mark.parametrize("layer", REGRESSIONS, ids=lambda folder: folder.name)
def test_a_layer_that_was_wrong_once_is_right(layer, workspace):
    folder = workspace / layer.name
    shutil.copytree(layer, folder)
    assert examine(folder).refusal == ""
