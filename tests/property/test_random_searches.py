"""Random layers whose layer.yaml says nothing of a placement: one is found, and all is right.

Where tensors arrive and leave follows a placement that is no longer told. So it may be that the
search honestly finds none; then the text of the error is its own.
"""

from dataclasses import replace

import pytest
import yaml

from tests.property.layers import examine, is_right, layer_of_seed
from tests.property.tally import recorded_search

CHEAP = 1, 8, 18, 46, 47, 53, 83, 96, 100, 104
"""Seeds of which the layers take least time."""

OWN = "no placement is found that works", "placements that were tried works", "has no room for any"
"""What the search says where it finds none."""

LONG = [pytest.param(seed, marks=pytest.mark.long) for seed in range(2000, 2100)]


def without_placement(seed):
    """Return the random layer of a seed, without the line that says where its instances run."""
    layer = layer_of_seed(seed)
    mapping = yaml.safe_load(layer.texts["layer.yaml"])
    mapping.pop("placement", None)
    text = yaml.safe_dump(mapping, sort_keys=False, width=10000)
    return replace(layer, texts=layer.texts | {"layer.yaml": text})


@pytest.mark.wide
@pytest.mark.alone
@pytest.mark.parametrize("seed", [*CHEAP, *LONG])
def test_a_layer_without_placement_is_right(seed, workspace, record_property):
    folder = workspace / f"searched{seed}"
    without_placement(seed).write(folder)
    outcome = examine(folder)
    if outcome.refusal:
        assert any(text in outcome.refusal for text in OWN), outcome.refusal
    else:
        assert is_right(outcome)
    record_property(*recorded_search(seed, outcome))
