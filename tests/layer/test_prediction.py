"""What is predicted of layers, and what the simulated machine takes."""

import pytest

from stages.diagnose import Source
from stages.layer.cost.predict import predict, read_written
from stages.machine.profile import load_profile
from tests.layer.built import MV, build

SPARSE = (
    'target: "{ PE[2, 3] }"\nplacement: "{ mv[i,j] -> PE[j//3, 1 + i//4] }"\ntensors:\n'
    '  x: {arrives: "{ x[i] -> [PE[0, -1] -> index[i]] }", sparse: true}\n'
    '  y: {leaves: "{ y[i] -> [PE[2, 1 + i//4] -> index[i mod 4]] }"}\n'
    "data: {density: 1}\n"
)
DENSE = (
    'target: "{ PE[2, 2] }"\nplacement: "{ mv[i,j] -> PE[j//3, i//4] }"\ntensors:\n'
    '  x: {arrives: "{ x[i] -> [PE[i//3, -1] -> index[i mod 3]] }"}\n'
    '  y: {leaves: "{ y[i] -> [PE[2, i//4] -> index[i mod 4]] }"}\n'
)
LAYERS = {"sparse": (MV, SPARSE), "dense": (MV, DENSE)}


def find_prediction(built, density):
    def source(name):
        return Source(path=name, text=(built.cache / name).read_text(encoding="utf-8"))

    profile = load_profile("wse2")
    return predict(
        read_written(source, built.objects, profile, invocations=1, density=density)
    )


@pytest.mark.parametrize("layer", LAYERS)
def test_cycles_are_predicted_within_a_tenth(layer):
    lair, mapping = LAYERS[layer]
    built = build(lair, mapping, "simulate")
    taken, found = built.results()["cycles"]["simd"], find_prediction(built, 1.0)
    assert abs(found.cycles / taken - 1) < 0.1
    assert found.area == 4
