"""Scalar code costs what its kinds do; a machine without figures of kinds charges as before."""

import re

import pytest

from lairmake.stages.machine.profile import ProfileError, load_profile
from lairmake.stages.machine.scalar_code import OWN, SCALAR_KINDS, kind_of
from lairmake.stages.shipped import STAGES
from tests.layer.built import build

FURTHER = [kind for kind in SCALAR_KINDS if kind not in OWN]
NONE = dict.fromkeys(FURTHER, 0)
QUOTIENT = "lair n(): float32 x[8], float32 z -> float32 y[8] { all (i) in (8) y[i] = x[i] / z }"
ON_ONE = 'target: "{ PE[1, 1] }"\nplacement: "{ n[i] -> PE[0, 0] }"\nmachine: %s\n'


def test_kinds_stand_in_one_order():
    text = (STAGES / "fabric/pe.h").read_text(encoding="utf-8")
    macro = text.partition("#define KINDS(each)")[2].partition("\n\n")[0]
    assert re.findall(r"each\((\w+)\)", macro) == list(SCALAR_KINDS)


def test_a_kind_without_a_figure_costs_what_another_does():
    profile = load_profile("ideal", {"scalar": 3, "loop": 5, "address": 7})
    costs = {kind: profile.find_kind_cost(kind) for kind in SCALAR_KINDS}
    assert [costs[kind] for kind in OWN] == [5, 3, 7]
    assert {kind for kind in FURTHER if costs[kind] == 0} == {"load", "store", "branch"}
    assert {costs[kind] for kind in FURTHER} == {0, 3}


def test_all_kinds_have_a_figure_or_none_has():
    with pytest.raises(ProfileError) as raised:
        load_profile("ideal", {kind: 1 for kind in FURTHER if kind != "branch"})
    assert (str(raised.value), raised.value.figure, raised.value.hint) == (
        "profile ideal: integer_product is a figure of scalar code, and branch has none",
        "integer_product", "give branch, too, or none of these figures",
    )


@pytest.mark.parametrize(("operation", "type_", "kind"), [
    ("+", "int16", "scalar"), ("*", "int16", "integer_product"), ("+", "int32", "wide_integer"),
    ("*", "int32", "wide_product"), ("*", "float16", "float_operation"), ("/", "int32", "division"),
    ("exp", "float32", "exponential"), ("sigmoid", "float16", "power"), ("max", "int16", "scalar"),
])
def test_an_operation_has_a_kind(operation, type_, kind):
    assert kind_of(operation, type_) == kind


def test_a_division_is_charged_by_its_own_figure():
    """Eight elements are divided one after the other, and nothing else on the machine costs."""
    def cycles(further):
        figures = {"profile": "ideal", "scalar": 0, **NONE, **further}
        text = ", ".join(f"{key}: {value}" for key, value in figures.items())
        built = build(QUOTIENT, ON_ONE % f"{{{text}}}" + "simd: {prefer: loops}\n", "simulate")
        assert built.results()["check"]["y"]["right"]
        return built.results()["cycles"]["loops"], built.results()["busiest"]["loops"]

    least, _ = cycles({})
    more, busiest = cycles({"division": 50})
    assert busiest["division"] == 8 * 50
    assert 8 * 50 - 8 <= more - least <= 8 * 50
    loaded = 8 * 2 + 2  # words of 16 bits: of eight elements, and once of what divides them
    assert cycles({"load": 2, "store": 3})[1]["load"] == 2 * loaded
