"""What `probes` in a layer.yaml asks for is in results.json."""

import pytest

from lairmake.stages.diagnose import UserError
from tests.layer.built import MV, build

MAPPING = (
    'target: "{ PE[2, 2] }"\nplacement: "{ mv[i, j] -> PE[j//3, i//4] }"\nmachine: ideal\n'
    'tensors:\n  x: {arrives: "{ x[j] -> [PE[j//3, -1] -> index[j mod 3]] }"}\n'
    '  y: {leaves: "{ y[i] -> [PE[2, i//4] -> index[i mod 4]] }"}\n'
)


def build_probed(probes):
    return build(MV, f"{MAPPING}probes: {probes}\n", "simulate")


@pytest.mark.wide
def test_results_have_what_passed_the_routers_that_were_asked_for():
    found = build_probed('{x: "{ PE[0, y] }", y_even: "{ PE[1, 1] }"}').results()["probes"]
    assert found["simd"]["x"] == found["loops"]["x"] == [
        {"pe": [0, 0], "first": 1, "last": 3, "wavelets": 3},
        {"pe": [0, 1], "first": 2, "last": 4, "wavelets": 3},
    ]
    assert [(each["pe"], each["wavelets"]) for each in found["simd"]["y_even"]] == [([1, 1], 4)]


def test_without_probes_results_say_nothing_of_them():
    assert "probes" not in build(MV, MAPPING, "simulate").results()


@pytest.mark.wide
@pytest.mark.parametrize(("probes", "said"), [
    ('{X: "{ PE[0, 0] }"}',
     ":7:10: error: there is no stream X to probe\n"
     '  probes: {X: "{ PE[0, 0] }"}\n           ^\nhint: did you mean x?\n'),
    ('{x: "{ PE[2, 0] }"}',
     ":7:14: error: the probe of x is on no PE\n"
     '  probes: {x: "{ PE[2, 0] }"}\n               ^^^^^^^^^^^^\n'
     "hint: the PEs, with adapters, are { PE[x, y] : 0 <= x <= 1 and 0 <= y <= 1 }\n"),
])
def test_a_probe_of_nothing_is_refused(probes, said):
    with pytest.raises(UserError) as caught:
        build_probed(probes)
    assert str(caught.value).partition("layer.yaml")[2] == said
