"""Random layers on random machines: right, no faster than the bound, and as the clock has it."""

import random
from dataclasses import replace

import pytest
import yaml

from tests.property.layers import examine, layer_of_seed
from tests.property.machines import ran, random_figures, random_queues, random_rates

SEEDS = [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 400))]
RATES = [*range(12), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(12, 340))]


def layer_on_a_random_machine(seed):
    """Return a random layer with other figures of its machine."""
    rng = random.Random(seed)
    return on_machine(seed, {**random_figures(rng), **random_queues(rng)})


def on_machine(seed, figures):
    """Return the random layer of a seed with some figures of its machine."""
    layer = layer_of_seed(seed)
    mapping = yaml.safe_load(layer.texts["layer.yaml"])
    machine = mapping["machine"]
    profile = machine if isinstance(machine, str) else machine["profile"]
    mapping["machine"] = {"profile": profile, **figures}
    text = yaml.safe_dump(mapping, sort_keys=False, width=10000)
    return replace(layer, texts=layer.texts | {"layer.yaml": text})


@pytest.mark.wide
@pytest.mark.alone
@pytest.mark.parametrize("seed", SEEDS)
def test_no_layer_beats_its_bound_and_the_clock_counts_alike_however_far_it_looks(
    seed, workspace, monkeypatch
):
    folder = workspace / f"machine{seed}"
    layer_on_a_random_machine(seed).write(folder)
    if examine(folder).refusal:
        return
    variant, horizon = ("simd", "loops")[seed % 2], (2, 3, 17)[seed % 3]
    assert ran(folder, variant) == ran(folder, variant, monkeypatch, horizon)


@pytest.mark.wide
@pytest.mark.parametrize("seed", RATES)
def test_layers_are_right_whatever_a_datapath_and_its_memory_can_do(seed, workspace):
    folder = workspace / f"rates{seed}"
    figures = random_rates(random.Random(seed))
    on_machine(1000 + seed, figures).write(folder)
    found = examine(folder)
    if found.refusal:
        return
    usage = found.results["busiest"]["simd"]
    assert figures["shared_datapath"] or usage["streams"] == 0
    assert figures["read_banks"] or any(figures["stride_limits"]) or usage["memory"] == 0
