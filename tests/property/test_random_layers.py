import shutil
from pathlib import Path

import pytest

from tests.property.invariants import check_invariants
from tests.property.layers import build, is_right, write_random_layer

ORDINARY, LONG = 100, 1000
SEEDS = [
    *range(ORDINARY),
    *(pytest.param(seed, marks=pytest.mark.long) for seed in range(ORDINARY, LONG)),
]
MOST_REFUSED = 0.35
REGRESSIONS = sorted(p.parent for p in Path(__file__).parent.glob("regressions/*/layer.yaml"))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_layer_is_right_or_refused(seed, workspace, outcomes):
    folder = workspace / str(seed)
    write_random_layer(folder, seed)
    outcomes[seed] = outcome = build(folder)
    if not outcome.refusal:
        assert is_right(outcome), outcome.results["check"]
        check_invariants(folder)


def test_most_random_layers_are_not_refused(outcomes):
    refused = sum(bool(outcome.refusal) for outcome in outcomes.values())
    assert refused <= MOST_REFUSED * len(outcomes)


def test_a_seed_gives_the_same_layer_folder(tmp_path):
    for folder in ("one", "other"):
        write_random_layer(tmp_path / folder, 7)
    for name in ("layer.lair", "layer.yaml"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


@pytest.mark.parametrize("layer", REGRESSIONS, ids=lambda folder: folder.name)
def test_a_layer_that_was_wrong_once_is_right(layer, workspace):
    folder = workspace / layer.name
    shutil.copytree(layer, folder)
    outcome = build(folder)
    assert outcome.refusal == ""
    assert is_right(outcome), outcome.results["check"]
    check_invariants(folder)
