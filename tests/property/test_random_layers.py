import shutil
from pathlib import Path

import pytest

from tests.property.features import DEMANDED
from tests.property.layers import examine, layer_of_seed

ORDINARY, LONG = 300, 2000
SEEDS = [
    *range(ORDINARY),
    *(pytest.param(seed, marks=pytest.mark.long) for seed in range(ORDINARY, LONG)),
]
MOST_REFUSED, LEAST_OF_EACH = 0.15, 0.30
ENOUGH = 100
"""How many layers must have been built for a share of them to say something."""

REGRESSIONS = sorted(p.parent for p in Path(__file__).parent.glob("regressions/*/layer.yaml"))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_layer_is_right_or_refused(seed, workspace, outcomes, shrinker):
    layer, folder = layer_of_seed(seed), workspace / str(seed)
    layer.write(folder)
    try:
        outcomes[seed] = examine(folder)
    except Exception as error:
        small = workspace / f"{seed}_small"
        raise AssertionError(shrinker.report(layer, error, small)) from error


@pytest.fixture
def many(outcomes):
    """Return the outcomes, once there are enough of them."""
    if len(outcomes) < ENOUGH:
        pytest.skip("only a few layers were built")
    return list(outcomes.values())


def test_most_random_layers_are_not_refused(many):
    assert sum(bool(outcome.refusal) for outcome in many) <= MOST_REFUSED * len(many)


@pytest.mark.parametrize("feature", DEMANDED)
def test_a_good_part_of_random_layers_has(feature, many):
    right = [outcome for outcome in many if not outcome.refusal]
    assert sum(feature in outcome.features for outcome in right) >= LEAST_OF_EACH * len(right)


def test_a_seed_gives_the_same_layer_folder():
    assert layer_of_seed(7) == layer_of_seed(7)


@pytest.mark.parametrize("layer", REGRESSIONS, ids=lambda folder: folder.name)
def test_a_layer_that_was_wrong_once_is_right(layer, workspace):
    folder = workspace / layer.name
    shutil.copytree(layer, folder)
    assert examine(folder).refusal == ""
