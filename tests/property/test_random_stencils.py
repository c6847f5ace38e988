"""Random stencils over time are right, or refused; most move as halos."""

import pytest
import yaml

from tests.property.layers import examine, is_right
from tests.property.stencils import stencil_of_seed

pytestmark = pytest.mark.usefixtures("ends_soon")

LONG, WIDE, FEW = 300, 20, 2
SEEDS = [
    pytest.param(seed, marks=[] if seed < FEW else [
        pytest.mark.wide if seed < WIDE else pytest.mark.long])
    for seed in range(LONG)
]


@pytest.mark.alone
@pytest.mark.parametrize("seed", SEEDS)
def test_a_stencil_over_time_is_right_or_refused(seed, workspace):
    folder = workspace / str(seed)
    stencil_of_seed(seed).write(folder)
    outcome = examine(folder)
    assert outcome.refusal or is_right(outcome)


def test_a_seed_gives_the_same_stencil():
    assert stencil_of_seed(7) == stencil_of_seed(7)
    assert yaml.safe_load(stencil_of_seed(7).texts["layer.yaml"])["tensors"]["u0"] == {"next": "n0"}
