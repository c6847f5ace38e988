"""Layers that fail are made small: with a planted fault, and with a fault that only texts have."""

import itertools
import math
import re

import pytest

from lairmake.stages.layer import simulate
from tests.property.layers import examine, layer_of_numbers, layer_of_seed
from tests.property.shrink import Shrinker, kind_of, shrunk

GIVEN = "placement: '{"


def reduces_by_max(layer):
    return " max= " in layer.texts["layer.lair"]


def arrives_reversed_and_sparse(layer):
    text = layer.texts["layer.yaml"]
    return "-e0" in text.replace(" ", "") and "sparse: true" in text


def first_layer(fails):
    """Return a layer that fails, and whose placement is given: to search one takes longer."""
    layers = map(layer_of_seed, itertools.count())
    return next(each for each in layers if fails(each) and GIVEN in each.texts["layer.yaml"])


def instances(text):
    """Return how many instances the statements of a node have together."""
    return sum(math.prod(map(int, sizes.split(","))) for sizes in re.findall(r"in \((.*)\)", text))


@pytest.mark.wide
@pytest.mark.parametrize("fails", [reduces_by_max, arrives_reversed_and_sparse])
def test_a_small_layer_fails_like_the_one_it_comes_from(fails):
    layer = first_layer(fails)
    small = shrunk(layer, fails, 60)
    assert fails(small)
    assert small.size < layer.size
    assert instances(small.texts["layer.lair"]) <= 4
    assert layer_of_numbers(small.numbers) == small


def test_no_more_layers_are_tried_than_allowed():
    tried = []
    layer = first_layer(reduces_by_max)
    shrunk(layer, lambda other: tried.append(other) or reduces_by_max(other), 5)
    assert len(tried) == 5


@pytest.mark.wide
def test_a_layer_with_a_planted_fault_is_reported_small(monkeypatch, workspace):
    evaluate_all = simulate.evaluate_all

    def wrong(layer, samples):
        """Evaluate a layer, but let all that is reduced by max be too large."""
        reduced = {s.target.tensor for s in layer.statements if s.op == "max="}
        found = evaluate_all(layer, samples)
        return [{n: a + (n in reduced) for n, a in tensors.items()} for tensors in found]

    layer, folder = first_layer(reduces_by_max), workspace / "planted"
    layer.write(folder)
    with monkeypatch.context() as planted:
        planted.setattr(simulate, "evaluate_all", wrong)
        with pytest.raises(AssertionError) as caught:
            examine(folder)
        report = Shrinker(24).report(layer, caught.value, folder)
        with pytest.raises(AssertionError) as again:
            examine(folder)
    assert kind_of(again.value) == kind_of(caught.value) == "AssertionError in examine"
    assert not examine(folder).refusal
    texts = {name: (folder / name).read_text("utf-8") for name in layer.texts}
    assert str(folder) in report and all(text in report for text in texts.values())
    before, after = layer.texts["layer.lair"], texts["layer.lair"]
    assert instances(after) <= instances(before) / 8
